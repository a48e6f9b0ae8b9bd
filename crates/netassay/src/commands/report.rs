//! `netassay report`: studies as one page, rendered from what is stored.

use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::thread;

use report::document::markdown;
use report::{Download, Page, file_stem, views};
use results::advice::{Advice, AdviceRequest};
use results::{FleetResults, Results};
use serde_json::{Value, json};
use store::{Store, StoredStudy};

use crate::cli::{Report, ReportFormat};
use crate::commands::fleet::fleet_of;
use crate::commands::stored::load_each;
use crate::failure::{Failure, bail, say};
use crate::output::{MayReplace, json as json_text, named, print, write};

pub(crate) fn report(flags: &Report) -> Result<(), Failure> {
    let store = Store::open_read_only(&flags.database.db)?;
    let ending = flags.format.ending();
    let (own_file, text) = if flags.over.fleet {
        let ([] | [_]) = flags.studies.as_slice() else {
            bail!(Usage, "--fleet shows one campaign: name one of its studies");
        };
        let found = fleet_of(&store, flags.studies.first().map(String::as_str), &flags.over)?;
        let text = match flags.format {
            ReportFormat::Html => report::fleet_page(&found).to_string(),
            ReportFormat::Md => markdown(&views::fleet(&found, false)),
            ReportFormat::Json => json_text(&json!({ "fleet": &found }))?,
        };
        (fleet_report_path(flags.database.file(), &found, &ending), text)
    } else {
        let stored = load_each(&store, &flags.studies)?;
        (report_path(flags.database.file(), &stored, flags.format), render(&store, stored, flags.format)?)
    };
    let (path, may_replace) = match &flags.output {
        Some(path) => (path.clone(), MayReplace::NamedByUser),
        None => (own_file, MayReplace::OwnFile),
    };
    if path.as_os_str() == "-" {
        return print(&text);
    }
    write(&path, &text, may_replace)?;
    say(&format!("wrote {}", named(&path)));
    Ok(())
}

pub(crate) fn write_beside(db: &Path, study: store::StudyId) -> Result<PathBuf, Failure> {
    let store = Store::open_read_only(db)?;
    let stored = vec![store.load(study)?];
    let path = report_path(db, &stored, ReportFormat::Html);
    write(&path, &render(&store, stored, ReportFormat::Html)?, MayReplace::OwnFile)?;
    Ok(path)
}

fn report_path(db: &Path, stored: &[StoredStudy], format: ReportFormat) -> PathBuf {
    let stem = file_stem(stored.iter().map(|study| (study.row.name.as_str(), study.row.id.0)));
    db.with_file_name(format!("{stem}.{}", format.ending()))
}

pub(crate) fn fleet_report_path(db: &Path, found: &FleetResults, ending: &str) -> PathBuf {
    let first = found.pairs.first().and_then(|pair| pair.study).unwrap_or(0);
    let stem = file_stem([(format!("{}-fleet", found.name).as_str(), first)]);
    db.with_file_name(format!("{stem}.{ending}"))
}

fn render(store: &Store, stored: Vec<StoredStudy>, format: ReportFormat) -> Result<String, Failure> {
    if format == ReportFormat::Json {
        return json_text(&document(stored)?);
    }
    let is_html = format == ReportFormat::Html;
    // Other threads compress the measurements while this one works out the figures.
    let compress = |study: &StoredStudy| thread::spawn(Download::from_stored(study));
    let downloads: Vec<_> = stored.iter().filter(|_| is_html).map(compress).collect();
    let mut studies = Vec::new();
    for study in stored {
        let series = store.series(study.row.id)?;
        studies.push(Results { series, ..Results::from_owned(study.sanitised())? });
    }
    let advice = advice_of(studies.iter().map(|study| &study.stored))?;
    let advice = advice.map(|advice| views::advice(&advice)).unwrap_or_default();
    let figures = report::figures::sections(&studies);
    let data = downloads.into_iter().map(|thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic)));
    let page = Page { studies: &studies, advice, figures, data: data.collect() };
    Ok(if is_html { page.html().to_string() } else { page.markdown() })
}

/// `None`: the studies varied no switch of a host.
pub(crate) fn advice_of<'s>(
    studies: impl IntoIterator<Item = &'s StoredStudy>,
) -> Result<Option<Advice>, Failure> {
    Ok(Some(Advice::from_studies(studies, &AdviceRequest::default())?).filter(Advice::has_switches))
}

/// Each study as it is stored, every text exact, with its results.
fn document(stored: Vec<StoredStudy>) -> Result<Value, Failure> {
    let shown: Vec<StoredStudy> = stored.iter().cloned().map(StoredStudy::sanitised).collect();
    let advice = advice_of(&shown)?;
    let studies = stored.into_iter().map(|study| {
        let whole = store::export::json(&study);
        Ok(json!({ "stored": whole, "results": Results::from_owned(study.sanitised())? }))
    });
    Ok(json!({ "studies": studies.collect::<Result<Vec<Value>, Failure>>()?, "advice": advice }))
}
