//! The marks and words of figures.

use std::fmt::Write as _;

use insta::assert_snapshot;
use netassay_report::chart::{Figure, NARROW, NARROWEST, WIDE};
use netassay_report::{FigureSection, figures};
use results::Results;

use crate::faults::{faults, lines};
use crate::made_up::{clusters, factorial, guests, ladder, large, shown};

fn figures_of(sections: &[FigureSection]) -> impl Iterator<Item = &Figure> {
    sections.iter().flat_map(|section| section.figures.iter().chain(&section.folded))
}

/// Titles and descriptions, as a reader meets them.
fn words(sections: &[FigureSection]) -> String {
    let mut words = String::new();
    for section in sections {
        writeln!(words, "# {} [{}]\n{}\n", section.title, section.id, section.about.join("\n")).unwrap();
        let shown = section.figures.iter().map(|figure| ("", figure));
        let folded = section.folded.iter().map(|figure| (" (folded)", figure));
        for (place, figure) in shown.chain(folded) {
            writeln!(words, "## {} [{}]{place}\n{}", figure.title, figure.id, figure.description).unwrap();
            for panel in figure.panels.iter().filter(|panel| !panel.title.is_empty()) {
                writeln!(words, "- {}", panel.title).unwrap();
            }
            words.push('\n');
        }
    }
    words
}

/// Snapshots of the words and of each drawing, and checks of the drawings at all widths.
fn check(name: &str, studies: &[Results]) {
    let sections = figures::sections(studies);
    assert_snapshot!(format!("{name}-words"), words(&sections));
    for figure in figures_of(&sections) {
        assert_snapshot!(format!("{name}-{}", figure.id), lines(figure, WIDE));
        for width in [NARROWEST, NARROW, 480.0, 600.0, WIDE, 1280.0] {
            assert_eq!(faults(figure, width), [""; 0]);
        }
    }
}

#[test]
fn clusters_of_boots_effects_and_their_reasons() {
    check("clusters", &[clusters()]);
}

#[test]
fn a_ladder_of_offloads_by_mtu() {
    check("ladder", &[shown(&ladder())]);
}

#[test]
fn shares_of_a_factorial() {
    check("factorial", &[shown(&factorial())]);
}

#[test]
fn guests_with_their_hosts_latency_and_losses() {
    check("guests", &[shown(&guests())]);
}

#[test]
fn of_many_conditions_the_most_telling_come_first() {
    let sections = figures::sections(&[shown(&large(40, 2, 2))]);
    assert_snapshot!("large-words", words(&sections));
    for figure in figures_of(&sections) {
        for width in [NARROW, WIDE] {
            assert_eq!(faults(figure, width), [""; 0]);
        }
    }
}

#[test]
fn several_studies_are_side_by_side_and_named() {
    let other = |id: i64| {
        let mut stored = ladder();
        stored.row.id = store::StudyId(id);
        shown(&stored)
    };
    let sections = figures::sections(&[other(3), other(4)]);
    assert_snapshot!("several-words", words(&sections));
    for figure in figures_of(&sections) {
        assert_eq!(faults(figure, WIDE), [""; 0]);
    }
}

#[test]
fn one_boot_has_no_interval() {
    let mut stored = factorial();
    stored.runs.retain(|run| run.boot == 1);
    let sections = figures::sections(&[shown(&stored)]);
    let ends = |figure: &Figure| -> Vec<String> {
        let end = |table: netassay_report::Table| {
            let heads = table.heads();
            let is_end = |at: &usize| heads[*at] == "lower end" || heads[*at] == "upper end";
            let columns: Vec<usize> = (0..heads.len()).filter(is_end).collect();
            table
                .rows()
                .iter()
                .flat_map(|row| columns.iter().map(|at| row[*at].text().into_owned()))
                .collect::<Vec<_>>()
        };
        figure.panels.iter().map(|panel| panel.plot.table()).flat_map(end).collect()
    };
    let ends: Vec<String> = figures_of(&sections).flat_map(ends).collect();
    assert!(!ends.is_empty() && ends.iter().all(String::is_empty), "{ends:?}");
    let ids: Vec<&str> = sections.iter().map(|section| section.id.as_str()).collect();
    assert_eq!(ids, ["runs", "credit", "campaign"]);
}

#[test]
fn names_in_the_page_are_unique_and_stay() {
    let ids = || -> Vec<String> {
        let sections = figures::sections(&[shown(&ladder()), shown(&large(20, 2, 2)), clusters()]);
        let figures = figures_of(&sections).map(|figure| figure.id.to_string());
        sections.iter().map(|section| section.id.to_string()).chain(figures).collect()
    };
    let names = ids();
    let mut once = names.clone();
    once.sort();
    once.dedup();
    assert_eq!(once.len(), names.len(), "{names:?}");
    assert_eq!(names, ids());
}

#[test]
fn what_has_no_data_has_no_section() {
    let sections = figures::sections(&[shown(&factorial())]);
    let ids: Vec<&str> = sections.iter().map(|section| section.id.as_str()).collect();
    for absent in ["cpu", "latency", "inside", "loss"] {
        assert!(!ids.contains(&absent), "{absent} in {ids:?}");
    }
    assert!(figures::sections(&[]).is_empty());
}
