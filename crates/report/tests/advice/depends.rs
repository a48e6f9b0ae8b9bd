//! Shares that the effect in the state which the advice leaves bears out, qualifies or contradicts.

use netassay_report::Layout;
use netassay_report::views;
use results::advice::{Advice, AdviceGoal, Standing};
use study::{Condition, Plan};

use crate::made::{
    QUIET, advice, brief, factorial, level, measured, on, protocol, recommendations, study, switch_named,
    wide,
};

const TSO: &str = "transmitter.tso";
const GSO: &str = "transmitter.gso";
const GRO: &str = "receiver.gro";

/// The advice for throughput where it is this much in each state.
fn advice_for(offloads: &[&str], rate: impl Fn(&Condition) -> f64) -> Advice {
    let (study, plan) = study(&factorial(offloads, 5));
    let stored = measured(&study, &plan, QUIET, 12, &|one| vec![("throughput", rate(one))]);
    advice(&stored, &[AdviceGoal::Throughput])
}

/// GRO costs half where TSO is off, and nothing where it is on: as veth does.
fn like_veth(one: &Condition) -> f64 {
    if on(one, TSO) == 0.0 && on(one, GRO) == 1.0 { 1000.0 } else { 2000.0 }
}

#[test]
fn a_share_whose_effect_is_absent_in_the_state_that_the_advice_leaves_is_no_recommendation() {
    let advice = advice_for(&[TSO, GRO, GSO], like_veth);
    let all = recommendations(&advice, AdviceGoal::Throughput);
    let gro = switch_named(all, GRO);
    // On average it is proven to pay off; with TSO on, as it is left, it does nothing.
    assert_eq!((gro.expected[0].is_better(), gro.to.as_str()), (Some(true), "off"));
    assert_eq!((&gro.standing, gro.apply.len(), gro.undo.len()), (&Standing::Depends, 0, 0));
    let [on_tso] = gro.depends_on.as_slice() else { panic!("{gro:?}") };
    assert_eq!((on_tso.factor.as_str(), on_tso.left.as_str(), on_tso.other.as_str()), (TSO, "on", "off"));
    assert_eq!((on_tso.with_left[0].is_better(), on_tso.with_other[0].is_better()), (None, Some(true)));
    let (low, high) = on_tso.with_other[0].there.relative_interval.unwrap();
    assert!(low < 100.0 && 100.0 < high && high - low < 10.0, "{on_tso:?}");
    assert_eq!(on_tso.with_other[0].there.base, "receiver.gro on");
    let as_left = gro.as_left.as_ref().unwrap();
    assert!(as_left.off.is_empty() && as_left.changes[0].is_better().is_none(), "{as_left:?}");
    // TSO pays off with GRO on, as it is left now.
    let tso = switch_named(all, TSO);
    assert_eq!((&tso.standing, tso.to.as_str()), (&Standing::Conditional, "on"));
    assert_eq!((tso.depends_on[0].factor.as_str(), tso.depends_on[0].left.as_str()), (GRO, "on"));
    assert_eq!(advice.studies[0].checked.unwrap().pairs, 3, "two switches, each with two others");
    let row = |factor: &str| advice.summaries[0].rows.iter().find(|row| row.factors == [factor]).unwrap();
    assert_eq!((row(GRO).to.as_deref(), row(GRO).apply.len()), (None, 0));
    assert_eq!(row(TSO).to.as_deref(), Some("on"));
    insta::assert_snapshot!("depends", Layout::PLAIN.wrap(&brief(&advice)));
    let script = views::advice_script(&advice);
    assert!(!script.contains("'gro'"), "{script}");
    let named =
        "    printf '%s\\n' 'tso on is proven only with gro on at the receiver'\n    feature \"$IF\" tso";
    assert!(script.contains(named), "{script}");
    assert!(
        script.contains("# Not set: tcp_stream, throughput: gro: depends on tso at the transmitter.\n"),
        "{script}"
    );
}

#[test]
fn where_the_sign_flips_the_effect_at_the_state_left_decides() {
    // Alike they gain, unlike they lose: each share is nothing.
    let advice = advice_for(&[TSO, GSO], |one| if on(one, TSO) == on(one, GSO) { 1500.0 } else { 1000.0 });
    for (one, other) in [(TSO, GSO), (GSO, TSO)] {
        let said = switch_named(recommendations(&advice, AdviceGoal::Throughput), one);
        assert_eq!((&said.standing, said.to.as_str()), (&Standing::Conditional, "on"), "{said:?}");
        let [depends] = said.depends_on.as_slice() else { panic!("{said:?}") };
        assert_eq!((depends.factor.as_str(), depends.left.as_str()), (other, "on"));
        assert_eq!(depends.with_other[0].is_better(), Some(false));
    }
}

