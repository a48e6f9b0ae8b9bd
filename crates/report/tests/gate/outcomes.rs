//! The outcomes of a gate and their words.

use crate::made_up::{between, judged, known, metrics, outcomes, outline, request, stored, study, two};
use netassay_report::Layout;
use netassay_report::document::{markdown, terminal};
use netassay_report::views;
use record::sample::account;
use record::{Cause, Detail, Disturbance};
use results::gate::{GateDecision, GateError, GateOutcome, GateRequest, InconclusiveReason, SettlingBoots};
use results::{Error, GateCases};
use serde_json::Value;
use store::{StoredStudy, StudyStatus};
use study::Study;

/// Runs that differ a little by boot and by run, in no pattern: about 0.5 % of the level.
fn level(condition: usize, boot: u32, run: u32) -> f64 {
    let wobble = f64::from((boot * 7 + run * 3 + condition as u32 * 5) % 11) - 5.0;
    1000.0 + 100.0 * condition as f64 + wobble
}

/// Two conditions whose throughput is changed by these factors.
fn changed(id: i64, factors: [f64; 2]) -> StoredStudy {
    stored(id, &two(), (5, 3), &["throughput"], |condition, boot, run| {
        factors[condition] * level(condition, boot, run)
    })
}

/// A study in exact mode whose count is this; each run repeats it.
fn counts(id: i64, value: impl Fn(u32) -> f64) -> StoredStudy {
    let exact =
        study("exact = true\n[[workload]]\nkind = \"udp_stream\"\nduration = \"50ms\"\nramp = \"20ms\"\n");
    let keys = ["instructions_packet", "kernel_instructions_packet"];
    stored(id, &exact, (5, 3), &keys, |_, boot, _| value(boot))
}

#[test]
fn a_bound_is_kept_broken_or_open() {
    let before = changed(1, [1.0, 1.0]);
    let asked = request(&["throughput < -2%"]);
    for (factors, each, gate) in [
        ([1.0, 1.0], ["pass", "pass"], GateOutcome::Pass),
        ([0.95, 1.0], ["fail", "pass"], GateOutcome::Fail),
        ([0.98, 1.0], ["inconclusive", "pass"], GateOutcome::Inconclusive),
        ([0.98, 0.9], ["inconclusive", "fail"], GateOutcome::Fail),
        ([1.05, 1.2], ["pass", "pass"], GateOutcome::Pass),
    ] {
        let found = judged(&before, &changed(2, factors), &asked);
        assert_eq!((outcomes(&found), found.outcome), (each.to_vec(), gate), "{factors:?}");
    }
}

#[test]
fn inconclusive_counts_as_asked_but_a_lack_of_runs_never_passes() {
    let (before, mut after) = (changed(1, [1.0, 1.0]), changed(2, [0.98, 1.0]));
    let with = |inconclusive, require_complete| GateRequest {
        inconclusive,
        require_complete,
        ..request(&["throughput < -2%"])
    };
    let all = [GateOutcome::Pass, GateOutcome::Fail, GateOutcome::Inconclusive];
    for outcome in all {
        assert_eq!(judged(&before, &after, &with(outcome, true)).outcome, outcome);
    }
    // The rest is shown; but one run of 30 is missing.
    after = changed(2, [1.0, 1.0]);
    (after.row.recorded_runs, after.row.status) = (29, StudyStatus::Interrupted);
    for (counts_as, complete, outcome) in [
        (GateOutcome::Pass, false, GateOutcome::Pass),
        (GateOutcome::Inconclusive, true, GateOutcome::Inconclusive),
        (GateOutcome::Pass, true, GateOutcome::Inconclusive),
        (GateOutcome::Fail, true, GateOutcome::Fail),
    ] {
        let gate = judged(&before, &after, &with(counts_as, complete));
        assert_eq!(gate.outcome, outcome, "{counts_as:?} {complete}");
        assert_eq!(gate.lacks, ["study 2 is interrupted: it has 29 of 30 planned runs"]);
    }
}

