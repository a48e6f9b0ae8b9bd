//! A stored study as text that is safe to print: a database may come from anybody.

use std::borrow::Cow;

use record::Detail;
use serde::Serialize;
use serde_json::{Map, Value};
use study::Plan;

use crate::read::Outline;
use crate::records::{BootRow, StoredRun, StoredStudy, StudyRow};

impl StoredStudy {
    /// Sanitises every text ([`words::sanitised_line`], for reasons [`words::shortened_reason`]).
    /// The study file's text is kept: only its own diagnostics print it.
    pub fn sanitised(mut self) -> StoredStudy {
        sanitise_row(&mut self.row);
        for reason in self.runs.iter_mut().filter_map(|run| run.reason.as_mut()) {
            *reason = words::shortened_reason(reason);
        }
        self.unknown_metrics = self.unknown_metrics.iter().map(|key| plain(key)).collect();
        if self.documents_are_plain {
            return self;
        }
        sanitise_record(&mut self.plan, Plan::read);
        for BootRow { environment, environment_after, .. } in &mut self.boots {
            let both = [environment].into_iter().chain(environment_after);
            both.for_each(|one| sanitise_record(one, |json| serde_json::from_str(json)));
        }
        for StoredRun { limited_by, detail, .. } in &mut self.runs {
            limited_by.iter_mut().for_each(|one| sanitise_record(one, |json| serde_json::from_str(json)));
            sanitise_record(detail, Detail::read);
        }
        self
    }
}

impl Outline {
    /// The outline sanitised as by [`StoredStudy::sanitised`].
    pub fn sanitised(mut self) -> Outline {
        sanitise_row(&mut self.row);
        if !self.documents_are_plain {
            sanitise_record(&mut self.plan, Plan::read);
            let environments = self.environments.iter_mut();
            environments.for_each(|one| sanitise_record(one, |json| serde_json::from_str(json)));
        }
        self
    }
}

/// Whether every text in a JSON document is as [`words::sanitised_line`] leaves it.
pub(crate) fn has_plain_texts(json: &str) -> bool {
    let mut rest = json;
    while let Some((_, escape)) = rest.split_once('\\') {
        // An escape of another character may hide one to replace.
        if !escape.starts_with(['"', '\\', '/', 't']) {
            return false;
        }
        rest = &escape[1..];
    }
    words::is_plain(json)
}

fn sanitise_row(row: &mut StudyRow) {
    let texts = [&mut row.name, &mut row.scenario, &mut row.version];
    texts.into_iter().chain(&mut row.tags).for_each(|text| *text = plain(text));
    row.pair.iter_mut().for_each(|pair| sanitise_record(pair, |json| serde_json::from_str(json)));
}

fn plain(text: &str) -> String {
    words::sanitised_line(text).into_owned()
}

fn sanitise_record<T: Serialize>(record: &mut T, read: impl Fn(&str) -> serde_json::Result<T>) {
    let json = serde_json::to_string(record).expect("it was read from JSON");
    if !has_plain_texts(&json) {
        let mut value = serde_json::from_str(&json).expect("it was just written");
        sanitise_value(&mut value);
        // Only free text changes: words, numbers and field names stay.
        *record = read(&value.to_string()).expect("clean text is text still");
    }
}

fn sanitise_value(value: &mut Value) {
    match value {
        Value::String(text) => {
            if let Cow::Owned(plain) = words::sanitised_line(text) {
                *text = plain;
            }
        }
        Value::Array(items) => items.iter_mut().for_each(sanitise_value),
        Value::Object(fields) => {
            fields.values_mut().for_each(sanitise_value);
            let old: Map<String, Value> = std::mem::take(fields);
            *fields = old.into_iter().map(|(key, value)| (plain(&key), value)).collect();
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    proptest! {
        #[test]
        fn a_document_is_plain_if_all_its_texts_are(
            texts in proptest::collection::vec("\\PC{0,3}|[\\x00-\\x1fa\"/\\\\]{0,2}", 0..4)
        ) {
            let mut value = json!({"list": texts, "number": -1.5, texts.concat(): {"inner": [null]}});
            let is_plain = texts.iter().all(|text| words::sanitised_line(text) == *text);
            prop_assert_eq!(has_plain_texts(&value.to_string()), is_plain);
            sanitise_value(&mut value);
            prop_assert!(has_plain_texts(&value.to_string()));
        }
    }
}
