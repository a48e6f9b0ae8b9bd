//! The first record: the names of the columns, and which of them are used.

use std::io::Read;

use super::records::Records;
use crate::error::{Fault, FilePosition};
use crate::options::{Column, Options};

/// The columns that are used, from 0.
#[derive(Debug)]
pub(super) struct Heading {
    pub(super) value: usize,
    /// The name of the value's column, where it names the metric.
    pub(super) value_name: Option<String>,
    pub(super) condition: Option<usize>,
    pub(super) boot: Option<usize>,
    pub(super) metric: Option<usize>,
    pub(super) unit: Option<usize>,
    pub(super) warmup: Option<usize>,
    /// Columns that say whether a run succeeded.
    pub(super) outcomes: Vec<(usize, SuccessColumn)>,
    pub(super) names: Vec<String>,
}

/// The way in which a column says that a run succeeded.
#[derive(Clone, Copy, Debug)]
pub(super) enum SuccessColumn {
    /// A status in words.
    Status,
    /// 0 is success.
    ExitCode,
    /// Yes is success.
    Success,
    /// Yes is a failure.
    Failure,
    /// Any text but a number, such as a margin, is a failure.
    Message,
}

impl SuccessColumn {
    /// The outcome that a column of this name holds.
    fn from_column_name(name: &str) -> Option<SuccessColumn> {
        let letters: String = name
            .chars()
            .filter(char::is_ascii_alphanumeric)
            .map(|letter| letter.to_ascii_lowercase())
            .collect();
        Some(match letters.as_str() {
            "status" | "outcome" => SuccessColumn::Status,
            "exitcode" | "exitstatus" | "exit" | "returncode" | "rc" | "errno" => SuccessColumn::ExitCode,
            "success" | "succeeded" | "ok" | "passed" | "valid" => SuccessColumn::Success,
            "failed" | "failure" | "timedout" => SuccessColumn::Failure,
            "error" | "err" => SuccessColumn::Message,
            _ => return None,
        })
    }

    pub(super) fn is_success(self, word: &[u8]) -> bool {
        let word = word.trim_ascii().to_ascii_lowercase();
        let is_one_of = |words: &[&[u8]]| words.contains(&word.as_slice());
        let is_no = is_one_of(&[b"", b"0", b"false", b"no", b"n", b"none", b"ok"]);
        match self {
            SuccessColumn::Status => {
                is_one_of(&[b"ok", b"0", b"success", b"succeeded", b"pass", b"passed", b"done", b"completed"])
            }
            SuccessColumn::ExitCode => word == b"0",
            SuccessColumn::Success => is_one_of(&[b"1", b"true", b"yes", b"y", b"ok"]),
            SuccessColumn::Failure => is_no,
            SuccessColumn::Message => is_no || ministat::parse_number(&word).is_some(),
        }
    }
}

/// Columns of netassay's own export that say where a run stands.
const PLACES: [&str; 7] = ["study", "name", "part", "block", "repeat", "position", "started_unix_ms"];

impl Heading {
    pub(super) fn read<R: Read>(records: &mut Records<R>, options: &Options) -> Result<Heading, Fault> {
        if !records.next()? {
            return Err(Fault::new(
                FilePosition::start_of(1),
                "no first line with the names of columns",
                "add one",
            ));
        }
        let mut names = Vec::new();
        for column in 0..records.len() {
            let name = records.text(column)?;
            let name = if column == 0 { name.trim_start_matches('\u{feff}') } else { name };
            names.push(name.trim().to_owned());
        }
        let place = records.field(0).1;
        let find = |word: &str| {
            let exact = names.iter().position(|name| name == word);
            exact.or_else(|| names.iter().position(|name| name.eq_ignore_ascii_case(word)))
        };
        let asked = |word: &str, option: &str| {
            find(word).ok_or_else(|| {
                Fault::new(
                    place,
                    format!("no column {word:?}"),
                    format!("{option} takes one of {}", names.join(", ")),
                )
            })
        };
        // A table may have a column for each metric.
        let own = |metric: &&String| find("value").is_none() && find(metric).is_some();
        let named = options.value.as_ref().or_else(|| options.metric.as_ref().filter(own));
        let value = asked(named.map_or("value", String::as_str), "--column")?;
        let condition = match &options.condition {
            Some(word) => Some(asked(word, "--condition")?),
            None => find("label").or_else(|| find("condition")),
        };
        let boot = match &options.boot {
            Some(Column::Named(word)) => Some(asked(word, "--boot")?),
            Some(Column::None) => None,
            None => find("boot"),
        };
        let metric = find("metric").filter(|column| *column != value);
        let is_used = |column: usize| [Some(value), condition, boot].contains(&Some(column));
        let outcome = |(column, name): (usize, &String)| {
            SuccessColumn::from_column_name(name)
                .filter(|_| !is_used(column))
                .map(|outcome| (column, outcome))
        };
        Ok(Heading {
            value,
            value_name: named.map(|_| names[value].clone()),
            condition,
            boot,
            metric,
            unit: find("unit"),
            warmup: find("warmup"),
            outcomes: names.iter().enumerate().filter_map(outcome).collect(),
            names,
        })
    }

    /// The columns that nothing uses.
    pub(super) fn unused(&self) -> Vec<usize> {
        let used = [Some(self.value), self.condition, self.boot, self.metric, self.unit, self.warmup];
        let is_export = PLACES.iter().all(|place| self.names.iter().any(|name| name == place));
        let says_outcome = |column: usize| {
            self.outcomes
                .iter()
                .any(|(at, outcome)| *at == column && !matches!(outcome, SuccessColumn::Message))
        };
        let is_unused = |column: &usize| {
            let name = self.names[*column].as_str();
            !used.contains(&Some(*column))
                && !says_outcome(*column)
                && !(is_export && (PLACES.contains(&name) || ["reason", "condition"].contains(&name)))
        };
        (0..self.names.len()).filter(is_unused).collect()
    }
}
