//! Whatever was recorded, figures can be drawn.

use netassay_report::chart::{NARROW, WIDE};
use netassay_report::figures;
use proptest::prelude::*;
use store::{RunStatus, StoredStudy};
use study::DesignKind;

use crate::faults::faults;
use crate::made::{design, stored, study};
use crate::made_up::{large, shown};

/// A value that a counter may give.
fn value() -> impl Strategy<Value = f64> {
    prop_oneof![
        2 => Just(0.0),
        3 => (-12.0..300.0_f64).prop_map(|exponent| 10.0_f64.powf(exponent)),
        4 => 5_700.0..6_000.0_f64,
        2 => Just(5_817.0),
    ]
}

/// Every metric of a study has these values in turn.
fn with(factors: &str, kind: Option<DesignKind>, values: &[f64]) -> StoredStudy {
    let (study, mut plan) = study(factors);
    if let Some(kind) = kind {
        design(&mut plan, kind, &["tso", "gso"], |_| true);
    }
    let traffic = plan.conditions[0].workload.traffic.kind;
    let metrics: Vec<&'static str> =
        study::metric::METRICS.iter().filter(|one| traffic.produces(**one)).map(|one| one.key).collect();
    let mut next = 0;
    let next = std::cell::RefCell::new(&mut next);
    stored(&study, &plan, |_, _, _| {
        let mut next = next.borrow_mut();
        metrics
            .iter()
            .map(|key| {
                **next += 1;
                (*key, values[**next % values.len()])
            })
            .collect()
    })
}

fn check(stored: &StoredStudy) -> Result<(), TestCaseError> {
    let Ok(results) = results::Results::new(stored) else { return Ok(()) };
    let sections = figures::sections(&[results]);
    for figure in sections.iter().flat_map(|section| section.figures.iter().chain(&section.folded)) {
        prop_assert!(!figure.html().as_str().contains("NaN"), "{}", figure.id);
        for width in [NARROW, WIDE] {
            prop_assert_eq!(faults(figure, width), Vec::<String>::new());
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn any_values_and_any_missing_runs_are_drawn(
        values in prop::collection::vec(value(), 1..40),
        kind in prop_oneof![
            Just(None),
            Just(Some(DesignKind::Factorial)),
            Just(Some(DesignKind::Fractional)),
            Just(Some(DesignKind::Ladder)),
        ],
        lost in prop::collection::vec(prop::bool::weighted(0.3), 24),
    ) {
        let mut stored = with("tso = [\"on\", \"off\"]\ngso = [\"on\", \"off\"]", kind, &values);
        for (run, lost) in stored.runs.iter_mut().zip(lost) {
            if lost {
                run.status = RunStatus::Invalid;
            }
        }
        check(&stored)?;
    }
}

#[test]
fn odd_studies_are_drawn() {
    let whole = with("family = [\"ipv4\", \"ipv6\"]", None, &[5_800.0, 5_900.0, 6_100.0]);
    // The baseline has no run, one condition has none, one boot, one run, none at all.
    let kept: [fn(&store::StoredRun) -> bool; 5] = [
        |run| run.condition != 0,
        |run| run.condition == 0,
        |run| run.boot == 1,
        |run| run.id.0 == 3,
        |_| false,
    ];
    for keep in kept {
        let mut stored = whole.clone();
        stored.runs.retain(keep);
        check(&stored).unwrap();
    }
    // Without boots, without comparisons, all equal.
    let mut bare = whole.clone();
    bare.boots.clear();
    bare.plan.comparisons.clear();
    check(&bare).unwrap();
    check(&with("family = [\"ipv4\", \"ipv6\"]", None, &[7.0])).unwrap();
    assert!(!figures::sections(&[shown(&large(40, 1, 1))]).is_empty());
}
