//! Cells of CSV files. A spreadsheet may run a cell that looks like a formula.

use crate::sanitised::sanitised_line;

/// A text as a CSV cell: one sanitised line, behind an apostrophe where a spreadsheet would run it
/// as a formula (OWASP, "CSV Injection"), quoted where CSV needs it.
#[must_use]
pub fn csv_field(text: &str) -> String {
    let mut text = sanitised_line(text).into_owned();
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
        assert_eq!(csv_field("ipv6 offloads=none"), "ipv6 offloads=none");
        assert_eq!(csv_field("a,b"), "\"a,b\"");
        assert_eq!(csv_field("say \"no\""), "\"say \"\"no\"\"\"");
        assert_eq!(csv_field("two\nlines"), "two lines");
        assert_eq!(csv_field(""), "");
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
            assert_eq!(csv_field(text), cell);
        }
    }
}
