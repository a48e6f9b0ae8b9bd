use proptest::prelude::*;

use super::*;

fn quantity() -> Quantity {
    Quantity::new("value", "ns", |value| format!("{value}"))
}

fn axis(scale: Scale, values: &[f64]) -> Axis {
    Axis::new(scale, values.iter().copied(), &quantity(), AxisRoom::Across(500.0))
}

fn labels(scale: Scale, values: &[f64]) -> String {
    let axis = axis(scale, values);
    let labels: Vec<&str> = axis.ticks.iter().map(|(_, label)| label.as_str()).collect();
    format!("{} [10^{}]", labels.join(" "), axis.factor)
}

#[test]
fn ticks_are_round_and_named_with_the_digits_that_they_need() {
    use Scale::{FromZero, Linear, Logarithmic};
    for (scale, values, expected) in [
        (Linear, &[3406.81, 8755.31][..], "4,000 5,000 6,000 7,000 8,000 [10^0]"),
        (FromZero, &[3406.81, 8755.31], "0 2,000 4,000 6,000 8,000 [10^0]"),
        (Linear, &[-0.31, 0.12], "-0.3 -0.2 -0.1 0 0.1 [10^0]"),
        (Linear, &[5.0], "4.8 4.9 5.0 5.1 5.2 [10^0]"),
        (Linear, &[], "0 0.2 0.4 0.6 0.8 1.0 [10^0]"),
        (FromZero, &[0.0, 0.0], "0 0.2 0.4 0.6 0.8 1.0 [10^0]"),
        (Linear, &[1e-300, 3e-300], "1.0 1.5 2.0 2.5 3.0 [10^-300]"),
        (Linear, &[-1e300, 1e300], "-1.0 -0.5 0 0.5 1.0 [10^300]"),
        (Linear, &[-1.7e308, 1.7e308], "-150 -100 -50 0 50 100 150 [10^306]"),
        (Linear, &[94_145_200_000.0, 38_002_800_000.0], "40 50 60 70 80 90 [10^9]"),
        (Linear, &[1e6, 1e6 + 0.01], "1,000,000.000 1,000,000.005 1,000,000.010 [10^0]"),
        (Logarithmic, &[1300.0, 96_000.0], "2000 5000 10000 20000 50000 [10^0]"),
        (Logarithmic, &[7.0, 7.0], "5 10 [10^0]"),
        (Logarithmic, &[0.0, -3.0], "1 2 5 10 [10^0]"),
    ] {
        assert_eq!(labels(scale, values), expected, "{values:?}");
    }
}

#[test]
fn a_tick_that_is_a_rounding_beyond_the_values_is_on_the_axis() {
    for values in [[4.350687337458725e-169, 2.403812036452058e-177], [-4.35, -2.4e-8], [1e-7, 3.0]] {
        let axis = axis(Scale::Linear, &values);
        let (first, last) = (axis.ticks.first().unwrap(), axis.ticks.last().unwrap());
        assert!(first.0 >= 0.0 && last.0 <= 1.0, "{values:?}: {axis:?}");
        assert!(first.1 == "0" || last.1 == "0", "{values:?}: {axis:?}");
    }
}

proptest! {
    #[test]
    fn any_finite_values_have_an_axis(
        values in prop::collection::vec(prop::num::f64::ANY, 0..6),
        length in 100.0..900.0,
        scale in prop::sample::select(vec![
            Scale::Linear, Scale::FromZero, Scale::Logarithmic,
        ]),
    ) {
        let room = AxisRoom::Across(length);
        let axis = Axis::new(scale, values.iter().copied(), &Quantity::new("", "", |v| format!("{v:.1e}")), room);
        prop_assert!(axis.low < axis.high && axis.low.is_finite() && axis.high.is_finite());
        prop_assert!((1..=60).contains(&axis.ticks.len()), "{:?}", axis.ticks);
        prop_assert!(axis.ticks.iter().all(|(at, _)| (-1e-9..=1.0 + 1e-9).contains(at)));
        for pair in axis.ticks.windows(2) {
            prop_assert!(pair[0].0 < pair[1].0 && pair[0].1 != pair[1].1);
        }
        // Nothing stands beyond the ends, but what the scale has no place for.
        let shown = values.iter().filter(|value| value.is_finite()).filter(|value| match scale {
            Scale::Linear | Scale::FromZero => true,
            Scale::Logarithmic => **value >= NOTHING,
        });
        for value in shown {
            let at = (axis.scale.position(*value, axis.unit) - axis.low) / (axis.high - axis.low);
            prop_assert!((-1e-9..=1.0 + 1e-9).contains(&at), "{value:?} at {at}");
        }
    }
}
