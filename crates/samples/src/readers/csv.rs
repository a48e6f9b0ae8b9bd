//! Columns with names (RFC 4180, with commas, semicolons or tabs): one row for each run and metric.
//!
//! By default the columns have the names of netassay's own export: `value`, `label` or `condition`,
//! `boot`, `metric`, `unit`. Rows whose `warmup` is 1, or that a column such as `status` or
//! `exit_code` calls failed, are left out. Other columns are named: runs that differ in them are
//! one set.

mod heading;
mod records;

use std::collections::BTreeSet;
use std::io::Read;

use heading::Heading;
use records::Records;

use super::{ReadValues, no_such_metric, plain_word};
use crate::error::{Fault, FilePosition, quoted};
use crate::left_out::LeftOut;
use crate::limits::LONGEST_NAME;
use crate::options::Options;
use crate::series::{Collector, SeriesKey};
use crate::token::measured;

/// The most metrics that messages list.
const METRICS: usize = 1000;

pub(crate) fn read(input: impl Read, options: &Options) -> Result<ReadValues, Fault> {
    let mut records = Records::new(input)?;
    let heading = Heading::read(&mut records, options)?;
    let wanted = options.metric.as_deref().filter(|metric| *metric != "all").map(plain_word);
    let mut metrics: BTreeSet<String> = BTreeSet::new();
    let mut left_out = LeftOut::default();
    let mut unused = Unused::new(&heading);
    let mut collector = Collector::default();
    while records.next()? {
        if let Some(reason) = reason_to_leave_out(&records, &heading) {
            left_out.add(&reason, records.field(0).1);
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
        unused.see(&records);
        let (word, place) = records.field(heading.value);
        let value = measured(word.trim_ascii(), place)?;
        let boot = match heading.boot {
            Some(column) => {
                let (boot, place) = records.field(column);
                if boot.is_empty() {
                    return Err(Fault::new(
                        place,
                        "no boot where the column names one",
                        "complete it, or give --boot none",
                    ));
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
        return Err(Fault::new(
            FilePosition::start_of(1),
            format!("{} metrics", metrics.len()),
            format!("choose with --metric: all, {}", metrics.join(", ")),
        ));
    }
    let mut found = ReadValues::new(collector, &left_out)?;
    found.notes.extend(unused.note(&heading));
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

/// Columns that nothing uses, each with some of its words.
struct Unused(Vec<(usize, Vec<Vec<u8>>)>);

impl Unused {
    /// The most columns, and the most words of each, that a note shows.
    const MOST: usize = 8;

    fn new(heading: &Heading) -> Unused {
        Unused(heading.unused().into_iter().take(Self::MOST).map(|column| (column, Vec::new())).collect())
    }

    fn see<R: Read>(&mut self, records: &Records<R>) {
        for (column, words) in &mut self.0 {
            let (word, _) = records.field(*column);
            if words.len() <= Self::MOST && !words.iter().any(|known| known == word) {
                words.push(word[..word.len().min(LONGEST_NAME)].to_vec());
            }
        }
    }

    fn note(&self, heading: &Heading) -> Option<String> {
        let named = |(column, words): &(usize, Vec<Vec<u8>>)| {
            let shown: Vec<String> = words.iter().take(3).map(|word| quoted(word)).collect();
            let more = if words.len() > shown.len() { ", …" } else { "" };
            format!("{} ({}{more})", heading.names[*column], shown.join(", "))
        };
        let all: Vec<String> = self.0.iter().map(named).collect();
        let more = heading.unused().len() - self.0.len();
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        (!all.is_empty()).then(|| {
            format!(
                "columns that are not used: {}{more}; runs that differ in them count as one set (--condition and --boot take columns)",
                all.join(", ")
            )
        })
    }
}
