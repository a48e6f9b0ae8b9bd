//! Labels do not cover each other, and nothing is beyond the edge.

use netassay_report::chart::{NARROW, NARROWEST, WIDE};
use proptest::prelude::*;

use crate::faults::faults;
use crate::figures;
use crate::odd::Odd;

#[test]
fn labels_of_every_figure_are_apart_and_inside_at_every_width() {
    for figure in figures::every_kind() {
        for width in [NARROWEST, 300.0, NARROW, 480.0, 599.0, 600.0, 768.0, WIDE, 1280.0] {
            assert_eq!(faults(&figure, width), [""; 0]);
        }
    }
}

#[test]
fn figures_of_nothing_are_drawn_too() {
    let (names, values) = ([String::new()], [0.0]);
    for figure in Odd::new(&names, &values).figures(0) {
        assert_eq!(faults(&figure, WIDE), [""; 0]);
    }
}

#[test]
fn a_cost_below_the_least_normal_number_takes_no_room() {
    let (names, values) = ([String::new()], [0.0, 1.5e-308]);
    for figure in Odd::new(&names, &values).figures(1) {
        assert_eq!(faults(&figure, NARROWEST), [""; 0]);
    }
}

#[test]
fn costs_have_room_where_an_arrow_leads_from_the_last_lane_to_the_first() {
    let (names, values) = ([String::new()], [1e300]);
    for figure in Odd::new(&names, &values).figures(4) {
        assert_eq!(faults(&figure, NARROWEST), [""; 0]);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn labels_of_any_names_and_values_are_apart_and_inside(
        names in prop::collection::vec("\\PC{0,12}|[a-z =_]{0,60}|\\PC{0,200}", 1..8),
        values in prop::collection::vec(
            prop_oneof![prop::num::f64::ANY, -1e3..1e3, Just(0.0), Just(1e300), Just(1e-300)]
                .prop_filter("finite", |value| value.is_finite()),
            1..12,
        ),
        count in 1_usize..9,
        width in NARROWEST..1280.0,
    ) {
        for figure in Odd::new(&names, &values).figures(count) {
            for width in [width, NARROW, WIDE] {
                prop_assert_eq!(faults(&figure, width), Vec::<String>::new());
            }
        }
    }
}
