//! The pages of conditions that took turns, and of those that were to.

#![expect(clippy::unwrap_used, reason = "a test panics where it fails")]

mod shown;
mod stored;

use netassay_report::Layout;
use netassay_report::document::terminal;
use netassay_report::views;
use record::{CountedTurn, Detail, Response, Turns, sample};
use results::{ComparisonRequest, Comparisons, Results};
use shown::Shown as _;
use std::collections::BTreeMap;
use store::{RunStatus, StoredRun, StoredStudy};
use study::{Effective, Settled, Study};

const BOOTS: u32 = 6;

/// A study of two conditions in turns, of which the second is slower; `left`: what each of its
/// turns has of a turn of the other one, as a share.
fn taken(factor: &str, left: f64) -> StoredStudy {
    let text = format!(
        "name = \"made\"\nquestion = \"q\"\nscenario = \"veth\"\n[[workload]]\nkind = \"udp_stream\"\n\
         [factors]\n{factor}\n[protocol]\nboots = {BOOTS}\nruns = 1\nalternate = \"100ms\"\n"
    );
    let study = Study::parse("made", &text).unwrap();
    let run = |(id, (boot, own)): (i64, (u32, u8))| {
        let rate = 1000.0 - 100.0 * f64::from(own) + f64::from(boot * 7 % 5);
        let metrics = BTreeMap::from([("throughput".to_owned(), rate)]);
        let counted = |after: u8| {
            let more = if after == own { 0.0 } else { left * f64::from(own) };
            let work = (rate * 1000.0 * (1.0 + more)) as u64 + u64::from(boot % 3);
            CountedTurn { number: 1, after, ns: 80_000_000, work }
        };
        let mut account = sample::account();
        account.turns = Some(Turns {
            turn_ns: 100_000_000,
            settle_ns: 20_000_000,
            own,
            turns: vec![counted(0), counted(1)],
            response: Response::default(),
            from_others: 0,
        });
        let detail = Detail::Measured(Box::new(account));
        StoredRun { detail, ..stored::run(id, boot, 1, own.into(), metrics) }
    };
    let runs = (0..).zip((1..=BOOTS).flat_map(|boot| [(boot, 0), (boot, 1)])).map(run).collect();
    stored::complete(&study, study.plan(), BOOTS, runs)
}

fn page(stored: &StoredStudy) -> String {
    Results::new(stored).unwrap().text(Layout::WIDE)
}

#[test]
fn what_turns_of_others_last_into_is_not_answered() {
    let settled = page(&taken("tso = [\"on\", \"off\"]", 0.0));
    assert!(settled.contains("throughput is 10.0 % lower (slower) with tso=off"), "{settled}");
    let stored = taken("tso = [\"on\", \"off\"]", 0.05);
    let carried = page(&stored);
    let why = "turns of others last into its own or the baseline's: `alternate = \"off\"` gives each condition runs of its own";
    let unjudged = format!("no difference in throughput can be judged for tso=off ({why})");
    assert!(carried.contains(&unjudged), "{carried}");
    assert!(!carried.contains("lower (slower)") && !carried.contains("remove `alternate`"), "{carried}");
    assert!(carried.contains("nothing is concluded from its turns; `alternate = \"off\"`"), "{carried}");
    let compared = Comparisons::new(&stored, &ComparisonRequest::default()).unwrap();
    let compared = compared.text(Layout::WIDE);
    assert!(compared.contains(why), "{compared}");
}

/// Conditions without turns because nothing was measured are not to blame for it.
#[test]
fn notes_say_why_there_were_no_turns_only_where_runs_count() {
    let measured = taken("tso = [\"on\", \"off\"]", 0.0);
    let with = |status: RunStatus, detail: Option<Detail>| {
        let mut stored = measured.clone();
        for run in &mut stored.runs {
            run.status = status;
            run.reason = Some("other programs took the CPUs".to_owned());
            run.detail = detail.clone().unwrap_or_else(|| run.detail.clone());
        }
        page(&stored)
    };
    let own = "12 runs of conditions that were to take turns had flows of their own";
    for (status, detail, took, apart) in [
        (RunStatus::Ok, None, true, false),
        (RunStatus::Ok, Some(Detail::Nothing), false, true),
        (RunStatus::Invalid, None, false, false),
        (RunStatus::Failed, Some(Detail::Nothing), false, false),
    ] {
        let page = with(status, detail);
        assert_eq!((page.contains("took turns of 100 ms"), page.contains(own)), (took, apart), "{page}");
        assert!(!page.contains("though some could have"), "{page}");
    }
}

/// The settings of sockets are no state of an interface.
#[test]
fn settings_of_traffic_are_not_said_to_be_those_of_another_condition() {
    let state = |gro: bool| Settled {
        mtu: 1500,
        active: BTreeMap::from([("rx-gro".to_owned(), gro)]),
        refused: BTreeMap::new(),
        follow_on: BTreeMap::new(),
        device: BTreeMap::new(),
        tuning: BTreeMap::new(),
    };
    let effective = |gro| Effective {
        transmitter: state(true),
        receiver: Some(state(gro)),
        underlay: None,
        fragments: None,
    };
    for (factor, gro, second) in [
        ("dscp = [0, 8]", true, "interfaces as dscp=0; traffic with dscp=8\n"),
        ("checksum = [\"on\", \"off\"]", true, "interfaces as checksum=on; traffic with checksum=off\n"),
        ("gro = [\"on\", \"off\"]", false, "receiver: off rx-gro\n"),
    ] {
        let mut stored = taken(factor, 0.0);
        stored.plan.effective = vec![effective(true), effective(gro)];
        let states = views::switch_states(&Results::new(&stored).unwrap()).unwrap();
        let proof = terminal(&[states], Layout::WIDE);
        assert!(proof.contains(second), "{factor}: {proof}");
    }
}
