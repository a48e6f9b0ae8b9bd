//! `netassay compare`: what differs in a stored study or between files, and how sure that is.

use std::ffi::OsString;
use std::path::Path;

use report::views;
use results::ComparisonRequest;
use store::{Store, Tag};

use crate::cli::{Compare, correction};
use crate::commands::compare_files;
use crate::commands::stored::{load, newest_called};
use crate::failure::{Failure, bail, refuse_given};
use crate::output;

pub(crate) fn compare(flags: &Compare) -> Result<(), Failure> {
    if !(flags.confidence > 0.0 && flags.confidence < 100.0) {
        bail!(Usage, "a confidence of {} % is not possible: use less than 100, such as 95", flags.confidence);
    }
    let Some(studies) = studies(flags) else {
        return compare_files::compare(flags);
    };
    let files = &flags.files;
    refuse_given(
        "is for files of measurements: name them",
        [
            ("--input-format", files.input_format.is_some()),
            ("--boots", files.boots.is_some()),
            ("--boot", files.boot.is_some()),
            ("--column", files.column.is_some()),
            ("--condition", files.condition.is_some()),
            ("--better", files.better.is_some()),
        ],
    )?;
    let request = ComparisonRequest {
        metric: flags.metric.as_deref().map(results::resolve_metric).transpose()?,
        baseline: flags.baseline.clone(),
        confidence: flags.confidence / 100.0,
        all_pairs: flags.all_pairs,
        margin: flags.margin,
        design: flags.design,
        correction: correction(flags.uncorrected),
    };
    match studies.as_slice() {
        [baseline, study] => between(flags, baseline, study, &request),
        [] | [_] => within(flags, studies.first().copied(), &request),
        _ => bail!(Usage, "one study is compared with one other: name two"),
    }
}

fn within(flags: &Compare, study: Option<&str>, request: &ComparisonRequest) -> Result<(), Failure> {
    let stored = load(&flags.stored.database.db, study)?;
    let output = &flags.stored.output;
    if flags.classic {
        let classic = results::ClassicTest::new(&stored, request)?;
        return output::show_view(&classic, output, |classic, _| views::classic(classic));
    }
    output::show_view(&results::Comparisons::new(&stored, request)?, output, views::compare)
}

fn between(flags: &Compare, baseline: &str, study: &str, request: &ComparisonRequest) -> Result<(), Failure> {
    refuse_given(
        "is for the conditions of one study: name one",
        [
            ("--baseline", flags.baseline.is_some()),
            ("--classic", flags.classic),
            ("--all-pairs", flags.all_pairs),
            ("--design", flags.design.is_some()),
        ],
    )?;
    let store = Store::open_for_outlines(&flags.stored.database.db)?;
    let baseline = newest_called(&store, baseline)?;
    let study = newest_called(&store, study)?;
    if baseline == study {
        bail!(Usage, "both are study {study}: name two");
    }
    let outline = |study| store.outline(study, |plan| results::metrics_to_compare(plan, request));
    let [baseline, study] = [outline(baseline)?, outline(study)?];
    let between = results::BetweenStudies::new(&baseline.sanitised(), &study.sanitised(), request)?;
    output::show_view(&between, &flags.stored.output, views::between)
}

/// The stored studies that are meant, the baseline first; empty for the newest, none if files are
/// meant.
fn studies(flags: &Compare) -> Option<Vec<&str>> {
    let is_study = |word: &OsString| {
        let is_plain = |word: &str| word != "-" && !word.contains(['/', '.', '=']);
        // A tag may hold a dot, as files do.
        let is_called = |word: &str| {
            word.parse::<Tag>().is_ok()
                && Store::open_for_outlines(&flags.stored.database.db)
                    .is_ok_and(|store| store.called(word).is_ok())
        };
        !Path::new(word).exists() && word.to_str().is_some_and(|word| is_plain(word) || is_called(word))
    };
    flags.what.iter().map(|word| word.to_str().filter(|_| is_study(word))).collect()
}
