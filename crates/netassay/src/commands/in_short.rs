//! The recommendations at the end of a page.

use advice::{Advice, Request};
use store::StoredStudy;

use crate::failure::Failure;

/// The recommendations in short, for the end of the page of a study with a design; empty for
/// others.
pub(crate) fn in_short(stored: &StoredStudy, layout: report::Layout) -> Result<String, Failure> {
    if stored.plan.design.is_none() {
        return Ok(String::new());
    }
    let advice = Advice::of([stored], &Request::default())?;
    if !advice.has_switches() {
        return Ok(String::new());
    }
    let more = format!("netassay advise {}", stored.row.id.0);
    Ok(format!("{}Intervals, costs and commands: {more}\n", advice.table(layout)))
}
