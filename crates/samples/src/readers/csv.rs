//! Columns with names (RFC 4180, with commas, semicolons or tabs): one row for each run and metric.
//!
//! By default the columns have the names of netassay's own export: `value`, `label` or `condition`,
//! `boot`, `metric`, `unit`. Rows whose `warmup` is 1, or that a column such as `status` or
//! `exit_code` calls failed, are left out. Other columns are named: runs that differ in them are
//! one set.

mod records;

use std::collections::BTreeSet;
use std::io::Read;

use crate::error::{Fault, FilePosition, quoted};
use crate::limits::LONGEST_NAME;
use crate::lines::measured;
use crate::options::{BootColumn, Options};
use crate::readers::csv::records::Records;
use crate::readers::{MOST_METRICS, ReadValues, no_such_metric, plain_word};
use crate::series::{Collector, SeriesKey};

pub(crate) fn read(input: impl Read, options: &Options) -> Result<ReadValues, Fault> {
    let mut records = Records::new(input)?;
    let heading = Heading::read(&mut records, options)?;
    let wanted = options.metric.as_deref().filter(|metric| *metric != "all").map(plain_word);
    let mut metrics: BTreeSet<String> = BTreeSet::new();
    let names_only = |column| (column, Vec::new());
    let mut unused: Unused = heading.unused().into_iter().take(MOST_UNUSED).map(names_only).collect();
    let mut collector = Collector::default();
    while records.next()? {
        if let Some(reason) = reason_to_leave_out(&records, &heading) {
            collector.leave_out(&reason, records.field(0).1);
            continue;
        }
        let mut key = SeriesKey::default();
        if let Some(metric) = &heading.metric {
            let word = records.text(*metric)?;
            if metrics.len() < MOST_METRICS {
                metrics.insert(word.to_owned());
            }
            if wanted.as_ref().is_some_and(|wanted| *wanted != plain_word(word)) {
                continue;
            }
            key.metric = Some(word.to_owned());
        } else {
            key.metric.clone_from(&heading.value_name);
        }
        for (column, part) in [(heading.condition, &mut key.condition), (heading.unit, &mut key.unit)] {
            if let Some(column) = column {
                *part = Some(records.text(column)?.to_owned()).filter(|text| !text.is_empty());
            }
        }
        see_unused(&mut unused, &records);
        let (word, place) = records.field(heading.value);
        let value = measured(word.trim_ascii(), place)?;
        let boot = heading.boot.map(|column| records.field(column));
        if let Some((b"", place)) = boot {
            let what = "no boot where the column names one";
            return Err(Fault::new(place, what, "complete it, or give --boot none"));
        }
        collector.push(&key, boot.map(|(name, _)| name), value, place)?;
    }
    let metrics: Vec<String> = metrics.into_iter().collect();
    if let (Some(wanted), Some(_)) = (&wanted, &heading.metric)
        && !metrics.iter().any(|metric| plain_word(metric) == *wanted)
    {
        return Err(no_such_metric(wanted, &metrics));
    }
    if options.metric.is_none() && metrics.len() > 1 {
        let way_out = format!("choose with --metric: all, {}", metrics.join(", "));
        return Err(Fault::new(FilePosition::start_of(1), format!("{} metrics", metrics.len()), way_out));
    }
    let mut found = collector.finish()?;
    found.notes.extend(note_of_unused(&unused, &heading));
    Ok(found)
}

/// Why a row is no measurement.
fn reason_to_leave_out<R: Read>(records: &Records<R>, heading: &Heading) -> Option<String> {
    let field = |column: usize| records.field(column).0.trim_ascii();
    let is_warm_up = |word: &[u8]| word == b"1" || word.eq_ignore_ascii_case(b"true");
    if heading.warmup.is_some_and(|column| is_warm_up(field(column))) {
        return Some("rows of warm-up runs".to_owned());
    }
    let failed = heading.outcomes.iter().find(|(column, outcome)| !outcome.is_success(field(*column)));
    if let Some((column, _)) = failed {
        return Some(format!("rows of failed runs ({} {})", heading.names[*column], quoted(field(*column))));
    }
    let is_empty = heading.metric.is_some_and(|column| records.field(column).0.is_empty())
        && records.field(heading.value).0.is_empty();
    is_empty.then(|| "rows without metric and value".to_owned())
}

// The most unused columns, and the most words of each, that a note shows.
const MOST_UNUSED: usize = 8;

