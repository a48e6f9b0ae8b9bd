//! `netassay db`: stored studies as a person keeps them.

use std::path::{Path, PathBuf};

use report::document::Block;
use report::views;
use results::ListedStudy;
use serde_json::json;
use store::{Contents, KnownStudy, Moved, Store, StudyId, Tag};

use crate::cli::{CampaignFlags, DbCommand, Formatted, Stored};
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
        DbCommand::Unpack { files, database } => unpack(&database.db, files),
        DbCommand::Push { studies, to, database } => {
            let store = Store::open_read_only(&database.db)?;
            let chosen = chosen(&store, studies)?;
            if chosen.is_empty() {
                bail!(Nothing, "{} holds no study", named(&database.db));
            }
            refuse_incomplete_pair(&store, &chosen)?;
            push(&store, &chosen, to)
        }
        DbCommand::Migrate { db } => migrate(db),
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
    if store::is_server(into) {
        bail!(Usage, "{} is no file: `netassay db push` adds studies to a server", named(into));
    }
    let store = Store::open_read_only(db)?;
    let packed = store.pack(&chosen(&store, words)?, into)?;
    say(&format!("packed {} into {}", moved(&packed), named(into)));
    Ok(())
}

/// A file that cannot be added costs itself: the others are added.
fn unpack(db: &Path, files: &[PathBuf]) -> Result<(), Failure> {
    let (mut opened, mut failed) = (None, None);
    for file in files {
        if let Err(failure) = unpack_file(&mut opened, db, file)
            && let Some(before) = failed.replace(failure)
        {
            say(&format!("netassay: {before}"));
        }
    }
    failed.map_or(Ok(()), Err)
}

fn unpack_file(opened: &mut Option<Store>, db: &Path, file: &Path) -> Result<(), Failure> {
    require(file)?;
    // Before a database is made for it.
    let packed = Store::open_read_only(file)?;
    refuse_incomplete_pair(&packed, &chosen(&packed, &[])?)?;
    let store = match opened.take() {
        Some(store) => store,
        None => Store::open(db)?,
    };
    let (added, known) = opened.insert(store).unpack(&packed)?;
    if added.is_empty() && known.is_empty() {
        bail!(Nothing, "{} holds no study", named(file));
    }
    say_added(&added, &known, "unpacked", file, db);
    Ok(())
}

/// The studies that words mean; without words all.
fn chosen(store: &Store, words: &[String]) -> Result<Vec<StudyId>, Failure> {
    if words.is_empty() {
        return Ok(store.studies()?.iter().map(|row| row.id).collect());
    }
    words.iter().map(|word| newest_called(store, word)).collect()
}

/// Refuses a database that could not take the study, before it is measured.
pub(crate) fn check_push(campaign: &CampaignFlags) -> Result<(), Failure> {
    campaign.push.as_ref().map_or(Ok(()), |to| Ok(Store::open(to).map(drop)?))
}

/// Adds studies to another database, and says under which numbers.
pub(crate) fn push(store: &Store, studies: &[StudyId], to: &Path) -> Result<(), Failure> {
    let (added, known) = Store::open(to)?.add_from(store, studies)?;
    say_added(&added, &known, "pushed", store.path(), to);
    Ok(())
}

/// Adds measured studies to the database that `--push` names, if any. If that fails, says how it
/// is done later: they are in the file.
pub(crate) fn push_measured(
    store: &Store,
    studies: &[StudyId],
    campaign: &CampaignFlags,
) -> Result<(), Failure> {
    let Some(to) = &campaign.push else { return Ok(()) };
    push(store, studies, to).inspect_err(|_| {
        // An address may have a `?`.
        let (file, to) = (named(store.path()), words::shell_word(&named(to)));
        let numbers: String = studies.iter().map(|study| format!(" {study}")).collect();
        let option = views::database_option(&file);
        say(&format!("netassay: the results are kept in {file}: `netassay db push{numbers}{option} --to {to}` adds them"));
    })
}

fn say_added(added: &[Moved], known: &[KnownStudy], done: &str, from: &Path, to: &Path) {
    let (from, to) = (named(from), named(to));
    for (study, there) in known {
        say(&format!("study {study} of {from} is in {to} already: study {there}"));
    }
    for moved in added {
        for tag in &moved.tags_taken {
            let tag = words::sanitised_line(tag);
            say(&format!("study {} comes without its tag {tag}: another study has it", moved.to));
        }
    }
    if !added.is_empty() {
        say(&format!("{done} {} into {to}", moved(added)));
    }
}

fn migrate(db: &Path) -> Result<(), Failure> {
    if !store::is_server(db) {
        bail!(Usage, "{} is a file: it is updated when a study is recorded into it", named(db));
    }
    let name = named(db);
    match store::migrate(db)? {
        (before, now) if before == now => say(&format!("the tables of {name} are of schema {now} already")),
        (0, now) => say(&format!("{name} has the tables of schema {now}")),
        (before, now) => say(&format!("the tables of {name} went from schema {before} to {now}")),
    }
    Ok(())
}

/// A campaign has one study of a pair: added before it is whole, it would keep the whole one out.
fn refuse_incomplete_pair(store: &Store, studies: &[StudyId]) -> Result<(), Failure> {
    let rows = store.studies()?.into_iter().filter(|row| studies.contains(&row.id));
    for store::StudyRow { id, status, pair, .. } in rows {
        if let Some(pair) = pair.filter(|_| status != store::StudyStatus::Complete) {
            let file = named(store.path());
            bail!(
                Nothing,
                "study {id} of {file} measures pair {pair}, and is not complete ({status}): start its task again (`netassay fleet status` tells how far it is)"
            );
        }
    }
    Ok(())
}

/// `study 3 as 1, study 4 as 2`.
fn moved(moved: &[Moved]) -> String {
    let words: Vec<String> = moved.iter().map(|one| format!("study {} as {}", one.from, one.to)).collect();
    words.join(", ")
}
