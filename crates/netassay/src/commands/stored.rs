//! `netassay show`: a study in the database.

use std::path::Path;

use report::document::terminal;
use report::views;
use store::{Store, StoredStudy, StudyId};

use crate::cli::{Format, Show};
use crate::commands::advise::in_short;
use crate::failure::Failure;
use crate::output::{layout, named, print_json, print_page};

/// A stored study by its number, tag or name, or the newest, in words that may be printed.
pub(crate) fn load(path: &Path, word: Option<&str>) -> Result<StoredStudy, Failure> {
    load_from(&Store::open_read_only(path)?, word).map(StoredStudy::sanitised)
}

/// The same of a store that is open, with every text as it is stored.
pub(crate) fn load_from(store: &Store, word: Option<&str>) -> Result<StoredStudy, Failure> {
    Ok(store.load(study_of(store, word)?)?)
}

/// The study that a word means; without one the newest of all.
pub(crate) fn study_of(store: &Store, word: Option<&str>) -> Result<StudyId, Failure> {
    let Some(word) = word else {
        let newest = store.studies()?.last().map(|row| row.id);
        return newest.ok_or_else(|| {
            let path = store.path().display();
            Failure::Nothing(format!("{path} holds no study yet: `netassay quick` runs a first one"))
        });
    };
    newest_called(store, word)
}

/// The study that a word means: of several with this name the newest.
pub(crate) fn newest_called(store: &Store, word: &str) -> Result<StudyId, Failure> {
    let called = store.called(word)?;
    Ok(*called.last().expect("there is always one"))
}

pub(crate) fn show(flags: &Show) -> Result<(), Failure> {
    let db = &flags.stored.database.db;
    let store = Store::open_read_only(db)?;
    let stored = load_from(&store, flags.study.as_deref())?;
    if flags.stored.output.format == Format::Json {
        return print_json(&store::export::json(&stored));
    }
    let stored = stored.sanitised();
    let results = results::Results::new(&stored)?;
    let layout = layout(flags.tables.wide);
    let mut blocks = views::show(&results, &named(db), layout.wide);
    if layout.wide {
        blocks.extend(views::evidence(&results));
        blocks.extend(views::switch_states(&results));
        blocks.extend(views::over_time(&stored, &store.series(stored.row.id)?));
    }
    if flags.runs {
        blocks.extend(views::runs(&results));
    }
    if flags.environment {
        blocks.extend(views::environment(&results));
    }
    print_page(&(terminal(&blocks, layout) + &in_short(&stored, layout)?), layout)
}
