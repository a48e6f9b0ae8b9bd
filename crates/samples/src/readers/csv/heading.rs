//! The first record: the names of the columns.

use std::io::Read;

use super::records::Records;
use crate::error::{Fault, Place};
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
    pub(super) status: Option<usize>,
}

impl Heading {
    pub(super) fn of<R: Read>(records: &mut Records<R>, options: &Options) -> Result<Heading, Fault> {
        if !records.next()? {
            return Err(Fault::new(Place::start_of(1), "no first line with the names of columns", "add one"));
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
        let value = asked(named.map_or("value", String::as_str), "--value")?;
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
        Ok(Heading {
            value,
            value_name: named.map(|_| names[value].clone()),
            condition,
            boot,
            metric,
            unit: find("unit"),
            warmup: find("warmup"),
            status: find("status"),
        })
    }
}
