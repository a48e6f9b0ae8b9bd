//! One key of traffic: its values, and the kinds of traffic that have it.

use crate::duration::format_duration;
use crate::keys::KEYS;
use crate::kind::Kind;
use crate::pacing::{Pacing, Percent};
use crate::suggest;
use crate::traffic::{Traffic, Workload};
use crate::value::{Field, Mistake, Shape, Value};

/// A key of `[[workload]]` and of `netassay load`, and a factor ([`KEYS`](crate::KEYS)).
pub struct Key {
    /// Its name in files and on the command line.
    pub name: &'static str,
    /// The values that it may have.
    pub shape: Shape,
    /// Whether a kind of traffic supports a word of its vocabulary; `true`: in exact mode.
    pub fits: fn(Kind, bool, &str) -> bool,
    /// The unit of a number.
    pub unit: &'static str,
    /// The kinds of traffic that support other values than the default.
    pub kinds: &'static [Kind],
    /// The kinds of traffic that support it in exact mode.
    pub exact: &'static [Kind],
    /// The kinds of traffic that then need a thread for each flow.
    pub alone: &'static [Kind],
    /// The kinds of traffic whose open sockets accept a new value: conditions may take turns in it,
    /// not from or to `default`, for a value that the kernel chose cannot be restored.
    pub in_turns: &'static [Kind],
    /// Whether turns from or to the value of this traffic are not known to find what runs
    /// find: `auto` takes none (docs/studies.md, "Conditions that take turns").
    pub is_doubted: fn(&Traffic) -> bool,
    /// Whether it is a factor.
    pub is_factor: bool,
    /// The text before its value in a condition's name.
    pub slug: &'static str,
    /// The default, for people.
    pub default: &'static str,
    /// The help text, a sentence.
    pub help: &'static str,
    pub(crate) field: Access,
}

type Access = (fn(&Workload) -> &dyn Field, fn(&mut Workload) -> &mut dyn Field);

/// A value that traffic does not support.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{why}; {help}")]
pub struct Misfit {
    /// The name of the key.
    pub key: &'static str,
    /// The problem, as a sentence without a full stop.
    pub why: String,
    /// The remedy.
    pub help: String,
}

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        // A name is in the table once, and functions cannot be compared.
        self.name == other.name
    }
}

impl Eq for Key {}

impl Key {
    /// The key of a name.
    pub fn find(name: &str) -> Option<&'static Self> {
        KEYS.iter().find(|key| key.name == name)
    }

    /// Its meaning, its kinds of traffic and its default: for tables, schemas and help.
    pub fn description(&self) -> String {
        let is_of_all = self.kinds.len() == Kind::ALL.len();
        let of = if is_of_all { String::new() } else { format!(" For {}.", words_of(self.kinds)) };
        let turns = self.in_flight().map(|turns| format!(" It {turns}.")).unwrap_or_default();
        format!("{}.{of} Default: {}.{turns}", self.help, self.default)
    }

    /// The traffic that can switch it in flight, as the end of a sentence; `None`: for none.
    pub fn in_flight(&self) -> Option<String> {
        let is_of_all = self.in_turns.len() == self.kinds.len();
        let of = if is_of_all { String::new() } else { format!(" for {}", words_of(self.in_turns)) };
        (!self.in_turns.is_empty()).then(|| format!("can be switched in flight{of}"))
    }

    /// Its range, for people.
    pub fn range(&self) -> String {
        let range = match self.shape {
            Shape::Number(least, most) => format!("{least} to {most} {}", self.unit).trim_end().to_owned(),
            Shape::Switch => "`on`, `off`".to_owned(),
            Shape::Pace => format!("`{}` to `{}`", Pacing::LEAST, Pacing::MOST),
            Shape::Share => format!("`{}` to `{}`", Percent::LEAST, Percent::MOST),
            Shape::Time(least, most, _) => {
                format!("`{}` to `{}`", format_duration(least), format_duration(most))
            }
            Shape::Word(words) => suggest::list(&words.spellings()),
            Shape::Name(_) => "a name".to_owned(),
        };
        if self.has_default() { format!("{range}, `{}`", crate::DEFAULT) } else { range }
    }

    /// Its value in a workload.
    pub fn get(&self, workload: &Workload) -> Value {
        (self.field.0)(workload).value()
    }

    /// Sets it.
    pub fn set(&self, workload: &mut Workload, value: &Value) {
        (self.field.1)(workload).set(value);
    }

    /// Its default for a kind of traffic.
    pub fn default_of(&self, kind: Kind) -> Value {
        self.get(&Workload::new(kind))
    }

    /// Whether `default` is one of its values: then the system or the engine chooses.
    pub fn has_default(&self) -> bool {
        self.default_of(Kind::TcpStream) == Value::Default
    }

    /// Reads a value as files and options write it.
    ///
    /// # Errors
    /// [`Mistake`]: the text is not a value of this key.
    pub fn parse(&self, text: &str) -> Result<Value, Mistake> {
        if text == crate::DEFAULT && self.has_default() {
            return Ok(Value::Default);
        }
        self.shape.read(self.name, text)
    }

    /// Why a kind of traffic does not support a value, if so. Every kind supports its default.
    pub fn misfit(&self, value: &Value, kind: Kind) -> Option<Misfit> {
        if *value == self.default_of(kind) {
            return None;
        }
        let name = self.name;
        if !self.kinds.contains(&kind) {
            let help = format!("remove `{name}`, which is for {}", words_of(self.kinds));
            return Some(self.misfit_of(format!("`{name}` is not supported for `{kind}`"), help));
        }
        if !self.shape.holds(value) {
            let Mistake { message, .. } = self.shape.out_of_range(self.name);
            return Some(self.misfit_of(message, format!("change `{name}` = {value}")));
        }
        let words =
            self.words_of(kind, false).filter(|words| !words.contains(&value.to_string().as_str()))?;
        let why = format!("{name} `{value}` is not supported for `{kind}`");
        Some(self.misfit_of(why, format!("use {}", suggest::list(&words))))
    }

    /// Why exact mode does not support the value.
    pub fn exact_misfit(&self, value: &Value, kind: Kind) -> Option<Misfit> {
        // In exact mode one thread does the work of both ends.
        if *value == self.default_of(kind) {
            return None;
        }
        let name = self.name;
        let (why, remedy) = match self.words_of(kind, true) {
            _ if !self.exact.contains(&kind) => {
                (format!("exact mode does not support `{name}` = {value}"), format!("remove `{name}`"))
            }
            Some(words) if !words.contains(&value.to_string().as_str()) => (
                format!("exact mode does not support {name} `{value}`"),
                format!("use {}", suggest::list(&words)),
            ),
            _ => return None,
        };
        Some(self.misfit_of(why, format!("{remedy}, or set `exact = false`")))
    }

    fn misfit_of(&self, why: String, help: String) -> Misfit {
        Misfit { key: self.name, why, help }
    }

    fn words_of(&self, kind: Kind, exact: bool) -> Option<Vec<&'static str>> {
        let Shape::Word(vocabulary) = self.shape else { return None };
        let fits = |word: &&str| (self.fits)(kind, exact, word);
        Some(vocabulary.spellings().into_iter().filter(fits).collect())
    }
}

fn words_of(kinds: &[Kind]) -> String {
    let words: Vec<&str> = kinds.iter().map(|kind| kind.word()).collect();
    suggest::list(&words)
}

#[cfg(test)]
mod tests;
