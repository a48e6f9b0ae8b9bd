//! `netassay compare`: what differs in a stored study or between files, and how sure that is.

use std::path::Path;

use crate::cli::Compare;
use crate::commands::compare_files;
use crate::commands::stored::load;
use crate::failure::Failure;
use crate::output;

pub(crate) fn compare(flags: &Compare) -> Result<(), Failure> {
    if !(flags.confidence > 0.0 && flags.confidence < 100.0) {
        return Err(Failure::Usage(format!(
            "a confidence of {} % is not possible: use more than 0 and less than 100, such as 95",
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
        design: flags.design,
        correction: flags.correction(),
    };
    let (output, wide) = (&flags.stored.output, flags.tables.wide);
    if flags.classic {
        let classic = report::Classic::new(&stored, &request)?;
        return output::show(&classic, output, wide, |classic, _| classic.text());
    }
    output::show(&report::Comparisons::new(&stored, &request)?, output, wide, report::Comparisons::text)
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
