//! Names of conditions that fit a column: common words and long names are in a legend above the
//! table.

use std::collections::BTreeSet;

use study::{Name, NameWord};
use unicode_width::UnicodeWidthStr as _;

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ShortNames {
    /// The keys of the words, where these are the same in all names: the column's heading.
    pub(crate) keys: String,
    /// Lines that tell the common words and the marks of long names.
    pub(crate) legend: String,
    /// The names, in the order given. No two are the same unless they were.
    pub(crate) short: Vec<String>,
}

impl ShortNames {
    /// Names of at most `width` columns.
    pub(crate) fn within(names: &[Name], width: usize) -> Self {
        let mut names: Vec<Vec<NameWord>> = names.iter().map(cuttable_words).collect();
        let fits = |name: &Vec<NameWord>| joined(name).width() <= width;
        let (mut common, mut keys) = (String::new(), String::new());
        // As little as will do is told elsewhere: a reader must look for it.
        if !names.iter().all(fits) {
            common = take_common(&mut names);
        }
        if !names.iter().all(fits) {
            keys = take_keys(&mut names);
        }
        let mut short: Vec<String> = names.iter().map(|name| joined(name)).collect();
        let mut marks: Vec<(String, String)> = Vec::new();
        // Equal names get one mark: they were the same name.
        for index in 0..short.len() {
            if short[index].width() > width {
                let (mark, name) = (mark(marks.len()), short[index].clone());
                short.iter_mut().filter(|other| **other == name).for_each(|other| other.clone_from(&mark));
                marks.push((mark, name));
            }
        }
        let begins = if common.is_empty() { common } else { format!("  each begins with {common}\n") };
        let marks: String = marks.iter().map(|(mark, name)| format!("  {mark} {name}\n")).collect();
        Self { keys, legend: begins + &marks, short }
    }
}

/// Names in as few words as tell them apart: words that all share are left out, each name keeps
/// one. A level of several words stays whole. Names that differ stay different.
pub fn distinct_names(names: &[Name]) -> Vec<String> {
    let is_shared = |word: &NameWord| names.len() > 1 && names.iter().all(|name| name.words().contains(word));
    let own_name = |name: &Name| -> Name {
        let mut own: Vec<NameWord> = name.words().iter().filter(|word| !is_shared(word)).cloned().collect();
        if own.is_empty() {
            own.extend(name.words().last().cloned());
        }
        own.into()
    };
    let has_own = |name: &&Name| name.words().iter().any(|word| !is_shared(word));
    // Of several without a word of their own no single word tells more than another.
    let is_told = names.iter().filter(has_own).count() + 1 >= names.len();
    let short: Vec<Name> = names.iter().map(own_name).collect();
    let distinct = |names: &[Name]| names.iter().map(Name::as_str).collect::<BTreeSet<_>>().len();
    let shown = if is_told && distinct(&short) == distinct(names) { &short } else { names };
    shown.iter().map(|name| words::sanitised_line(name).into_owned()).collect()
}

/// The words of a name, without what would damage a line.
fn cuttable_words(name: &Name) -> Vec<NameWord> {
    let clean = |text: &str| words::sanitised_line(text).into_owned();
    let each = |word: &NameWord| match &word.factor {
        Some(factor) => vec![NameWord { factor: Some(clean(factor)), level: clean(&word.level) }],
        // What has no factor may be a whole sentence: each of its words counts.
        None => {
            let level = clean(&word.level);
            level.split(' ').map(|part| NameWord { factor: None, level: part.to_owned() }).collect()
        }
    };
    name.words().iter().flat_map(each).collect()
}

fn joined(name: &[NameWord]) -> String {
    name.iter().map(NameWord::to_string).collect::<Vec<_>>().join(" ")
}

/// Takes away the first words that all names share.
fn take_common(names: &mut [Vec<NameWord>]) -> String {
    let shortest = names.iter().map(Vec::len).min().unwrap_or(0);
    let Some(first) = names.first().filter(|_| names.len() > 1).cloned() else { return String::new() };
    let is_shared = |place: &usize| names.iter().all(|name| name[*place] == first[*place]);
    // A name keeps its last word: without any its row would have no name.
    let count = (0..shortest.saturating_sub(1)).take_while(is_shared).count();
    for name in names {
        name.drain(..count);
    }
    joined(&first[..count])
}

/// Takes away the keys, if all names have the same keys in the same order.
fn take_keys(names: &mut [Vec<NameWord>]) -> String {
    let keys = |name: &Vec<NameWord>| -> Option<Vec<String>> {
        // Without its key a level of several words could be taken for several levels.
        name.iter().map(|word| word.factor.clone().filter(|_| !word.level.contains(' '))).collect()
    };
    let Some(first) = names.first().and_then(keys) else { return String::new() };
    if names.iter().any(|name| keys(name).as_ref() != Some(&first)) {
        return String::new();
    }
    names.iter_mut().flatten().for_each(|word| word.factor = None);
    first.join(" ")
}

/// `[a]` to `[z]`, `[a1]` and so on.
fn mark(index: usize) -> String {
    let letter = char::from(b'a' + (index % 26) as u8);
    match index / 26 {
        0 => format!("[{letter}]"),
        round => format!("[{letter}{round}]"),
    }
}

#[cfg(test)]
mod tests;
