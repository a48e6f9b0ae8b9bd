//! A stored study as text that is safe to print: a database may come from anybody.

use std::borrow::Cow;
use std::sync::Arc;

use record::Detail;
use serde::Serialize;
use serde_json::{Map, Value};
use study::Plan;

use crate::metrics::Keys;
use crate::stored::{BootRow, StoredRun, StoredStudy, StudyRow};
use crate::texts;

impl StoredStudy {
    /// Sanitises every text ([`words::sanitised_line`], for reasons [`words::shortened_reason`]).
    /// The study file's text is kept: only its own diagnostics print it.
    #[must_use]
    pub fn sanitised(mut self) -> StoredStudy {
        sanitise_row(&mut self.row);
        sanitise_record(&mut self.plan, Plan::read);
        for BootRow { environment, environment_after, .. } in &mut self.boots {
            let read = |json: &str| serde_json::from_str(json);
            [environment].into_iter().chain(environment_after).for_each(|one| sanitise_record(one, read));
        }
        let mut checked: Option<Keys> = None;
        for StoredRun { reason, metrics, limited_by, detail, .. } in &mut self.runs {
            if let Some(reason) = reason {
                *reason = words::shortened_reason(reason);
            }
            // Most runs share their keys.
            if checked.as_ref().is_none_or(|checked| !Arc::ptr_eq(checked, metrics.list())) {
                if metrics.keys().any(|key| !words::is_plain(key)) {
                    *metrics =
                        std::mem::take(metrics).into_iter().map(|(key, value)| (owned(key), value)).collect();
                }
                checked = Some(Arc::clone(metrics.list()));
            }
            if let Some(limit) = limited_by {
                sanitise_record(limit, |json| serde_json::from_str(json));
            }
            sanitise_record(detail, Detail::read);
        }
        self
    }
}

/// Cleans a study's row; its file stays.
pub(crate) fn sanitise_row(row: &mut StudyRow) {
    [&mut row.name, &mut row.scenario, &mut row.version].into_iter().for_each(plain);
    row.tags.iter_mut().for_each(plain);
}

fn plain(words: &mut String) {
    if let Cow::Owned(plain) = words::sanitised_line(words) {
        *words = plain;
    }
}

fn owned(mut words: String) -> String {
    plain(&mut words);
    words
}

/// Cleans a record by way of its JSON, `read` back; one that needs no cleaning, as nearly all,
/// stays.
pub(crate) fn sanitise_record<T: Serialize>(record: &mut T, read: impl Fn(&str) -> serde_json::Result<T>) {
    if !texts::are_plain(record) {
        let json = serde_json::to_string(record).expect("it was read from JSON");
        let mut value = serde_json::from_str(&json).expect("it was just written");
        plain_value(&mut value);
        // Only free text changes: words, numbers and field names stay.
        *record = read(&value.to_string()).expect("clean text is text still");
    }
}

fn plain_value(value: &mut Value) {
    match value {
        Value::String(words) => plain(words),
        Value::Array(items) => items.iter_mut().for_each(plain_value),
        Value::Object(fields) => {
            fields.values_mut().for_each(plain_value);
            if fields.keys().any(|key| !words::is_plain(key)) {
                let old: Map<String, Value> = std::mem::take(fields);
                *fields = old.into_iter().map(|(key, value)| (owned(key), value)).collect();
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
