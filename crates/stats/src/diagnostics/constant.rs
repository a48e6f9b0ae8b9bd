//! Conditions whose runs all gave the same value, which no measurement does. Without a test, and
//! without a false alarm in continuous data.

use super::campaign::{CampaignValues, ConditionValues};
use super::flag::{Flag, FlagKind};

/// One flag for all conditions together if none varies, otherwise one for each that does not. A
/// single run cannot vary.
pub(super) fn conditions(campaign: &CampaignValues) -> Vec<Flag> {
    let constant: Vec<&ConditionValues> =
        campaign.conditions.iter().filter(|condition| is_constant(campaign, condition)).collect();
    let flag = |runs: usize| Flag::new(FlagKind::Constant, runs as f64, 0.0, 0.0);
    if constant.len() > 1 && constant.len() == campaign.conditions.len() {
        return vec![flag(constant.iter().map(|condition| condition.runs).sum())];
    }
    constant.into_iter().map(|condition| flag(condition.runs).in_condition(condition.number)).collect()
}

fn is_constant(campaign: &CampaignValues, condition: &ConditionValues) -> bool {
    let mut values = campaign.cells_of(condition).iter().flat_map(|cell| campaign.values(cell));
    let first = values.next();
    condition.runs > 1 && values.all(|value| Some(value) == first)
}
