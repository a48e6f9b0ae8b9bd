//! `netassay simulate`: each method's false-positive rate, and how often it finds a difference.

mod text;
mod world;

use std::num::NonZero;
use std::thread;

use serde::Serialize;
use stats::simulate::{
    Method, Outcome, Plan, SequentialRates, SimulateError, World, look_often, simulate as run,
};

use crate::cli::Simulate;
use crate::failure::Failure;
use crate::output;
use world::Origin;

#[derive(Debug, Serialize)]
pub(super) struct Simulation {
    plan: Plan,
    /// The origin of its figures.
    origin: Origin,
    #[serde(flatten)]
    outcome: Outcome,
    sequential: Option<SequentialRates>,
}

pub(crate) fn simulate(flags: &Simulate) -> Result<(), Failure> {
    let (origin, plan) = plan(flags)?;
    let threads = thread::available_parallelism().map_or(1, NonZero::get);
    let refuse = |error: SimulateError| Failure::Usage(error.to_string());
    // Both are checked before the long work starts.
    let sequential = flags.sequential.map(|sequential| {
        let world = World { boots: sequential.boots.unwrap_or(plan.world.boots), ..plan.world };
        look_often(&Plan { world, methods: Vec::new(), ..plan.clone() }, sequential.looks, threads)
    });
    let sequential = sequential.transpose().map_err(refuse)?;
    let outcome = run(&plan, threads).map_err(refuse)?;
    let simulation = Simulation { plan, origin, outcome, sequential };
    output::show(&simulation, &flags.stored.output, flags.tables.wide, Simulation::text)
}

fn plan(flags: &Simulate) -> Result<(Origin, Plan), Failure> {
    let origin = Origin::of(flags)?;
    let world = origin.world;
    // The command line accepts only words of these lists.
    let methods: Vec<Method> = match flags.methods.as_slice() {
        [] => Method::of(world.design),
        words => {
            Method::ALL.into_iter().filter(|method| words.iter().any(|word| word == method.word())).collect()
        }
    };
    if let Some(method) = methods.iter().find(|method| !Method::of(world.design).contains(method)) {
        return Err(Failure::Usage(format!(
            "{} is for crossed designs: leave it out, or add --design crossed",
            method.word()
        )));
    }
    let differences =
        if flags.differences.is_empty() { origin.differences.clone() } else { flags.differences.clone() };
    let plan = Plan {
        world,
        between: origin.between.clone(),
        differences,
        methods,
        experiments: flags.experiments,
        seed: flags.seed,
    };
    Ok((origin, plan))
}
