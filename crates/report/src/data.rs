//! A study's measurements inside a page, and the names of files.

use std::io::Write as _;

use flate2::{Compression, GzBuilder};
use store::StoredStudy;

// The size, in bytes, from which on speed counts for more than size. The 13 MB of a study of 10,000
// runs take a sixth of the time so, and 5 % more room.
const LARGE: usize = 1 << 22;
// The operating system in the header of a gzip file (RFC 1952): unknown.
const UNKNOWN: u8 = 255;

/// Measurements as a compressed file in the page: [`store::export::packed`], for its script.
#[derive(Debug, Clone)]
pub struct Download {
    /// The name of the files that it becomes, without their endings.
    pub(crate) stem: String,
    pub(crate) number: i64,
    /// The number of its runs, warm-ups and those that do not count included.
    pub(crate) runs: usize,
    pub(crate) file: Vec<u8>,
}

impl Download {
    /// The measurements of a study, with every text as it is stored. The function that is returned
    /// compresses them: of a large study that takes long, and another thread can do it.
    pub fn from_stored(study: &StoredStudy) -> impl FnOnce() -> Self + Send + use<> {
        let packed = store::export::packed(study);
        let json = packed.to_string().into_bytes();
        let stem = file_stem([(study.row.name.as_str(), study.row.id.0)]);
        let (number, runs) = (study.row.id.0, study.runs.len());
        move || Self { stem, number, runs, file: gzip(&json) }
    }
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    // Without a name and a time (RFC 1952), so that the same study gives the same file.
    let level = if bytes.len() > LARGE { Compression::new(2) } else { Compression::best() };
    let mut file = GzBuilder::new().operating_system(UNKNOWN).write(Vec::new(), level);
    file.write_all(bytes).and_then(|()| file.finish()).expect("writing to memory cannot fail")
}

// The longest part of a study's name in the name of a file, in bytes.
const LONGEST: usize = 48;

/// The name of the file of a report, without its ending: `quick-3`, `tcp-offload-3-4`;
/// `studies-3-6` for studies of several names. Only letters, digits, `.`, `_` and `-`, and none of
/// the first three but letters and digits at its beginning, whatever the studies are called.
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
    use std::io::Read as _;

    use flate2::read::GzDecoder;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn very_many_bytes_are_packed_fast() {
        let bytes: Vec<u8> = (0..LARGE as u32 + 1).map(|place| (place / 7) as u8).collect();
        let mut unpacked = Vec::new();
        GzDecoder::new(&gzip(&bytes)[..]).read_to_end(&mut unpacked).unwrap();
        assert!(unpacked == bytes);
    }

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