#[test]
fn a_condition_that_was_lost_or_not_measured_is_not_passed_over() {
    let before = changed(1, [1.0, 1.0]);
    let mut after = changed(2, [1.0, 1.0]);
    after.runs.retain(|run| run.condition == 0);
    let gate = judged(&before, &after, &request(&["throughput < -2%"]));
    assert_eq!((outcomes(&gate), gate.outcome), (vec!["pass", "inconclusive"], GateOutcome::Inconclusive));
    assert_eq!(
        gate.checks[1].open,
        Some(InconclusiveReason::NotMeasured("study 2 has no value of it".to_owned()))
    );
    // A study with fewer conditions.
    let one = study("[[workload]]\nkind = \"tcp_stream\"\n");
    let fewer = stored(2, &one, (5, 3), &["throughput"], level);
    let asked = GateRequest { require_complete: true, ..request(&["throughput < -2%"]) };
    let gate = judged(&before, &fewer, &asked);
    assert_eq!((outcomes(&gate), gate.outcome), (vec!["pass"], GateOutcome::Inconclusive));
    assert_eq!(gate.lacks, ["study 2 does not have the condition ipv6 of study 1"]);
    // One boot has no interval.
    let single = stored(2, &two(), (1, 3), &["throughput"], level);
    let gate = judged(&before, &single, &request(&["throughput < -2%"]));
    assert!(matches!(gate.checks[0].open, Some(InconclusiveReason::NoInterval(_))), "{:?}", gate.checks[0]);
}

#[test]
fn counts_are_judged_by_their_resolution() {
    let before = counts(1, |_| 10_000.0);
    for (count, outcome) in [
        (10_000.0, GateOutcome::Pass),
        (10_039.0, GateOutcome::Pass),
        (10_041.0, GateOutcome::Inconclusive),
        (10_059.0, GateOutcome::Inconclusive),
        (10_061.0, GateOutcome::Fail),
        (9_000.0, GateOutcome::Pass),
    ] {
        let gate = judged(&before, &counts(2, |_| count), &request(&["instructions_packet > +0.5%"]));
        assert_eq!(gate.outcome, outcome, "{count}");
        let absolute = judged(&before, &counts(2, |_| count), &request(&["instructions_packet > 50"]));
        assert_eq!(absolute.outcome, outcome, "{count} by 50 instructions");
    }
    let near = judged(&before, &counts(2, |_| 10_055.0), &request(&["instructions_packet > +0.5%"]));
    assert_eq!(near.checks[0].open, Some(InconclusiveReason::WithinResolution));
    let mut other = counts(2, |_| 10_000.0);
    other.boots.iter_mut().for_each(|boot| boot.environment.transmitter.netassay = "0.2.0".to_owned());
    for (bound, is_said) in
        [("instructions_packet > +0.5%", true), ("kernel_instructions_packet > +0.5%", false)]
    {
        let gate = judged(&before, &other, &request(&[bound]));
        assert_eq!(gate.differences[0].what, "netassay (transmitter)");
        assert_eq!(gate.notes[0].starts_with("different builds of netassay"), is_said, "{:?}", gate.notes);
    }
    // Counts that do not repeat show nothing.
    let odd = counts(2, |boot| 10_000.0 + 30.0 * f64::from(boot));
    let gate = judged(&before, &odd, &request(&["instructions_packet > +0.5%"]));
    assert!(matches!(gate.checks[0].open, Some(InconclusiveReason::NoInterval(_))), "{:?}", gate.checks[0]);
}

#[test]
fn what_cannot_be_judged_is_refused() {
    let (before, after) = (changed(1, [1.0, 1.0]), changed(2, [1.0, 1.0]));
    let refused = |before: &StoredStudy, after: &StoredStudy, bound: &str| {
        let asked = metrics(&request(&[bound]));
        GateCases::between(&outline(before), &outline(after), &asked).unwrap_err().to_string()
    };
    for (bound, words) in [
        ("transactions < -2%", "no condition that is compared gives transactions"),
        ("instructions_byte > +1%", "counted in exact mode only"),
    ] {
        let said = refused(&before, &after, bound);
        assert!(
            said.starts_with("study 2 cannot be compared with study 1") && said.contains(words),
            "{said}"
        );
    }
    let counted = counts(2, |_| 1.0);
    assert!(
        refused(&counts(1, |_| 1.0), &counted, "loss > 1points").contains("none of the counts of exact mode")
    );
    let one = [crate::made_up::metric("throughput")];
    assert!(matches!(GateCases::within(&after, "family=ipv9", &one), Err(Error::UnknownCondition { .. })));
    assert!(matches!(
        GateCases::within(&after, "family=ipv4", &[crate::made_up::metric("transactions")]),
        Err(Error::NothingToJudge { .. })
    ));
    let twice = request(&["throughput < -2%", "throughput < -3%"]);
    let gate = GateDecision::judge(between(&before, &after, &request(&["throughput < -2%"])), &twice);
    assert!(matches!(gate, Err(GateError::SameBound(..))));
}

