//! Every kind of figure: as it is, in any width, with any values and names.

mod check;
mod colours;
mod faults;
mod figures;
mod labels;
mod many;
mod markup;
mod odd;

use insta::assert_snapshot;
use netassay_report::chart;
use netassay_report::chart::{Figure, NARROW, Plot as _, WIDE};
use netassay_report::{Cell, Table};

/// A row a line.
fn rows(table: &Table) -> Vec<String> {
    let text = |row: &Vec<Cell>| row.iter().map(Cell::text).collect::<Vec<_>>().join(" | ");
    let rows = table.rows().iter().map(text);
    std::iter::once(table.heads().join(" | ")).chain(rows).collect()
}

#[test]
fn every_kind_of_figure_is_drawn() {
    for figure in figures::every_kind() {
        let id = figure.id.as_str().to_owned();
        assert_snapshot!(format!("{id}-narrow"), faults::lines(&figure, NARROW));
        // What has very many marks is the same again.
        if !["loopback", "strip"].contains(&id.as_str()) {
            assert_snapshot!(format!("{id}-wide"), faults::lines(&figure, WIDE));
        }
    }
}

#[test]
fn the_tables_have_the_same_figures() {
    let tables = figures::every_kind().into_iter().flat_map(|figure| {
        let id = figure.id.to_string();
        figure.panels.into_iter().map(move |panel| {
            let rows = rows(&panel.plot.table());
            format!("{id}, {} rows\n{}\n\n", rows.len() - 1, rows[..rows.len().min(6)].join("\n"))
        })
    });
    assert_snapshot!(tables.collect::<String>());
}

#[test]
fn a_forest_without_intervals_has_no_axis() {
    let mut forest = figures::effects::forest_plot();
    forest.effects.iter_mut().for_each(|effect| effect.interval = None);
    for width in [NARROW, WIDE] {
        let names: Vec<String> = forest.draw(width).labels.into_iter().map(|(text, _)| text).collect();
        for effect in &forest.effects {
            assert!(names.join(" ").contains(&effect.verdict), "{names:?}");
        }
        let is_tick = |name: &String| name.parse::<f64>().is_ok();
        assert!(!names.iter().any(is_tick), "{names:?}");
    }
}

#[test]
fn a_picture_has_paper_of_its_own_and_follows_the_theme() {
    let figure = figures::every_kind().into_iter().next().unwrap();
    let picture = figure.picture(WIDE).to_string();
    assert!(check::read(&picture).is_ok());
    let drawing = figure.draw(WIDE);
    let (right, bottom) = (drawing.width + 24.0, drawing.height.ceil() + 24.0);
    let paper = format!("<path class=\"cover\" d=\"M0 0H{right}V{bottom}H0z\"/>");
    assert!(picture.contains(&paper), "{paper}");
    let (light, dark) = picture.split_once("@media (prefers-color-scheme:dark){").unwrap();
    let dark = dark.split_once("</style>").unwrap().0;
    for colour in netassay_report::chart::COLOURS {
        assert!(light.contains(colour.light) && dark.contains(colour.dark), "{colour:?}");
    }
}

#[test]
fn a_thousand_runs_take_little_room() {
    let size = |figure: &Figure| figure.html().as_str().len();
    let mut dots = figures::runs::dots_plot();
    for (_, runs) in dots.conditions.iter_mut().flat_map(|condition| &mut condition.boots) {
        *runs = runs.iter().cycle().take(112).copied().collect();
    }
    let table = rows(&dots.table()).concat();
    let figure = Figure::new(netassay_report::chart::Id::new("many"), "Many", "Many runs.", dots);
    assert!(table.len() < 20_000, "{} bytes of values", table.len());
    assert!(size(&figure) < 60_000, "{} bytes", size(&figure));
}

#[test]
fn what_is_thinned_is_said() {
    let strip = figures::every_kind().into_iter().find(|figure| figure.id.as_str() == "strip").unwrap();
    let remark = |width| {
        let labels = strip.draw(width).labels;
        let said: Vec<String> = labels.into_iter().map(|(text, _)| text).collect();
        let said = said.join(" ");
        said.contains("of 3000 points are drawn: the others would cover these.")
    };
    assert!(remark(NARROW));
}
