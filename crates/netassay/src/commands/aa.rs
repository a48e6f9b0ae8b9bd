//! `netassay aa`: the false-positive rate of each method on this machine, and whether turns and
//! separate runs find the same.

use std::process::ExitCode;

use report::{Agreed, BothWays, FalsePositives};
use store::StoredStudy;
use study::{Assignment, Protocol, Study, format_duration, suffixed};

use crate::cli::Aa;
use crate::commands::run::{asked, conclude, measure};
use crate::commands::stored::load;
use crate::exit;
use crate::failure::Failure;
use crate::output;

/// Boots of an experiment.
const BOOTS: u32 = 3;

/// The length of a turn, where the study has none.
const TURN: &str = "100ms";

pub(crate) fn aa(flags: &Aa) -> Result<ExitCode, Failure> {
    let Some(name) = &flags.study else { return show(flags, flags.from.as_deref()) };
    let asked = asked(name, &flags.run)?;
    let study = if flags.alternate { both_ways(&asked, flags)? } else { twins(&asked, flags)? };
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
    let Some(boots) = flags.experiments.checked_mul(flags.boots.unwrap_or(BOOTS)) else {
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

/// The study with blocks of both kinds: in turns, and in runs of their own.
fn both_ways(study: &Study, flags: &Aa) -> Result<Study, Failure> {
    let protocol = study.protocol();
    let runs = flags.runs.unwrap_or(protocol.runs).saturating_mul(2);
    let mut changes = vec![
        format!("name={}", suffixed(study.name(), "-turns")),
        "question=Are differences in turns those of separate runs?".to_owned(),
        format!("runs={runs}"),
        "apart=true".to_owned(),
    ];
    changes.extend(flags.boots.map(|boots| format!("boots={boots}")));
    changes.extend(flags.duration.map(|duration| format!("duration={}", format_duration(duration))));
    if protocol.alternate.is_none() {
        changes.push(format!("alternate={TURN}"));
    }
    if protocol.stop.is_some() {
        changes.push("stop=".to_owned());
    }
    let changes: Vec<Assignment> = changes
        .iter()
        .map(|change| change.parse())
        .collect::<Result<_, _>>()
        .map_err(|error: study::AssignmentError| Failure::Internal(error.to_string()))?;
    Study::parse_with(study.name(), study.source_text(), &changes).map_err(|problems| {
        Failure::Usage(format!("this study cannot be measured both in turns and in runs:\n{problems}"))
    })
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
        Agreed::Agree => exit::OK,
        Agreed::Disagree => exit::GATE_FAILED,
        Agreed::NotCompared => exit::GATE_INCONCLUSIVE,
    }))
}

fn show_twins(flags: &Aa, stored: &StoredStudy) -> Result<(), Failure> {
    let found = FalsePositives::new(stored, flags.boots.unwrap_or(BOOTS))?;
    output::show(&found, &flags.run.output, flags.run.tables.wide, FalsePositives::text)
}
