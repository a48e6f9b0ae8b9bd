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
//! | outlying boots | boot | Grubbs, several at once (generalised ESD), in each group of boots | boots normal |
//! | outlying runs | run | the same within boots, for each condition | runs alike and normal |
//! | several modes | run | Hartigan's dip of what is left after the boot's mean | one mode, of any shape |
//! | first run | cell | Student's t of first run less the others | first runs alike |
//! | constant | run | none: all values equal | values continuous |
//! A boot effect is not drift: the first test has boots as its units, so random differences of
//! boots raise its noise, and the second looks only inside boots.

mod campaign;
mod drift;
mod flag;
mod modes;
mod outliers;

use crate::diagnostics::campaign::{CampaignValues, ConditionValues, boot_effects};
use crate::observed::Observation;
use crate::question::{StatsError, require_finite};

pub use flag::{Flag, FlagKind, FlagNames};

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
    let effects = boot_effects(&campaign);
    let mut flags = Vec::new();
    flags.extend(drift::over_the_campaign(&effects));
    flags.extend(drift::in_boots(&campaign));
    flags.extend(outliers::boots(&effects));
    flags.extend(outliers::runs(&campaign));
    flags.extend(modes::several(&campaign));
    flags.extend(outliers::unlike_first_run(&campaign));
    flags.extend(conditions(&campaign));
    flags.sort_by_key(|flag| (flag.kind, flag.condition));
    Ok(flags)
}

/// The chance that a clean campaign shows any flag of a kind.
pub const LEVEL: f64 = 0.01;

// A smaller effect of a boot, in standard deviations between runs, is rounding: where boots do not
// differ at all, rounding would have outliers too.
pub(super) const ROUNDING: f64 = 1e-6;

/// `p` adjusted for this many tests, if that is rare enough for a flag.
pub(super) fn adjusted(p: f64, tests: usize) -> Option<f64> {
    let adjusted = (p * tests as f64).min(1.0);
    (adjusted < LEVEL).then_some(adjusted)
}

// Conditions whose runs all gave the same value, which no measurement does. Without a test, and
// without a false alarm in continuous data.

/// One flag for all conditions together if none varies, otherwise one for each that does not.
fn conditions(campaign: &CampaignValues) -> Vec<Flag> {
    let is_constant = |condition: &&ConditionValues| {
        let mut values = campaign.cells_of(condition).iter().flat_map(|cell| campaign.values(cell));
        let first = values.next();
        // A single run cannot vary.
        condition.runs > 1 && values.all(|value| Some(value) == first)
    };
    let constant: Vec<&ConditionValues> = campaign.conditions.iter().filter(is_constant).collect();
    let flag = |runs: usize| Flag::new(FlagKind::Constant, runs as f64, 0.0, 0.0);
    if constant.len() > 1 && constant.len() == campaign.conditions.len() {
        return vec![flag(constant.iter().map(|condition| condition.runs).sum())];
    }
    constant.into_iter().map(|condition| flag(condition.runs).in_condition(condition.number)).collect()
}
