//! A first run that differs from the rest: caches, neighbours and frequencies that a longer warm-up
//! would have settled.

use super::campaign::CampaignValues;
use super::flag::{Flag, FlagKind};
use super::level::adjusted;
use crate::distribution::student;
use crate::observed::{mean, squares};

/// The first recorded run of each condition in each boot less the mean of its others there, which
/// removes the boot's own effect, in units of the spread between runs: Student's t over all these
/// differences.
pub(super) fn unlike(campaign: &CampaignValues) -> Option<Flag> {
    let mut differences = Vec::new();
    for condition in &campaign.conditions {
        let Some(scale) = condition.scale else { continue };
        for cell in campaign.cells_of(condition).iter().filter(|cell| cell.count() > 1) {
            let n = cell.count() as f64;
            let first = campaign.values(cell)[0];
            // first - mean of the others = (first - mean of all) n / (n - 1), with variance n /
            // (n - 1) of a run's.
            differences.push((first - cell.mean) * (n / (n - 1.0)).sqrt() / scale);
        }
    }
    let df = differences.len().checked_sub(1).filter(|df| *df > 0)? as f64;
    let centre = mean(&differences);
    let error = squares(&differences, centre).root_over(df * (df + 1.0)).max(centre.abs() * f64::EPSILON);
    let t = centre / error;
    let p = adjusted(student::two_sided(t, df), 1)?;
    Some(Flag::new(FlagKind::FirstRun, t, p, centre))
}
