//! `netassay db`: stored studies as a person keeps them.

use report::document::Block;
use report::views;
use results::ListedStudy;
use serde_json::json;
use store::{Contents, Moved, Store, StudyId};

use crate::cli::{DbCommand, List, Pack, Remove, TagStudy, Unpack};
use crate::commands::export::export;
use crate::commands::stored::newest_called;
use crate::failure::{Failure, bail, say};
use crate::output::{self, named};

pub(crate) fn db(command: &DbCommand) -> Result<(), Failure> {
    match command {
        DbCommand::List(flags) => list(flags),
        DbCommand::Tag(flags) => tag(flags),
        DbCommand::Remove(flags) => remove(flags),
        DbCommand::Pack(flags) => pack(flags),
        DbCommand::Unpack(flags) => unpack(flags),
        DbCommand::Export(flags) => export(flags),
    }
}

fn list(flags: &List) -> Result<(), Failure> {
    let store = Store::open_read_only(&flags.stored.database.db)?;
    let studies: Vec<ListedStudy> = store.studies()?.iter().map(ListedStudy::from).collect();
    output::show_list("studies", &studies, &flags.stored.output, views::study_list)
}

fn tag(flags: &TagStudy) -> Result<(), Failure> {
    let mut store = Store::open_existing(&flags.database.db)?;
    if let Some(tag) = &flags.remove {
        store.untag(tag)?;
        say(&format!("the tag {tag} is removed"));
    }
    if let (Some(study), Some(tag)) = (&flags.study, &flags.name) {
        let id = newest_called(&store, study)?;
        store.tag(id, tag, flags.moves)?;
        say(&format!("{tag} is study {id}"));
    }
    Ok(())
}

fn remove(flags: &Remove) -> Result<(), Failure> {
    let db = &flags.database.db;
    let (id, contents, what) = if flags.dry_run {
        let store = Store::open_read_only(db)?;
        let id = only_called(&store, &flags.study)?;
        (id, store.contents(id)?, "would be removed")
    } else {
        let mut store = Store::open_existing(db)?;
        let id = only_called(&store, &flags.study)?;
        (id, store.remove(id)?, "removed")
    };
    let json = json!({ "study": id, "removed": !flags.dry_run, "contents": contents });
    let Contents { boots, runs, tags } = contents;
    let parts = [(boots, "boot"), (runs, "run"), (tags, "tag")].into_iter().filter(|(count, _)| *count > 0);
    let parts: Vec<String> = parts.map(|(count, noun)| results::counted(count as usize, noun)).collect();
    let parts = if parts.is_empty() { String::new() } else { format!(" with {}", parts.join(", ")) };
    let sentence = format!("study {id}{parts}: {what}");
    output::show_view(&json, &flags.output, |_, _| vec![Block::Text(sentence)])
}

/// The one study that a word means: what is removed is gone.
fn only_called(store: &Store, word: &str) -> Result<StudyId, Failure> {
    match store.called(word)?.as_slice() {
        [one] => Ok(*one),
        several => {
            let numbers: Vec<String> = several.iter().map(StudyId::to_string).collect();
            bail!(Usage, "{word:?} names several studies ({}): give the number of one", numbers.join(", "))
        }
    }
}

fn pack(flags: &Pack) -> Result<(), Failure> {
    let store = Store::open_read_only(&flags.database.db)?;
    let studies: Result<Vec<StudyId>, Failure> =
        flags.studies.iter().map(|word| newest_called(&store, word)).collect();
    let packed = store.pack(&studies?, &flags.output)?;
    say(&format!("packed {} into {}", moved(&packed), named(&flags.output)));
    Ok(())
}

fn unpack(flags: &Unpack) -> Result<(), Failure> {
    // Before a database is made for it.
    let packed = Store::open_read_only(&flags.file)?;
    let unpacked = Store::open(&flags.database.db)?.unpack(&packed)?;
    let (file, db) = (named(&flags.file), named(&flags.database.db));
    for (from, here) in &unpacked.known {
        say(&format!("study {from} of {file} is in {db} already: study {here}"));
    }
    for moved in &unpacked.added {
        for tag in &moved.tags_taken {
            let tag = words::sanitised_line(tag);
            say(&format!("study {} comes without its tag {tag}: another study has it", moved.to));
        }
    }
    if !unpacked.added.is_empty() {
        say(&format!("unpacked {} into {db}", moved(&unpacked.added)));
    }
    if unpacked.added.is_empty() && unpacked.known.is_empty() {
        bail!(Nothing, "{file} holds no study");
    }
    Ok(())
}

/// `study 3 as 1, study 4 as 2`.
fn moved(moved: &[Moved]) -> String {
    let words: Vec<String> = moved.iter().map(|one| format!("study {} as {}", one.from, one.to)).collect();
    words.join(", ")
}
