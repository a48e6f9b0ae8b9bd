//! Changes to a study from outside its file. Each changes the text, so that the study is read,
//! checked, stored and resumed from one text.

pub(crate) mod assignment;
mod file;

use toml_edit::{Item, TableLike};
use words::suggest::{self, quoted};

use crate::edit::assignment::Assignment;
use crate::edit::file::{Base, File};
use crate::model::switch::UNDERLAY;
use crate::model::tables::{BOOTS, DESIGN, GUEST, PROTOCOL, STOP, STUDY, TRACE};
use crate::model::{KeyPart, KeyTable, Study, Varied, limit, tables};
use crate::read::{Diagnostics, Problem, workload_keys};
use crate::write::toml_value;

/// Exclusions and comparisons are repaired at most this often.
// A level, the table that is empty without it, its baseline, and the comparison that then has
// nothing to compare.
const REPAIRS: usize = 4;

impl Study {
    /// Reads a study file after these changes, made in their order. Its text is the changed one:
    /// stored and read again it gives the same study. Exclusions and comparisons of levels that the
    /// changes removed are removed too.
    ///
    /// # Errors
    /// [`Diagnostics`]: what is wrong with a change, or with the file after all changes. Total, as
    /// [`Study::parse`] is.
    pub fn parse_with(file_name: &str, text: &str, changes: &[Assignment]) -> Result<Self, Diagnostics> {
        // The reader reports text that is not TOML, or too long.
        let document = Some(text).filter(|text| !changes.is_empty() && text.len() <= limit::TEXT);
        let Some(document) = document.and_then(|text| text.parse().ok()) else {
            return Self::parse(file_name, text);
        };
        let mut file = File(document);
        for change in changes {
            apply(&mut file, change)
                .map_err(|problem| Diagnostics::new("--set", &change.to_string(), vec![problem]))?;
        }
        let name = format!("{file_name} with --set");
        let mut changed = Self::parse(&name, &file.0.to_string());
        for _ in 0..REPAIRS {
            let Err(wrong) = &changed else { break };
            // A part that selects nothing in the file itself is reported.
            let is_stale_itself = || Self::parse(file_name, text).is_err_and(|own| !own.stale.is_empty());
            if wrong.stale.is_empty() || is_stale_itself() || file.without(&wrong.stale).is_none() {
                break;
            }
            changed = Self::parse(&name, &file.0.to_string());
        }
        changed
    }
}

fn apply(file: &mut File, Assignment { key, values }: &Assignment) -> Result<(), Problem> {
    let target = EditTarget::resolve(file, key, values).ok_or_else(|| unknown(key))?;
    target.put(file, values).ok_or_else(|| {
        Problem::new(0..key.len(), "`--set` cannot change a file that is written like this")
            .help("change it in the file itself")
    })
}

const TABLES: &[(&str, KeyTable)] = &[
    ("guest", GUEST),
    (UNDERLAY, tables::UNDERLAY),
    ("design", DESIGN),
    ("trace", TRACE),
    ("protocol", PROTOCOL),
    ("protocol.stop", STOP),
    ("protocol.boots", BOOTS),
];

