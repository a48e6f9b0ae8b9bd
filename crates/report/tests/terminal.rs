//! Pages as a terminal shows them: nothing wraps that is a row, the answer comes first, verdicts
//! have colours.

#![expect(clippy::unwrap_used, reason = "a test panics where it fails")]

mod made_up;
mod shown;

use netassay_report::Layout;
use netassay_report::document::terminal;
use netassay_report::views;
use proptest::prelude::*;
use proptest::test_runner::{TestCaseError, TestRunner};
use record::{Evidence, Label, Limit};
use results::{
    ComparisonRequest, Comparisons, ListedStudy, PilotSpread, PlanListing, Results, Sizing, SizingRequest,
};
use store::{RunStatus, StoredRun, StoredStudy};
use study::{NameWord, Percent, Study};
use unicode_width::UnicodeWidthStr as _;

use made_up::stored;
use shown::Shown as _;

/// A study with limits, whose baseline has a reason that explains a large effect.
fn quick() -> StoredStudy {
    let mut study = stored(3);
    for run in &mut study.runs {
        let label = if run.condition == 1 { Label::ReceiverCpu } else { Label::TransmitterCpu };
        run.limited_by = Some(Limit { label, evidence: vec![Evidence::NobodyBusy] });
        if run.condition % 2 == 1 {
            run.metrics.insert(study::metric::SEGMENTS_PER_WIRE_PACKET.transmitter, 1.0);
        }
    }
    study
}

fn page(study: &StoredStudy, layout: Layout) -> String {
    Results::new(study).unwrap().text(layout)
}

fn list(study: &StoredStudy, layout: Layout) -> String {
    terminal(&views::study_list(&[ListedStudy::from(&study.row)]), layout)
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
    let page = Layout::PLAIN.wrap(&page(&quick(), Layout::PLAIN));
    insta::assert_snapshot!("first_screen", page);
    // The last line is the prompt's.
    let lines = page.lines().count();
    assert!(lines < 24, "{lines} lines:\n{page}");
    assert!(page.lines().nth(1).unwrap().starts_with("Answer: Against ipv4 offloads=default ("), "{page}");
}

#[test]
fn no_row_wraps_down_to_the_narrowest_terminal() {
    let mut study = quick();
    for condition in &mut study.plan.conditions {
        let factor = Some("queue-discipline".to_owned());
        let word = NameWord { factor, level: "fq_codel".to_owned() };
        condition.label = [condition.label.words(), &[word]].concat().into();
    }
    for width in [Layout::NARROWEST, 50, 64, 80, 120] {
        let layout = Layout { width, ..Layout::PLAIN };
        let compared = Comparisons::new(&study, &ComparisonRequest::default()).unwrap().text(layout);
        let runs = terminal(&views::runs(&Results::new(&study).unwrap()), layout);
        for text in [page(&study, layout), compared, runs, list(&study, layout)] {
            let wide: Vec<&str> = rows(&text).into_iter().filter(|row| row.chars().count() > width).collect();
            assert!(wide.is_empty(), "{width}: {wide:#?} in\n{text}");
        }
        let rows_of = page(&study, layout);
        assert_eq!(rows(&rows_of).iter().filter(|row| row.contains("baseline")).count(), 1, "{rows_of}");
        assert!(rows_of.contains("slower"), "{width}: the verdict is never left out:\n{rows_of}");
    }
}

/// A bundled study with a value of its own for every metric of its traffic.
fn measured(study: &Study) -> StoredStudy {
    let plan = study.plan();
    let mut found = stored(2);
    (found.row.name, found.row.scenario) = (study.name.to_owned(), study.scenario_names());
    found.plan = plan.clone();
    let template = found.runs[0].clone();
    found.runs.clear();
    let count = plan.conditions.len();
    for place in 0..4 * count {
        let condition = place % count;
        let [boot, repeat] =
            [place / count / 2 + 1, place / count % 2 + 1].map(|one| u32::try_from(one).unwrap());
        let kind = plan.conditions[condition].workload.traffic.kind;
        let value = 1000.0 + (condition * 37 % 11) as f64 * 100.0 + f64::from(boot * 7 + repeat);
        let metrics = study::metric::METRICS.iter().filter(|metric| kind.produces(**metric));
        let metrics = metrics.map(|metric| (*metric, value)).collect();
        let id = store::RunId(i64::try_from(place).unwrap());
        found.runs.push(StoredRun {
            id,
            boot,
            block: repeat,
            repeat,
            condition,
            metrics,
            ..template.clone()
        });
    }
    found
}

/// Every page of a stored study, once for each width.
fn pages(study: &StoredStudy, all_pairs: bool, widths: &[usize]) -> Vec<(Layout, String)> {
    let results = Results::new(study).unwrap();
    let request = ComparisonRequest { all_pairs, ..ComparisonRequest::default() };
    let compared = Comparisons::new(study, &request);
    let mut pages = Vec::new();
    for layout in widths.iter().map(|width| Layout { width: *width, ..Layout::PLAIN }) {
        let mut of_width = vec![results.text(layout), terminal(&views::runs(&results), layout)];
        of_width.push(list(study, layout));
        of_width.extend(compared.as_ref().map(|compared| compared.text(layout)));
        pages.extend(of_width.into_iter().map(|page| (layout, page)));
    }
    pages
}

