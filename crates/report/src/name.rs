//! Names of files.

// The longest part of a study's name in the name of a file, in bytes.
const LONGEST: usize = 48;

/// The name of the file of a report, without its ending: `quick-3`, `tcp-offload-3-4`;
/// `studies-3-6` for studies of several names. Only letters, digits, `.`, `_` and `-`, and none of
/// the first three but letters and digits at its beginning, whatever the studies are called.
#[must_use]
pub fn file_stem<'a>(studies: impl IntoIterator<Item = (&'a str, i64)>) -> String {
    let studies: Vec<(&str, i64)> = studies.into_iter().collect();
    let first = studies.first().map_or("", |(name, _)| name);
    let name = if studies.iter().all(|(name, _)| *name == first) { first } else { "studies" };
    let is_safe = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '.' | '_' | '-');
    let safe: String =
        name.chars().map(|letter| if is_safe(letter) { letter } else { '_' }).take(LONGEST).collect();
    let safe = safe.trim_start_matches(|letter: char| !letter.is_ascii_alphanumeric());
    let safe = if safe.is_empty() { "study" } else { safe };
    studies.iter().fold(safe.to_owned(), |stem, (_, number)| format!("{stem}-{number}"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_name_says_which_studies() {
        assert_eq!(file_stem([("quick", 3)]), "quick-3");
        assert_eq!(file_stem([("offload-gain", 3), ("offload-gain", 4)]), "offload-gain-3-4");
        assert_eq!(file_stem([("quick", 3), ("other", 6)]), "studies-3-6");
        assert_eq!(file_stem([("../../etc/<script>", 1)]), "etc__script_-1");
        assert_eq!(file_stem([("", 1)]), "study-1");
    }

    proptest! {
        #[test]
        fn no_name_leaves_the_directory(name in any::<String>(), number in 0_i64..1000) {
            let stem = file_stem([(name.as_str(), number)]);
            prop_assert!(stem.starts_with(|first: char| first.is_ascii_alphanumeric()));
            prop_assert!(stem.len() < 80 && stem.chars().all(|letter| letter.is_ascii_alphanumeric() || "._-".contains(letter)), "{}", stem);
        }
    }
}
