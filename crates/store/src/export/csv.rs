//! Comma-separated values (RFC 4180, but lines end in a bare newline): one row per run and metric.

use std::fmt::Write;

use super::number;
use crate::stored::StoredStudy;

const HEADER: &str = "study,name,boot,part,block,repeat,position,warmup,condition,label,started_unix_ms,status,reason,metric,unit,value\n";

/// Every run of a study, warm-ups, failed and disturbed ones included, in the long format: one row
/// per run and metric, and one row with empty metric, unit and value for a run that gave none.
pub fn csv(study: &StoredStudy, unit: impl Fn(&str) -> Option<&'static str>) -> String {
    let mut out = String::from(HEADER);
    for run in &study.runs {
        let head = format!(
            "{},{},{},{},{},{},{},{},{},{},{},{},{}",
            study.row.id,
            field(&study.row.name),
            run.boot,
            run.part,
            run.block,
            run.repeat,
            run.position,
            u8::from(run.warmup),
            run.condition,
            field(&study.label(run.condition)),
            run.started_unix_ms,
            run.status,
            field(&text::reason(run.reason.as_deref().unwrap_or_default())),
        );
        if run.metrics.is_empty() {
            writeln!(out, "{head},,,").expect("writing to a string cannot fail");
        }
        for (metric, value) in &run.metrics {
            let unit = unit(metric).unwrap_or_default();
            writeln!(out, "{head},{},{},{}", field(metric), field(unit), number(*value))
                .expect("writing to a string cannot fail");
        }
    }
    out
}

/// A field that holds text: on one line, without control characters, behind an apostrophe where a
/// spreadsheet would take it for a formula (OWASP, "CSV Injection"), quoted where it must be.
pub(super) fn field(text: &str) -> String {
    let mut text = text::line(text).into_owned();
    // Some spreadsheets look behind blanks.
    if text.starts_with('\t') || text.trim_start().starts_with(['=', '+', '-', '@']) {
        text.insert(0, '\'');
    }
    if text.contains([',', '"']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_quoted_only_where_they_must_be() {
        assert_eq!(field("ipv6 offloads=none"), "ipv6 offloads=none");
        assert_eq!(field("a,b"), "\"a,b\"");
        assert_eq!(field("say \"no\""), "\"say \"\"no\"\"\"");
        assert_eq!(field("two\nlines"), "two lines");
        assert_eq!(field(""), "");
    }

    #[test]
    fn no_field_is_a_formula_or_commands_a_terminal() {
        for (text, cell) in [
            ("=1+1", "'=1+1"),
            ("+1", "'+1"),
            ("-1", "'-1"),
            ("@SUM(A1)", "'@SUM(A1)"),
            ("\t=1", "'\t=1"),
            ("\r=1", "' =1"),
            ("a\n=1", "a =1"),
            ("=HYPERLINK(\"x\",\"y\")", "\"'=HYPERLINK(\"\"x\"\",\"\"y\"\")\""),
            ("a=b", "a=b"),
            ("\u{1b}[2J\u{202e}", "\\u{1b}[2J\\u{202e}"),
        ] {
            assert_eq!(field(text), cell);
        }
    }
}
