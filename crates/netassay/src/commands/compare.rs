//! `netassay compare`: what differs in a stored study or between files, and how sure that is.

use std::path::Path;

use store::StoredStudy;

use crate::cli::{Compare, Format};
use crate::commands::compare_files;
use crate::commands::stored::load;
use crate::failure::Failure;
use crate::layout;
use crate::output::{print_json, print_page};

pub(crate) fn compare(flags: &Compare) -> Result<(), Failure> {
    if !(flags.confidence > 0.0 && flags.confidence < 100.0) {
        return Err(Failure::Usage(format!(
            "a confidence of {} % means nothing: give one between 0 and 100, such as 95",
            flags.confidence
        )));
    }
    let Some(study) = study(flags) else { return compare_files::compare(flags) };
    if let Some(option) = flags.files.first_given() {
        return Err(Failure::Usage(format!("{option} is for files of measurements: name them")));
    }
    let stored = load(&flags.stored.database.db, study)?;
    let request = report::ComparisonRequest {
        metric: flags.metric.clone(),
        baseline: flags.baseline.clone(),
        confidence: flags.confidence / 100.0,
        all_pairs: flags.all_pairs,
        margin: flags.margin,
        design: flags.design(),
        correction: flags.correction(),
    };
    if flags.classic { classic(flags, &stored, &request) } else { by_boots(flags, &stored, &request) }
}

/// The stored study that is meant: none if files are, `Some(None)` for the newest.
#[expect(
    clippy::option_option,
    reason = "files, the newest study and a study by its number are three things"
)]
fn study(flags: &Compare) -> Option<Option<i64>> {
    match flags.what.as_slice() {
        [] => Some(None),
        [word] if !Path::new(word).exists() => word.to_str().and_then(|text| text.parse().ok()).map(Some),
        _ => None,
    }
}

fn by_boots(
    flags: &Compare,
    stored: &StoredStudy,
    request: &report::ComparisonRequest,
) -> Result<(), Failure> {
    let comparisons = report::Comparisons::new(stored, request)?;
    let layout = layout::of_standard_output(flags.tables.wide);
    match flags.stored.output.format {
        Format::Json => print_json(&comparisons),
        Format::Text => print_page(&comparisons.text(layout), layout),
    }
}

fn classic(
    flags: &Compare,
    stored: &StoredStudy,
    request: &report::ComparisonRequest,
) -> Result<(), Failure> {
    let classic = report::Classic::new(stored, request)?;
    match flags.stored.output.format {
        Format::Json => print_json(&classic),
        Format::Text => print_page(&classic.text(), layout::of_standard_output(flags.tables.wide)),
    }
}
