//! `netassay run --aa`: the false-positive rate of each method on this machine, and whether turns
//! and separate runs find the same.

use std::process::ExitCode;

use report::views;
use results::{BothWays, FalsePositives, WaysOutcome};
use study::{Protocol, Study};

use crate::cli::{Aa, Run};
use crate::commands::run::{asked, conclude, measure};
use crate::commands::stored::load;
use crate::failure::{Failure, bail};
use crate::{exit, output};

const BOOTS: u32 = 3;

/// Experiments, each of two labels.
const EXPERIMENTS: u32 = 20;

pub(crate) fn aa(run: &Run) -> Result<ExitCode, Failure> {
    let Run { study: Some(name), flags, aa } = run else { return show(run, run.aa.from.as_deref()) };
    let asked = asked(name, flags)?;
    let study = if !asked.protocol.apart {
        twins(&asked, aa)?
    } else if aa.experiments.or(aa.boots).is_none() {
        asked
    } else {
        bail!(Usage, "with `apart = true` use --set boots=… in place of --experiments and --boots");
    };
    let Some(summary) = measure(&study, flags)? else { return Ok(ExitCode::from(exit::OK)) };
    let ending = conclude(flags, &summary);
    if summary.recorded == 0 {
        return Ok(ending);
    }
    let found = show(run, Some(&summary.study.to_string()))?;
    Ok(if ending == ExitCode::from(exit::OK) { found } else { ending })
}

fn twins(study: &Study, flags: &Aa) -> Result<Study, Failure> {
    let plan = study.plan();
    let baseline = plan.comparisons.first().map_or(0, |comparison| comparison.baseline);
    let Some(condition) = plan.conditions.get(baseline).cloned() else {
        bail!(Usage, "{:?} has no condition: all are excluded", study.name);
    };
    let Some(boots) = flags.experiments.unwrap_or(EXPERIMENTS).checked_mul(flags.boots.unwrap_or(BOOTS))
    else {
        bail!(Usage, "too many boots: use fewer --experiments");
    };
    let protocol = Protocol { boots, stop: None, ..study.protocol.clone() };
    // Written and read like any other study, so that it can be stored and resumed; reading it
    // checks the limits.
    let text = study::twins(study, &condition, &protocol);
    Study::parse("the A/A study", &text).map_err(|problems| {
        Failure::Usage(format!("this A/A study is not valid (--experiments, --boots):\n{problems}"))
    })
}

fn show(Run { flags, aa, .. }: &Run, study: Option<&str>) -> Result<ExitCode, Failure> {
    let stored = load(&flags.campaign.database.db, study)?;
    if !stored.plan.asked.protocol.apart {
        let found = FalsePositives::new(&stored, aa.boots.unwrap_or(BOOTS))?;
        output::show_view(&found, &flags.output, |found, _| views::false_positives(found))?;
        return Ok(ExitCode::from(exit::OK));
    }
    let found = BothWays::new(&stored)?;
    output::show_view(&found, &flags.output, |found, _| views::both_ways(found))?;
    Ok(ExitCode::from(match found.outcome() {
        WaysOutcome::Agree => exit::OK,
        WaysOutcome::Disagree => exit::GATE_FAILED,
        WaysOutcome::NotCompared => exit::GATE_INCONCLUSIVE,
    }))
}
