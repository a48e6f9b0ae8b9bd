//! The part of a file that the key of an assignment addresses.

use std::ops::Range;

use toml::de::{DeTable, DeValue};
use words::suggest;
use words::suggest::quoted;

use crate::edit::assignment::Assignment;
use crate::edit::file::{Base, Document, File};
use crate::edit::prune;
use crate::model::switch::UNDERLAY;
use crate::model::tables::{BOOTS, COMPARISON, DESIGN, GUEST, PROTOCOL, STOP, STUDY, TRACE};
use crate::model::{Part, Scope, Subject, Table, tables};
use crate::read::factor::flatten;
use crate::read::{Named, Problem, Problems, workload_keys};
use crate::write;

/// Tables of the study with keys of their own, which can also be removed as a whole.
const TABLES: &[(&str, Table)] =
    &[("guest", GUEST), (UNDERLAY, tables::UNDERLAY), ("design", DESIGN), ("trace", TRACE)];

fn study_keys() -> impl Iterator<Item = &'static str> {
    let is_value = |part: &Part| matches!(part, Part::Name | Part::Sentence | Part::Shaped(..));
    STUDY.rows.iter().filter(move |row| is_value(&row.part)).map(|row| row.name)
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Target {
    /// A key of each of these tables, by its path there.
    Keys(Vec<Base>, Vec<String>),
    /// A factor: its subject and its name, with the side if it has one. A workload must not write
    /// it as well.
    Factor(Subject, String),
}

impl Target {
    /// The part of this file that the key of an assignment addresses.
    ///
    /// # Errors
    /// A problem with its place in the assignment's text: no key has that name.
    pub(crate) fn resolve(document: &Document<'_>, assignment: &Assignment) -> Result<Self, Problem> {
        let key = &assignment.key;
        let several = assignment.values.len() > 1;
        let remove = assignment.values.is_empty();
        let target = match key.split_once('.') {
            Some(("protocol", key)) => {
                protocol(document, key.split_once('.').unwrap_or(("protocol", key)), remove)
            }
            Some((table @ ("stop" | "boots"), key)) => protocol(document, (table, key), remove),
            Some(("workload", key)) => workloads(document, None, key),
            Some(("factors", key)) => factor(key),
            Some(("exact", "copies")) => bare(document, "copies", assignment.values.len()),
            // Several values are levels of a factor; so is one value where the file has the factor.
            Some((UNDERLAY, _)) if several || is_factor(document, key) => factor(key),
            Some((table, inner)) if is_key_of(table, inner) => Some(Self::key(&[table, inner])),
            Some(_) if Scope::split(key).0 != Scope::default() => factor(key),
            Some(_) => key.rsplit_once('.').and_then(|(name, key)| workloads(document, Some(name), key)),
            None => bare(document, key, assignment.values.len()),
        };
        target.ok_or_else(|| unknown(document, key))
    }

    fn key(path: &[&str]) -> Self {
        Self::Keys(vec![Base::Root], path.iter().map(ToString::to_string).collect())
    }

    /// Sets it to these values; `None` if that cannot be done in this file.
    pub(crate) fn put(&self, document: &Document<'_>, file: &mut File, values: &[String]) -> Option<()> {
        match self {
            Self::Keys(bases, path) => {
                let path: Vec<&str> = path.iter().map(String::as_str).collect();
                if values.is_empty() {
                    for base in bases {
                        file.take(*base, &path);
                    }
                    return Some(());
                }
                // `boots = 3` becomes a table that has the 3 as its count.
                if let ["protocol", "boots", _] = path.as_slice() {
                    file.widen(&path[..2], "count");
                }
                let value = write::toml_value(path.last()?, values);
                bases.iter().try_for_each(|base| file.put(*base, &path, value.clone()))
            }
            Self::Factor(subject, name) => {
                let written = written(document, subject);
                if values.is_empty() {
                    let path = written.map(|named| [&["factors"], named.path.as_slice()].concat());
                    path.and_then(|path| file.take(Base::Root, &path));
                    return Some(());
                }
                // A factor must not be written elsewhere as well.
                for (place, _) in document.tables("workload") {
                    file.take(Base::Item("workload", place), &[name]);
                }
                elsewhere(file, subject, name);
                prune::from_design(document, file, subject)?;
                let value = write::toml_value(name.rsplit('.').next()?, values);
                // A quoted scope fits, however the file writes the other factors of that scope.
                match written {
                    Some(named) => {
                        file.put(Base::Root, &[&["factors"], named.path.as_slice()].concat(), value)
                    }
                    None => file.put_first(name, value),
                }
            }
        }
    }

    pub(crate) fn places(&self, document: &Document<'_>) -> Vec<Range<usize>> {
        match self {
            Self::Keys(bases, path) => {
                let path: Vec<&str> = path.iter().map(String::as_str).collect();
                bases.iter().filter_map(|base| document.find(*base, &path)).collect()
            }
            Self::Factor(subject, _) => {
                let named = written(document, subject);
                named.map(|named| named.place.start..named.value.span().end).into_iter().collect()
            }
        }
    }

    pub(crate) fn holds(&self, document: &Document<'_>, values: &[String]) -> bool {
        let expected = match self {
            _ if values.is_empty() => 0,
            Self::Keys(bases, _) => bases.len(),
            Self::Factor(..) => 1,
        };
        self.places(document).len() == expected
    }
}

