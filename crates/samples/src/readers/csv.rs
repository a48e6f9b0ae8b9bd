//! Columns with names (RFC 4180, with commas, semicolons or tabs): one row for each run and metric.
//!
//! By default the columns are those of netassay's own export. Rows whose `warmup` is 1, `status` is
//! not `ok`, or `exit_code` is not 0 are left out. Runs that differ in other columns are one set.

mod records;

use std::collections::BTreeSet;
use std::io::Read;

use crate::error::{Fault, FilePosition, quoted};
use crate::lines::measured;
use crate::options::{Column, Options};
use crate::readers::csv::records::Records;
use crate::readers::{ReadValues, no_such_metric, plain_word};
use crate::series::{Collector, SeriesKey};

// The most metrics that messages list.
const METRICS: usize = 1000;

// The most unused columns that a note lists.
const UNUSED: usize = 8;

pub(crate) fn read(input: impl Read, options: &Options) -> Result<ReadValues, Fault> {
    let mut records = Records::new(input)?;
    let heading = Heading::read(&mut records, options)?;
    let wanted = options.metric.as_deref().filter(|metric| *metric != "all").map(plain_word);
    let mut metrics: BTreeSet<String> = BTreeSet::new();
    let mut collector = Collector::default();
    while records.next()? {
        if let Some(reason) = reason_to_leave_out(&records, &heading) {
            collector.leave_out(&reason, records.field(0).1);
            continue;
        }
        let mut key = SeriesKey::default();
        if let Some(metric) = &heading.metric {
            let word = records.text(*metric)?;
            if metrics.len() < METRICS {
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
        let (word, place) = records.field(heading.value);
        let value = measured(word.trim_ascii(), place)?;
        let boot = match heading.boot {
            Some(column) => {
                let (boot, place) = records.field(column);
                if boot.is_empty() {
                    let what = "no boot where the column names one";
                    return Err(Fault::new(place, what, "complete it, or give --boot none"));
                }
                Some(boot)
            }
            None => None,
        };
        collector.push(&key, boot, value, place)?;
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
    let unused = heading.unused();
    if !unused.is_empty() {
        let more = unused.len().saturating_sub(UNUSED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        found.notes.push(format!(
            "columns that are not used: {}{more}; runs that differ in them count as one set (--condition and --boot take columns)",
            unused[..unused.len().min(UNUSED)].join(", ")
        ));
    }
    Ok(found)
}

fn reason_to_leave_out<R: Read>(records: &Records<R>, heading: &Heading) -> Option<String> {
    let field = |column: usize| records.field(column).0.trim_ascii();
    if heading.warmup.is_some_and(|column| field(column) == b"1") {
        return Some("rows of warm-up runs".to_owned());
    }
    let successes = [(heading.status, &b"ok"[..]), (heading.exit_code, b"0")];
    for (column, success) in successes.into_iter().filter_map(|(column, word)| Some((column?, word))) {
        if !field(column).eq_ignore_ascii_case(success) {
            return Some(format!(
                "rows of failed runs ({} {})",
                heading.names[column],
                quoted(field(column))
            ));
        }
    }
    let is_empty = heading.metric.is_some_and(|column| records.field(column).0.is_empty())
        && records.field(heading.value).0.is_empty();
    is_empty.then(|| "rows without metric and value".to_owned())
}

#[derive(Debug)]
struct Heading {
    value: usize,
    /// The name of the value's column, `None` unless it names the metric.
    value_name: Option<String>,
    condition: Option<usize>,
    boot: Option<usize>,
    metric: Option<usize>,
    unit: Option<usize>,
    warmup: Option<usize>,
    status: Option<usize>,
    exit_code: Option<usize>,
    names: Vec<String>,
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
        let unused =
            |word: &str| find(word).filter(|column| ![Some(value), condition, boot].contains(&Some(*column)));
        Ok(Heading {
            value,
            value_name: named.map(|_| names[value].clone()),
            condition,
            boot,
            metric,
            unit: find("unit"),
            warmup: find("warmup"),
            status: unused("status"),
            exit_code: unused("exit_code"),
            names,
        })
    }

    fn unused(&self) -> Vec<&str> {
        let used = [
            Some(self.value),
            self.condition,
            self.boot,
            self.metric,
            self.unit,
            self.warmup,
            self.status,
            self.exit_code,
        ];
        let is_export = PLACES.iter().all(|place| self.names.iter().any(|name| name == place));
        let is_unused = |(column, name): &(usize, &str)| {
            let says_place = PLACES.contains(name) || ["reason", "condition"].contains(name);
            !(used.contains(&Some(*column)) || is_export && says_place)
        };
        let names = self.names.iter().map(String::as_str);
        names.enumerate().filter(is_unused).map(|(_, name)| name).collect()
    }
}
