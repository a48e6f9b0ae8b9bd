//! Figures of very many marks, and the few marks that take the keyboard's focus.

use netassay_report::Table;
use netassay_report::chart::{Dots, Figure, Id, Markup, NARROW, Plot as _, WIDE, write_table};

use crate::check::{Piece, read};
use crate::figures;

/// The labels of a plot, from left to right and from top to bottom as they were drawn.
fn labels(plot: &Dots, width: f64) -> Vec<String> {
    plot.draw(width).labels.into_iter().map(|(text, _)| text).collect()
}

/// A dot plot of so many conditions, boots and runs.
fn dots(conditions: usize, boots: usize, runs: usize) -> Dots {
    let mut plot = figures::runs::dots_plot();
    let first = plot.conditions[0].clone();
    plot.conditions = (0..conditions)
        .map(|number| {
            let mut condition = first.clone();
            condition.name = format!("condition {number}");
            condition.boots = (0..boots)
                .map(|number| {
                    let (_, mut values) = first.boots[number % first.boots.len()].clone();
                    values.truncate(runs);
                    (format!("boot {}", number + 1), values)
                })
                .collect();
            condition
        })
        .collect();
    plot
}

#[test]
fn boots_are_named_in_the_order_of_their_numbers() {
    let named = |plot: &Dots| -> Vec<String> {
        labels(plot, WIDE).into_iter().take_while(|label| !label.starts_with("mean")).collect()
    };
    let mut plot = dots(2, 5, 4);
    // The first condition was measured only from the third boot on.
    plot.conditions[0].boots.drain(..2);
    assert_eq!(named(&plot), ["boot 1", "boot 2", "boot 3", "boot 4", "boot 5"]);
    for ((boot, _), name) in
        plot.conditions.iter_mut().flat_map(|one| &mut one.boots).zip(["6.18", "6.12", "6.6"].iter().cycle())
    {
        (*name).clone_into(boot);
    }
    assert_eq!(named(&plot), ["6.18", "6.12", "6.6"], "names without a number stay in their order");
}

#[test]
fn a_drawing_of_hundreds_of_lanes_has_the_means_of_boots_and_says_so() {
    let plot = dots(50, 5, 4);
    for width in [NARROW, WIDE] {
        let labels = labels(&plot, width);
        assert!(!labels.iter().any(|label| label == "mean of a boot"), "a sign of what is not drawn");
        let labels = labels.join(" ");
        assert!(labels.contains("A dot is the mean of a boot: 1000 runs in 250 lanes"), "{labels}");
    }
    let (many, few) = (dots(50, 5, 4).draw(NARROW).height, dots(48, 5, 4).draw(NARROW).height);
    assert!(many < few, "{many} px of one lane each, {few} px of five");
    let table = plot.table();
    assert_eq!(table.rows().len(), 50, "a row for each condition");
    assert_eq!(
        table.heads()[5..],
        ["mean of boot 1", "mean of boot 2", "mean of boot 3", "mean of boot 4", "mean of boot 5"]
    );
    let size = Figure::new(Id::new("many"), "Many", "Many runs.", plot).small_html().as_str().len();
    assert!(size < 50_000, "{size} bytes");
}

#[test]
fn few_runs_are_all_in_the_table() {
    let plot = dots(4, 5, 10);
    let table = plot.table();
    assert_eq!(table.rows().len(), 4 + 4 * 5, "a row for each boot, and one for each mean");
    let cells: String = table.rows().iter().flatten().map(|cell| format!("{} ", cell.text())).collect();
    for run in plot.conditions.iter().flat_map(|one| &one.boots).flat_map(|(_, runs)| runs) {
        assert!(cells.contains(&(plot.quantity.show)(*run)), "{run:?} in {cells}");
    }
}

#[test]
fn no_mark_is_a_stop_of_the_keyboard_without_the_script() {
    for figure in figures::every_kind() {
        for html in [figure.html(), figure.small_html()] {
            let pieces = read(html.as_str()).unwrap();
            let elements = pieces.iter().filter_map(|piece| match piece {
                Piece::Element(name, attributes) => Some((name, attributes)),
                Piece::Text(_) => None,
            });
            let focused: Vec<_> = elements
                .filter(|(_, attributes)| attributes.iter().any(|(name, _)| name == "tabindex"))
                .collect();
            assert_eq!(focused.len(), figure.panels.len(), "the regions of the tables: {focused:?}");
            assert!(focused.iter().all(|(name, _)| *name == "div"), "{focused:?}");
        }
    }
}

#[test]
fn a_small_figure_has_one_drawing_for_each_panel() {
    for figure in figures::every_kind() {
        let drawings = |html: netassay_report::chart::Markup| html.as_str().matches("<svg").count();
        let panels = figure.panels.len();
        assert_eq!(drawings(figure.small_html()), panels, "{}", figure.id);
        assert_eq!(drawings(figure.html()), panels.max(2), "{}: wide and narrow, or its panels", figure.id);
    }
}

#[test]
fn columns_of_numbers_are_named_once() {
    let figure = figures::every_kind().into_iter().find(|figure| figure.id.as_str() == "runs").unwrap();
    let mut html = Markup::new();
    write_table(&mut html, None, &figure.panels[0].plot.table(), |caption| caption.text("Runs"));
    assert!(html.as_str().starts_with("<table class=\"n3 n4 n5\">"), "{html}");
    assert!(!html.as_str().contains("\"number\""), "{html}");
    let names: Vec<String> = (0..20).map(|column| format!("column {column}")).collect();
    let mut table = Table::new(&names);
    table.row((0..20).map(|column| if column < 14 { "a".into() } else { 1.0.into() }).collect());
    let mut html = Markup::new();
    write_table(&mut html, None, &table, |caption| caption.text("Many"));
    assert!(html.as_str().starts_with("<table class=\"n15 n16\">"), "{html}");
    assert_eq!(
        html.as_str().matches("class=\"number\"").count(),
        8,
        "heads and cells of four columns: {html}"
    );
}