/// No row is longer than a line, and no line than the terminal is wide.
fn fits(page: &str, layout: Layout) -> Result<(), TestCaseError> {
    let columns = layout.width.max(Layout::NARROWEST);
    for row in rows(page) {
        prop_assert!(row.width() <= columns, "{}: the row {row:?} in\n{page}", layout.width);
    }
    for line in layout.wrap(page).lines() {
        prop_assert!(line.width() <= columns, "{}: {line:?} in\n{page}", layout.width);
    }
    Ok(())
}

#[test]
fn bundled_studies_fit_the_terminal() {
    bundled_studies_fit(64, [Layout::NARROWEST, 80]);
}

#[test]
#[ignore = "studies of 128 and 1,024 conditions, and all widths: the gate has the smaller ones and two widths"]
fn every_bundled_study_fits_any_terminal() {
    bundled_studies_fit(usize::MAX, [0, Layout::NARROWEST, 61, 80, 132]);
}

/// Pages of bundled studies with at most so many conditions are as wide as they may be.
fn bundled_studies_fit<const N: usize>(most_conditions: usize, widths: [usize; N]) {
    for bundled in study::bundled::list() {
        let study = bundled.study();
        if study.plan().conditions.len() > most_conditions {
            continue;
        }
        let found = measured(&study);
        let plan =
            PlanListing::new(&study, study.plan(), vec!["receive work is not steered".to_owned()], None);
        let request = SizingRequest {
            detect: Percent::parse("2%").unwrap(),
            power: 0.8,
            confidence: 0.95,
            metric: None,
        };
        let spread = PilotSpread::from_pilot(&found, &study, None).unwrap();
        let sized = spread.map(|spread| Sizing::new(&study, spread, &request).unwrap());
        let mut pages = pages(&found, false, &widths);
        assert!(pages.len() == 4 * widths.len() && pages[0].1.contains("Answer: "), "{}", bundled.name);
        for layout in widths.map(|width| Layout { width, ..Layout::PLAIN }) {
            pages.push((layout, plan.text(layout)));
            pages.extend(sized.as_ref().map(|sized| (layout, sized.text(layout))));
        }
        for (layout, page) in pages {
            fits(&page, layout).unwrap();
        }
    }
}

/// Runs as they may be stored.
fn run_of(place: usize) -> impl Strategy<Value = StoredRun> {
    let status =
        prop_oneof![4 => Just(RunStatus::Ok), 1 => Just(RunStatus::Invalid), 1 => Just(RunStatus::Failed)];
    let value = prop_oneof![4 => 1.0..1e5_f64, 1 => -1e300..1e300_f64, 1 => Just(0.0)];
    let limit = prop::option::of(prop::sample::select(Label::ALL.as_slice()));
    (status, value, limit).prop_map(move |(status, value, limit)| {
        let number = u32::try_from(place / 4).unwrap();
        let id = i64::try_from(place).unwrap();
        let mut run = made_up::run(id, number / 3 + 1, number % 3 + 1, place % 4, status);
        run.metrics.insert(study::metric::THROUGHPUT, value);
        run.limited_by = limit.map(|label| Limit { label, evidence: Vec::new() });
        run
    })
}

/// Names of conditions, runs, missing runs, a width, and whether all pairs are compared.
type Drawn = (Vec<String>, Vec<StoredRun>, Vec<prop::sample::Index>, usize, bool);

fn drawn() -> impl Strategy<Value = Drawn> {
    (
        prop::collection::vec("[a-z中é=,._-]{1,30}( [a-z中=,._-]{1,90}){0,4}", 4),
        (0..36_usize).map(run_of).collect::<Vec<_>>(),
        prop::collection::vec(any::<prop::sample::Index>(), 0..20),
        0..200_usize,
        any::<bool>(),
    )
}

#[test]
fn any_stored_study_fits_the_terminal() {
    stored_studies_fit(16);
}

#[test]
#[ignore = "64 studies, of which the gate draws 16"]
fn any_of_many_stored_studies_fits_the_terminal() {
    stored_studies_fit(64);
}

fn stored_studies_fit(cases: u32) {
    let config = ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() };
    let fits_all = |(names, runs, missing, width, all_pairs): Drawn| {
        let mut study = stored(3);
        study.runs = runs;
        for index in missing {
            if !study.runs.is_empty() {
                study.runs.remove(index.index(study.runs.len()));
            }
        }
        for (place, condition) in study.plan.conditions.iter_mut().enumerate() {
            condition.label = format!("{} {place}", names[place]).as_str().into();
        }
        for (layout, page) in pages(&study, all_pairs, &[width]) {
            fits(&page, layout)?;
        }
        Ok(())
    };
    TestRunner::new(config).run(&drawn(), fits_all).unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn wide_shows_every_figure_as_wide_as_it_is() {
    let narrow = Layout { width: 40, ..Layout::WIDE };
    assert_eq!(page(&quick(), narrow), page(&quick(), Layout::WIDE));
    let [wide, plain] = [Layout::WIDE, Layout::PLAIN].map(|layout| page(&quick(), layout));
    for more in ["transmitter CPU %", "evidence (last run)", "between boots", "congestion control: "] {
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
    for sequence in netassay_report::colour_sequences() {
        bare = bare.replace(&sequence, "");
    }
    assert_eq!(bare, page(&quick(), Layout::PLAIN));
}