enum EditTarget<'k> {
    /// A key of each of these tables, by its path there.
    Keys(Vec<Base>, Vec<&'k str>),
    /// A factor, and its name with the side if it has one.
    Factor(Varied, &'k str),
}

impl<'k> EditTarget<'k> {
    fn resolve(file: &File, key: &'k str, values: &[String]) -> Option<Self> {
        if let Some(name) = key.strip_prefix("factors.") {
            return Self::factor(name);
        }
        // Several values are levels of a factor; so is one value where the file has the factor.
        let is_written = || Varied::from_name(key).is_some_and(|factor| file.path_of(&factor).is_some());
        let varies = values.len() > 1 || is_written();
        match key.rsplit_once('.') {
            None => Self::bare(file, key, values.is_empty(), varies),
            Some((UNDERLAY, _)) if varies => Self::factor(key),
            Some(("workload", key)) => Self::workloads(file, None, key),
            Some((table, inner)) => Self::of_table(table, inner)
                .or_else(|| Self::factor(key))
                .or_else(|| Self::workloads(file, Some(table), inner)),
        }
    }

    fn bare(file: &File, key: &'k str, removes: bool, varies: bool) -> Option<Self> {
        let is_value =
            |part: &KeyPart| matches!(part, KeyPart::Name | KeyPart::Sentence | KeyPart::Shaped(..));
        let is_of_study = STUDY.row(key).is_some_and(|row| is_value(&row.part));
        if is_of_study && !(varies && key == "scenario") || removes && STUDY.row(key).is_some() {
            return Some(Self::Keys(vec![Base::Root], vec![key]));
        }
        // The one required key of `stop`.
        if key == "stop" && !removes {
            return Self::of_table("stop", "detect");
        }
        let of_testbed = || Self::of_table("guest", key).or_else(|| Self::workloads(file, None, key));
        Self::of_table("protocol", key)
            .or_else(|| of_testbed().filter(|_| !varies))
            .or_else(|| Self::factor(key))
            .or_else(of_testbed)
    }

    fn of_table(table: &str, key: &'k str) -> Option<Self> {
        let is_meant = |path: &str| path == table || path.strip_prefix("protocol.") == Some(table);
        let (path, _) = TABLES.iter().find(|(path, keys)| is_meant(path) && keys.row(key).is_some())?;
        Some(Self::Keys(vec![Base::Root], path.split('.').chain([key]).collect()))
    }

    fn factor(name: &'k str) -> Option<Self> {
        Varied::from_name(name).map(|subject| Self::Factor(subject, name))
    }

    fn workloads(file: &File, name: Option<&str>, key: &'k str) -> Option<Self> {
        let is_chosen = |table: &dyn TableLike| name.is_none() || workload_name(table) == name;
        let tables = file.tables("workload").into_iter().enumerate();
        let chosen = tables.filter(|(_, table)| is_chosen(*table));
        let bases: Vec<Base> = chosen.map(|(place, _)| Base::Item("workload", place)).collect();
        let is_known = workload_keys().any(|known| known == key);
        (is_known && !bases.is_empty()).then(|| Self::Keys(bases, vec![key]))
    }

    /// Sets it to these values; `None` if that cannot be done in this file.
    fn put(self, file: &mut File, values: &[String]) -> Option<()> {
        match self {
            Self::Keys(bases, mut path) => {
                if values.is_empty() {
                    for base in bases {
                        file.take(base, &path);
                    }
                    return Some(());
                }
                // The number of boots is a value, or beside the kind of boot a key of a table.
                match path.as_slice() {
                    ["protocol", "boots"] if file.get(&path).is_some_and(Item::is_table_like) => {
                        path.push("count");
                    }
                    ["protocol", "boots", _] if file.get(&path[..2]).is_some_and(Item::is_value) => {
                        file.wrap(&path[..2], "count")?;
                    }
                    _ => {}
                }
                let value = toml_value(path.last()?, values);
                bases.iter().try_for_each(|base| file.put(*base, &path, value.clone()))
            }
            Self::Factor(factor, name) => {
                let written = file.path_of(&factor);
                let path: Option<Vec<&str>> =
                    written.as_ref().map(|path| path.iter().map(String::as_str).collect());
                if values.is_empty() {
                    path.and_then(|path| file.take(Base::Root, &path));
                    return Some(());
                }
                take_elsewhere(file, &factor, name);
                let value = toml_value(name.rsplit('.').next()?, values);
                match path {
                    Some(path) => file.put(Base::Root, &path, value),
                    None => {
                        // As a quoted key, which fits however the file writes the others.
                        file.put(Base::Root, &["factors", name], value)?;
                        file.put_first(name);
                        Some(())
                    }
                }
            }
        }
    }
}

pub(crate) fn workload_name(table: &dyn TableLike) -> Option<&str> {
    ["name", "kind"].into_iter().find_map(|key| table.get(key)?.as_str())
}

fn take_elsewhere(file: &mut File, factor: &Varied, name: &str) {
    match factor {
        Varied::Scenario => drop(file.take(Base::Root, &[name])),
        Varied::Guest(key) => drop(file.take(Base::Root, &["guest", key])),
        Varied::Underlay(key) => drop(file.take(Base::Root, &[UNDERLAY, key])),
        Varied::Key(_) => {
            for place in 0..file.tables("workload").len() {
                file.take(Base::Item("workload", place), &[name]);
            }
        }
        Varied::Feature(..) => {
            let offloads = file.0.get_mut("design").and_then(|design| design.get_mut("offloads"));
            let Some(offloads) = offloads.and_then(Item::as_array_mut) else { return };
            offloads.retain(|one| one.as_str().and_then(Varied::from_name).as_ref() != Some(factor));
            if offloads.is_empty() {
                file.take(Base::Root, &["design"]);
            }
        }
        _ => {}
    }
}

fn unknown(key: &str) -> Problem {
    let bare = key.rsplit('.').next().unwrap_or(key);
    let known = STUDY.keys().into_iter().chain(PROTOCOL.keys()).chain(GUEST.keys()).chain(workload_keys());
    let near = suggest::nearest(bare, known.chain(Varied::names()));
    let help = near.map(|near| format!("did you mean `{near}`?"));
    Problem::new(0..key.len(), format!("`--set` cannot change `{}`", quoted(key))).help(help.unwrap_or_else(|| {
        "use a key of `[[workload]]`, `[protocol]`, `[guest]`, `[underlay]`, `[design]` or `[trace]`, a factor, `scenario`, `name` or `question` (docs/studies.md)"
            .to_owned()
    }))
}
