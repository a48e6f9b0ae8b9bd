//! `[factors]`.

use std::ops::Range;

use toml::Spanned;
use toml::de::DeValue;

use crate::condition::Offloads;
use crate::diagnostic::Problem;
use crate::factor::{Factor, Level, Subject};
use crate::family::Family;
use crate::read::limit;
use crate::read::problems::Problems;
use crate::read::table::{Entry, Table, entries, kind};
use crate::read::traffic;
use crate::read::value::Value;
use crate::scenario::Scenario;
use crate::side::Side;
use crate::suggest::{self, quoted};
use crate::word::Word;

/// A factor with the places of its name and its levels.
#[derive(Debug)]
pub(crate) struct Read {
    pub(crate) factor: Factor,
    pub(crate) name: Range<usize>,
    pub(crate) levels: Vec<Range<usize>>,
}

/// A key of `[factors]`, or of a selection, with the side taken off its name.
#[derive(Debug, Clone)]
pub(crate) struct Named<'t> {
    pub(crate) side: Option<Side>,
    /// The name without the side.
    pub(crate) name: &'t str,
    pub(crate) place: Range<usize>,
    pub(crate) value: &'t Spanned<DeValue<'t>>,
}

impl Named<'_> {
    /// The name with the side: `transmitter.tso`.
    pub(crate) fn full(&self) -> String {
        self.side.map_or(self.name.to_owned(), |side| format!("{side}.{}", self.name))
    }
}

/// The entries of a table with tables of a side (`transmitter.tso = …`, `"transmitter.tso" = …`) laid flat, in file
/// order.
pub(crate) fn flatten<'t>(rest: Vec<Entry<'t>>, problems: &mut Problems) -> Vec<Named<'t>> {
    let mut flat = Vec::new();
    for Entry { key, key_span: place, value } in rest {
        if let Some(side) = Side::from_word(key) {
            match value.get_ref() {
                DeValue::Table(table) => flat.extend(entries(table).into_iter().map(|entry| Named {
                    side: Some(side),
                    name: entry.key,
                    place: entry.key_span,
                    value: entry.value,
                })),
                other => {
                    let message = format!("`{side}` is a side, not a factor, and cannot be {}", kind(other));
                    let help = format!("name what varies there: `{side}.tso`, `{side}.offloads`");
                    problems.push(Problem::new(place, message).help(help));
                }
            }
            continue;
        }
        let split = key.split_once('.').and_then(|(side, name)| Some((Side::from_word(side)?, name)));
        let (side, name) = split.map_or((None, key), |(side, name)| (Some(side), name));
        flat.push(Named { side, name, place, value });
    }
    flat.sort_by_key(|named| named.place.start);
    flat
}

/// The factors of a file, and whether all of them could be read, with all their levels.
pub(crate) fn read(table: Table<'_>, problems: &mut Problems) -> (Vec<Read>, bool) {
    let mut factors: Vec<Read> = Vec::new();
    let mut whole = true;
    let place = table.span.clone();
    let written = flatten(table.rest(), problems);
    if written.len() > limit::FACTORS {
        let message = format!("there are {} factors, and {} is the most", written.len(), limit::FACTORS);
        problems.push(Problem::new(place, message));
        return (factors, false);
    }
    for named in written {
        let Some(subject) = subject(&named, problems) else {
            whole = false;
            continue;
        };
        if let Some(earlier) = factors.iter().find(|earlier| *earlier.factor.subject() == subject) {
            let message = format!("`{}` is the same factor as `{}`", named.full(), earlier.factor.name());
            problems.push(Problem::new(named.place, message).help("keep one of the two"));
            continue;
        }
        let found = problems.count();
        let (levels, places) = levels(&named, &subject, problems);
        whole &= problems.count() == found;
        if !levels.is_empty() {
            let factor = Factor::new(named.full(), subject, levels);
            factors.push(Read { factor, name: named.place, levels: places });
        }
    }
    (factors, whole)
}

/// What a factor's name means; unknown names are reported.
fn subject(named: &Named<'_>, problems: &mut Problems) -> Option<Subject> {
    let subject = Subject::named(named.side, named.name);
    if subject.is_some() {
        return subject;
    }
    let name = quoted(named.name);
    let problem = match named.side {
        Some(side) if Subject::named(None, named.name).is_some() => {
            Problem::new(named.place.clone(), format!("`{name}` cannot differ between the two sides"))
                .help(format!("write `{name}` without `{side}`; features and `offloads` have sides"))
        }
        _ if named.name == "workload" => {
            Problem::new(named.place.clone(), "workloads are not listed here".to_owned())
                .help("write several `[[workload]]`: they become the factor `workload` by themselves")
        }
        _ => {
            let near = problems.nearest(named.name, Subject::names());
            let help = near.map_or_else(
                || {
                    let whole: Vec<&str> = Subject::WHOLE.iter().map(|(name, _)| *name).collect();
                    format!(
                        "factors are {}, `offloads` and the features of `ethtool -k`",
                        suggest::list(&whole)
                    )
                },
                |near| format!("did you mean `{near}`?"),
            );
            Problem::new(named.place.clone(), format!("`{name}` is no factor")).help(help)
        }
    };
    problems.push(problem);
    None
}

