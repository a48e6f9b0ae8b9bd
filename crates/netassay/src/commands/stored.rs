//! `netassay list` and `show`: what is in the database.

use std::path::Path;

use store::{Store, StoredStudy};

use crate::cli::{Format, List, Show};
use crate::failure::Failure;
use crate::output::{self, layout, print_json, print_page};

pub(crate) fn open_read_only(path: &Path) -> Result<Store, Failure> {
    Ok(Store::open_read_only(path)?)
}

/// A stored study by its number, or the newest, in words that may be printed.
pub(crate) fn load(path: &Path, id: Option<i64>) -> Result<StoredStudy, Failure> {
    load_from(&open_read_only(path)?, id).map(StoredStudy::shown)
}

/// The same of a store that is open, with every text as it is stored.
pub(crate) fn load_from(store: &Store, id: Option<i64>) -> Result<StoredStudy, Failure> {
    let rows = store.studies()?;
    let Some(newest) = rows.last() else {
        return Err(Failure::Nothing(format!(
            "{} holds no study yet: `netassay quick` runs a first one",
            store.path().display()
        )));
    };
    let id = id.map_or(newest.id, store::StudyId);
    Ok(store.load(id)?)
}

pub(crate) fn list(flags: &List) -> Result<(), Failure> {
    let store = open_read_only(&flags.stored.database.db)?;
    let rows = report::list(&store.studies()?);
    output::show(&rows, &flags.stored.output, flags.tables.wide, |rows, layout| rows.text(layout))
}

pub(crate) fn show(flags: &Show) -> Result<(), Failure> {
    let db = &flags.stored.database.db;
    let store = open_read_only(db)?;
    let stored = load_from(&store, flags.study)?;
    if flags.stored.output.format == Format::Json {
        return print_json(&store::export::json(&stored, report::unit_of));
    }
    let stored = stored.shown();
    let results = report::Results::new(&stored)?;
    let layout = layout(flags.tables.wide);
    let mut text = results.text(db, layout);
    if layout.wide {
        text.push_str(&results.proof());
        text.push_str(&report::over_time(&stored, &store.series(stored.row.id)?));
    }
    if flags.runs {
        text.push_str(&results.runs(layout));
    }
    if flags.environment {
        text.push_str(&report::environments(&stored));
    }
    print_page(&text, layout)
}
