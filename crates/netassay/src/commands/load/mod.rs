//! `netassay load`: one workload, without a study.

mod asked;
mod curve;

use record::Note;
use report::views;
use results::LoadRun;
use runner::{JudgedRun, TRIALS};
use testbed::Testbed;

use crate::cli::LoadArgs;
use crate::commands::hosts::{self, ReachedHosts};
use crate::commands::undo::SaysUnrestored;
use crate::failure::{Failure, bail};
use crate::terminal::windows;
use crate::{machine, output, signals, turn};
pub(super) use asked::{Asked, study_of_keys};

pub(crate) fn load(flags: &LoadArgs) -> Result<(), Failure> {
    let mut asked = Asked::read(flags)?;
    if flags.latency_curve {
        curve::check(&asked)?;
    }
    let interrupt = signals::interrupt()?;
    let reached = asked.reach(&flags.hosts, &interrupt)?;
    let measured = reached.as_ref().and_then(ReachedHosts::measured_ends);
    let (_turn, beside) = turn::begin(&flags.turn, measured, &interrupt)?;
    let mut options = asked.options(hosts::rootless(flags.rootless, reached.as_ref()), &interrupt)?;
    options.hosts = reached.map(|reached| reached.hosts);
    options.beside = flags.turn.beside;
    machine::pin_to_own_cpu(&options)?;
    let _says_unrestored = SaysUnrestored(options.hosts.clone());
    let mut testbed = Testbed::build(&options, &interrupt)?;
    asked.choose_congestion_control(&mut testbed)?;
    if flags.latency_curve {
        let curve = curve::measure(&asked, &mut testbed, beside.is_some())?;
        return output::show_view(&curve, &flags.output, |one, _| views::latency_curve(one));
    }
    let mut result = measure(&asked, &mut testbed)?;
    result.disturbed.extend(beside.as_ref().map(ToString::to_string));
    output::show_view(&result.json(), &flags.output, |_, _| views::load(&result, flags.interval))
}

fn measure(asked: &Asked, testbed: &mut Testbed) -> Result<LoadRun, Failure> {
    let lacking = testbed.lacking(&asked.order.traffic, asked.order.family)?;
    if !lacking.is_empty() {
        bail!(Environment, "this traffic is not supported here: {}", lacking.join("; "));
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
    let JudgedRun { account, limit, disturbed } = judged;
    let mut notes: Vec<String> = testbed.notes.iter().map(Note::to_string).collect();
    for (side, settled) in effective.sides() {
        let note =
            |(feature, why): (&String, &String)| format!("{side}: {feature} could not be turned off: {why}");
        notes.extend(settled.refused.iter().map(note));
    }
    for (side, own) in account.sides() {
        notes.extend(own.whole.outcome.notes.iter().map(|note| format!("{}: {note}", testbed.host(side))));
    }
    let nothing_arrived = runner::nothing_arrived(&asked.order, &account).into_iter();
    Ok(LoadRun {
        condition: asked.condition.clone(),
        traffic: asked.order.traffic.clone(),
        window: asked.order.window,
        ramp: asked.order.ramp,
        effective,
        discard_device: testbed.discard_device(),
        metrics: runner::metrics(&asked.order.traffic, &account),
        limited_by: limit,
        disturbed: nothing_arrived.chain(disturbed.iter().map(ToString::to_string)).collect(),
        notes,
        no_rate: runner::no_rate(&account),
        account,
    })
}