/// Columns that nothing uses, each with some of its words.
type Unused = Vec<(usize, Vec<Vec<u8>>)>;

fn see_unused<R: Read>(unused: &mut Unused, records: &Records<R>) {
    for (column, words) in unused {
        let (word, _) = records.field(*column);
        if words.len() <= MOST_UNUSED && !words.iter().any(|known| known == word) {
            words.push(word[..word.len().min(LONGEST_NAME)].to_vec());
        }
    }
}

fn note_of_unused(unused: &Unused, heading: &Heading) -> Option<String> {
    let named = |(column, words): &(usize, Vec<Vec<u8>>)| {
        let shown: Vec<String> = words.iter().take(3).map(|word| quoted(word)).collect();
        let more = if words.len() > shown.len() { ", …" } else { "" };
        format!("{} ({}{more})", heading.names[*column], shown.join(", "))
    };
    let all: Vec<String> = unused.iter().map(named).collect();
    let more = heading.unused().len() - unused.len();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    (!all.is_empty()).then(|| {
        format!(
            "columns that are not used: {}{more}; runs that differ in them count as one set (--condition and --boot take columns)",
            all.join(", ")
        )
    })
}

/// The columns that are used, from 0.
#[derive(Debug)]
struct Heading {
    value: usize,
    /// The name of the value's column, where it names the metric.
    value_name: Option<String>,
    condition: Option<usize>,
    boot: Option<usize>,
    metric: Option<usize>,
    unit: Option<usize>,
    warmup: Option<usize>,
    /// Columns that say whether a run succeeded.
    outcomes: Vec<(usize, SuccessColumn)>,
    names: Vec<String>,
}

/// The way in which a column says that a run succeeded.
#[derive(Clone, Copy, Debug)]
enum SuccessColumn {
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
        let letters: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
        Some(match letters.to_ascii_lowercase().as_str() {
            "status" | "outcome" => SuccessColumn::Status,
            "exitcode" | "exitstatus" | "exit" | "returncode" | "rc" | "errno" => SuccessColumn::ExitCode,
            "success" | "succeeded" | "ok" | "passed" | "valid" => SuccessColumn::Success,
            "failed" | "failure" | "timedout" => SuccessColumn::Failure,
            "error" | "err" => SuccessColumn::Message,
            _ => return None,
        })
    }

    fn is_success(self, word: &[u8]) -> bool {
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
            SuccessColumn::Message => is_no || crate::ministat::parse_number(&word).is_some(),
        }
    }
}

// Columns of netassay's own export that say where a run stands.
const PLACES: [&str; 7] = ["study", "name", "part", "block", "repeat", "position", "started_unix_ms"];

impl Heading {
    fn read<R: Read>(records: &mut Records<R>, options: &Options) -> Result<Heading, Fault> {
        if !records.next()? {
            let what = "no first line with the names of columns";
            return Err(Fault::new(FilePosition::start_of(1), what, "add one"));
        }
        let mut names = Vec::new();
        for column in 0..records.len() {
            names.push(records.text(column)?.trim().to_owned());
        }
        let place = records.field(0).1;
        let find = |word: &str| {
            let exact = names.iter().position(|name| name == word);
            exact.or_else(|| names.iter().position(|name| name.eq_ignore_ascii_case(word)))
        };
        let asked = |word: &str, option: &str| {
            find(word).ok_or_else(|| {
                let way_out = format!("{option} takes one of {}", names.join(", "));
                Fault::new(place, format!("no column {word:?}"), way_out)
            })
        };
        // A table may have a column for each metric.
        let is_column = |metric: &&String| find("value").is_none() && find(metric).is_some();
        let named = options.value.as_ref().or_else(|| options.metric.as_ref().filter(is_column));
        let value = asked(named.map_or("value", String::as_str), "--column")?;
        let condition = match &options.condition {
            Some(word) => Some(asked(word, "--condition")?),
            None => find("label").or_else(|| find("condition")),
        };
        let boot = match &options.boot {
            Some(BootColumn::Named(word)) => Some(asked(word, "--boot")?),
            Some(BootColumn::None) => None,
            None => find("boot"),
        };
        let metric = find("metric").filter(|column| *column != value);
        let is_used = |column: usize| [Some(value), condition, boot].contains(&Some(column));
        let outcome = |(column, name): (usize, &String)| {
            Some((column, SuccessColumn::from_column_name(name).filter(|_| !is_used(column))?))
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
    fn unused(&self) -> Vec<usize> {
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
