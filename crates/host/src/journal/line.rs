//! The lines of a journal: `SUM JSON`, where the checksum detects damage.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::machine::{Target, Value, check_value};

// The most damaged lines of a journal that are reported, each with its reason.
const MOST_DAMAGE: usize = 10;

// The version of the format.
const FORMAT: u32 = 5;

// The oldest version that is read. It has no [`Record::Changing`] and no [`Record::Unchanged`],
// and names interfaces only. Version 3 has no [`Record::Applied`]. Version 5 may also have drivers
// that were taken down, which are read as damage.
const OLDEST: u32 = 2;

/// One line of a journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum Record {
    /// The first: the owner of the journal.
    Begun(Header),
    /// A change that will be made.
    Change(Announced),
    /// The change of this number is made, and its setting reads back this value.
    Made(u32, Value),
    /// The change of this number will be undone.
    Undoing(u32),
    /// The settings of these changes are being changed, or changed again, or undone: they may have
    /// any value. Their values before stay as announced.
    Changing(Vec<u32>),
    /// The settings of these changes have their values before: there is nothing to undo.
    Unchanged(Vec<u32>),
    /// The change of this number is undone.
    Undone(u32),
    /// The changes so far stay after the end of the process, for the reason given: only a user's
    /// `netassay undo` undoes them.
    Applied(String),
}

/// A change that will be made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Announced {
    pub(super) number: u32,
    pub(super) target: Target,
    pub(super) before: Value,
}

/// The owner of a journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Header {
    pub(super) format: u32,
    pub(super) pid: u32,
    /// Its start, in ticks since the machine's: together with the number it identifies the process.
    pub(super) start: u64,
    pub(super) boot: String,
    /// The network namespace whose settings it changes.
    pub(super) network: String,
}

impl Header {
    pub(super) fn new(pid: u32, start: u64, boot: String, network: String) -> Self {
        Self { format: FORMAT, pid, start, boot, network }
    }
}

/// A change of the machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Change {
    /// Its number in its journal, from 1.
    pub number: u32,
    /// The setting.
    #[serde(deserialize_with = "Target::read")]
    pub target: Target,
    /// The value before.
    pub before: Value,
    /// The value after, as read back. `None` while it is being made or undone: then the setting may
    /// have any value, such as the first half of a long one.
    pub after: Option<Value>,
}

impl Change {
    /// Whether the setting had the requested value already. It is watched and undone like the
    /// others.
    pub fn is_nothing(&self) -> bool {
        self.after.as_ref() == Some(&self.before)
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.after {
            Some(after) => {
                let (target, before) = (&self.target, self.target.show(&self.before));
                write!(f, "{target}: {before} -> {}", target.show(after))
            }
            None => write!(f, "{}: {} -> being changed", self.target, self.target.show(&self.before)),
        }
    }
}

/// A line that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Damage {
    /// The line, from 1.
    pub line: usize,
    /// The reason.
    pub why: String,
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.why)
    }
}

/// The content of a journal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parsed {
    pub(super) header: Option<Header>,
    /// The changes that were made, or perhaps made, in order.
    pub changes: Vec<Change>,
    /// The numbers of the undone changes.
    pub undone: BTreeSet<u32>,
    /// The first ten damaged lines.
    pub damaged: Vec<Damage>,
    /// The number of damaged lines.
    pub damaged_lines: usize,
    places: BTreeMap<u32, usize>,
    /// Why its changes stay after the end of its process; `None` if they do not.
    pub applied: Option<String>,
}

impl Parsed {
    /// The changes that are not undone, in the order in which they were made.
    pub fn open(&self) -> Vec<Change> {
        self.changes.iter().filter(|change| !self.undone.contains(&change.number)).cloned().collect()
    }
}

/// Reads a journal. Total: an invalid line counts as damage, and the others are read. An incomplete
/// last line is no damage: a line is on disk before its action begins, so that action never began.
pub fn parse(bytes: &[u8]) -> Parsed {
    let mut parsed = Parsed::default();
    let bytes = &bytes[..unfinished(bytes).unwrap_or(bytes.len())];
    let whole = bytes.strip_suffix(b"\n");
    let mut lines = whole.unwrap_or(bytes).split(|byte| *byte == b'\n').peekable();
    let mut number = 0;
    while let Some(line) = lines.next() {
        number += 1;
        let half = whole.is_none() && lines.peek().is_none();
        let read = if half { Err("it is only half written".to_owned().into()) } else { read(line) };
        if let Err(why) = read.and_then(|record| parsed.add(number, record)) {
            parsed.damaged_lines += 1;
            if parsed.damaged.len() < MOST_DAMAGE {
                parsed.damaged.push(Damage { line: number, why: why.to_string() });
            }
        }
    }
    parsed
}

