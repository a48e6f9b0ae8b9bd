//! Pages as a terminal shows them: nothing wraps that is a row, the answer comes first, verdicts have colours.

#![expect(clippy::unwrap_used, reason = "a test panics where it fails")]

mod made_up;

use std::path::Path;

use netassay_report::{ComparisonRequest, Comparisons, Layout, Results, list};
use record::{Label, Limit};
use serde_json::json;
use store::StoredStudy;

use made_up::stored;

/// A study with limits, whose baseline has a reason that explains a large effect.
fn quick() -> StoredStudy {
    let mut study = stored(3);
    for run in &mut study.runs {
        let label = if run.condition == 1 { Label::ReceiverCpu } else { Label::TransmitterCpu };
        run.limited_by = Some(Limit { label, evidence: vec!["busy".to_owned()] });
        if run.condition % 2 == 1 {
            run.metrics.insert("transmitter.segments_per_wire_packet".to_owned(), 1.0);
        }
    }
    study
}

fn page(study: &StoredStudy, layout: Layout) -> String {
    Results::new(study).unwrap().text(Path::new("netassay.db"), layout)
}

/// The rows of a page's tables: what follows a heading, to the next empty line.
fn rows(page: &str) -> Vec<&str> {
    let mut rows = Vec::new();
    let mut is_table = false;
    for line in page.lines() {
        is_table =
            !line.is_empty() && (is_table || line.starts_with("condition") || line.contains("  verdict"));
        if is_table && !line.starts_with('(') {
            rows.push(line);
        }
    }
    rows
}

#[test]
fn the_first_screen_of_quick_has_24_lines_and_leads_with_the_answer() {
    let page = page(&quick(), Layout::PLAIN);
    insta::assert_snapshot!("first_screen", page);
    // As a terminal of 80 columns wraps it; the last line is the prompt's.
    let lines: usize = page.lines().map(|line| line.chars().count().div_ceil(80).max(1)).sum();
    assert!(lines < 24, "{lines} lines:\n{page}");
    assert!(page.lines().nth(1).unwrap().starts_with("Answer: against ipv4 offloads=default ("), "{page}");
}

#[test]
fn no_row_wraps_down_to_the_narrowest_terminal() {
    let mut study = quick();
    for condition in study.plan_json["conditions"].as_array_mut().unwrap() {
        let label = format!("{} queue-discipline=fq_codel", condition["label"].as_str().unwrap());
        condition["label"] = json!(label);
    }
    for width in [Layout::NARROWEST, 50, 64, 80, 120] {
        let layout = Layout { width, ..Layout::PLAIN };
        let compared = Comparisons::new(&study, &ComparisonRequest::default()).unwrap().text(layout);
        let runs = Results::new(&study).unwrap().runs(layout);
        for text in [page(&study, layout), compared, runs, list(&[study.row.clone()]).text(layout)] {
            let wide: Vec<&str> = rows(&text).into_iter().filter(|row| row.chars().count() > width).collect();
            assert!(wide.is_empty(), "{width}: {wide:#?} in\n{text}");
        }
        let rows_of = page(&study, layout);
        assert_eq!(rows(&rows_of).iter().filter(|row| row.contains("baseline")).count(), 1, "{rows_of}");
        assert!(rows_of.contains("slower"), "{width}: the verdict is never left out:\n{rows_of}");
    }
}

#[test]
fn wide_shows_every_figure_as_wide_as_it_is() {
    let narrow = Layout { width: 40, ..Layout::WIDE };
    assert_eq!(page(&quick(), narrow), page(&quick(), Layout::WIDE));
    let [wide, plain] = [Layout::WIDE, Layout::PLAIN].map(|layout| page(&quick(), layout));
    for more in ["transmitter CPU %", "evidence (last run)", "Spread: ", "congestion control: "] {
        assert!(wide.contains(more) && !plain.contains(more), "{more}");
    }
}

#[test]
fn verdicts_have_colours_where_they_are_asked_for() {
    let painted = page(&quick(), Layout { colour: true, ..Layout::PLAIN });
    for verdict in ["\u{1b}[31mslower\u{1b}[0m", "\u{1b}[32mfaster\u{1b}[0m"] {
        assert!(painted.contains(verdict), "{painted}");
    }
    let mut bare = painted;
    for sequence in netassay_report::colours() {
        bare = bare.replace(&sequence, "");
    }
    assert_eq!(bare, page(&quick(), Layout::PLAIN));
}
