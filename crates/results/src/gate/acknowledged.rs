//! Regressions that people know of and accept for a time: the file of acknowledgements.

use std::ops::Range;

use serde::{Deserialize, Serialize, Serializer};
use toml::Spanned;
use toml::value::{Date, Datetime};
use words::FileError;

use crate::gate::bound::Bound;
use crate::words::number::instant;
use crate::{GateCase, resolve_metric};

/// The largest size of a file of acknowledgements, in bytes.
pub const MOST_BYTES: usize = 1 << 20;

/// One regression that people know of: a condition may differ up to another bound until a day.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Acknowledgement {
    /// The condition: its label or its short name.
    pub condition: String,
    /// The bound that replaces the gate's.
    pub bound: Bound,
    /// The reason why the regression is accepted.
    pub reason: String,
    /// The last day on which it counts (UTC).
    #[serde(serialize_with = "as_text")]
    pub expires: Date,
    /// Its line in the file, from 1.
    pub line: usize,
    /// The reason why it has no effect, as the end of a sentence; `None` if it has one.
    #[serde(rename = "why", skip_serializing_if = "Option::is_none")]
    pub unused: Option<String>,
}

impl Acknowledgement {
    pub(crate) fn is_of(&self, case: &GateCase) -> bool {
        self.condition == case.label || self.condition == case.slug
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AcknowledgedFile {
    #[serde(default)]
    acknowledged: Vec<Spanned<WrittenEntry>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenEntry {
    condition: Spanned<String>,
    metric: Spanned<String>,
    bound: Spanned<String>,
    reason: Spanned<String>,
    expires: Spanned<Datetime>,
}

type FileProblem = (Range<usize>, String);

/// The day of an instant in milliseconds since 1970 (UTC).
pub fn day_of_instant(unix_ms: i64) -> Date {
    let day = instant(unix_ms)[..10].parse::<Datetime>().ok().and_then(|day| day.date);
    day.expect("an instant begins with its day")
}

/// Reads acknowledgements. `file` is only shown, never opened; the gate judges on the day `today`.
///
/// # Errors
/// [`FileError`], with line and column, also for expired entries and two for the same.
pub fn acknowledgements(file: &str, text: &str, today: Date) -> Result<Vec<Acknowledgement>, FileError> {
    let wrong = |(place, problem): FileProblem| FileError::new(file, text, place.start, problem);
    let read: AcknowledgedFile = toml::from_str(text)
        .map_err(|error| wrong((error.span().unwrap_or(0..0), error.message().to_owned())))?;
    let mut entries: Vec<Acknowledgement> = Vec::new();
    for entry in read.acknowledged {
        let place = entry.span();
        let line = text[..place.start].matches('\n').count() + 1;
        let entry = entry.into_inner().read(line, today).map_err(wrong)?;
        let is_same =
            |own: &&Acknowledgement| own.condition == entry.condition && own.bound.is_of_same(&entry.bound);
        if let Some(own) = entries.iter().find(is_same) {
            let problem = format!(
                "{:?} has a bound of {} already, in line {}: keep one of them",
                entry.condition, entry.bound.metric, own.line
            );
            return Err(wrong((place, problem)));
        }
        entries.push(entry);
    }
    Ok(entries)
}

impl WrittenEntry {
    fn read(self, line: usize, today: Date) -> Result<Acknowledgement, FileProblem> {
        let metric = resolve_metric(self.metric.get_ref());
        let metric = metric.map_err(|unknown| (self.metric.span(), unknown.to_string()))?;
        let bound = Bound::of_metric(metric, self.bound.get_ref());
        let bound = bound.map_err(|error| (self.bound.span(), error.to_string()))?;
        let filled = |text: &Spanned<String>, what: &str| match text.get_ref().trim() {
            "" => Err((text.span(), format!("the {what} is empty: say {what} in a few words"))),
            text => Ok(text.to_owned()),
        };
        let (condition, reason) = (filled(&self.condition, "condition")?, filled(&self.reason, "reason")?);
        let expires = match self.expires.get_ref() {
            Datetime { date: Some(date), time: None, offset: None } => *date,
            other => {
                let problem = format!("{other} is no day: write it as 2027-03-01, without quotes");
                return Err((self.expires.span(), problem));
            }
        };
        if expires < today {
            let problem = format!(
                "the acknowledgement of {bound} for {condition:?} expired on {expires}: remove the entry, or look at the regression again and give a later day"
            );
            return Err((self.expires.span(), problem));
        }
        Ok(Acknowledgement { condition, bound, reason, expires, line, unused: None })
    }
}

fn as_text<S: Serializer>(date: &Date, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(date)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const TODAY: Date = Date { year: 2026, month: 11, day: 23 };

    const GOOD: &str = r#"# Known since the update.
[[acknowledged]]
condition = "ipv4 offloads=none"
metric = "throughput"
bound = "< -5%"
reason = "the mitigations of 6.19"
expires = 2026-11-23
"#;

    fn read(text: &str) -> Result<Vec<Acknowledgement>, String> {
        acknowledgements("known.toml", text, TODAY).map_err(|error| error.to_string())
    }

    #[test]
    fn an_entry_names_what_is_accepted_why_and_until_when() {
        let entries = read(GOOD).unwrap();
        let [one] = entries.as_slice() else { panic!("{entries:?}") };
        assert_eq!((one.bound.to_string().as_str(), one.line), ("throughput < -5%", 2));
        assert_eq!(serde_json::to_value(one).unwrap()["expires"], "2026-11-23");
        assert_eq!(read("").unwrap(), []);
    }

    #[test]
    fn what_is_wrong_is_told_with_line_column_and_remedy() {
        let with = |from: &str, to: &str| GOOD.replace(from, to);
        for (text, place, words) in [
            (with("reason", "raeson"), "6:1", "unknown field `raeson`"),
            (with("[[acknowledged]]", "[[acknowledge]]"), "2:3", "unknown field `acknowledge`"),
            (with("reason = \"the mitigations of 6.19\"\n", ""), "2:1", "missing field `reason`"),
            (with("\"the mitigations of 6.19\"", "\" \""), "6:10", "the reason is empty"),
            (with("2026-11-23", "2026-11-22"), "7:11", "expired on 2026-11-22"),
            (with("2026-11-23", "\"2026-11-23\""), "7:11", "invalid type"),
            (with("2026-11-23", "2026-11-23T10:00:00Z"), "7:11", "is no day"),
            (with("\"throughput\"", "\"troughput\""), "4:10", "did you mean throughput?"),
            (with("< -5%", "< -5"), "5:9", "has no unit"),
            (format!("{GOOD}{GOOD}"), "9:1", "already, in line 2"),
            ("\"é\" x".to_owned(), "1:5", ""),
        ] {
            let said = read(&text).unwrap_err();
            assert!(said.starts_with(&format!("known.toml:{place}: ")) && said.contains(words), "{said}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "(\\PC|\n){0,200}", at in 0_usize..200, cut in 0_usize..30) {
            let _ = read(&text);
            let (at, end) = (GOOD.floor_char_boundary(at), GOOD.floor_char_boundary(at + cut));
            let _ = read(&format!("{}{text}{}", &GOOD[..at], &GOOD[end.max(at)..]));
        }
    }
}
