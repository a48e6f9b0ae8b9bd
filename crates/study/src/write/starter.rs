//! The file that a new study begins with.

use crate::model::limit;

/// A commented study file of this name, valid as it stands. A name may consist of letters, digits,
/// `-`, `_` and `.`; other characters become `-`.
pub fn starter(name: &str) -> String {
    include_str!("starter.toml").replace("@name@", &usable(name))
}

fn usable(name: &str) -> String {
    let usable: String = name
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.') { c } else { '-' })
        .take(limit::NAME)
        .collect();
    let usable = usable.trim_start_matches(|c: char| !c.is_ascii_alphanumeric());
    if usable.is_empty() { "my-study".to_owned() } else { usable.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Study;
    use proptest::prelude::*;

    #[test]
    fn the_name_is_kept_where_it_can_be() {
        let study = Study::parse("a.toml", &starter("tso-2.b_c")).unwrap();
        assert_eq!(study.name(), "tso-2.b_c");
        assert_eq!(Study::parse("a.toml", &starter("-ä /")).unwrap().name(), "my-study");
    }

    /// Commented-out lines must be valid too: uncommented line by line, the file stays valid.
    #[test]
    fn every_suggestion_in_a_comment_is_valid() {
        let text = starter("x");
        let lines: Vec<&str> = text.lines().collect();
        let mut tried = 0;
        for (index, line) in lines.iter().enumerate() {
            // Suggestions are written `#key = …`, prose `# Words`.
            let Some(suggestion) =
                line.strip_prefix('#').filter(|rest| !rest.is_empty() && !rest.starts_with(' '))
            else {
                continue;
            };
            if suggestion.starts_with(':') {
                continue;
            }
            let mut changed = lines.clone();
            changed[index] = suggestion;
            // A suggested table brings the keys below it.
            let mut next = index + 1;
            while suggestion.starts_with('[') && next < lines.len() && lines[next].starts_with('#') {
                changed[next] = &lines[next][1..];
                next += 1;
            }
            if lines[..index]
                .iter()
                .rev()
                .take_while(|line| line.starts_with('#'))
                .any(|line| line.starts_with("#["))
            {
                continue;
            }
            tried += 1;
            Study::parse("a.toml", &changed.join("\n"))
                .unwrap_or_else(|error| panic!("{suggestion}\n{error}"));
        }
        assert!(tried >= 8, "only {tried} suggestions found");
    }

    proptest! {
        #[test]
        fn any_name_makes_a_valid_file(name in "\\PC{0,80}") {
            prop_assert!(Study::parse("a.toml", &starter(&name)).is_ok());
        }
    }
}
