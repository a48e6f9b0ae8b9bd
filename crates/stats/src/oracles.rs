//! The reference values of `tests/fixtures/oracles.py`, for the tests.

use std::sync::LazyLock;

use serde::Deserialize;

#[derive(Deserialize)]
pub(crate) struct Oracles {
    /// p, degrees of freedom (none: infinite), quantile.
    pub(crate) quantiles: Vec<(f64, Option<f64>, f64)>,
    pub(crate) summaries: Vec<SummaryOracle>,
    pub(crate) comparisons: Vec<ComparisonOracle>,
}

#[derive(Deserialize)]
pub(crate) struct SummaryOracle {
    pub(crate) values: Vec<f64>,
    pub(crate) median: f64,
    pub(crate) mean: f64,
    pub(crate) sd: f64,
}

#[derive(Deserialize)]
pub(crate) struct ComparisonOracle {
    pub(crate) name: String,
    pub(crate) level: f64,
    pub(crate) treated: Vec<f64>,
    pub(crate) baseline: Vec<f64>,
    pub(crate) difference: f64,
    pub(crate) interval: (f64, f64),
    pub(crate) p: f64,
    pub(crate) relative_interval: Option<(f64, f64)>,
}

pub(crate) fn oracles() -> &'static Oracles {
    static ORACLES: LazyLock<Oracles> = LazyLock::new(|| {
        serde_json::from_str(include_str!("../tests/fixtures/oracles.json")).expect("oracles.py wrote it")
    });
    &ORACLES
}

pub(crate) fn is_close(one: f64, other: f64, relative: f64) -> bool {
    (one - other).abs() <= relative * one.abs().max(other.abs())
}
