use proptest::prelude::*;
use study::metric::METRICS;

use super::*;

fn read(text: &str) -> Bound {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

#[test]
fn bounds_are_shares_of_the_baseline_or_differences() {
    for (text, key, fails_above, limit, shown) in [
        ("throughput < -2%", "throughput", false, (-2.0, true), "throughput < -2%"),
        (
            "instructions_packet>+0.5 %",
            "instructions_packet",
            true,
            (0.5, true),
            "instructions_packet > +0.5%",
        ),
        ("latency_p99 > +20us", "latency_p99", true, (20_000.0, false), "latency_p99 > +20us"),
        ("latency_p99 > 1.5 ms", "latency_p99", true, (1.5e6, false), "latency_p99 > +1.5ms"),
        ("throughput < -1 Gbit/s", "throughput", false, (-1000.0, false), "throughput < -1Gbit/s"),
        ("cpu > 3 points", "transmitter.cpu", true, (3.0, false), "transmitter.cpu > +3points"),
        ("transactions < -100/s", "transactions", false, (-100.0, false), "transactions < -100/s"),
        ("receiver.drops > 0", "receiver.drops", true, (0.0, false), "receiver.drops > 0"),
        ("throughput < -0%", "throughput", false, (0.0, true), "throughput < 0%"),
    ] {
        let bound = read(text);
        assert_eq!((bound.metric.key, bound.fails_above), (key, fails_above), "{text}");
        assert_eq!((bound.number(), bound.is_percent()), limit, "{text}");
        assert_eq!(bound.to_string(), shown);
    }
}

#[test]
fn what_is_no_bound_is_refused_with_the_way_out() {
    for (text, words) in [
        ("", "has no < or >"),
        ("throughput -2%", "has no < or >"),
        ("throughput <= -2%", "another comparison"),
        ("throughput < > -2%", "another comparison"),
        ("troughput < -2%", "did you mean throughput?"),
        ("throughput < ", "write a number"),
        ("throughput < %", "write a number"),
        ("throughput < --2%", "write a number"),
        ("throughput < 1.2.3%", "write a number"),
        ("throughput < -inf%", "write a number"),
        ("throughput < -2", "write -2% of the baseline, or a difference in Mbit/s"),
        ("throughput < -2us", "has no unit \"us\""),
        ("receiver.drops > 3 packets", "or a plain number"),
        ("cpu > 2e1%", "has no unit"),
        ("throughput < -100%", "-100%"),
        ("throughput < \u{1b}[2J", "\\u{1b}"),
        (
            "throughput < 2%",
            "throughput < +2% fails a study that does not differ from its baseline: write -2%",
        ),
        ("throughput < 100Mbit/s", "write -100Mbit/s"),
        ("latency_p99 > -20us", "write +20us"),
        ("loss > -1points", "write +1points"),
        ("receiver.drops > -0.5", "write +0.5"),
    ] {
        let said = text.parse::<Bound>().unwrap_err().to_string();
        assert!(said.contains(words), "{text:?}: {said}");
    }
    let long = format!("throughput < -{}%", "9".repeat(LONGEST));
    let refused = [long.parse(), Bound::of_metric(read("throughput < 0%").metric, &long)];
    assert_eq!(refused, [(); 2].map(|()| Err(BoundError::TooLong)));
}

#[test]
fn every_metric_has_units_and_the_first_is_its_own() {
    for metric in METRICS {
        let units = units_of(*metric);
        assert!(units.first().is_some_and(|(_, factor)| *factor == 1.0), "{}: {units:?}", metric.key);
    }
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused_and_what_is_read_reads_back(text in "\\PC{0,40}") {
        if let Ok(bound) = text.parse::<Bound>() {
            prop_assert_eq!(bound.to_string().parse(), Ok(bound));
        }
    }

    #[test]
    fn every_bound_reads_back_as_it_is_shown(
        metric in prop::sample::select(METRICS),
        sign in prop::sample::select(vec!["<", ">", " < ", "\t> "]),
        size in 0_i32..99_999,
        unit in 0_usize..8,
    ) {
        let units = units_of(metric);
        let unit = if unit < units.len() { units[unit].0 } else { "%" };
        let minus = if sign.contains('<') { "-" } else { "" };
        let text = format!("{}{sign}{minus}{}{unit}", metric.key, f64::from(size) / 1000.0);
        let bound: Bound = text.parse().unwrap();
        prop_assert_eq!(bound.metric.key, metric.key);
        prop_assert_eq!(bound.to_string().parse(), Ok(bound));
    }
}