#[test]
fn within_a_study_every_condition_has_the_baseline_that_is_like_it() {
    let four = study(
        "[[workload]]\nkind = \"tcp_stream\"\n[factors]\nfamily = [\"ipv4\", \"ipv6\"]\nmtu = [1500, 9000]\n",
    );
    let own = stored(1, &four, (5, 3), &["throughput"], level);
    let asked = request(&["throughput < -2%"]);
    let pairs = |word: &str| -> Vec<(String, String)> {
        let cases = GateCases::within(&own, word, &metrics(&asked)).unwrap();
        cases.all.into_iter().map(|case| (case.against, case.label)).collect()
    };
    let text = |pairs: &[(&str, &str)]| -> Vec<(String, String)> {
        pairs.iter().map(|(one, other)| ((*one).to_owned(), (*other).to_owned())).collect()
    };
    assert_eq!(
        pairs("mtu=9000"),
        text(&[("ipv4 mtu=9000", "ipv4 mtu=1500"), ("ipv6 mtu=9000", "ipv6 mtu=1500")])
    );
    assert_eq!(
        pairs("ipv4 mtu=1500"),
        text(&[
            ("ipv4 mtu=1500", "ipv4 mtu=9000"),
            ("ipv4 mtu=1500", "ipv6 mtu=1500"),
            ("ipv4 mtu=1500", "ipv6 mtu=9000"),
        ])
    );
}

#[test]
fn an_inconclusive_check_says_how_many_boots_would_settle_it() {
    let before = changed(1, [1.0, 1.0]);
    let boots = |factor: f64| {
        let gate = judged(&before, &changed(2, [factor, 1.0]), &request(&["throughput < -2%"]));
        match gate.checks[0].open {
            Some(InconclusiveReason::Includes { settled_by: Some(SettlingBoots::About(boots)) }) => boots,
            ref other => panic!("{factor}: {other:?}"),
        }
    };
    let (near, nearer) = (boots(0.9793), boots(0.9797));
    assert!(5 < near && near < nearer && nearer <= 1000, "{near} {nearer}");
    let gate = judged(&before, &changed(2, [0.98, 1.0]), &request(&["throughput < -2%"]));
    assert_eq!(
        gate.checks[0].open,
        Some(InconclusiveReason::Includes { settled_by: Some(SettlingBoots::TooMany) })
    );
}

#[test]
fn a_gate_says_that_disturbed_runs_count() {
    let asked = request(&["throughput < -2%"]);
    let [quiet, all, some] = [(1, 0), (2, usize::MAX), (3, 7)].map(|(id, disturbed)| {
        let mut stored = changed(id, [1.0, 1.0]);
        for run in stored.runs.iter_mut().take(disturbed) {
            run.detail = Detail::Measured(Box::new(account()));
            run.detail.disturb(vec![Disturbance { at: None, cause: Cause::ClockSource }]);
        }
        stored
    });
    let said = |study: i64, runs: &str| {
        format!(
            "{runs} of study {study} count though something disturbed them (--keep-disturbed), which may be the cause of a difference: `netassay show {study}` names it"
        )
    };
    let (of_all, of_some) = (said(2, "30 of the 30 runs"), said(3, "7 of the 30 runs"));
    assert_eq!(judged(&all, &some, &asked).notes, [of_all.clone(), of_some]);
    assert_eq!(judged(&quiet, &all, &asked).notes, std::slice::from_ref(&of_all));
    let within = GateCases::within(&all, "family=ipv4", &metrics(&asked)).unwrap();
    assert_eq!(within.notes, [of_all]);
    // Disturbed at every try: nothing counts.
    let mut none = changed(2, [1.0, 1.0]);
    none.runs.clear();
    (none.row.recorded_runs, none.row.invalid_runs) = (0, 9);
    let refused =
        GateCases::between(&outline(&quiet), &outline(&none), &metrics(&asked)).unwrap_err().to_string();
    assert!(refused.contains("every run of study 2 was disturbed"), "{refused}");
}

/// An acknowledgement of a regression of the first condition.
const KNOWN: &str = "[[acknowledged]]\ncondition = \"ipv4\"\nmetric = \"throughput\"\nbound = \"< -6%\"\nreason = \"mitigations | see <https://example.org>\"\nexpires = 2027-01-31\n";

