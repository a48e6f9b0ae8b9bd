//! What differs in a stored study, and how sure that is.

use serde::Serialize;
use store::StoredStudy;

use crate::error::Error;
use crate::group::{Group, group};
use crate::metric::plan_of;
use crate::target::{ComparisonRequest, targets};

/// All comparisons of a stored study.
#[derive(Debug, Serialize)]
pub struct Comparisons {
    study: i64,
    name: String,
    confidence: f64,
    groups: Vec<Group>,
}

impl Comparisons {
    /// Compares as asked.
    ///
    /// # Errors
    /// [`Error`] for a metric or condition that is not there, and when nothing was recorded.
    pub fn new(stored: &StoredStudy, request: &ComparisonRequest) -> Result<Self, Error> {
        let plan = plan_of(stored)?;
        let groups = targets(stored, &plan, request)?
            .iter()
            .map(|target| group(stored, &plan, target, request.confidence))
            .collect::<Result<_, _>>()?;
        Ok(Self {
            study: stored.row.id.0,
            name: stored.row.name.clone(),
            confidence: request.confidence,
            groups,
        })
    }

    /// The comparisons for people.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = format!("study {} ({})\n", self.study, self.name);
        for group in &self.groups {
            text.push_str(&format!("\n{}\n", group.table(self.confidence)));
            for row in &group.rows {
                text.push_str(&format!("{}.\n", row.sentence));
            }
        }
        text.push_str(
            "\nMeans of boot means; intervals from how boots treat the conditions: the boot is the unit of replication.\n",
        );
        text
    }
}