/// The levels of a factor: a list, or a single value.
fn levels(named: &Named<'_>, subject: &Subject, problems: &mut Problems) -> (Vec<Level>, Vec<Range<usize>>) {
    let single;
    let values: &[Spanned<DeValue<'_>>] = match named.value.get_ref() {
        DeValue::Array(array) => array,
        _ => {
            single = [named.value.clone()];
            &single
        }
    };
    if values.is_empty() {
        let message = format!("`{}` has no level", named.full());
        problems
            .push(Problem::new(named.value.span(), message).help("list at least one, or remove the factor"));
    }
    if values.len() > limit::LEVELS {
        let message =
            format!("`{}` has {} levels, and {} is the most", named.full(), values.len(), limit::LEVELS);
        problems.push(Problem::new(named.place.clone(), message));
        return (Vec::new(), Vec::new());
    }
    let (mut levels, mut places): (Vec<Level>, Vec<Range<usize>>) = (Vec::new(), Vec::new());
    let mut seen = std::collections::HashSet::new();
    for value in values {
        let Some(level) = level(Value { name: named.name, value }, subject, problems) else { continue };
        if !seen.insert(level.text()) {
            let message = format!("`{}` has the level `{}` twice", named.full(), level.text());
            problems.push(Problem::new(value.span(), message));
            continue;
        }
        levels.push(level);
        places.push(value.span());
    }
    (levels, places)
}

fn level(value: Value<'_>, subject: &Subject, problems: &mut Problems) -> Option<Level> {
    match subject {
        Subject::Workload => None,
        Subject::Family => value.word::<Family>(problems).map(Level::Family),
        Subject::Offloads(_) => value.word::<Offloads>(problems).map(Level::Offloads),
        Subject::Checksum | Subject::Feature(..) => value.switch(problems).map(Level::Switch),
        Subject::Mtu => value.small_or_default(limit::MTU, problems).map(Level::Number),
        Subject::SocketBuffer => value.small_or_default(limit::SOCKET_BUFFER, problems).map(Level::Number),
        Subject::Message => value.small(limit::MESSAGE, problems).map(|bytes| Level::Number(Some(bytes))),
        Subject::Parameter(parameter) => traffic::setting(value, *parameter, problems).map(Level::Setting),
        Subject::Twin => value.identifier(problems).map(Level::Label),
        Subject::Flows => value.small(limit::FLOWS, problems).map(|flows| Level::Number(Some(flows))),
    }
}

/// Reports factors that cannot act: on one side of `loopback`, which has one interface for both, on the receiver of
/// `discard`, which has none, and on both sides when each side has the same factor of its own.
pub(crate) fn check(factors: &[Read], scenario: Option<Scenario>, problems: &mut Problems) {
    for Read { factor, name, .. } in factors {
        let subject = factor.subject();
        if let (Some(side), Some(Scenario::Loopback)) = (subject.side(), scenario) {
            let message =
                format!("`{}` cannot be set on `loopback`: both ends are one interface", factor.name());
            let bare = factor.name().trim_start_matches(&format!("{side}."));
            problems
                .push(Problem::new(name.clone(), message).help(format!("write `{bare}`, or take `veth`")));
        }
        if let (Some(Side::Receiver), Some(Scenario::Discard)) = (subject.side(), scenario) {
            let message = format!("`{}` cannot be set on `discard`: nobody receives there", factor.name());
            let bare = factor.name().trim_start_matches("receiver.");
            let help = format!("write `transmitter.{bare}`, or take `veth`");
            problems.push(Problem::new(name.clone(), message).help(help));
        }
        let of_side = |side| factors.iter().any(|other| *other.factor.subject() == subject.on(Some(side)));
        let has_sides = matches!(subject, Subject::Offloads(None) | Subject::Feature(None, _));
        let sides: &[Side] =
            if scenario == Some(Scenario::Discard) { &[Side::Transmitter] } else { &Side::BOTH };
        if has_sides && sides.iter().copied().all(of_side) {
            let message = format!("`{}` has no effect: each side has its own", factor.name());
            problems.push(Problem::new(name.clone(), message).help("remove it, or one of the sides"));
        }
    }
}
