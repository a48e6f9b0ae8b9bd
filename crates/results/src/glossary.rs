//! Every term of the output and the docs with its definition: for `netassay help` and
//! `docs/glossary.md`. The tables in `words` define vocabularies, keys of traffic, metrics and
//! features; `terms.txt` defines all other terms.

use serde::Serialize;
use words::metric::{Better, METRICS, Metric};
use words::{
    Direction, Family, KEYS, Key, Kind, Label, Reader, Scenario, Sender, Side, Vocabulary, Word, feature,
    suggest,
};

use crate::capital;

/// Sections (`# TITLE`), and a line for each term: its name, its other names, a colon, its meaning.
const TERMS: &str = include_str!("glossary/terms.txt");

/// A term with its definition.
#[derive(Debug, Clone, Serialize)]
pub struct GlossaryEntry {
    /// The heading under which it stands.
    pub section: &'static str,
    /// The term.
    pub name: String,
    /// Other words that find it.
    pub also: Vec<String>,
    /// Its definition, as sentences.
    pub meaning: String,
}

/// All terms, by section.
pub fn entries() -> Vec<GlossaryEntry> {
    let sections = TERMS.split("# ").filter_map(|section| section.split_once('\n'));
    sections
        .flat_map(|(section, terms)| {
            let written = terms.lines().filter_map(move |line| written(section, line));
            written.chain(declared(section))
        })
        .collect()
}

fn declared(section: &'static str) -> Vec<GlossaryEntry> {
    let words = |what, vocabulary| of_words(section, what, vocabulary);
    match section {
        "Testbed" => [words("Side", Side::VOCABULARY), words("Scenario", Scenario::VOCABULARY)].concat(),
        "Traffic" => {
            [words("Kind of traffic", Kind::VOCABULARY), words("Family", Family::VOCABULARY)].concat()
        }
        "Keys of traffic" => KEYS.iter().map(|key| of_key(section, key)).collect(),
        "Senders" => words("", Sender::VOCABULARY),
        "Readers" => words("", Reader::VOCABULARY),
        "Directions" => words("", Direction::VOCABULARY),
        "Metrics" => {
            // Both sides have the same metrics, so the transmitter's stand for them.
            let once = METRICS.iter().filter(|metric| metric.side != Some(Side::Receiver));
            once.map(|metric| of_metric(section, *metric)).collect()
        }
        "Limits" => words("", Label::VOCABULARY),
        _ => Vec::new(),
    }
}

/// The definitions of a word: one for each meaning.
pub fn find(word: &str) -> Vec<GlossaryEntry> {
    let word = fold(word);
    let is_meant = |name: &str| fold(name) == word;
    let mut entries = entries();
    entries.retain(|entry| is_meant(&entry.name) || entry.also.iter().any(|name| is_meant(name)));
    entries
}

/// The known word that may have been meant.
pub fn nearest(word: &str) -> Option<String> {
    let entries = entries();
    let known = entries.iter().flat_map(|entry| [&entry.name].into_iter().chain(&entry.also));
    suggest::nearest(word, known.map(String::as_str)).map(str::to_owned)
}

fn fold(word: &str) -> String {
    // People write a term in any case, with a space, `-` or `_`.
    word.trim().to_lowercase().replace([' ', '_'], "-")
}

/// A line of `terms.txt`.
fn written(section: &'static str, line: &str) -> Option<GlossaryEntry> {
    let (names, meaning) = line.split_once(": ")?;
    let mut names = names.split(", ").map(str::to_owned);
    let name = names.next()?;
    let mut also: Vec<String> = names.collect();
    // A feature also has the names that `ethtool` and the kernel use.
    let group = feature::GROUPS.iter().filter(|group| section == "Interface features" && group.short == name);
    let of_group = group.flat_map(|group| [&[group.long], group.members.as_slice()].concat());
    also.extend(of_group.map(str::to_owned));
    Some(GlossaryEntry { section, name, also, meaning: meaning.to_owned() })
}

fn of_words(section: &'static str, what: &str, vocabulary: Vocabulary) -> Vec<GlossaryEntry> {
    let entry = |(word, lines): &(&str, &[&str])| {
        let meaning = Vocabulary::sentences(lines);
        // The noun of the vocabulary stands where the section does not tell it.
        let meaning = if what.is_empty() { meaning } else { format!("{what}: {}", fragment(&meaning)) };
        GlossaryEntry { section, name: (*word).to_owned(), also: Vec::new(), meaning }
    };
    vocabulary.words.iter().map(entry).collect()
}

fn of_key(section: &'static str, key: &Key) -> GlossaryEntry {
    let factor = if key.is_factor { "" } else { " It cannot be a factor." };
    let meaning = format!("{} Values: {}.{factor}", key.description(), key.range());
    GlossaryEntry { section, name: key.name.to_owned(), also: Vec::new(), meaning }
}

fn of_metric(section: &'static str, metric: Metric) -> GlossaryEntry {
    let better = match metric.better {
        Better::Higher => " Higher is better.",
        Better::Lower => " Lower is better.",
        Better::Neither => "",
    };
    let meaning = format!("{}. Unit: {}.{better}", capital(metric.quantity), metric.unit);
    // Both sides have the same metrics, with one definition.
    let both = || Side::BOTH.map(|side| format!("{side}.{}", metric.own));
    let also = metric.side.into_iter().flat_map(|_| both()).collect();
    GlossaryEntry { section, name: metric.own.to_owned(), also, meaning }
}

/// A sentence as it continues after a colon.
fn fragment(sentence: &str) -> String {
    let mut letters = sentence.chars();
    // An abbreviation keeps its capitals.
    let first = letters.next().filter(|_| letters.clone().next().is_some_and(char::is_lowercase));
    first.map_or_else(|| sentence.to_owned(), |first| first.to_lowercase().chain(letters).collect())
}

#[cfg(test)]
mod tests;
