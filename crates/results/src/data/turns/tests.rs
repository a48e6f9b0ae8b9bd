use record::Response;

use super::*;

/// Turns of a tenth of a second, of which the first tenth has `first` of the work after a
/// switch, and the counted part `counted`.
fn turns(first: u64, counted: u64) -> Turns {
    let turn = |after, work| CountedTurn { number: 1, after, ns: 80, work };
    let slices = |first| {
        let mut slices = [Slice { ns: 10, work: 100 }; TENTHS];
        slices[0].work = first;
        slices
    };
    Turns {
        turn_ns: 100,
        settle_ns: 20,
        own: 1,
        turns: vec![turn(1, 800), turn(0, counted), turn(0, counted), turn(1, 800)],
        response: Response { after_itself: slices(100), after_another: slices(first) },
        from_others: 0,
    }
}

#[test]
fn what_a_turn_leaves_and_how_long_a_switch_acts_are_told_apart() {
    let all = [&turns(50, 800), &turns(50, 800)];
    assert_eq!(share(all[0]), Some(0.0));
    assert_eq!(
        PARTS.map(|(_, [first, last])| response(&all, first..last).unwrap().round()),
        [-50.0, 0.0, 0.0, 0.0]
    );
    let slow = turns(50, 760);
    assert!((share(&slow).unwrap() + 5.0).abs() < 1e-9);
    assert_eq!(share(&Turns { turns: Vec::new(), ..slow }), None);
}

#[test]
fn the_interval_is_over_boots_and_needs_two() {
    assert_eq!(interval(&[1.0], ALPHA), None);
    // Student's t for one degree of freedom: 12.706.
    let (low, high) = interval(&[0.0, 2.0], ALPHA).unwrap();
    assert!((low + 11.706).abs() < 1e-3 && (high - 13.706).abs() < 1e-3, "{low} {high}");
}

#[test]
fn of_more_conditions_each_must_be_surer() {
    // Their mean is 3.3 standard errors from nothing: p is 0.03 with four degrees of freedom.
    let boots = vec![1.0, 2.0, 3.0, 4.0, 0.5];
    let one = TurnsOfCondition {
        condition: 0,
        label: String::new(),
        flows: 5,
        turns: 40,
        parts: [None; PARTS.len()],
        carry_over: stats::mean(&boots),
        interval: interval(&boots, ALPHA),
        boots,
        effect: 1.0,
    };
    assert!(one.leaves_much(1) && !one.leaves_much(2));
}

#[test]
fn the_effect_is_the_largest_difference_in_the_flow() {
    let rates = [Some(100.0), Some(75.0), None, Some(1.0)];
    assert!((effect(&[0, 1, 2], &rates) - 25.0).abs() < 1e-9);
    assert_eq!(effect(&[2], &rates), 0.0);
}
