//! glibc's getopt: one-letter options in groups, with arguments attached or following, before,
//! between or after files.

/// An element of the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Item<'a> {
    /// An option without an argument.
    Flag(u8),
    /// An option with its argument.
    Value(u8, &'a [u8]),
    /// `--name` or `--name=value`, where long options exist.
    Long(&'a [u8], Option<&'a [u8]>),
    /// Not an option.
    File(&'a [u8]),
    Unknown(u8),
    /// An option without its argument.
    Incomplete(u8),
}

/// The known options.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Grammar {
    pub(crate) flags: &'static [u8],
    pub(crate) with_value: &'static [u8],
    /// The names of long options, whose argument may follow as the next word; `None` if `--x` is
    /// the option `-`.
    pub(crate) long: Option<&'static [&'static [u8]]>,
    /// The first file ends the options, as with POSIXLY_CORRECT.
    pub(crate) options_first: bool,
}

/// Reads the command line.
#[derive(Debug)]
pub(crate) struct Getopt<'a> {
    grammar: Grammar,
    words: &'a [Vec<u8>],
    /// The rest of a group of letters.
    group: &'a [u8],
    only_files: bool,
}

impl<'a> Getopt<'a> {
    pub(crate) fn new(grammar: Grammar, words: &'a [Vec<u8>]) -> Getopt<'a> {
        Getopt { grammar, words, group: &[], only_files: false }
    }

    fn word(&mut self) -> Option<&'a [u8]> {
        let (word, rest) = self.words.split_first()?;
        self.words = rest;
        Some(word)
    }

    fn long(&mut self, name: &'a [u8], known: &[&[u8]]) -> Item<'a> {
        match name.iter().position(|byte| *byte == b'=') {
            Some(at) => Item::Long(&name[..at], Some(&name[at + 1..])),
            None if known.contains(&name) => Item::Long(name, self.word()),
            None => Item::Long(name, None),
        }
    }

    fn letter(&mut self) -> Option<Item<'a>> {
        let (letter, rest) = self.group.split_first()?;
        self.group = rest;
        if self.grammar.flags.contains(letter) {
            return Some(Item::Flag(*letter));
        }
        if !self.grammar.with_value.contains(letter) {
            return Some(Item::Unknown(*letter));
        }
        self.group = &[];
        let value = if rest.is_empty() { self.word() } else { Some(rest) };
        Some(value.map_or(Item::Incomplete(*letter), |value| Item::Value(*letter, value)))
    }
}

impl<'a> Iterator for Getopt<'a> {
    type Item = Item<'a>;

    fn next(&mut self) -> Option<Item<'a>> {
        loop {
            if let Some(item) = self.letter() {
                return Some(item);
            }
            let word = self.word()?;
            match (word, self.grammar.long) {
                _ if self.only_files => return Some(Item::File(word)),
                (b"--", _) => self.only_files = true,
                ([b'-', b'-', name @ ..], Some(known)) => return Some(self.long(name, known)),
                ([b'-', group @ ..], _) if !group.is_empty() => self.group = group,
                _ => {
                    self.only_files = self.grammar.options_first;
                    return Some(Item::File(word));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GRAMMAR: Grammar = Grammar { flags: b"an", with_value: b"w", long: None, options_first: false };

    #[track_caller]
    fn assert_items(grammar: Grammar, line: &str, expected: &[Item<'_>]) {
        let words: Vec<Vec<u8>> = line.split(' ').map(|word| word.as_bytes().to_vec()).collect();
        assert_eq!(Getopt::new(grammar, &words).collect::<Vec<_>>(), expected, "{line}");
    }

    #[test]
    fn groups_glued_values_and_files_between() {
        use Item::*;
        let all = [Flag(b'a'), Value(b'w', b"40"), File(b"x"), Flag(b'n'), Value(b'w', b"--"), File(b"-")];
        assert_items(GRAMMAR, "-aw40 x -n -w -- -", &all);
        assert_items(GRAMMAR, "x -- -n --", &[File(b"x"), File(b"-n"), File(b"--")]);
        assert_items(GRAMMAR, "-nw", &[Flag(b'n'), Incomplete(b'w')]);
        assert_items(GRAMMAR, "-n-Z", &[Flag(b'n'), Unknown(b'-'), Unknown(b'Z')]);
        assert_items(GRAMMAR, "--an", &[Unknown(b'-'), Flag(b'a'), Flag(b'n')]);
    }

    #[test]
    fn a_file_may_end_the_options() {
        let posix = Grammar { options_first: true, ..GRAMMAR };
        assert_items(posix, "-a x -n", &[Item::Flag(b'a'), Item::File(b"x"), Item::File(b"-n")]);
        assert_items(posix, "x --", &[Item::File(b"x"), Item::File(b"--")]);
    }

    #[test]
    fn long_options_where_they_are_known() {
        let long = Grammar { long: Some(&[b"dialect"]), ..GRAMMAR };
        let all = [
            Item::Long(b"dialect", Some(b"x")),
            Item::Long(b"modern", None),
            Item::Long(b"dialect", Some(b"")),
        ];
        assert_items(long, "--dialect x --modern --dialect=", &all);
        assert_items(long, "--dialect", &[Item::Long(b"dialect", None)]);
        assert_items(long, "-- --modern", &[Item::File(b"--modern")]);
    }
}
