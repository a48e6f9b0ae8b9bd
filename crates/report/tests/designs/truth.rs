//! The notes of tables on the kind of their figures, and on switches that do not do what they read
//! back.

use netassay_report::Layout;
use netassay_report::document::terminal;
use netassay_report::views;
use record::sample;
use results::{ComparisonRequest, Comparisons, Results};
use serde_json::json;
use store::StoredStudy;
use study::{Condition, DesignKind};

use crate::made::{design, is_on, level, stored, study, wobble};
use crate::shown::Shown as _;

const SWITCHES: &str = "tso = [\"on\", \"off\"]\ngro = [\"on\", \"off\"]";

fn page(stored: &StoredStudy) -> String {
    Results::new(stored).unwrap().text(Layout::WIDE)
}

fn compared(stored: &StoredStudy) -> String {
    Comparisons::new(stored, &ComparisonRequest::default()).unwrap().text(Layout::WIDE)
}

/// The kernel's counters if the switches act: TSO leaves 30 segments in a buffer; without it
/// packets come in one by one, and GRO makes batches of 20.
fn counted(condition: &Condition) -> Vec<(&'static str, f64)> {
    let (tso, gro) = (is_on(condition, "tso"), is_on(condition, "gro"));
    let packets = if tso { 1000.0 } else { 30_000.0 };
    vec![
        ("throughput", 1000.0),
        ("transmitter.segments", 30_000.0),
        ("transmitter.wire_packets", packets),
        ("transmitter.segments_per_wire_packet", 30_000.0 / packets),
        ("receiver.wire_packets", packets),
        ("receiver.segments", if tso || !gro { packets } else { 1500.0 }),
        ("receiver.bytes_per_wire_packet", if tso { 43_000.0 } else { 1514.0 }),
    ]
}

