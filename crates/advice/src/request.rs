//! The request for advice.

use study::Percent;

use crate::goal::Goal;

/// The request for advice: goals and thresholds.
#[derive(Debug, Clone)]
pub struct Request {
    /// The goals, in order; empty: all that the studies measured.
    pub goals: Vec<Goal>,
    /// The confidence of all that is proven in one study together, as a probability.
    pub confidence: f64,
    /// The smallest difference that matters, in % of its base.
    pub matters: Percent,
}

impl Request {
    /// The smallest difference that matters, unless a request says otherwise: 2 %.
    #[must_use]
    pub fn default_matters() -> Percent {
        Percent::parse("2%").unwrap_or(Percent::LEAST)
    }
}

impl Default for Request {
    fn default() -> Self {
        Self { goals: Vec::new(), confidence: 0.95, matters: Self::default_matters() }
    }
}
