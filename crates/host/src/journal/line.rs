//! The lines of a journal: `SUM JSON`, where the checksum detects damage.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Deserialize, Serialize};

use super::restore::Process;
use crate::error::Error;
use crate::machine::{Machine, SettingValue, Target, check_value};

pub(super) const MOST_DAMAGE: usize = 10;

pub(super) const FORMAT: u32 = 6;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum Record {
    /// The first: the owner of the journal.
    Begun(Header),
    /// A change that will be made: its value after is not known.
    Change(Change),
    /// The change of this number is made, and its setting reads back this value.
    Made(u32, SettingValue),
    /// Half-way through these changes: their settings may have any value.
    Changing(Vec<u32>),
    /// The settings of these changes have their values before: there is nothing to undo.
    Unchanged(Vec<u32>),
    Undone(u32),
    /// The changes so far stay, for this reason, until a user undoes them.
    Applied(String),
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Header {
    pub(super) format: u32,
    pub(super) pid: u32,
    /// In ticks since the machine's: together with the number it identifies the process.
    pub(super) start: u64,
    pub(super) boot: String,
    pub(super) network: String,
}

impl Header {
    pub(super) fn new(pid: u32, start: u64, boot: String, network: String) -> Self {
        Self { format: FORMAT, pid, start, boot, network }
    }

    /// The header of a journal that this process makes now.
    pub(super) fn for_machine(machine: &Machine) -> Result<Self, Error> {
        let Process { pid, start } = Process::this();
        Ok(Self::new(pid, start, machine.boot()?, machine.network()?))
    }
}

/// A change of the machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Change {
    /// Its number in its journal, from 1.
    pub number: u32,
    #[serde(deserialize_with = "Target::read")]
    pub target: Target,
    pub before: SettingValue,
    /// As read back. `None` while it is being made or undone: then the setting may have any value.
    pub after: Option<SettingValue>,
}

impl Change {
    /// Whether the setting had the requested value already; it is watched and undone all the same.
    pub fn is_nothing(&self) -> bool {
        self.after.as_ref() == Some(&self.before)
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { target, before, after, .. } = self;
        let after = after.as_ref().map_or("being changed".to_owned(), |after| target.show(after));
        write!(f, "{target}: {} -> {after}", target.show(before))
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
#[error("line {line}: {why}")]
pub struct Damage {
    /// From 1.
    pub line: usize,
    pub why: String,
}

/// The content of a journal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parsed {
    pub(super) header: Option<Header>,
    /// The changes that were made, or perhaps made, in order.
    pub changes: Vec<Change>,
    /// The numbers of the undone changes.
    pub undone: BTreeSet<u32>,
    /// The first ten.
    pub damaged: Vec<Damage>,
    pub damaged_lines: usize,
    places: BTreeMap<u32, usize>,
    /// Why its changes stay after the end of its process.
    pub applied: Option<String>,
}

/// Invalid lines count as damage; an incomplete last line does not: its action has not begun.
pub fn parse(bytes: &[u8]) -> Parsed {
    let mut parsed = Parsed::default();
    let bytes = &bytes[..unfinished(bytes).unwrap_or(bytes.len())];
    let whole = bytes.strip_suffix(b"\n");
    let lines: Vec<&[u8]> = whole.unwrap_or(bytes).split(|byte| *byte == b'\n').collect();
    for (number, line) in (1..).zip(&lines) {
        let half = whole.is_none() && number == lines.len();
        let read = if half { Err("it is only half written".into()) } else { read(line) };
        if let Err(why) = read.and_then(|record| parsed.add(number, record)) {
            parsed.damaged_lines += 1;
            if parsed.damaged.len() < MOST_DAMAGE {
                parsed.damaged.push(Damage { line: number, why: why.to_string() });
            }
        }
    }
    parsed
}

/// The offset of the last line if it is incomplete.
pub(super) fn unfinished(bytes: &[u8]) -> Option<usize> {
    let place = bytes.iter().rposition(|byte| *byte == b'\n')? + 1;
    let line = &bytes[place..];
    let is_it = match line.split_at_checked(SUM) {
        None => !line.is_empty() && line.iter().all(u8::is_ascii_hexdigit),
        Some((sum, b"" | b" ")) => sum.iter().all(u8::is_ascii_hexdigit),
        Some((sum, json)) => {
            json.strip_prefix(b" ").is_some_and(|json| match serde_json::from_slice::<Record>(json) {
                // Only the end of the line is missing: its writer did not go on to the action.
                Ok(_) => sum == hex(json).as_bytes(),
                // Other errors are damage: a line that was cut short lacks its end only.
                Err(error) => error.is_eof(),
            })
        }
    };
    is_it.then_some(place)
}

impl Parsed {
    /// The changes that are not undone, in the order in which they were made.
    pub fn open(&self) -> Vec<Change> {
        self.changes.iter().filter(|change| !self.undone.contains(&change.number)).cloned().collect()
    }

    fn add(&mut self, line: usize, record: Record) -> Result<(), Error> {
        match record {
            Record::Begun(header) if line == 1 => {
                let Header { format, boot, network, .. } = &header;
                if *format != FORMAT {
                    return Err(format!("it is of format {format}, and this version reads {FORMAT}").into());
                }
                if boot.is_empty() || network.is_empty() {
                    return Err("it does not name the boot or the network namespace".into());
                }
                self.header = Some(header);
            }
            Record::Begun(_) => return Err("a journal begins only once".into()),
            _ if line == 1 => return Err("it does not name the process that wrote it".into()),
            Record::Change(change) => {
                change.target.check()?;
                check_value(&change.before)?;
                if self.places.contains_key(&change.number) {
                    return Err(format!("there is a change {} already", change.number).into());
                }
                self.places.insert(change.number, self.changes.len());
                // The value after has a record of its own.
                self.changes.push(Change { after: None, ..change });
            }
            Record::Made(number, after) => {
                check_value(&after)?;
                self.change(number)?.after = Some(after);
            }
            Record::Changing(numbers) => {
                for number in numbers {
                    self.change(number)?.after = None;
                    // A change that was undone may be made again.
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
    let (sum, json) = line.split_at_checked(SUM).ok_or("it is too short")?;
    let json = json.strip_prefix(b" ").ok_or("no space after the checksum")?;
    if sum != hex(json).as_bytes() {
        return Err("its checksum does not match: it was changed, or cut short".into());
    }
    serde_json::from_slice(json).map_err(|error| error.to_string().into())
}

pub(super) fn write(record: &Record) -> Vec<u8> {
    // Strings, numbers and enums serialize without errors; an empty line would count as damage.
    let json = serde_json::to_vec(record).unwrap_or_default();
    [hex(&json).as_bytes(), b" ", &json, b"\n"].concat()
}

/// The text of a journal that announces changes of these settings from these values.
#[cfg(feature = "fuzz")]
pub fn journal_text(changes: &[(Target, SettingValue)]) -> Vec<u8> {
    let begun = Record::Begun(Header::new(1, 2, "boot".to_owned(), "net:[1]".to_owned()));
    let announced = |(number, (target, before)): (u32, &(Target, SettingValue))| {
        Record::Change(Change { number, target: target.clone(), before: before.clone(), after: None })
    };
    let records = [begun].into_iter().chain((1..).zip(changes).map(announced));
    records.flat_map(|record| write(&record)).collect()
}

// Digits of the checksum.
const SUM: usize = 16;

fn hex(bytes: &[u8]) -> String {
    format!("{:016x}", words::fnv1a(bytes))
}