/// A study of both switches whose states read back as asked.
fn acted(values: impl Fn(&Condition) -> Vec<(&'static str, f64)>) -> StoredStudy {
    let (study, plan) = study(SWITCHES);
    let side = |condition: &Condition| {
        json!({
            "mtu": 1500,
            "active": {
                "tx-tcp-segmentation": is_on(condition, "tso"),
                "rx-gro": is_on(condition, "gro"),
                "tx-checksum-ip-generic": is_on(condition, "tso"),
            },
            "refused": {},
            "follow_on": {},
        })
    };
    let state = |condition: &Condition| json!({"transmitter": side(condition), "receiver": side(condition)});
    let effective =
        plan.conditions.iter().map(|condition| serde_json::from_value(state(condition)).unwrap()).collect();
    let mut stored = stored(&study, &plan, |condition, _, _| values(condition));
    stored.plan.effective = effective;
    stored
}

#[test]
fn what_acted_stands_in_each_row() {
    let stored = acted(counted);
    let results = Results::new(&stored).unwrap();
    insta::assert_snapshot!("acted", terminal(&views::evidence(&results), Layout::WIDE));
    assert!(!page(&stored).contains("reads back"), "{}", page(&stored));
    let json = serde_json::to_value(&results).unwrap();
    assert_eq!(json["conditions"][2]["acted"]["packets_per_batch"], 20.0);
    assert_eq!(json["conditions"][2]["acted"]["checksum"], "stack");
}

#[test]
fn a_switch_that_does_not_do_what_it_reads_back_is_flagged() {
    // The counters of the opposite of what was asked.
    let opposite = |condition: &Condition| {
        let mut other = condition.clone();
        for (_, level) in &mut other.levels {
            *level = if level == "on" { "off".to_owned() } else { "on".to_owned() };
        }
        counted(&other)
    };
    let text = page(&acted(opposite));
    for flag in [
        "Flag: tso=on gro=off: TSO reads back on at the transmitter, but each buffer passed to its interface held one segment (1.000): TSO did not act.",
        "Flag: tso=off gro=on: TSO reads back off at the transmitter, but each buffer passed to its interface held 30.00 segments.",
        "Flag: tso=on gro=on: GRO reads back on at the receiver, and packets reached both it and TCP one by one (1.000 a batch): GRO did not act.",
        "Flag: tso=on gro=off: GRO reads back off at the receiver, but TCP received batches of 20.00 packets.",
    ] {
        assert!(text.contains(flag), "{flag}\nnot in\n{text}");
    }
    // Without --wide once for each switch and what it reads back, with the number of others.
    let brief = Results::new(&acted(opposite)).unwrap().text(Layout::PLAIN);
    assert_eq!(brief.matches("Flag: ").count(), 4, "{brief}");
    assert!(brief.contains("held 30.00 segments; the same in 1 other condition."), "{brief}");
}

#[test]
fn with_a_tunnel_the_underlay_counts() {
    let results = Results::new(&acted(|condition| {
        let mut values = counted(condition);
        values.push(("transmitter.segments_per_underlay_packet", 1.0));
        values.push(("receiver.underlay_packets", 30_000.0));
        values.push(("receiver.bytes_per_underlay_packet", 1514.0));
        values
    }))
    .unwrap();
    let text = terminal(&views::evidence(&results), Layout::WIDE);
    let row =
        text.lines().find(|line| line.starts_with("tso=on gro=on") && line.ends_with("device")).unwrap();
    let cells: Vec<&str> = row.split_whitespace().collect();
    assert_eq!(cells[2..], ["30.00", "1.000", "30.00", "device"], "{text}");
}

#[test]
fn rates_under_emulation_say_so_at_every_table() {
    let (study, mut plan) = study(SWITCHES);
    design(&mut plan, DesignKind::Factorial, &["tso", "gro"], |_| true);
    plan.comparisons = study.plan().comparisons;
    let values = |condition: &Condition, boot: u32, repeat: u32| {
        vec![("throughput", 500.0 + wobble(boot, repeat, condition.index))]
    };
    let mut stored = stored(&study, &plan, values);
    let said = |stored: &StoredStudy, page: fn(&StoredStudy) -> String| {
        page(stored)
            .matches("(measured under emulation: rates compare with each other, not with those of hardware)")
            .count()
    };
    assert_eq!((said(&stored, page), said(&stored, compared)), (0, 0));
    let inside = |emulated: bool| {
        let guest = ("transmitter".to_owned(), sample::guest_environment(emulated));
        Some([guest].into())
    };
    stored.boots[1].environment.guests = inside(false);
    assert_eq!(said(&stored, page), 0);
    stored.boots[2].environment.guests = inside(true);
    // The table of conditions, that of means and two of the credit; in compare none of means.
    assert_eq!((said(&stored, page), said(&stored, compared)), (4, 3));
}

#[test]
fn exact_mode_judges_by_its_resolution_and_says_what_it_does_not_see() {
    let (study, mut plan) = study(SWITCHES);
    plan.exact = true;
    let values = |condition: &Condition, _: u32, _: u32| {
        let per = match (level(condition, "tso"), level(condition, "gro")) {
            ("on", "on") => 1.0,
            ("on", _) => 1.000_5,
            (_, "on") => 1.02,
            _ => 0.7,
        };
        vec![
            ("instructions_byte", 4.0 * per),
            ("user_instructions_byte", 1.0),
            ("kernel_instructions_byte", 4.0 * per - 1.0),
        ]
    };
    let mut stored = stored(&study, &plan, values);
    stored.runs.retain(|run| run.boot == 1);
    stored.boots.truncate(1);
    insta::assert_snapshot!("exact", page(&stored));
    insta::assert_snapshot!("exact_compare", compared(&stored));
    // What does not repeat to the resolution has no verdict, and that is said before all else.
    let baseline = stored.runs.iter().position(|run| run.condition == 0 && !run.warmup).unwrap();
    stored.runs[baseline].metrics.insert(study::metric::INSTRUCTIONS_BYTE.kernel, 4.5);
    for text in [page(&stored), compared(&stored)] {
        let first = text.lines().nth(2).unwrap();
        assert!(
            first.starts_with(
                "Warning: No verdict: kernel instructions per byte of tso=on gro=on do not repeat"
            ),
            "{text}"
        );
        assert!(first.contains("3.000 in boot 1, 4.500 in boot 1, 50.0 % apart"), "{text}");
    }
    let json = serde_json::to_value(Results::new(&stored).unwrap()).unwrap();
    for row in json["comparisons"][0]["rows"].as_array().unwrap() {
        assert_eq!(row["verdict"], "inconclusive", "{row}");
    }
    // The whole, where it is asked for, has the loops of the program in it.
    stored.boots[0].environment.receiver.as_mut().unwrap().netassay = "0.2.0".to_owned();
    let whole =
        ComparisonRequest { metric: Some(study::metric::INSTRUCTIONS_BYTE.all), ..ComparisonRequest::default() };
    let text = Comparisons::new(&stored, &whole).unwrap().text(Layout::PLAIN);
    assert!(text.contains("different builds of netassay made the traffic (0.1.0; 0.2.0)"), "{text}");
    assert!(!compared(&stored).contains("different builds"));
}

#[test]
fn conditions_of_different_states_say_how_they_are_compared() {
    let (study, mut plan) = study("family = [\"ipv4\", \"ipv6\"]\ntso = [\"on\", \"off\"]");
    for condition in &mut plan.conditions {
        let kernel = if level(condition, "family") == "ipv6" { "b" } else { "a" };
        condition.boot.guest =
            Some(study::Guest { kernel: Some(kernel.to_owned()), ..study::Guest::default() });
    }
    assert_eq!(plan.states().len(), 2);
    let values = |condition: &Condition, boot: u32, repeat: u32| {
        vec![("throughput", 500.0 + 5.0 * wobble(boot, 0, 0) + wobble(boot, repeat, condition.index))]
    };
    let stored = stored(&study, &plan, values);
    assert_eq!(stored.boots.len(), 6);
    insta::assert_snapshot!("states", compared(&stored));
}

#[test]
fn an_answer_that_depends_on_how_copies_are_counted_says_so_with_both() {
    let text = "name = \"made\"\nquestion = \"q\"\nscenario = \"veth\"\nexact = true\n[[workload]]\nkind = \"udp_stream\"\n\
                [factors]\ncopies = [\"words\", \"bytes\"]\nkernel = [\"old\", \"new\", \"alike\"]\n[protocol]\nboots = 1\nruns = 1\n";
    let study = study::Study::parse("made", text).unwrap();
    let stored = stored(&study, &study.plan(), |condition, _, _| {
        let count = match (level(condition, "copies"), level(condition, "kernel")) {
            ("words", "new") => 10_100.0,
            ("bytes", "new") => 10_200.0,
            ("words", _) => 10_000.0,
            _ => 12_000.0,
        };
        vec![("kernel_instructions_packet", count)]
    });
    let text = page(&stored);
    for said in [
        "Copies: kernel=new: the answer DEPENDS on how copies are counted: +1.0 % (higher) with copies by the word, -15.0 % (lower) by the byte.",
        "Copies: kernel=alike: the answer is the same: 0.0 % (equivalent) with copies by the word, 0.0 % (equivalent) by the byte.",
        "against copies=words kernel=old",
        "against copies=bytes kernel=old",
        "as each condition says",
    ] {
        assert!(text.contains(said), "{said}\nnot in\n{text}");
    }
    assert!(!text.contains("not measured"), "{text}");
    let text = compared(&stored);
    for said in ["in loops or by rep movsq", "each byte counts as an instruction"] {
        assert_eq!(text.matches(said).count(), 1, "{text}");
    }
}
