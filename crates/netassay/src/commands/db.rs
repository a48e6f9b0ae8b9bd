//! `netassay db`: stored studies as a person keeps them.

use std::path::Path;

use report::document::Block;
use report::views;
use results::ListedStudy;
use serde_json::json;
use store::{Contents, Moved, Store, StudyId, Tag};

use crate::cli::{DbCommand, Formatted, Stored};
use crate::commands::export::export;
use crate::commands::stored::{newest_called, require};
use crate::failure::{Failure, bail, say};
use crate::output::{self, named};

pub(crate) fn db(command: &DbCommand) -> Result<(), Failure> {
    match command {
        DbCommand::List(flags) => list(flags),
        DbCommand::Tag { study, name, moves, remove, database } => {
            tag(&database.db, study.as_ref().zip(name.as_ref()), *moves, remove.as_ref())
        }
        DbCommand::Remove { study, dry_run, database, output } => {
            remove(&database.db, study, *dry_run, output)
        }
        DbCommand::Pack { studies, output, database } => pack(&database.db, studies, output),
        DbCommand::Unpack { file, database } => unpack(&database.db, file),
        DbCommand::Export { study, format, metric, output, database } => {
            export(&database.db, study.as_deref(), *format, metric.as_deref(), output.as_deref())
        }
    }
}

fn list(flags: &Stored) -> Result<(), Failure> {
    let store = Store::open_read_only(&flags.database.db)?;
    let studies: Vec<ListedStudy> = store.studies()?.iter().map(ListedStudy::from).collect();
    output::show_list("studies", &studies, &flags.output, views::study_list)
}

fn tag(db: &Path, added: Option<(&String, &Tag)>, moves: bool, removed: Option<&Tag>) -> Result<(), Failure> {
    let mut store = Store::open_existing(db)?;
    if let Some(tag) = removed {
        store.untag(tag)?;
        say(&format!("the tag {tag} is removed"));
    }
    if let Some((study, tag)) = added {
        let id = newest_called(&store, study)?;
        store.tag(id, tag, moves)?;
        say(&format!("{tag} is study {id}"));
    }
    Ok(())
}

fn remove(db: &Path, word: &str, dry_run: bool, output: &Formatted) -> Result<(), Failure> {
    let (id, contents, what) = if dry_run {
        let store = Store::open_read_only(db)?;
        let id = only_called(&store, word)?;
        (id, store.contents(id)?, "would be removed")
    } else {
        let mut store = Store::open_existing(db)?;
        let id = only_called(&store, word)?;
        (id, store.remove(id)?, "removed")
    };
    let json = json!({ "study": id, "removed": !dry_run, "contents": contents });
    let Contents { boots, runs, tags } = contents;
    let parts = [(boots, "boot"), (runs, "run"), (tags, "tag")].into_iter().filter(|(count, _)| *count > 0);
    let parts: Vec<String> = parts.map(|(count, noun)| results::counted(count as usize, noun)).collect();
    let parts = if parts.is_empty() { String::new() } else { format!(" with {}", parts.join(", ")) };
    let sentence = format!("study {id}{parts}: {what}");
    output::show_view(&json, output, |_, _| vec![Block::Text(sentence)])
}

/// The one study that a word means.
fn only_called(store: &Store, word: &str) -> Result<StudyId, Failure> {
    // A removed study is gone, so the newest of several is not chosen here.
    match store.called(word)?.as_slice() {
        [one] => Ok(*one),
        several => {
            let numbers: Vec<String> = several.iter().map(StudyId::to_string).collect();
            bail!(Usage, "{word:?} names several studies ({}): give the number of one", numbers.join(", "))
        }
    }
}

fn pack(db: &Path, words: &[String], into: &Path) -> Result<(), Failure> {
    let store = Store::open_read_only(db)?;
    let studies: Result<Vec<StudyId>, Failure> =
        words.iter().map(|word| newest_called(&store, word)).collect();
    let packed = store.pack(&studies?, into)?;
    say(&format!("packed {} into {}", moved(&packed), named(into)));
    Ok(())
}

fn unpack(db: &Path, file: &Path) -> Result<(), Failure> {
    require(file)?;
    // Before a database is made for it.
    let packed = Store::open_read_only(file)?;
    let (added, known) = Store::open(db)?.unpack(&packed)?;
    let (file, db) = (named(file), named(db));
    for (from, here) in &known {
        say(&format!("study {from} of {file} is in {db} already: study {here}"));
    }
    for moved in &added {
        for tag in &moved.tags_taken {
            let tag = words::sanitised_line(tag);
            say(&format!("study {} comes without its tag {tag}: another study has it", moved.to));
        }
    }
    if !added.is_empty() {
        say(&format!("unpacked {} into {db}", moved(&added)));
    } else if known.is_empty() {
        bail!(Nothing, "{file} holds no study");
    }
    Ok(())
}

/// `study 3 as 1, study 4 as 2`.
fn moved(moved: &[Moved]) -> String {
    let words: Vec<String> = moved.iter().map(|one| format!("study {} as {}", one.from, one.to)).collect();
    words.join(", ")
}
