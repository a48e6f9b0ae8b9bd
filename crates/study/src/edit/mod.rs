//! Changes to a study from outside its file. Each changes the text, so that the study is read,
//! checked, stored and resumed from one text.

pub(crate) mod assignment;
mod file;
mod prune;
mod target;

use std::ops::Range;

use toml::de::DeValue;

use crate::edit::assignment::Assignment;
use crate::edit::file::{Base, Document, File};
use crate::edit::target::Target;
use crate::model::{LooksDropped, Stop, Study, limit};
use crate::plan::Unresolved;
use crate::read::{Diagnostics, Problem};

impl Study {
    /// Reads a study file after these changes, made in their order. Its text is the changed one:
    /// stored and read again it gives the same study, except for [`Study::looks_dropped`].
    ///
    /// # Errors
    /// [`Diagnostics`]: what is wrong with a change, or with the file after all changes. Total, as
    /// [`Study::parse`] is.
    pub fn parse_with(file_name: &str, text: &str, changes: &[Assignment]) -> Result<Self, Diagnostics> {
        if changes.is_empty() {
            return Self::parse(file_name, text);
        }
        let mut changed = text.to_owned();
        for change in changes {
            // The reader reports text that is not TOML, or too long.
            if changed.len() > limit::TEXT {
                return Self::parse(file_name, &changed);
            }
            let Some(document) = Document::read(&changed) else { return Self::parse(file_name, &changed) };
            let next = apply(&document, change);
            changed =
                next.map_err(|problem| Diagnostics::new("--set", &change.to_string(), vec![problem]))?;
        }
        let shorter = Document::read(&changed).and_then(|document| without_looks(&document, changes));
        let (changed, looks_dropped) = match shorter {
            Some((shorter, dropped)) => (shorter, Some(dropped)),
            None => (changed, None),
        };
        let name = format!("{file_name} with --set");
        let parsed = Self::parse(&name, &changed).or_else(|wrong| {
            // A comparison that is void in the file itself is reported.
            let own = Self::parse(file_name, text).err().map(|own| own.void_comparisons).unwrap_or_default();
            let shorter = own.is_empty().then(|| without_void(&name, &changed, &wrong.void_comparisons));
            shorter.flatten().ok_or(wrong)
        });
        let study = parsed.map_err(|diagnostics| {
            let places = places(&changed, changes);
            diagnostics.noted(|span| {
                let within = |(range, _): &&(Range<usize>, String)| range.contains(&span.start);
                places.iter().rev().find(within).map(|(_, note)| note.clone())
            })
        })?;
        Ok(Self { looks_dropped, ..study })
    }
}

/// The study without the comparisons and baselines that its changes made void; `None` if it is
/// wrong all the same.
fn without_void(name: &str, text: &str, void: &[(usize, Unresolved)]) -> Option<Study> {
    let shorter = prune::without_void(text, void)?;
    // Without its baseline a comparison may have nothing to compare.
    Study::parse(name, &shorter)
        .or_else(|wrong| {
            let shorter = prune::without_void(&shorter, &wrong.void_comparisons).ok_or(())?;
            Study::parse(name, &shorter).map_err(|_| ())
        })
        .ok()
}

fn apply(document: &Document<'_>, assignment: &Assignment) -> Result<String, Problem> {
    let refused = || {
        Problem::new(0..assignment.key.len(), "`--set` cannot change a file that is written like this")
            .help("change it in the file itself")
    };
    let text = file::in_order(document).ok_or_else(refused)?;
    let document = Document::read(&text).ok_or_else(refused)?;
    let target = Target::resolve(&document, assignment)?;
    let changed = File::read(&text).and_then(|mut file| {
        target.put(&document, &mut file, &assignment.values)?;
        prune::follow_factors(&document, file.text())
    });
    // Some spellings of a file are not foreseen here: a change that failed is not passed on.
    let changed = changed.filter(|changed| {
        Document::read(changed).is_some_and(|document| target.holds(&document, &assignment.values))
    });
    changed.ok_or_else(refused)
}

/// The places that each assignment changed, with the note for each.
fn places(text: &str, assignments: &[Assignment]) -> Vec<(Range<usize>, String)> {
    let Some(document) = Document::read(text) else { return Vec::new() };
    let of = |assignment: &Assignment| {
        let note = format!("from `--set {assignment}`");
        let target = Target::resolve(&document, assignment).ok();
        let places = target.map(|target| target.places(&document)).unwrap_or_default();
        places.into_iter().map(move |place| (place, note.clone()))
    };
    assignments.iter().flat_map(of).collect()
}

const BOOTS: &[&str] = &["protocol", "boots"];
const STOP: &[&str] = &["protocol", "stop"];

/// The text without its looks, if the changes set fewer boots than these need. Changes that set the
/// looks too keep them: then a conflict is reported like any other.
fn without_looks(document: &Document<'_>, changes: &[Assignment]) -> Option<(String, LooksDropped)> {
    let changes_a = |path: &[&str]| {
        let targets = changes.iter().filter_map(|change| Target::resolve(document, change).ok());
        targets.into_iter().any(|target| match target {
            Target::Keys(_, key) => key.get(..path.len()).is_some_and(|own| own == path),
            Target::Factor(..) => false,
        })
    };
    if !changes_a(BOOTS) || changes_a(STOP) {
        return None;
    }
    let boots = match document.get(&BOOTS[..1], BOOTS[1])? {
        DeValue::Table(table) => number(table.get("count")?.get_ref())?,
        count => number(count)?,
    };
    document.get(&STOP[..1], STOP[1])?;
    let looks = document.get(STOP, "looks").map_or(Some(Stop::LOOKS), number)?;
    if Stop::fits(looks, boots) {
        return None;
    }
    let mut file = File::read(document.text)?;
    file.take(Base::Root, STOP)?;
    Some((file.text(), LooksDropped { looks, boots }))
}

fn number(value: &DeValue<'_>) -> Option<u32> {
    match value {
        DeValue::Integer(number) if number.radix() == 10 => number.as_str().parse().ok(),
        _ => None,
    }
}
