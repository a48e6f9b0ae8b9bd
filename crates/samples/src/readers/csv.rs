//! Columns with names (RFC 4180, with commas, semicolons or tabs): one row for each run and metric.
//!
//! By default the columns have the names of netassay's own export: `value`, `label` or `condition`,
//! `boot`, `metric`, `unit`. Rows whose `warmup` is 1 or whose `status` is not `ok` are left out.

mod heading;
mod records;

use std::collections::BTreeSet;
use std::io::Read;

use heading::Heading;
use records::Records;

use super::{Found, no_such_metric, plain_word};
use crate::error::{Fault, Place};
use crate::options::Options;
use crate::series::{Collector, Key};
use crate::word::measured;

/// The most metrics that messages list.
const METRICS: usize = 1000;

pub(crate) fn read(input: impl Read, options: &Options) -> Result<Found, Fault> {
    let mut records = Records::new(input)?;
    let heading = Heading::of(&mut records, options)?;
    let wanted = options.metric.as_deref().filter(|metric| *metric != "all").map(plain_word);
    let mut metrics: BTreeSet<String> = BTreeSet::new();
    let mut left_out = LeftOut::default();
    let mut collector = Collector::default();
    while records.next()? {
        if left_out.takes(&records, &heading) {
            continue;
        }
        let mut key = Key::default();
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
            Place::start_of(1),
            format!("{} metrics", metrics.len()),
            format!("choose with --metric: all, {}", metrics.join(", ")),
        ));
    }
    Ok(Found::new(collector, left_out.notes()))
}

/// Rows that are left out.
#[derive(Default)]
struct LeftOut {
    warm_ups: u64,
    failed: u64,
    empty: u64,
}

impl LeftOut {
    fn takes<R: Read>(&mut self, records: &Records<R>, heading: &Heading) -> bool {
        let field = |column: Option<usize>| column.map(|column| records.field(column).0.trim_ascii());
        if field(heading.warmup).is_some_and(|word| word == b"1" || word.eq_ignore_ascii_case(b"true")) {
            self.warm_ups += 1;
        } else if field(heading.status).is_some_and(|word| word != b"ok") {
            self.failed += 1;
        } else if heading.metric.is_some_and(|column| records.field(column).0.is_empty())
            && records.field(heading.value).0.is_empty()
        {
            self.empty += 1;
        } else {
            return false;
        }
        true
    }

    fn notes(&self) -> Vec<String> {
        [
            (self.warm_ups, "of warm-up runs"),
            (self.failed, "of failed runs"),
            (self.empty, "without metric and value"),
        ]
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("left out: {count} rows {what}"))
        .collect()
    }
}
