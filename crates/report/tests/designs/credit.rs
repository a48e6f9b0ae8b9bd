//! The credit of offloads, through the report, from studies whose truth is known.

use netassay_report::Layout;
use results::{ComparisonRequest, Comparisons, Results};
use serde_json::Value;
use store::StoredStudy;
use study::{Condition, DesignKind, Plan};

use crate::made::{design, is_on, level, limited, means, stored, study, wobble};
use crate::shown::Shown as _;

const OFFLOADS: [&str; 3] = ["transmitter.tso", "transmitter.gso", "receiver.gro"];
const SWITCHES: &str = "transmitter.tso = [\"off\", \"on\"]\ntransmitter.gso = [\"off\", \"on\"]\nreceiver.gro = [\"off\", \"on\"]";

/// The rate of all conditions of these tests: TSO acts only with GSO here, and GRO helps the
/// receiver alone.
fn rate(condition: &Condition) -> f64 {
    let on = |name: &str| f64::from(u8::from(is_on(condition, name)));
    let (tso, gso, gro) = (on(OFFLOADS[0]), on(OFFLOADS[1]), on(OFFLOADS[2]));
    1000.0 + 600.0 * gso + 500.0 * gso * tso + 200.0 * gro + 100.0 * gso * gro
}

fn values(condition: &Condition, boot: u32, repeat: u32) -> Vec<(&'static str, f64)> {
    let rate = rate(condition) + 10.0 * f64::from(boot) + wobble(boot, repeat, condition.index);
    vec![
        ("throughput", rate),
        ("transmitter.service_demand_byte", 2000.0 / rate),
        (
            "receiver.service_demand_byte",
            if is_on(condition, OFFLOADS[2]) { 1.0 } else { 1.5 }
                + 0.01 * wobble(boot, repeat, condition.index),
        ),
    ]
}

fn page(stored: &StoredStudy) -> String {
    Results::new(stored).unwrap().text(Layout::WIDE)
}

fn json(stored: &StoredStudy) -> Value {
    serde_json::to_value(Results::new(stored).unwrap()).unwrap()["credit"].clone()
}

fn factorial(is_reached: impl Fn(&Condition) -> bool) -> (Plan, StoredStudy) {
    let (study, mut plan) = study(SWITCHES);
    design(&mut plan, DesignKind::Factorial, &OFFLOADS, is_reached);
    let stored = stored(&study, &plan, values);
    (plan, stored)
}

/// Each factor's mean gain over all orders of switching on that stay within what was measured.
fn by_going_through_all_orders(plan: &Plan, stored: &StoredStudy) -> (Vec<f64>, usize) {
    let means = means(stored, "throughput");
    let value = |set: usize| {
        let is_it = |condition: &&Condition| {
            OFFLOADS.iter().enumerate().all(|(place, name)| is_on(condition, name) == (set >> place & 1 == 1))
        };
        plan.conditions.iter().find(is_it).map(|condition| means[&condition.index])
    };
    let orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
    let (mut sums, mut count) = (vec![0.0; 3], 0);
    for order in orders {
        let mut gains = vec![0.0; 3];
        let mut set = 0;
        let is_reached = order.iter().all(|factor| {
            let next = set | 1 << factor;
            let (Some(before), Some(after)) = (value(set), value(next)) else { return false };
            gains[*factor] = after - before;
            set = next;
            true
        });
        if is_reached {
            count += 1;
            sums.iter_mut().zip(gains).for_each(|(sum, gain)| *sum += gain);
        }
    }
    (sums.into_iter().map(|sum| sum / count as f64).collect(), count)
}

#[test]
fn a_factorial_shares_the_whole_gain() {
    // TSO without GSO reads back as neither.
    let (plan, stored) = factorial(|one| is_on(one, OFFLOADS[1]) || !is_on(one, OFFLOADS[0]));
    insta::assert_snapshot!("factorial", page(&stored));
    let all = Comparisons::new(&stored, &ComparisonRequest::default());
    assert!(all.is_err(), "nothing is compared in this study but its design");
    let credit = json(&stored);
    let throughput = &credit["credits"][0];
    assert_eq!(throughput["metric"], "throughput");
    let (expected, orders) = by_going_through_all_orders(&plan, &stored);
    assert_eq!(orders, 3);
    let mut sum = 0.0;
    for (place, expected) in expected.iter().enumerate() {
        let part = &throughput["parts"][place];
        assert_eq!(part["name"], OFFLOADS[place]);
        let value = part["value"].as_f64().unwrap();
        assert!((value - expected).abs() < 1e-9, "{part} not {expected}");
        sum += value;
    }
    let whole = throughput["whole"]["gain"]["value"].as_f64().unwrap();
    assert!((sum - whole).abs() < 1e-9, "{sum} of {whole}");
}

#[test]
fn a_complete_factorial_gives_the_main_effects_of_the_model() {
    let (_, stored) = factorial(|_| true);
    let credit = json(&stored);
    let effects = credit["credits"][0]["effects"].as_array().unwrap();
    let effect = |name: &str| {
        let one = effects.iter().find(|effect| effect["name"] == name).unwrap_or_else(|| panic!("{name}"));
        (
            one["value"].as_f64().unwrap(),
            one["interval"][0].as_f64().unwrap(),
            one["interval"][1].as_f64().unwrap(),
        )
    };
    // Averages over the other switches of 600 gso + 500 gso tso + 200 gro + 100 gso gro; an
    // interaction is half of what one switch changes in the other's effect.
    for (name, truth) in [
        ("transmitter.tso", 250.0),
        ("transmitter.gso", 900.0),
        ("receiver.gro", 250.0),
        ("transmitter.tso x transmitter.gso", 250.0),
        ("transmitter.tso x receiver.gro", 0.0),
        ("transmitter.gso x receiver.gro", 50.0),
    ] {
        let (value, low, high) = effect(name);
        assert!((value - truth).abs() < 1.0, "{name}: {value} not {truth}");
        assert!(low <= truth && truth <= high, "{name}: {low} to {high} without {truth}");
    }
}

