//! `netassay compare`: what differs in a stored study, and how sure that is.

use store::StoredStudy;

use crate::cli::{Compare, Format};
use crate::commands::stored::load;
use crate::failure::Failure;
use crate::output::{print, print_json};

pub(crate) fn compare(flags: &Compare) -> Result<(), Failure> {
    if !(flags.confidence > 0.0 && flags.confidence < 100.0) {
        return Err(Failure::Usage(format!(
            "a confidence of {} % means nothing: give one between 0 and 100, such as 95",
            flags.confidence
        )));
    }
    let stored = load(&flags.stored.database.db, flags.study)?;
    let request = report::ComparisonRequest {
        metric: flags.metric.clone(),
        baseline: flags.baseline.clone(),
        confidence: flags.confidence / 100.0,
        ..report::ComparisonRequest::default()
    };
    if flags.classic { classic(flags, &stored, &request) } else { by_boots(flags, &stored, &request) }
}

fn by_boots(
    flags: &Compare,
    stored: &StoredStudy,
    request: &report::ComparisonRequest,
) -> Result<(), Failure> {
    let comparisons = report::Comparisons::new(stored, request).map_err(usage)?;
    match flags.stored.output.format {
        Format::Json => print_json(&comparisons),
        Format::Text => print(&comparisons.text()),
    }
}

fn classic(
    flags: &Compare,
    stored: &StoredStudy,
    request: &report::ComparisonRequest,
) -> Result<(), Failure> {
    let classic = report::Classic::new(stored, request).map_err(usage)?;
    match flags.stored.output.format {
        Format::Json => print_json(&classic),
        Format::Text => print(&classic.text()),
    }
}

pub(crate) fn usage(error: report::Error) -> Failure {
    match error {
        report::Error::NothingRecorded { .. } => Failure::Nothing(error.to_string()),
        report::Error::Plan { .. } => Failure::Internal(error.to_string()),
        _ => Failure::Usage(error.to_string()),
    }
}
