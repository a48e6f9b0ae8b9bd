//! Names of conditions that fit a column: what they have in common, and long words of them, are
//! told once above the table.

use unicode_width::UnicodeWidthStr as _;

/// A word of at most so many columns is never replaced: its mark would not be shorter.
const SHORT: usize = 4;

/// Names of one column.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Names {
    /// The words that all names begin with.
    pub(crate) common: String,
    /// The keys of the words, where these are the same in all names: the column's heading.
    pub(crate) keys: String,
    /// Marks and the words that they stand for.
    pub(crate) marks: Vec<(String, String)>,
    /// The names, in the order given. No two are the same unless they were.
    pub(crate) short: Vec<String>,
}

impl Names {
    /// Names of at most `width` columns, with as little told elsewhere as will do.
    pub(crate) fn within(names: &[&str], width: usize) -> Self {
        let mut own =
            Self { common: String::new(), keys: String::new(), marks: Vec::new(), short: Vec::new() };
        let mut words: Vec<Vec<&str>> = names.iter().map(|name| name.split(' ').collect()).collect();
        let fits = |words: &[&str]| words.join(" ").width() <= width;
        if !words.iter().all(|name| fits(name)) {
            own.common = take_common(&mut words);
        }
        if !words.iter().all(|name| fits(name)) {
            own.keys = take_keys(&mut words);
        }
        own.short = words.iter().map(|name| name.join(" ")).collect();
        while let Some(word) = own.longest(width) {
            let mark = mark(own.marks.len());
            for name in &mut own.short {
                let parts = name.split(' ').map(|part| if part == word { mark.as_str() } else { part });
                *name = parts.collect::<Vec<_>>().join(" ");
            }
            own.marks.push((mark, word));
        }
        // Names of too many words are told as a whole.
        for index in 0..own.short.len() {
            if own.short[index].width() > width {
                let (mark, name) = (mark(own.marks.len()), own.short[index].clone());
                own.short
                    .iter_mut()
                    .filter(|other| **other == name)
                    .for_each(|other| other.clone_from(&mark));
                own.marks.push((mark, name));
            }
        }
        own
    }

    /// The longest word of names that are too long.
    fn longest(&self, width: usize) -> Option<String> {
        let long = self.short.iter().filter(|name| name.width() > width);
        let is_mark = |word: &str| self.marks.iter().any(|(mark, _)| mark == word);
        let words = long.flat_map(|name| name.split(' '));
        let words = words.filter(|word| word.width() > SHORT && !is_mark(word));
        words.max_by_key(|word| word.width()).map(str::to_owned)
    }

    /// What the names no longer say, as lines.
    pub(crate) fn legend(&self) -> String {
        let common = &self.common;
        let common = if common.is_empty() { String::new() } else { format!("  each begins with {common}\n") };
        common + &self.marks.iter().map(|(mark, word)| format!("  {mark} {word}\n")).collect::<String>()
    }
}

/// Takes away the first words that all names share; a name keeps its last.
fn take_common(names: &mut [Vec<&str>]) -> String {
    let shortest = names.iter().map(Vec::len).min().unwrap_or(0);
    let Some(first) = names.first().filter(|_| names.len() > 1).cloned() else { return String::new() };
    let is_shared = |place: &usize| names.iter().all(|name| name[*place] == first[*place]);
    let count = (0..shortest.saturating_sub(1)).take_while(is_shared).count();
    for name in names {
        name.drain(..count);
    }
    first[..count].join(" ")
}

/// Takes away the keys of `key=value`, if all names have the same keys in the same order.
fn take_keys(names: &mut [Vec<&str>]) -> String {
    let keys = |name: &Vec<&str>| -> Option<Vec<String>> {
        name.iter().map(|word| Some(word.split_once('=')?.0.to_owned())).collect()
    };
    let Some(first) = names.first().and_then(keys) else { return String::new() };
    if names.iter().any(|name| keys(name).as_ref() != Some(&first)) {
        return String::new();
    }
    for word in names.iter_mut().flatten() {
        *word = word.split_once('=').map_or(*word, |(_, value)| value);
    }
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
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names_that_fit_stay() {
        let names = Names::within(&["ipv4 offloads=default", "ipv4 offloads=none"], 21);
        assert_eq!(names.short, ["ipv4 offloads=default", "ipv4 offloads=none"]);
        assert_eq!((names.common.as_str(), names.legend().as_str()), ("", ""));
    }

    #[test]
    fn the_common_part_then_keys_then_long_words_are_told_above() {
        let names = ["udp sender=gso reader=recv", "udp sender=sendmmsg reader=io_uring"];
        let found = Names::within(&names, 30);
        assert_eq!((found.common.as_str(), found.keys.as_str()), ("udp", "sender reader"));
        assert_eq!(found.short, ["gso recv", "sendmmsg io_uring"]);
        let found = Names::within(&names, 12);
        assert_eq!(found.short, ["gso recv", "sendmmsg [a]"]);
        assert_eq!(found.legend(), "  each begins with udp\n  [a] io_uring\n");
    }

    #[test]
    fn a_name_of_many_words_is_told_as_a_whole() {
        let found = Names::within(&["a b c d e f", "g"], 5);
        assert_eq!(found.short, ["[a]", "g"]);
        assert_eq!(found.legend(), "  [a] a b c d e f\n");
    }

    proptest! {
        #[test]
        fn no_name_is_too_long_and_none_becomes_another(
            names in prop::collection::btree_set("[abc=]{1,9}( [abcd=]{1,12}){0,4}", 1..12),
            width in 6_usize..30,
        ) {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let found = Names::within(&names, width);
            prop_assert!(found.short.iter().all(|name| name.width() <= width), "{found:?}");
            let distinct: std::collections::BTreeSet<_> = found.short.iter().collect();
            prop_assert_eq!(distinct.len(), names.len(), "{:?}", found);
        }
    }
}
