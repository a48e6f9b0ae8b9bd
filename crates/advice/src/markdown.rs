//! Advice for a pull request or a mailing list.

use std::fmt::{self, Write as _};

use crate::advice::Advice;
use crate::found::{StudyAdvice, Under};
use crate::judge::Standing;
use crate::phrase;
use crate::summary::Summary;
use crate::text::{NOTHING, head, reasons, ties};

/// A text of others in Markdown: nothing in it is markup.
struct Plain<'t>(&'t str);

impl fmt::Display for Plain<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = text::line(self.0);
        let mut before = ' ';
        let mut letters = text.chars().peekable();
        while let Some(letter) = letters.next() {
            let inside_word =
                before.is_alphanumeric() && letters.peek().is_some_and(|next| next.is_alphanumeric());
            match letter {
                // Character references, and what GitHub makes a link, a mention or an issue.
                '<' => out.write_str("&lt;")?,
                '>' => out.write_str("&gt;")?,
                '&' => out.write_str("&amp;")?,
                '@' => out.write_str("&#64;")?,
                '#' => out.write_str("&#35;")?,
                '_' if inside_word => out.write_char(letter)?,
                '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '~' | '$' | '!' => write!(out, "\\{letter}")?,
                _ => out.write_char(letter)?,
            }
            before = letter;
        }
        Ok(())
    }
}

/// A text of others in an HTML element, where Markdown's escapes do not act.
struct Html<'t>(&'t str);

impl fmt::Display for Html<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for letter in text::line(self.0).chars() {
            match letter {
                '<' => out.write_str("&lt;")?,
                '>' => out.write_str("&gt;")?,
                '&' => out.write_str("&amp;")?,
                '@' => out.write_str("&#64;")?,
                '#' => out.write_str("&#35;")?,
                '[' => out.write_str("&#91;")?,
                _ => out.write_char(letter)?,
            }
        }
        Ok(())
    }
}

/// A text of others as code: the fence is longer than any run of backticks in it.
struct Code<'t>(&'t str);

impl fmt::Display for Code<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = text::line(self.0);
        let runs = text.split(|letter| letter != '`').map(str::len);
        let fence = "`".repeat(runs.max().unwrap_or(0) + 1);
        let pad = if text.contains('`') { " " } else { "" };
        write!(out, "{fence}{pad}{text}{pad}{fence}")
    }
}

impl Advice {
    /// All of it in Markdown.
    #[must_use]
    pub fn markdown(&self) -> String {
        let mut text = String::from("## Advice\n");
        for study in &self.studies {
            let line = format!("Study {} ({}): {}", study.study, study.name, study.question);
            text.push_str(&format!("\n{}\n", Plain(&line)));
            text.push_str(&format!("\n{}.\n", Plain(&phrase::judged(study))));
            text.extend(study.truth.map(|truth| format!("\n{}.\n", Plain(truth))));
        }
        if !self.has_switches() {
            text.push_str(&format!("\n{}\n", Plain(NOTHING.trim())));
        }
        text.extend(self.summaries.iter().map(summary));
        for study in &self.studies {
            text.extend(study.under.iter().map(|under| self.under_markdown(study, under)));
            text.push_str(&notes(study));
        }
        text
    }

    fn under_markdown(&self, study: &StudyAdvice, under: &Under) -> String {
        let mut text = format!(
            "\n<details><summary>Study {}: {}</summary>\n\nHolds for: {}; {}.\n",
            study.study,
            Html(&phrase::under(under)),
            Plain(&phrase::held(under)),
            report::counted(under.boots as usize, "boot")
        );
        for (goal, all) in &under.recommendations {
            text.push_str(&format!("\nFor {goal}:\n\n"));
            for one in all {
                let Some(head) = head(one) else { continue };
                text.push_str(&format!("- {}\n", Plain(&head)));
                let open = one.standing.is_proven() || one.standing == Standing::Depends;
                for change in one.others_on.iter().filter(|_| open) {
                    let line = format!("with all others on: {}", phrase::expected(change));
                    text.push_str(&format!("  - {}\n", Plain(&line)));
                }
                if let Some(elsewhere) = phrase::elsewhere(one).filter(|_| open) {
                    text.push_str(&format!("  - elsewhere: {}\n", Plain(&elsewhere)));
                }
                for (what, command) in phrase::commands(one) {
                    text.push_str(&format!("  - {what}: {}\n", Code(&command)));
                }
                if let Some(more) = phrase::more(one, study) {
                    text.push_str(&format!("  - to settle it: {}\n", Plain(&more)));
                }
            }
            for reason in reasons(all) {
                text.push_str(&format!("- {}\n", Plain(&reason)));
            }
            let ties = ties(all);
            if !ties.is_empty() {
                let line =
                    format!("no difference of {} % or more: {}", self.matters.value(), report::listed(&ties));
                text.push_str(&format!("- {}\n", Plain(&line)));
            }
        }
        for flag in &under.flags {
            text.push_str(&format!("\nFlag: {}.\n", Plain(flag)));
        }
        text + "\n</details>\n"
    }
}

fn summary(summary: &Summary) -> String {
    let mut text = format!("\n### Recommendations, {}\n\n", summary.title());
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    text.push_str(&line(&Summary::HEAD.map(str::to_owned)));
    text.push_str(&line(&Summary::HEAD.map(|_| "---".to_owned())));
    for row in &summary.rows {
        text.push_str(&line(&row.cells().map(|cell| Plain(&cell).to_string())));
    }
    text.extend(summary.base().map(|base| format!("\n({})\n", Plain(&base))));
    text
}

fn notes(study: &StudyAdvice) -> String {
    let mut text = String::new();
    for gone in &study.absent {
        text.push_str(&format!("\nNot switched: {}: {}.\n", Plain(&gone.label), Plain(&gone.why)));
    }
    if !study.others.is_empty() {
        let line = format!("No switch of a host, so no advice: {}", report::listed(&study.others));
        text.push_str(&format!("\n{}.\n", Plain(&line)));
    }
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn nothing_in_a_name_is_markup() {
        let plain = |text: &str| Plain(text).to_string();
        assert_eq!(plain("tcp_stream *a* | b"), "tcp_stream \\*a\\* \\| b");
        assert_eq!(plain("<script>@me #1 &"), "&lt;script&gt;&#64;me &#35;1 &amp;");
        assert_eq!(plain("[x](y)!"), "\\[x\\](y)\\!");
        assert_eq!(plain("_a_ a_b"), "\\_a\\_ a_b");
        assert_eq!(Code("a`b``c").to_string(), "``` a`b``c ```");
    }

    proptest! {
        #[test]
        fn a_name_stays_in_its_cell(name in "\\PC{0,40}") {
            let shown = Plain(&name).to_string();
            prop_assert!(!shown.contains(['\n', '<', '>']));
            let bytes: Vec<char> = shown.chars().collect();
            for (place, _) in bytes.iter().enumerate().filter(|(_, letter)| **letter == '|') {
                let slashes = bytes[..place].iter().rev().take_while(|letter| **letter == '\\').count();
                prop_assert!(slashes % 2 == 1, "{shown}");
            }
        }
    }
}