#[test]
fn an_acknowledged_regression_passes_until_it_grows() {
    let before = changed(1, [1.0, 1.0]);
    let asked = GateRequest { acknowledged: known(KNOWN), ..request(&["throughput < -2%"]) };
    let at = |factor| judged(&before, &changed(2, [factor, 1.0]), &asked);
    assert_eq!((at(0.95).outcome, at(0.95).unused.len()), (GateOutcome::Pass, 0));
    assert_eq!(at(0.9).outcome, GateOutcome::Fail);
    // Not needed any more.
    let gate = at(1.0);
    assert_eq!((gate.outcome, gate.unused.len()), (GateOutcome::Pass, 1));
    let why = gate.unused[0].unused.as_deref().unwrap();
    assert!(why.contains("keeps the gate's own bound"), "{why}");
    for (from, to, why) in [
        ("\"ipv4\"", "\"ipv5\"", "no condition"),
        ("\"< -6%\"", "\"< -1%\"", "allows as much"),
        ("\"< -6%\"", "\"> 6%\"", "has no bound of throughput"),
        ("\"< -6%\"", "\"< -60Mbit/s\"", "as a difference"),
    ] {
        let asked = GateRequest { acknowledged: known(&KNOWN.replace(from, to)), ..asked.clone() };
        let gate = judged(&before, &changed(2, [0.95, 1.0]), &asked);
        assert_eq!((gate.outcome, gate.unused.len()), (GateOutcome::Fail, 1), "{to}");
        let unused = gate.unused[0].unused.as_deref().unwrap();
        assert!(unused.contains(why), "{unused}");
    }
}

/// A gate with each outcome, an acknowledgement, one without effect, and another kernel.
fn of_all_sorts() -> GateDecision {
    let five = study(
        "[[workload]]\nkind = \"tcp_stream\"\n[factors]\nfamily = [\"ipv4\", \"ipv6\"]\nmtu = [1500, 9000]\n",
    );
    let change = |factors: [f64; 4]| {
        move |condition: usize, boot, run| factors[condition] * level(condition, boot, run)
    };
    let before = stored(3, &five, (5, 3), &["throughput"], change([1.0; 4]));
    let mut after = stored(6, &five, (5, 3), &["throughput"], change([1.0, 0.9, 0.979, 0.95]));
    after.row.tags = vec!["new".to_owned()];
    (after.row.recorded_runs, after.row.status) = (59, StudyStatus::Interrupted);
    for boot in &mut after.boots {
        boot.environment.transmitter.kernel.release = Some("6.19".to_owned());
    }
    let entry = KNOWN.replace("\"ipv4\"", "\"ipv6 mtu=9000\"");
    let none = KNOWN.replace("\"ipv4\"", "\"ipv7\"");
    let asked = GateRequest {
        acknowledged: known(&format!("{entry}\n{none}")),
        require_complete: true,
        ..request(&["throughput < -2%", "throughput < -300Mbit/s"])
    };
    judged(&before, &after, &asked)
}

#[test]
fn each_format_tells_the_same() {
    let gate = of_all_sorts();
    insta::assert_snapshot!("all_sorts", Layout::PLAIN.wrap(&terminal(&views::gate(&gate), Layout::PLAIN)));
    insta::assert_snapshot!("all_sorts_wide", terminal(&views::gate(&gate), Layout::WIDE));
    insta::assert_snapshot!("all_sorts_markdown", markdown(&views::gate(&gate)));
    insta::assert_snapshot!("all_sorts_junit", views::gate_junit(&gate).replace("><", ">\n<"));
    let json: Value = serde_json::to_value(&gate).unwrap();
    assert_eq!(json["outcome"], "fail");
    assert_eq!(json["checks"].as_array().unwrap().len(), 8);
    assert_eq!(json["checks"][0]["bound"], "throughput < -2%");
}

#[test]
fn counts_and_a_gate_within_a_study_are_told_as_what_they_are() {
    let asked = request(&["instructions_packet > +0.5%"]);
    let gate = judged(&counts(1, |_| 10_000.0), &counts(2, |_| 10_055.0), &asked);
    insta::assert_snapshot!("counts", Layout::PLAIN.wrap(&terminal(&views::gate(&gate), Layout::WIDE)));
    let asked = request(&["throughput < -2%"]);
    let own: Study = two();
    let own = stored(1, &own, (5, 3), &["throughput"], |condition, boot, run| {
        level(0, boot, run) * if condition == 1 { 0.97 } else { 1.0 }
            + f64::from((boot * run + condition as u32) % 3)
    });
    let cases = GateCases::within(&own, "family=ipv4", &metrics(&asked)).unwrap();
    let gate = GateDecision::judge(cases, &asked).unwrap();
    insta::assert_snapshot!("within", Layout::PLAIN.wrap(&terminal(&views::gate(&gate), Layout::PLAIN)));
}

/// The example that users copy.
#[test]
fn the_example_of_acknowledgements_is_one() {
    known(include_str!("../../../../docs/ci/known-regressions.toml"));
}
