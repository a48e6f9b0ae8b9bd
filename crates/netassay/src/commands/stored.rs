//! `netassay show`: a study in the database.

use std::path::Path;

use report::views;
use results::Results;
use serde_json::json;
use store::{Store, StoredStudy, StudyId};

use crate::cli::{Format, OverPairs, Stored};
use crate::commands::advise::in_short;
use crate::commands::fleet::{fleet_of, show_fleet};
use crate::failure::{Failure, bail};
use crate::output::{json as json_text, named, print, print_blocks};

pub(crate) fn load(path: &Path, word: Option<&str>) -> Result<StoredStudy, Failure> {
    let store = Store::open_read_only(path)?;
    Ok(store.load(study_of(&store, word)?)?.sanitised())
}

/// Without words the newest study; every text is as it is stored.
pub(crate) fn load_each(store: &Store, words: &[String]) -> Result<Vec<StoredStudy>, Failure> {
    let mut ids = Vec::new();
    for word in words {
        let id = newest_called(store, word)?;
        if ids.contains(&id) {
            bail!(Usage, "study {id} is named twice: name it once");
        }
        ids.push(id);
    }
    if ids.is_empty() {
        ids.push(study_of(store, None)?);
    }
    ids.into_iter().map(|id| Ok(store.load(id)?)).collect()
}

/// Refuses a database that is an argument of the command and is not there, where `--db` is no
/// remedy.
pub(crate) fn require(file: &Path) -> Result<(), Failure> {
    if store::is_server(file) {
        return Ok(());
    }
    let about = std::fs::metadata(file).map_err(|source| Failure::Read { path: file.to_owned(), source })?;
    if about.is_file() && about.len() == 0 {
        bail!(Nothing, "{} is empty: it holds no study", named(file));
    }
    Ok(())
}

/// The study that a word means; without one the newest of all.
pub(crate) fn study_of(store: &Store, word: Option<&str>) -> Result<StudyId, Failure> {
    if let Some(word) = word {
        return newest_called(store, word);
    }
    store.newest()?.ok_or_else(|| {
        let path = store.path().display();
        Failure::Nothing(format!("{path} holds no study yet: `netassay quick` runs a first one"))
    })
}

/// The study that a word means: of several with this name the newest.
pub(crate) fn newest_called(store: &Store, word: &str) -> Result<StudyId, Failure> {
    Ok(*store.called(word)?.last().expect("there is always one"))
}

pub(crate) fn show(
    study: Option<&str>,
    runs: bool,
    environment: bool,
    over: &OverPairs,
    flags: &Stored,
) -> Result<(), Failure> {
    let (db, wide) = (&flags.database.db, flags.output.wide);
    let store = Store::open_read_only(db)?;
    if over.fleet {
        return show_fleet(&fleet_of(&store, study, over)?, &flags.output);
    }
    let stored = store.load(study_of(&store, study)?)?;
    let document = (flags.output.format == Format::Json).then(|| store::export::json(&stored));
    let stored = stored.sanitised();
    let results = Results::new(&stored)?;
    if let Some(mut document) = document {
        document["results"] = json!(results);
        return print(&json_text(&document)?);
    }
    let mut blocks = views::show(&results, &named(db), wide);
    if wide {
        blocks.extend(views::evidence(&results));
        blocks.extend(views::switch_states(&results));
    }
    if runs {
        blocks.extend(views::runs(&results));
    }
    if environment {
        blocks.extend(views::environment(&results));
    }
    blocks.extend(in_short(&stored, db)?);
    print_blocks(&blocks, wide)
}