#[test]
fn compare_shows_one_metric_in_all_units() {
    let (study, mut plan) = study(SWITCHES);
    let comparisons = plan.comparisons.clone();
    design(&mut plan, DesignKind::Factorial, &OFFLOADS, |_| true);
    plan.comparisons = comparisons;
    let stored = stored(&study, &plan, values);
    let request = ComparisonRequest {
        metric: Some(study::metric::SERVICE_DEMAND_BYTE.receiver),
        ..ComparisonRequest::default()
    };
    let comparisons = Comparisons::new(&stored, &request).unwrap();
    let text = comparisons.text(Layout::WIDE);
    let from = text.find("Credit").unwrap();
    insta::assert_snapshot!("compare_credit", &text[from..]);
    let json = serde_json::to_value(&comparisons).unwrap();
    assert_eq!(json["credit"]["credits"].as_array().unwrap().len(), 1);
}

/// Marks the combinations that this design does not hold as never requested.
fn not_asked(plan: &mut Plan) {
    plan.design.as_mut().unwrap().unreachable.clear();
}

/// All on, TSO off, GSO off too, GRO off too.
fn is_rung(condition: &Condition) -> bool {
    let on = OFFLOADS.map(|name| is_on(condition, name));
    on.is_sorted()
}

#[test]
fn a_ladder_names_its_steps_and_their_base() {
    let (study, mut plan) =
        study(&format!("mtu = [\"1500\", \"9000\"]\n{SWITCHES}").replace("\"1500\", \"9000\"", "1500, 9000"));
    design(&mut plan, DesignKind::Ladder, &OFFLOADS, is_rung);
    not_asked(&mut plan);
    let stored = stored(&study, &plan, |condition, boot, repeat| {
        let mut values = values(condition, boot, repeat);
        if level(condition, "mtu") == "9000" {
            values[0].1 *= 2.0;
        }
        values
    });
    insta::assert_snapshot!("ladder", page(&stored));
}

#[test]
fn a_saturated_comparison_moves_to_the_cpu() {
    let (study, mut plan) = study(SWITCHES);
    design(&mut plan, DesignKind::Ladder, &OFFLOADS, is_rung);
    not_asked(&mut plan);
    let mut some = stored(&study, &plan, values);
    // All on and TSO off sit at line rate.
    limited(&mut some, |condition| {
        if is_on(&plan.conditions[condition], OFFLOADS[1]) { "link" } else { "transmitter CPU" }
    });
    let text = page(&some);
    assert!(text.contains("throughput: saturated for transmitter.tso off: both conditions ran at the same limit from outside"), "{text}");
    assert!(text.contains("2 of 4 states ran at the limit of the link"), "{text}");
    let mut all = some;
    limited(&mut all, |_| "link");
    let text = page(&all);
    assert!(
        text.contains("throughput: saturated, all on and all off both ran at the limit of the link"),
        "{text}"
    );
    assert!(!text.contains("throughput: all on is"), "{text}");
    assert!(text.contains("the transmitter's CPU per byte: all on is -"), "{text}");
    assert_eq!(json(&all)["credits"][0]["saturated"], "the link");
    assert!(json(&all)["credits"][1]["saturated"].is_null());
}

#[test]
fn a_fraction_gives_main_effects_and_says_what_they_may_be() {
    let (study, mut plan) = study(SWITCHES);
    let odd = |one: &Condition| OFFLOADS.iter().filter(|name| is_on(one, name)).count() % 2 == 1;
    design(&mut plan, DesignKind::Fractional, &OFFLOADS, odd);
    not_asked(&mut plan);
    let pair = |one: &str, other: &str| [one.to_owned(), other.to_owned()];
    let group = vec![pair("transmitter.tso", "receiver.rx"), pair("transmitter.gso", "receiver.gro")];
    plan.design.as_mut().unwrap().aliases.push(group);
    let alias = "transmitter.tso x receiver.rx = transmitter.gso x receiver.gro";
    let text = page(&stored(&study, &plan, values));
    assert!(text.contains("% of the mean of all states") && text.contains(alias), "{text}");
    assert!(!text.contains("Shapley shares:"), "{text}");
}

#[test]
fn an_interrupted_study_says_why_there_is_no_credit() {
    let (plan, mut stored) = factorial(|_| true);
    let off = plan.conditions.iter().find(|one| OFFLOADS.iter().all(|name| !is_on(one, name))).unwrap().index;
    stored.runs.retain(|run| run.condition != off);
    let text = page(&stored);
    assert!(
        text.contains(
            "throughput: the whole gain, all on less all off, is not known: all off was not measured."
        ) && text.contains("Not measured: all off (not tried: the study could not go on).")
            && !text.contains("Shapley shares:"),
        "{text}"
    );
    stored.runs.clear();
    assert!(json(&stored)["credits"].as_array().unwrap().is_empty());
}