#[test]
fn what_helps_only_together_is_recommended_together() {
    let both_off = |one: &Condition| if on(one, TSO) + on(one, GRO) == 0.0 { 2000.0 } else { 1000.0 };
    let advice = advice_for(&[TSO, GRO], both_off);
    for (one, other) in [(TSO, GRO), (GRO, TSO)] {
        let said = switch_named(recommendations(&advice, AdviceGoal::Throughput), one);
        assert_eq!((&said.standing, said.to.as_str()), (&Standing::Conditional, "off"), "{said:?}");
        assert_eq!(said.as_left.as_ref().unwrap().off, [other]);
        assert_eq!((said.depends_on[0].left.as_str(), said.depends_on[0].other.as_str()), ("off", "on"));
    }
}

#[test]
fn effects_of_one_direction_depend_on_nothing() {
    let sizes = |one: &Condition| 1000.0 + 400.0 * on(one, TSO) - 200.0 * on(one, GRO);
    let products = |one: &Condition| 1000.0 * (1.0 + 0.5 * on(one, TSO)) * (1.0 - 0.3 * on(one, GRO));
    for advice in [advice_for(&[TSO, GRO], sizes), advice_for(&[TSO, GRO], products)] {
        for one in recommendations(&advice, AdviceGoal::Throughput) {
            assert_eq!((&one.standing, one.depends_on.len()), (&Standing::Recommended, 0), "{one:?}");
        }
    }
}

/// The plan where TSO reads back off without TX checksums, so that one state does not exist.
fn without_a_state(plan: Plan) -> Plan {
    let reads: Vec<Vec<Option<bool>>> = plan
        .conditions
        .iter()
        .map(|one| {
            let tx = on(one, "transmitter.tx") > 0.0;
            vec![Some(tx), Some(tx && on(one, TSO) > 0.0)]
        })
        .collect();
    plan.settled(&reads, Vec::new()).0
}

#[test]
fn a_state_that_was_not_measured_contradicts_nothing_and_is_called_that() {
    let (study, plan) = study(&factorial(&["transmitter.tx", TSO], 5));
    let plan = without_a_state(plan);
    assert_eq!(plan.conditions.len(), 3);
    let stored = measured(&study, &plan, QUIET, 13, &|one| {
        vec![("throughput", 1000.0 + 300.0 * on(one, "transmitter.tx") + 500.0 * on(one, TSO))]
    });
    let advice = advice(&stored, &[AdviceGoal::Throughput]);
    let all = recommendations(&advice, AdviceGoal::Throughput);
    let tx = switch_named(all, "transmitter.tx");
    assert_eq!((&tx.standing, tx.depends_on.len()), (&Standing::Recommended, 0));
    // TX cannot be switched with TSO on.
    assert!(tx.as_left.as_ref().unwrap().changes.is_empty(), "{tx:?}");
    assert!(wide(&advice).contains("with all others on: not measured\n"));
    let tso = switch_named(all, TSO);
    assert_eq!(tso.standing, Standing::Recommended);
    assert_eq!(tso.as_left.as_ref().unwrap().changes[0].is_better(), Some(true));
    assert_eq!(advice.studies[0].checked, None, "no state has all four combinations");
}

#[test]
fn counts_depend_on_other_switches_above_their_resolution() {
    let (study, mut plan) = study(&factorial(&[TSO, GRO], 1));
    plan.exact = true;
    let none = crate::made::Noise { boot: 0.0, cell: 0.0, run: 0.0 };
    let stored = measured(&study, &plan, none, 4, &|one| {
        vec![("kernel_instructions_byte", 3.0 - like_veth(one) / 1000.0)]
    });
    let advice = advice(&stored, &[AdviceGoal::Cpu]);
    let gro = switch_named(recommendations(&advice, AdviceGoal::Cpu), GRO);
    assert_eq!((&gro.standing, gro.depends_on[0].factor.as_str()), (&Standing::Depends, TSO));
}

#[test]
fn two_settings_that_are_proven_only_without_each_other_are_not_set_together() {
    let factors = "[factors]\nmtu = [1500, 9000]\noffloads = [\"default\", \"none\"]\n";
    let (study, plan) = study(&format!("{factors}{}", protocol(5)));
    // Either of both is enough.
    let stored = measured(&study, &plan, QUIET, 14, &|one| {
        let is_small = level(one, "mtu") == "1500" && level(one, "offloads") == "none";
        vec![("throughput", if is_small { 1000.0 } else { 2000.0 })]
    });
    let advice = advice(&stored, &[AdviceGoal::Throughput]);
    let with = |factor: &str| {
        let row = advice.summaries[0].rows.iter().find(|row| row.factors == [factor]).unwrap();
        row.proven_with.as_ref().unwrap().to_string()
    };
    assert_eq!([with("mtu"), with("offloads")], ["offloads=none", "mtu=1500"]);
    let script = views::advice_script(&advice);
    let not_set = script.matches("# Not set: tcp_stream, throughput: ").count();
    assert_eq!(not_set, 2, "one of both settings, on each host: {script}");
    assert!(script.contains("it is proven only with "), "{script}");
}
