//! A figure that netassay has set itself.

use std::fmt;

use serde::Serialize;

/// On which side of its limit a figure must lie.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Bound {
    Under(f64),
    AtMost(f64),
    AtLeast(f64),
}

/// A figure that netassay has set itself.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Goal {
    what: String,
    figure: f64,
    bound: Bound,
    unit: &'static str,
    pub(crate) met: bool,
    /// Where the true figure lies with at least 95 %, if that is known.
    interval: Option<(f64, f64)>,
}

impl Goal {
    pub(crate) fn new(what: impl Into<String>, figure: f64, bound: Bound, unit: &'static str) -> Self {
        let met = match bound {
            Bound::Under(limit) => figure < limit,
            Bound::AtMost(limit) => figure <= limit,
            Bound::AtLeast(limit) => figure >= limit,
        };
        Self { what: what.into(), figure, bound, unit, met, interval: None }
    }

    /// A ratio that must reach a limit, both taken to two decimals: more is noise.
    pub(crate) fn ratio(what: impl Into<String>, figure: f64, limit: f64) -> Self {
        let met = (figure * 100.0).round() >= (limit * 100.0).round();
        Self { met, ..Self::new(what, figure, Bound::AtLeast(limit), "") }
    }

    /// The same goal, its figure known to lie there with at least 95 %.
    pub(crate) fn within(self, interval: Option<(f64, f64)>) -> Self {
        Self { interval, ..self }
    }
}

impl fmt::Display for Goal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { what, figure, .. } = self;
        let word = if self.met { "met   " } else { "MISSED" };
        let (bound, limit) = match self.bound {
            Bound::Under(limit) => ("under", limit),
            Bound::AtMost(limit) => ("at most", limit),
            Bound::AtLeast(limit) => ("at least", limit),
        };
        let unit = if self.unit.is_empty() { String::new() } else { format!(" {}", self.unit) };
        let Some((low, high)) = self.interval else {
            return write!(f, "goal {word}  {what}: {figure:.2}{unit} ({bound} {limit}{unit})");
        };
        // Without it nobody would know that another run may say otherwise.
        let holds = if (low..=high).contains(&limit) { ", which holds the limit" } else { "" };
        write!(
            f,
            "goal {word}  {what}: {figure:.3}{unit} ({bound} {limit}{unit}; 95 %: {low:.3} to {high:.3}{holds})"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn goals_are_met_or_missed() {
        let start = |figure| Goal::new("start", figure, Bound::Under(5.0), "ms");
        let exact = |figure| Goal::new("cpu", figure, Bound::AtMost(1.0), "").within(Some((0.9, 1.1)));
        for (goal, text) in [
            (start(4.99), "goal met     start: 4.99 ms (under 5 ms)"),
            (start(5.0), "goal MISSED  start: 5.00 ms (under 5 ms)"),
            (Goal::ratio("iperf3", 0.996, 1.0), "goal met     iperf3: 1.00 (at least 1)"),
            (Goal::ratio("iperf3", 0.99, 1.0), "goal MISSED  iperf3: 0.99 (at least 1)"),
            (exact(1.0), "goal met     cpu: 1.000 (at most 1; 95 %: 0.900 to 1.100, which holds the limit)"),
            (
                exact(1.001),
                "goal MISSED  cpu: 1.001 (at most 1; 95 %: 0.900 to 1.100, which holds the limit)",
            ),
        ] {
            assert_eq!(goal.to_string(), text);
        }
    }
}
