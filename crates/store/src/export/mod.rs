//! A stored study in other programs' formats (ministat, CSV, JSON), and its counters over time as
//! CSV.
//!
//! The caller gives a function from a metric's key to its unit: this crate knows no metric.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde_json::{Value, json};

use crate::stored::{StoredRun, StoredStudy};

mod csv;
mod packed;
mod series;
mod stat;

pub use csv::csv;
pub use packed::{Packed, PackedMetric, packed};
pub use series::series;
pub use stat::{StatFile, stat};

/// The study as one object: `study` (the row), `plan`, `boots`, `runs`, and `units` by metric key.
pub fn json(study: &StoredStudy, unit: impl Fn(&str) -> Option<&'static str>) -> Value {
    let units = units(study, &unit);
    json!({
        "study": study.row,
        "plan": study.plan,
        "boots": study.boots,
        "runs": study.runs,
        "units": units,
    })
}

/// The units of the metrics that a study's runs have, by key.
fn units<'a>(
    study: &'a StoredStudy,
    unit: &impl Fn(&str) -> Option<&'static str>,
) -> BTreeMap<&'a str, &'static str> {
    keys(study).into_iter().filter_map(|metric| Some((metric, unit(metric)?))).collect()
}

/// The metrics that any run of a study has, by key. Runs mostly have the same ones.
fn keys(study: &StoredStudy) -> BTreeSet<&str> {
    let mut keys = BTreeSet::new();
    let mut before: Option<&StoredRun> = None;
    for run in &study.runs {
        if before.is_none_or(|before| !before.metrics.has_keys_of(&run.metrics)) {
            keys.extend(run.metrics.keys());
        }
        before = Some(run);
    }
    keys
}

/// A number as the shortest decimal that reads back as the same number, with an exponent only if a
/// plain decimal is long.
struct Number(f64);

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(value) = self;
        let magnitude = value.abs();
        if magnitude != 0.0 && !(1e-5..1e16).contains(&magnitude) {
            write!(f, "{value:e}")
        } else {
            write!(f, "{value}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Number;
    use proptest::prelude::*;

    #[test]
    fn numbers_are_short() {
        for (value, text) in
            [(0.0, "0"), (12.5, "12.5"), (9.4e9, "9400000000"), (1e300, "1e300"), (3e-9, "3e-9")]
        {
            assert_eq!(Number(value).to_string(), text);
        }
    }

    proptest! {
        #[test]
        fn numbers_read_back(value in proptest::num::f64::NORMAL | proptest::num::f64::SUBNORMAL) {
            prop_assert_eq!(Number(value).to_string().parse::<f64>().unwrap(), value);
        }
    }
}
