//! `netassay advise`: which switches to set, drawn from stored studies.

use std::path::Path;

use report::Layout;
use report::document::{markdown, terminal};
use report::views;
use results::advice::{Advice, AdviceRequest};
use store::{Store, StoredStudy};

use crate::cli::{AdviceFormat, Advise, Wanted};
use crate::commands::stored::load_from;
use crate::failure::Failure;
use crate::output::{self, print, print_json, print_page};

pub(crate) fn advise(flags: &Advise) -> Result<(), Failure> {
    let request = request(&flags.wanted)?;
    let studies = load(&flags.database.db, &flags.studies)?;
    let advice = advice(&studies, &request)?;
    match flags.format {
        AdviceFormat::Text => {
            let layout = output::layout(flags.tables.wide);
            print_page(&terminal(&views::advice(&advice, layout.wide), layout), layout)
        }
        AdviceFormat::Md => print(&markdown(&views::advice(&advice, true))),
        AdviceFormat::Json => print_json(&advice),
        AdviceFormat::Sh => print(&views::advice_script(&advice)),
    }
}

/// The recommendations in short, for the end of the page of a study with a design; empty for
/// others.
pub(crate) fn in_short(stored: &StoredStudy, layout: Layout) -> Result<String, Failure> {
    if stored.plan.design.is_none() {
        return Ok(String::new());
    }
    let advice = Advice::from_studies([stored], &AdviceRequest::default())?;
    if !advice.has_switches() {
        return Ok(String::new());
    }
    let more = format!("netassay advise {}", stored.row.id.0);
    Ok(format!(
        "\n{}Intervals, costs and commands: {more}\n",
        terminal(&views::advice_tables(&advice), layout)
    ))
}

/// What is asked of the studies.
pub(super) fn request(wanted: &Wanted) -> Result<AdviceRequest, Failure> {
    let confidence = wanted.confidence;
    let share = confidence.value() / 100.0;
    if share >= 1.0 {
        return Err(Failure::Usage(format!(
            "a confidence of {confidence} is not possible: use less than 100 %, such as 95%"
        )));
    }
    Ok(AdviceRequest { goals: wanted.goals.clone(), confidence: share, matters: wanted.matters })
}

/// The studies that these words mean; without any the newest of all.
pub(super) fn load(db: &Path, words: &[String]) -> Result<Vec<StoredStudy>, Failure> {
    let store = Store::open_read_only(db)?;
    let load = |word: Option<&str>| load_from(&store, word).map(StoredStudy::sanitised);
    if words.is_empty() {
        return Ok(vec![load(None)?]);
    }
    words.iter().map(|word| load(Some(word))).collect()
}

/// The advice of studies, of which one at least varied a switch.
pub(super) fn advice(studies: &[StoredStudy], request: &AdviceRequest) -> Result<Advice, Failure> {
    let advice = Advice::from_studies(studies, request)?;
    if !advice.has_switches() || !has_runs(studies) {
        return Err(Failure::Nothing(why_none(studies)));
    }
    Ok(advice)
}

/// Whether any run counts.
fn has_runs(studies: &[StoredStudy]) -> bool {
    studies.iter().any(|one| one.measurements().next().is_some())
}

/// Why these studies give no advice, and the way out.
fn why_none(studies: &[StoredStudy]) -> String {
    let names: Vec<String> = studies.iter().map(|one| one.row.id.0.to_string()).collect();
    let which =
        format!("stored {} {}", if names.len() == 1 { "study" } else { "studies" }, results::listed(&names));
    if !has_runs(studies) {
        return format!(
            "{which} holds no run that counts, so there is no advice: `netassay run NAME --resume` measures what is missing"
        );
    }
    format!(
        "{which} varied no switch of a host, so there is no advice: name offloads in [design], or features, mtu or congestion_control in [factors]; `netassay run offload-gain` is such a study"
    )
}
