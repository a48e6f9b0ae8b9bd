//! Labels do not cover each other, and nothing is beyond the edge.

use netassay_chart::{Figure, Finite, NARROW, NARROWEST, WIDE};
use proptest::prelude::*;

use crate::figures;
use crate::odd::Odd;

/// What is wrong with a figure at a width.
fn faults(figure: &Figure, width: f64) -> Vec<String> {
    let drawing = figure.draw(width);
    let inside = |what: &str, area: &netassay_chart::Area| {
        (!area.is_within(drawing.width, drawing.height)).then(|| format!("{what} is outside: {area:?}"))
    };
    let mut faults: Vec<String> = inside("a mark", &drawing.marks)
        .into_iter()
        .filter(|_| drawing.marks.left <= drawing.marks.right)
        .collect();
    for (index, label) in drawing.labels.iter().enumerate() {
        faults.extend(inside(&label.text, &label.area));
        let covered = drawing.labels[..index].iter().filter(|other| other.area.meets(&label.area));
        faults.extend(covered.map(|other| format!("{:?} covers {:?}", label, other)));
    }
    faults.into_iter().map(|fault| format!("{} at {width}: {fault}", figure.id)).collect()
}

#[test]
fn labels_of_every_figure_are_apart_and_inside_at_every_width() {
    for figure in figures::all() {
        for width in [NARROWEST, 300.0, NARROW, 480.0, 599.0, 600.0, 768.0, WIDE, 1280.0] {
            assert_eq!(faults(&figure, width), [""; 0]);
        }
    }
}

#[test]
fn figures_of_nothing_are_drawn_too() {
    let (names, values) = ([String::new()], [Finite::ZERO]);
    for figure in Odd::new(&names, &values).figures(0) {
        assert_eq!(faults(&figure, WIDE), [""; 0]);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn labels_of_any_names_and_values_are_apart_and_inside(
        names in prop::collection::vec("\\PC{0,12}|[a-z =_]{0,60}|\\PC{0,200}", 1..8),
        values in prop::collection::vec(
            prop_oneof![prop::num::f64::ANY, -1e3..1e3, Just(0.0), Just(1e300), Just(1e-300)]
                .prop_filter_map("finite", Finite::new),
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