/// The offset of the last line if it is incomplete. The first line is complete before the journal
/// has its name.
pub(super) fn unfinished(bytes: &[u8]) -> Option<usize> {
    let place = bytes.iter().rposition(|byte| *byte == b'\n')? + 1;
    let line = &bytes[place..];
    let is_it = match line.split_at_checked(SUM) {
        None => !line.is_empty() && line.iter().all(u8::is_ascii_hexdigit),
        Some((sum, b"" | b" ")) => sum.iter().all(u8::is_ascii_hexdigit),
        Some((sum, json)) => {
            json.strip_prefix(b" ").is_some_and(|json| match serde_json::from_slice::<Record>(json) {
                Ok(_) => sum == hex(json).as_bytes(),
                Err(error) => error.is_eof(),
            })
        }
    };
    is_it.then_some(place)
}

impl Parsed {
    fn add(&mut self, line: usize, record: Record) -> Result<(), Error> {
        match record {
            Record::Begun(header) if line == 1 => {
                if !(OLDEST..=FORMAT).contains(&header.format) {
                    return Err(Error::from(format!(
                        "it is of format {}, and this version knows formats {OLDEST} to {FORMAT}",
                        header.format
                    )));
                }
                if header.boot.is_empty() || header.network.is_empty() {
                    return Err("it does not name the boot or the network namespace".to_owned().into());
                }
                self.header = Some(header);
            }
            Record::Begun(_) => return Err("a journal begins only once".to_owned().into()),
            _ if line == 1 => return Err("it does not name the process that wrote it".to_owned().into()),
            Record::Change(Announced { number, target, before }) => {
                target.check()?;
                check_value(&before)?;
                if self.places.contains_key(&number) {
                    return Err(format!("there is a change {number} already").into());
                }
                self.places.insert(number, self.changes.len());
                self.changes.push(Change { number, target, before, after: None });
            }
            Record::Made(number, after) => {
                check_value(&after)?;
                self.change(number)?.after = Some(after);
            }
            Record::Undoing(number) => self.change(number)?.after = None,
            Record::Changing(numbers) => {
                for number in numbers {
                    self.change(number)?.after = None;
                    self.undone.remove(&number);
                }
            }
            Record::Unchanged(numbers) => numbers.into_iter().try_for_each(|number| self.close(number))?,
            Record::Undone(number) => self.close(number)?,
            Record::Applied(why) => self.applied = Some(words::shortened_reason(&why)),
        }
        Ok(())
    }

    fn close(&mut self, number: u32) -> Result<(), Error> {
        self.change(number)?;
        self.undone.insert(number);
        Ok(())
    }

    fn change(&mut self, number: u32) -> Result<&mut Change, Error> {
        let found = self.places.get(&number).and_then(|place| self.changes.get_mut(*place));
        found.ok_or_else(|| format!("no line before it announces change {number}").into())
    }
}

fn read(line: &[u8]) -> Result<Record, Error> {
    let damaged = |why: &str| Error::from(why.to_owned());
    let (sum, json) = line.split_at_checked(SUM).ok_or_else(|| damaged("it is too short"))?;
    let json = json.strip_prefix(b" ").ok_or_else(|| damaged("no space after the checksum"))?;
    if sum != hex(json).as_bytes() {
        return Err(damaged("its checksum does not match: it was changed, or cut short"));
    }
    serde_json::from_slice(json).map_err(|error| error.to_string().into())
}

/// A record as a line, with its end.
pub(super) fn write(record: &Record) -> Vec<u8> {
    // Strings, numbers and enums serialize without errors; an empty line would count as damage.
    let json = serde_json::to_vec(record).unwrap_or_default();
    let mut line = hex(&json).into_bytes();
    line.push(b' ');
    line.extend(json);
    line.push(b'\n');
    line
}

/// The text of a journal that announces changes of these settings from these values.
#[cfg(feature = "fuzz")]
pub fn journal_text(changes: &[(Target, Value)]) -> Vec<u8> {
    let begun = Record::Begun(Header::new(1, 2, "boot".to_owned(), "net:[1]".to_owned()));
    let announced = |(number, (target, before)): (u32, &(Target, Value))| {
        Record::Change(Announced { number, target: target.clone(), before: before.clone() })
    };
    let records = [begun].into_iter().chain((1..).zip(changes).map(announced));
    records.flat_map(|record| write(&record)).collect()
}

