//! The runs of a boot.

use crate::finite::Finite;

/// The runs of a condition in one boot.
#[derive(Debug, Clone)]
pub struct Boot {
    /// The boot's name: the same one in every condition.
    pub name: String,
    /// The value of each run.
    pub runs: Vec<Finite>,
}

impl Boot {
    /// The mean of its runs; none without any.
    #[must_use]
    pub fn mean(&self) -> Option<Finite> {
        // Divided first, the sum of finite numbers cannot overflow.
        let count = self.runs.len() as f64;
        Finite::new(self.runs.iter().map(|run| run.value() / count).sum()).filter(|_| count > 0.0)
    }
}