/// A key of `[protocol]`, or of its `stop` or `boots`. A bare `stop=2%` sets `detect`, and a bare
/// `boots=2` the count, so that the kind of boot stays. `remove`: the key is taken out, whatever it
/// holds.
fn protocol(document: &Document<'_>, (table, key): (&str, &str), remove: bool) -> Option<Target> {
    let boots = document.get(&["protocol"], "boots");
    Some(match table {
        "protocol" if key == "boots" && !remove && matches!(boots, Some(DeValue::Table(_))) => {
            Target::key(&["protocol", key, "count"])
        }
        "boots" if BOOTS.has(key) => Target::key(&["protocol", "boots", key]),
        "protocol" if PROTOCOL.has(key) => Target::key(&["protocol", key]),
        "stop" if STOP.has(key) => Target::key(&["protocol", "stop", key]),
        _ => return None,
    })
}

/// A key of every workload, or of the workloads with this name.
fn workloads(document: &Document<'_>, name: Option<&str>, key: &str) -> Option<Target> {
    let tables = document.tables("workload").into_iter();
    let chosen = |table: &DeTable<'_>| name.is_none_or(|name| name_of(table) == Some(name));
    let bases: Vec<Base> =
        tables.filter(|(_, table)| chosen(table)).map(|(number, _)| Base::Item("workload", number)).collect();
    (is_key_of_workload(key) && !bases.is_empty()).then(|| Target::Keys(bases, vec![key.to_owned()]))
}

fn name_of<'t>(table: &'t DeTable<'_>) -> Option<&'t str> {
    let text = |key: &str| match table.get(key)?.get_ref() {
        DeValue::String(text) => Some(text.as_ref()),
        _ => None,
    };
    text("name").or_else(|| text("kind"))
}

fn factor(key: &str) -> Option<Target> {
    Subject::from_name(key).map(|subject| Target::Factor(subject, key.to_owned()))
}

fn is_factor(document: &Document<'_>, key: &str) -> bool {
    Subject::from_name(key).is_some_and(|subject| written(document, &subject).is_some())
}

fn is_key_of_workload(key: &str) -> bool {
    workload_keys().any(|known| known == key)
}

fn is_key_of(table: &str, key: &str) -> bool {
    TABLES.iter().any(|(known, keys)| *known == table && keys.has(key))
}

/// Removes a factor from the study, `[guest]` and `[underlay]`, whose keys have its name.
fn elsewhere(file: &mut File, subject: &Subject, name: &str) {
    let key = name.rsplit('.').next().unwrap_or(name);
    let table = match subject {
        Subject::Scenario => {
            file.take(Base::Root, &[key]);
            return;
        }
        Subject::Guest(_) => "guest",
        Subject::Underlay(_) => UNDERLAY,
        _ => return,
    };
    file.take(Base::Root, &[table, key]);
}

/// A key without its table. A factor of the file comes first; several values can only be levels.
fn bare(document: &Document<'_>, key: &str, values: usize) -> Option<Target> {
    if key == "scenario" && (values > 1 || is_factor(document, key)) {
        return factor(key);
    }
    if study_keys().any(|known| known == key)
        || (values == 0 && TABLES.iter().any(|(table, _)| *table == key))
    {
        return Some(Target::key(&[key]));
    }
    // `detect` is the one required key of `stop`.
    if key == "stop" && values > 0 {
        return protocol(document, ("stop", "detect"), false);
    }
    let of_protocol = protocol(document, ("protocol", key), values == 0);
    if of_protocol.is_some() {
        return of_protocol;
    }
    let (of_guest, of_workloads) = (GUEST.has(key), || workloads(document, None, key));
    if values > 1 || is_factor(document, key) || !(of_guest || is_key_of_workload(key)) {
        factor(key).or_else(of_workloads)
    } else if of_guest {
        Some(Target::key(&["guest", key]))
    } else {
        of_workloads()
    }
}

fn written<'d>(document: &'d Document<'_>, subject: &Subject) -> Option<Named<'d>> {
    let named = flatten(document.entries("factors"), &mut Problems::default());
    named.into_iter().find(|named| named.subject().as_ref() == Some(subject))
}

/// The problem of a key that does not exist, with a suggestion.
fn unknown(document: &Document<'_>, key: &str) -> Problem {
    let bare = key.rsplit('.').next().unwrap_or(key);
    let message = format!("`--set` cannot change `{}`", quoted(key));
    let of_study = study_keys().chain(PROTOCOL.keys()).chain(GUEST.keys()).chain(workload_keys());
    let workloads = document.tables("workload").into_iter();
    let names: Vec<&str> = workloads.filter_map(|(_, table)| name_of(table)).collect();
    let help = if COMPARISON.has(bare) {
        "`--set` does not change comparisons; `netassay compare` judges stored results in other ways"
            .to_owned()
    } else if is_key_of_workload(bare) && key != bare {
        format!("write `{bare}`, or `NAME.{bare}` for one of the workloads {}", suggest::list(&names))
    } else if let Some((table, keys)) =
        TABLES.iter().find(|(table, _)| key == *table || key.starts_with(&format!("{table}.")))
    {
        format!("`{table}` has {}; `--set {table}=` removes the whole table", suggest::list(&keys.keys()))
    } else if let Some(near) = suggest::nearest(bare, of_study.chain(Subject::names())) {
        format!("did you mean `{near}`?")
    } else {
        "use a key of `[[workload]]`, `[protocol]`, `[guest]`, `[underlay]`, `[design]` or `[trace]`, a factor, `scenario`, `name` or `question` (docs/studies.md)"
            .to_owned()
    };
    Problem::new(0..key.len(), message).help(help)
}
