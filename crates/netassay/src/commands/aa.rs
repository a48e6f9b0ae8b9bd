//! `netassay aa`: the false-positive rate of each method on this machine.

use std::process::ExitCode;

use report::FalsePositives;
use study::{Protocol, Study};

use crate::cli::Aa;
use crate::commands::run::{asked, conclude, measure};
use crate::commands::stored::load;
use crate::exit;
use crate::failure::Failure;
use crate::output;

pub(crate) fn aa(flags: &Aa) -> Result<ExitCode, Failure> {
    let Some(name) = &flags.study else {
        show(flags, flags.from.as_deref())?;
        return Ok(ExitCode::from(exit::OK));
    };
    let study = twins(&asked(name, &flags.run)?, flags)?;
    let Some(summary) = measure(&study, &flags.run)? else { return Ok(ExitCode::from(exit::OK)) };
    let ending = conclude(&flags.run, &summary);
    if summary.recorded > 0 {
        show(flags, Some(&summary.study.to_string()))?;
    }
    Ok(ending)
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
    let Some(boots) = flags.experiments.checked_mul(flags.boots) else {
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

fn show(flags: &Aa, study: Option<&str>) -> Result<(), Failure> {
    let stored = load(&flags.run.campaign.database.db, study)?;
    let found = FalsePositives::new(&stored, flags.boots).map_err(|error| match error {
        report::Error::NoTwins { .. } => Failure::Usage(error.to_string()),
        report::Error::NothingRecorded { .. } => Failure::Nothing(error.to_string()),
        _ => Failure::from(error),
    })?;
    output::show(&found, &flags.run.output, flags.run.tables.wide, FalsePositives::text)
}
