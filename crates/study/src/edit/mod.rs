//! Changes to a study from outside its file: each becomes a change of the text, so that what is read, checked, stored
//! and resumed is one text like any other.

pub(crate) mod assignment;
mod document;
mod literal;
mod looks;
mod prune;
mod target;

use std::ops::Range;

use crate::edit::assignment::Assignment;
use crate::model::limit;
use crate::model::study::Study;
use crate::read;
use crate::read::diagnostic::{Diagnostics, Problem};

use self::document::Document;
use self::target::Target;

/// Reads a study file after these changes, made in their order; see [`Study::parse_with`].
pub(crate) fn study(file: &str, text: &str, assignments: &[Assignment]) -> Result<Study, Diagnostics> {
    let mut changed = text.to_owned();
    for assignment in assignments {
        // What is no TOML, or too long to be read, is the reader's to refuse.
        if changed.len() > limit::TEXT {
            return read::study(file, &changed);
        }
        let Some(document) = Document::read(&changed) else { return read::study(file, &changed) };
        let next = apply(&document, assignment);
        changed =
            next.map_err(|problem| Diagnostics::new("--set", &assignment.to_string(), vec![problem], 0))?;
    }
    let (changed, looks_dropped) = looks::without_room(changed, assignments);
    let study = read::study(&format!("{file} with --set"), &changed).map_err(|diagnostics| {
        let places = places(&changed, assignments);
        diagnostics.noted(|span| {
            let within = |(range, _): &&(Range<usize>, String)| range.contains(&span.start);
            places.iter().rev().find(within).map(|(_, note)| note.clone())
        })
    })?;
    Ok(Study { looks_dropped, ..study })
}

/// The text after one change.
fn apply(document: &Document<'_>, assignment: &Assignment) -> Result<String, Problem> {
    let target = Target::of(document, assignment)?;
    let edits = target.edits(document, assignment.values());
    let changed = edits.map(|edits| document.with(edits));
    // Files can be written in more ways than a change of their text foresees; what went wrong is not handed on.
    let changed = changed.filter(|changed| {
        Document::read(changed).is_some_and(|document| target.holds(&document, assignment.values()))
    });
    changed.ok_or_else(|| {
        Problem::new(0..assignment.key().len(), "the file is written in a way that this cannot change")
            .help("change it in the file itself")
    })
}

/// What each change wrote, and the words to say so.
fn places(text: &str, assignments: &[Assignment]) -> Vec<(Range<usize>, String)> {
    let Some(document) = Document::read(text) else { return Vec::new() };
    let of = |assignment: &Assignment| {
        let note = format!("from `--set {assignment}`");
        let target = Target::of(&document, assignment).ok();
        let places = target.map(|target| target.places(&document)).unwrap_or_default();
        places.into_iter().map(move |place| (place, note.clone()))
    };
    assignments.iter().flat_map(of).collect()
}
