//! Flags of suspicious data in a campaign, without removing data.
//!
//! [`diagnose`] takes the runs in the order of measurement and returns what a person should examine
//! before believing the result. Each kind of flag is one family of tests, and [`LEVEL`] is the
//! chance that a clean campaign (normal boots, normal and independent runs) shows any flag of that
//! kind, with any number of conditions: Bonferroni's rule adjusts the p-values for all tests of the
//! kind.
//!
//! | kind | unit | test | assumes, for its level |
//! |---|---|---|---|
//! | drift | boot | slope of the boot effects over time, Student's t in each group of boots | boots normal |
//! | drift in boots | run | Mann and Kendall's trend within boots, summed over all | runs exchangeable |
//! | serial correlation | run | von Neumann's ratio within boots, for each condition | runs normal |
//! | outlying boots | boot | Grubbs, several at once (generalised ESD), in each group of boots | boots normal |
//! | the same, crossed | cell | Grubbs on a condition's effects less those of the others, for each condition | cells normal |
//! | outlying runs | run | the same within boots, for each condition | runs alike and normal |
//! | several modes | run | Hartigan's dip of what is left after the boot's mean | one mode, of any shape |
//! | first run | cell | Student's t of first run less the others | first runs alike |
//! | saturation | run | how many lie at the maximum, binomial | density at most 1.5 per spread |
//! | constant | run | none: all values equal | values continuous |
//! A boot effect is not drift: the first test has boots as its units, so random differences of
//! boots raise its noise, and the second looks only inside boots.

mod campaign;
mod cells;
mod constant;
mod dip;
mod drift;
mod effects;
mod extremes;
mod first_run;
mod flag;
mod level;
mod modes;
mod outliers;
mod saturation;
mod serial;

pub use flag::{Flag, FlagKind, Names, RunPlace};
pub use level::LEVEL;

use crate::error::{StatsError, require_finite};
use crate::observed::Observation;
use campaign::CampaignValues;
use effects::BootEffects;

/// Flags suspicious `observations`, given in the order of measurement, by kind.
///
/// Takes time n log n. Conditions whose values do not vary, and tests with too few boots or runs,
/// give no flag.
///
/// # Errors
/// [`StatsError::NotFinite`], which names the value's place.
pub fn diagnose(observations: &[Observation]) -> Result<Vec<Flag>, StatsError> {
    require_finite(observations.iter().map(|observation| observation.value))?;
    let campaign = CampaignValues::from_observations(observations);
    let effects = BootEffects::estimate(&campaign);
    let outlying_runs = outliers::runs(&campaign);
    let mut flags = Vec::new();
    flags.extend(drift::over_the_campaign(&effects));
    flags.extend(drift::in_boots(&campaign));
    flags.extend(serial::correlation(&campaign));
    let crossed = cells::crossed(&campaign);
    let families = if crossed.is_some() { 2 } else { 1 };
    flags.extend(outliers::boots(&effects, families));
    flags.extend(crossed.and_then(|conditions| cells::unlike(&campaign, &conditions, families)));
    flags.extend(saturation::ceilings(&campaign, &outlying_runs));
    flags.extend(outlying_runs);
    flags.extend(modes::several(&campaign));
    flags.extend(first_run::unlike(&campaign));
    flags.extend(constant::conditions(&campaign));
    flags.sort_by_key(|flag| (flag.kind, flag.condition));
    Ok(flags)
}
