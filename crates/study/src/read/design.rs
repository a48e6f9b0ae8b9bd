//! `[design]`.

use words::suggest::quoted;

use crate::model::tables::DESIGN;
use crate::model::{DesignKind, Factor, Fraction, Offload, OffloadDesign, Scope, combinations, limit};
use crate::read::{ParsedFactor, Problem, Problems, Section, TomlEntry, factor};

pub(crate) const MOST: u32 = 32;

/// A design with its factors and their states, on is `true`.
type Designed = (OffloadDesign, Vec<ParsedFactor>, Vec<Vec<bool>>);

/// The table; `None` if anything in it is wrong. `taken` are the factors of `[factors]`.
pub(crate) fn read(
    mut table: Section<'_>,
    taken: &[ParsedFactor],
    problems: &mut Problems,
) -> Option<Designed> {
    let found = problems.count();
    let kind = table.require("kind", "`kind = \"ladder\"`, `\"factorial\"` or another", problems);
    let kind: Option<DesignKind> = kind.and_then(|entry| entry.word(problems));
    let entry = table.require("offloads", "`offloads = [\"tso\", \"gso\"]`: what goes on and off", problems);
    let factors = entry.as_ref().map(|entry| offloads(entry, taken, problems)).unwrap_or_default();
    let most_entry = table.take("most");
    let most = most_entry.as_ref().map(|entry| entry.get::<u32>(limit::MOST, problems));
    table.finish(&DESIGN.keys(), problems);
    let kind = kind?;
    if kind != DesignKind::Fractional {
        let place = most_entry.as_ref().map(|entry| entry.key_span.clone());
        let message =
            format!("`most` is for `fractional`: a `{kind}` does not choose among its combinations");
        problems.report(place, message, "remove it, or use `kind = \"fractional\"`");
    }
    if problems.count() != found || factors.is_empty() {
        return None;
    }
    let most = most.flatten().unwrap_or(MOST) as usize;
    let place = most_entry.or(entry).map_or(0..0, |entry| entry.span());
    let rows = combinations::rows(kind, factors.len(), most);
    if !(1..=limit::CONDITIONS).contains(&rows.len()) {
        let (message, help) = size_problem(kind, factors.len(), rows.len(), most);
        return Problem::new(place, message).help(help).reject(problems);
    }
    let names: Vec<String> = factors.iter().map(|read| read.factor.name.clone()).collect();
    let design = OffloadDesign {
        kind,
        aliases: aliases(kind, &names, most),
        factors: names,
        unreachable: Vec::new(),
        dropped: Vec::new(),
    };
    Some((design, factors, rows))
}

fn offloads(entry: &TomlEntry<'_>, taken: &[ParsedFactor], problems: &mut Problems) -> Vec<ParsedFactor> {
    let array = TomlEntry::items(entry.value);
    if array.is_empty() {
        let message = "a design needs at least one offload";
        problems.report(entry.span(), message, "name some: `offloads = [\"tso\", \"gso\"]`");
    }
    if array.len() > limit::OFFLOADS {
        let message = format!("there are {} offloads: at most {} are allowed", array.len(), limit::OFFLOADS);
        problems.push(Problem::new(entry.key_span.clone(), message));
        return Vec::new();
    }
    let mut factors: Vec<ParsedFactor> = Vec::new();
    for item in array {
        let place = item.span();
        let Some(name) = TomlEntry::item("offloads", item).text(problems) else { continue };
        let (scope, bare) = Scope::split(name);
        let named = factor::Named { scope, name: bare, path: Vec::new(), place: place.clone(), value: item };
        let Some(subject) = factor::subject(&named, problems) else { continue };
        let Some(offload) = Offload::named(name) else {
            let message = format!("`{}` is not a feature that a design can switch on and off", quoted(name));
            let help =
                "name features of `ethtool -k`, and cross other factors with the design in `[factors]`";
            problems.report(place, message, help);
            continue;
        };
        let overlaps = |read: &&ParsedFactor| {
            Offload::named(&read.factor.name).is_some_and(|other| other.overlaps(&offload))
        };
        if let Some(earlier) = factors.iter().find(overlaps) {
            let message =
                format!("`{}` and `{}` switch the same features", quoted(name), earlier.factor.name);
            problems.report(place, message, "keep one of the two");
            continue;
        }
        if let Some(factor) = taken.iter().find(|read| read.factor.subject == subject) {
            let message = format!("`{}` is already a factor", quoted(name));
            let help = format!("remove it here, or `{}` from `[factors]`", factor.factor.name);
            problems.report(place, message, help);
            continue;
        }
        let values = [true, false].map(words::Value::Switch).to_vec();
        let factor = Factor { name: name.to_owned(), subject, values };
        factors.push(ParsedFactor { factor, name: place.clone(), levels: vec![place.clone(), place] });
    }
    factors
}

/// The message and its help.
fn size_problem(kind: DesignKind, offloads: usize, count: usize, most: usize) -> (String, String) {
    if kind != DesignKind::Fractional {
        let most = limit::CONDITIONS;
        let message = format!("{offloads} offloads have {count} combinations: at most {most} are allowed");
        (message, "use `kind = \"fractional\"`, or fewer offloads".to_owned())
    } else if offloads > Fraction::MOST_FACTORS {
        let message = format!("a fraction has at most {} offloads, not {offloads}", Fraction::MOST_FACTORS);
        (message, "use fewer offloads, or `kind = \"ladder\"`".to_owned())
    } else {
        let fewest = Fraction::fewest(offloads);
        let message = format!(
            "{most} combinations are too few to separate {offloads} offloads from their pairs: {fewest} are needed"
        );
        (message, format!("set `most = {fewest}`, or use fewer offloads"))
    }
}

fn aliases(kind: DesignKind, names: &[String], most: usize) -> Vec<Vec<[String; 2]>> {
    if kind != DesignKind::Fractional || combinations::is_whole(names.len(), most) {
        return Vec::new();
    }
    let pairs =
        Fraction::within(names.len(), most).map(|fraction| fraction.aliased_pairs()).unwrap_or_default();
    let pair = |(one, other): &(usize, usize)| [names[*one].clone(), names[*other].clone()];
    pairs.iter().map(|group| group.iter().map(pair).collect()).collect()
}
