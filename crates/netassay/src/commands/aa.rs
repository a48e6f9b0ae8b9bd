//! `netassay aa`: the false-positive rate of each method on this machine, and whether turns and
//! separate runs find the same.

use std::process::ExitCode;

use report::{BothWays, FalsePositives, WaysOutcome};
use store::StoredStudy;
use study::{Protocol, Study};

use crate::cli::Aa;
use crate::commands::run::{asked, conclude, measure};
use crate::commands::stored::load;
use crate::exit;
use crate::failure::Failure;
use crate::output;

/// Boots of an experiment.
const BOOTS: u32 = 3;

/// Experiments, each of two labels.
const EXPERIMENTS: u32 = 20;

pub(crate) fn aa(flags: &Aa) -> Result<ExitCode, Failure> {
    let Some(name) = &flags.study else { return show(flags, flags.from.as_deref()) };
    let asked = asked(name, &flags.run)?;
    let study = if asked.protocol().apart { both_ways(asked, flags)? } else { twins(&asked, flags)? };
    let Some(summary) = measure(&study, &flags.run)? else { return Ok(ExitCode::from(exit::OK)) };
    let ending = conclude(&flags.run, &summary);
    if summary.recorded == 0 {
        return Ok(ending);
    }
    let found = show(flags, Some(&summary.study.to_string()))?;
    Ok(if ending == ExitCode::from(exit::OK) { found } else { ending })
}

/// The study of the baseline's twins.
fn twins(study: &Study, flags: &Aa) -> Result<Study, Failure> {
    let plan = study.plan();
    let baseline = plan.comparisons.first().map_or(0, |comparison| comparison.baseline);
    let Some(mut condition) = plan.conditions.get(baseline).cloned() else {
        return Err(Failure::Usage(format!("{:?} has no condition: all are excluded", study.name())));
    };
    if let Some(duration) = flags.duration {
        condition.workload.duration = duration;
    }
    let Some(boots) = flags.experiments.unwrap_or(EXPERIMENTS).checked_mul(flags.boots.unwrap_or(BOOTS))
    else {
        return Err(Failure::Usage("too many boots: use fewer --experiments".to_owned()));
    };
    let runs = flags.runs.unwrap_or(study.protocol().runs);
    let protocol = Protocol { boots, runs, stop: None, ..study.protocol().clone() };
    // Written and read like any other study, so that it can be stored and resumed; reading it
    // checks the limits.
    let text = study::twins(study, &condition, &protocol);
    Study::parse("the A/A study", &text).map_err(|problems| {
        Failure::Usage(format!(
            "this A/A study is not valid (--experiments, --boots, --runs, --duration):\n{problems}"
        ))
    })
}

/// The study as it is: its blocks are in turns, and in runs of their own.
fn both_ways(study: Study, flags: &Aa) -> Result<Study, Failure> {
    if flags.experiments.or(flags.boots).or(flags.runs).is_some() || flags.duration.is_some() {
        return Err(Failure::Usage(
            "a study with `apart = true` is measured as it is: use --set boots=…, --set runs=… and --set duration=… in place of \
             --experiments, --boots, --runs and --duration"
                .to_owned(),
        ));
    }
    Ok(study)
}

/// Shows what a stored study of `aa` found.
fn show(flags: &Aa, study: Option<&str>) -> Result<ExitCode, Failure> {
    let stored = load(&flags.run.campaign.database.db, study)?;
    if !stored.plan.asked.protocol.apart {
        return show_twins(flags, &stored).map(|()| ExitCode::from(exit::OK));
    }
    let found = BothWays::new(&stored)?;
    output::show(&found, &flags.run.output, flags.run.tables.wide, BothWays::text)?;
    Ok(ExitCode::from(match found.outcome() {
        WaysOutcome::Agree => exit::OK,
        WaysOutcome::Disagree => exit::GATE_FAILED,
        WaysOutcome::NotCompared => exit::GATE_INCONCLUSIVE,
    }))
}

fn show_twins(flags: &Aa, stored: &StoredStudy) -> Result<(), Failure> {
    let found = FalsePositives::new(stored, flags.boots.unwrap_or(BOOTS))?;
    output::show(&found, &flags.run.output, flags.run.tables.wide, FalsePositives::text)
}
