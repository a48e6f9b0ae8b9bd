//! `netassay load`: one workload, without a study.

mod asked;
mod curve;
mod intervals;
mod load_result;
mod view;

use runner::TRIALS;
use testbed::Testbed;

use crate::cli::Load;
use crate::commands::hosts;
use crate::commands::undo::SaysUnrestored;
use crate::failure::Failure;
use crate::machine;
use crate::output;
use crate::signals;
use crate::terminal::windows;
use crate::turn;
pub(super) use asked::{Asked, study_of_keys};
use load_result::LoadResult;

pub(crate) fn load(flags: &Load) -> Result<(), Failure> {
    let mut asked = Asked::read(flags)?;
    if flags.latency_curve {
        curve::check(&asked)?;
    }
    let interrupt = signals::interrupt()?;
    let session = turn::begin(&flags.turn, &interrupt)?;
    let reached = asked.reach(&flags.hosts, &interrupt)?;
    let mut options = asked.options(hosts::rootless(flags.rootless, reached.as_ref()), &interrupt)?;
    options.hosts = reached.map(|reached| reached.hosts);
    machine::pin_to_own_cpu(&options)?;
    let _says_unrestored = SaysUnrestored(options.hosts.clone());
    let mut testbed = Testbed::build(&options, &interrupt)?;
    asked.choose_congestion_control(&mut testbed)?;
    if flags.latency_curve {
        let curve = curve::measure(&asked, &mut testbed, session.beside.is_some())?;
        return output::show_view(&curve, &flags.output, flags.tables.wide, |one, _| one.blocks());
    }
    let mut result = measure(&asked, &mut testbed)?;
    result.disturbed.extend(session.beside.as_ref().map(ToString::to_string));
    output::show_view(&result.json(), &flags.output, flags.tables.wide, |_, _| result.blocks(flags.interval))
}

fn measure(asked: &Asked, testbed: &mut Testbed) -> Result<LoadResult, Failure> {
    let lacking = testbed.lacking(&asked.order.traffic, asked.order.family)?;
    if !lacking.is_empty() {
        return Err(Failure::Environment(format!(
            "this traffic is not supported here: {}",
            lacking.join("; ")
        )));
    }
    let effective = testbed.settle(&runner::switches_of(&asked.condition))?;
    testbed.check_path(&asked.order, &effective)?;
    let flow = asked.order.ramp + asked.order.window;
    let begin = || windows(&format!("at most {TRIALS} trials"), TRIALS, flow);
    let trials = asked.order.traffic.find_rate.then(begin);
    let judged = runner::carry_out(&asked.order, &mut |order| {
        let account = testbed.run(order, &mut || {})?;
        trials.iter().for_each(|bar| bar.inc(1));
        Ok(account)
    })?;
    let device = testbed.discard_device();
    Ok(LoadResult::new(asked.clone(), effective, device, testbed, judged))
}