// Digits of the checksum.
const SUM: usize = 16;

fn hex(bytes: &[u8]) -> String {
    format!("{:016x}", words::fnv1a(bytes))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn begun() -> Vec<u8> {
        write(&Record::Begun(Header::new(1, 2, "boot".to_owned(), "net:[1]".to_owned())))
    }

    fn announced(number: u32) -> Announced {
        let target = Target::Sysctl { name: "net.core.rmem_max".to_owned() };
        Announced { number, target, before: "1\n".into() }
    }

    fn change(number: u32) -> Change {
        let Announced { number, target, before } = announced(number);
        Change { number, target, before, after: None }
    }

    fn journal(changes: u32) -> Vec<u8> {
        (1..=changes).fold(begun(), |text, number| [text, write(&Record::Change(announced(number)))].concat())
    }

    #[test]
    fn a_journal_is_read_as_it_was_written() {
        let text = [journal(3), write(&Record::Undone(3))].concat();
        let parsed = parse(&text);
        assert_eq!(parsed.damaged, []);
        assert_eq!(parsed.changes, [change(1), change(2), change(3)]);
        assert_eq!(parsed.open(), [change(1), change(2)]);
        assert_eq!(parsed.header.unwrap().pid, 1);
    }

    #[test]
    fn a_value_after_is_known_from_when_it_was_read_back_until_it_is_undone() {
        let after = |records: &[Record]| {
            let text = records.iter().fold(journal(1), |text, record| [text, write(record)].concat());
            let parsed = parse(&text);
            assert_eq!(parsed.damaged, []);
            parsed.changes[0].after.clone()
        };
        let made = || Record::Made(1, "2\n".into());
        assert_eq!(after(&[]), None);
        assert_eq!(after(&[made()]), Some("2\n".into()));
        assert_eq!(after(&[made(), Record::Undoing(1)]), None);
        assert_eq!(after(&[made(), Record::Changing(vec![1])]), None);
        assert_eq!(after(&[made(), Record::Changing(vec![1]), made()]), Some("2\n".into()));
    }

    #[test]
    fn a_change_that_changed_nothing_is_closed_until_it_is_made_again() {
        let open = |records: &[Record]| {
            let text = records.iter().fold(journal(2), |text, record| [text, write(record)].concat());
            let parsed = parse(&text);
            assert_eq!(parsed.damaged, []);
            parsed.open().iter().map(|change| change.number).collect::<Vec<_>>()
        };
        assert_eq!(open(&[Record::Unchanged(vec![1])]), [2]);
        assert_eq!(open(&[Record::Unchanged(vec![1, 2]), Record::Changing(vec![1])]), [1]);
        assert_eq!(open(&[Record::Undone(2), Record::Changing(vec![2])]), [1, 2]);
    }

    /// As version 0.1 of netassay wrote it.
    #[test]
    fn a_journal_of_format_2_is_read() {
        let lines = [
            r#"{"begun":{"format":2,"pid":1,"start":2,"boot":"boot","network":"net:[1]"}}"#,
            r#"{"change":{"number":1,"target":{"feature":{"interface":"eth0","feature":"rx-gro"}},"before":"on"}}"#,
            r#"{"made":[1,"off"]}"#,
        ];
        let text: String = lines.iter().map(|line| format!("{} {line}\n", hex(line.as_bytes()))).collect();
        let parsed = parse(text.as_bytes());
        assert_eq!(parsed.damaged, []);
        assert_eq!(parsed.changes[0].to_string(), "rx-gro of eth0: on -> off");
    }

    #[test]
    fn a_line_whose_writer_was_stopped_is_none_and_the_others_count() {
        let mut text = journal(2);
        text.truncate(text.len() - 5);
        let parsed = parse(&text);
        assert_eq!((parsed.changes, parsed.damaged), (vec![change(1)], vec![]));
        text.extend(b"}}}!");
        let parsed = parse(&text);
        assert_eq!(parsed.changes, [change(1)]);
        assert_eq!(parsed.damaged, [Damage { line: 3, why: "it is only half written".to_owned() }]);
    }

    /// 15 MB of blank lines took 4 GB of memory.
    #[test]
    fn damaged_lines_are_counted_and_ten_are_reported() {
        let parsed =
            parse(&[journal(1), vec![b'\n'; 1 << 20], write(&Record::Change(announced(2)))].concat());
        assert_eq!((parsed.damaged_lines, parsed.damaged.len()), (1 << 20, MOST_DAMAGE));
        assert_eq!(parsed.damaged[9], Damage { line: 12, why: "it is too short".to_owned() });
        assert_eq!(parsed.changes, [change(1), change(2)]);
    }

    #[test]
    fn what_no_journal_says_is_damage() {
        let hostile =
            Announced { target: Target::Sysctl { name: "kernel.core_pattern".to_owned() }, ..announced(1) };
        let long = Announced { before: "x".repeat(300_000).as_str().into(), ..announced(1) };
        for (records, why) in [
            (vec![Record::Change(hostile)], "not on the list"),
            (vec![Record::Change(long)], "at most 262144"),
            (vec![Record::Change(announced(1)), Record::Change(announced(1))], "already"),
            (vec![Record::Made(1, "2".into())], "no line before it"),
            (vec![Record::Undoing(1)], "no line before it"),
            (vec![Record::Undone(1)], "no line before it"),
            (vec![Record::Changing(vec![1])], "no line before it"),
            (vec![Record::Unchanged(vec![1])], "no line before it"),
            (vec![Record::Begun(Header::new(1, 2, String::new(), String::new()))], "only once"),
        ] {
            let text = records.iter().fold(begun(), |text, record| [text, write(record)].concat());
            let parsed = parse(&text);
            assert_eq!(parsed.damaged.len(), 1, "{records:?}");
            assert!(parsed.damaged[0].why.contains(why), "{:?}", parsed.damaged);
        }
        assert_eq!(parse(b"").damaged.len(), 1);
        assert_eq!(
            parse(&write(&Record::Undone(1))).damaged[0].why,
            "it does not name the process that wrote it"
        );
        let nameless = Record::Begun(Header::new(1, 2, String::new(), "net:[1]".to_owned()));
        assert!(parse(&write(&nameless)).damaged[0].why.contains("name the boot"));
        let newer = Header { format: FORMAT + 1, ..Header::new(1, 2, String::new(), String::new()) };
        assert!(
            parse(&write(&Record::Begun(newer))).damaged[0].why.contains(&format!("format {}", FORMAT + 1))
        );
    }

    proptest! {
        #[test]
        fn any_value_is_read_as_it_was_written(
            before in prop::collection::vec(any::<u8>(), 0..5000),
            after in prop_oneof![".{0,5000}".prop_map(String::into_bytes), prop::collection::vec(any::<u8>(), 0..5000)],
        ) {
            let (before, after) = (Value::from(before), Value::from(after));
            let records = [
                Record::Change(Announced { before: before.clone(), ..announced(1) }),
                Record::Made(1, after.clone()),
            ];
            let text = records.iter().fold(begun(), |text, record| [text, write(record)].concat());
            let parsed = parse(&text);
            prop_assert_eq!(parsed.damaged, []);
            prop_assert_eq!(&parsed.changes[0].before, &before);
            prop_assert_eq!(&parsed.changes[0].after, &Some(after));
        }

        #[test]
        fn any_bytes_are_read(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
            let parsed = parse(&bytes);
            prop_assert!(parsed.header.is_some() || !parsed.damaged.is_empty());
        }

        /// Damage never goes unnoticed, whichever byte it hits: at an end of line it joins two
        /// lines.
        #[test]
        fn a_damaged_byte_is_reported_and_loses_two_lines_at_most(
            changes in 1u32..6, place in any::<prop::sample::Index>(), byte in any::<u8>()
        ) {
            let mut text = journal(changes);
            let place = place.index(text.len());
            prop_assume!(text[place] != byte);
            text[place] = byte;
            let parsed = parse(&text);
            prop_assert!(!parsed.damaged.is_empty());
            let kept = parsed.changes.len() + usize::from(parsed.header.is_some());
            prop_assert!(kept + 2 > changes as usize, "{kept} of {}", changes + 1);
            prop_assert!(parsed.changes.iter().all(|found| *found == change(found.number)));
        }

        #[test]
        fn a_journal_cut_anywhere_keeps_every_whole_line(changes in 0u32..5, place in any::<prop::sample::Index>()) {
            let text = journal(changes);
            let cut = place.index(text.len() + 1);
            let whole = text[..cut].iter().filter(|byte| **byte == b'\n').count();
            let parsed = parse(&text[..cut]);
            prop_assert_eq!(parsed.changes.len(), whole.saturating_sub(1));
            // The first line is whole before the journal has its name.
            prop_assert_eq!(parsed.damaged.is_empty(), whole > 0);
            prop_assert_eq!(unfinished(&text[..cut]).is_some(), whole > 0 && text[cut - 1] != b'\n');
        }
    }
}
