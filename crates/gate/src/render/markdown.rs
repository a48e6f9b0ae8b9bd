//! Markdown, for a pull request or a summary of a job.

use std::fmt;

use words::sanitised_line;

use crate::check::Check;
use crate::gate::Gate;
use crate::render::text::{cells, is_told, outcome};
use crate::sentence;

/// Text of others as code, in which nothing is markup: no link, no mention, no HTML. Usable in
/// tables of GitHub and GitLab, where a bar ends a cell even inside code.
struct Code<'a>(&'a str);

impl fmt::Display for Code<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let harmless = sanitised_line(self.0).replace('|', "\\|");
        let longest = harmless.split(|letter| letter != '`').map(str::len).max().unwrap_or(0);
        let fence = "`".repeat(longest + 1);
        // A blank at each end is no part of code that has one at both.
        let pad = if harmless.is_empty() || harmless.starts_with(['`', ' ']) || harmless.ends_with(['`', ' '])
        {
            " "
        } else {
            ""
        };
        write!(f, "{fence}{pad}{harmless}{pad}{fence}")
    }
}

/// Text of others in a sentence: every character that may be markup is escaped.
struct Prose<'a>(&'a str);

impl fmt::Display for Prose<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use fmt::Write as _;
        for letter in sanitised_line(self.0).chars() {
            match letter {
                '&' | '<' | '>' | '@' | '#' => write!(f, "&#{};", u32::from(letter))?,
                '\\' | '`' | '*' | '_' | '{' | '}' | '[' | ']' | '(' | ')' | '!' | '|' | '~' | '$' => {
                    f.write_char('\\')?;
                    f.write_char(letter)?;
                }
                other => f.write_char(other)?,
            }
        }
        Ok(())
    }
}

impl Gate {
    /// What the gate came to as GitHub flavoured Markdown.
    #[must_use]
    pub fn markdown(&self) -> String {
        let mut text = format!("## Gate: {}\n\n", self.outcome.as_str());
        text.push_str(&format!("{}. {}.\n", Prose(&sentence::subject(self)), Prose(&sentence::counts(self))));
        for bound in self.bounds() {
            let own = self.checks.iter().filter(|check| check.bound == bound);
            text.push_str(&format!("\nFails if {}\n\n", Code(&bound.to_string())));
            text.push_str("| condition | difference | interval | boots | outcome |\n|---|--:|--:|--:|---|\n");
            text.extend(own.map(row));
        }
        let mut told: Vec<&Check> = self.checks.iter().filter(|check| is_told(check)).collect();
        told.sort_by_key(|check| check.outcome);
        let told: Vec<String> = told
            .into_iter()
            .map(|check| {
                let (condition, key) = (Code(&check.condition), Code(check.bound.metric.key));
                let said = sentence::of_check(check);
                format!("**{}**: {condition}, {key}: {}", check.outcome.as_str(), Prose(&said))
            })
            .collect();
        let others = [
            ("incomplete", sentence::of_lacks(self)),
            ("unused", self.unused.iter().map(sentence::of_unused).collect()),
            ("note", sentence::of_differences(self).into_iter().chain(self.notes.iter().cloned()).collect()),
            ("method", self.method.clone()),
        ];
        let others = others
            .into_iter()
            .flat_map(|(head, all)| all.into_iter().map(move |one| format!("{head}: {}", Prose(&one))));
        text.push('\n');
        text.extend(told.into_iter().chain(others).map(|one| format!("- {one}.\n")));
        text
    }
}

fn row(check: &Check) -> String {
    let [difference, interval, boots] = cells(check);
    format!("| {} | {difference} | {interval} | {boots} | {} |\n", Code(&check.condition), outcome(check))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_are_code_and_end_no_cell() {
        for (name, code) in [
            ("ipv4", "`ipv4`"),
            ("a|b", "`a\\|b`"),
            ("a`b", "``a`b``"),
            ("`", "`` ` ``"),
            ("", "`  `"),
            ("@team <b>", "`@team <b>`"),
            ("a\nb", "`a b`"),
        ] {
            assert_eq!(Code(name).to_string(), code);
        }
        assert_eq!(
            Prose("see <x> @you #3 a_b | [x](y)").to_string(),
            "see &#60;x&#62; &#64;you &#35;3 a\\_b \\| \\[x\\]\\(y\\)"
        );
    }

    proptest! {
        #[test]
        fn no_text_leaves_its_place(text in "(\\PC|[\n`|\\\\<>@]){0,40}") {
            let code = Code(&text).to_string();
            prop_assert!(!code.contains('\n'));
            let fence = code.len() - code.trim_start_matches('`').len();
            let inner = &code[fence..code.len() - fence];
            let runs = inner.split(|letter| letter != '`').map(str::len);
            prop_assert!(runs.clone().all(|run| run != fence), "{code}");
            prop_assert!(code.char_indices().all(|(at, letter)| letter != '|' || code[..at].ends_with('\\')));
            let prose = Prose(&text).to_string();
            prop_assert!(!prose.contains(['\n', '<', '>', '@']));
        }
    }
}
