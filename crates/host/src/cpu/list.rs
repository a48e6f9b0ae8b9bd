//! Sets of CPUs in the kernel's notation.

use thiserror::Error;

/// A text that is not a list of CPUs.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{text:?} is not a list of CPUs such as \"0-3,5\": {why}")]
pub struct CpuListError {
    /// The text as given.
    pub text: String,
    /// What is wrong with it.
    pub why: &'static str,
}

/// The highest accepted number of a CPU: more than any kernel supports (`NR_CPUS` is at most 8192),
/// and small enough that a range in a hostile text does not fill the memory.
const HIGHEST: u32 = 65_535;

/// Reads a list such as `0-3,5`. The result is sorted without duplicates; an empty text is an empty
/// list.
pub fn parse_cpu_list(text: &str) -> Result<Vec<u32>, CpuListError> {
    let wrong = |why| CpuListError { text: text.to_owned(), why };
    let number = |part: &str| -> Result<u32, CpuListError> {
        let cpu = part.parse().map_err(|_| wrong("a CPU is a number"))?;
        if cpu > HIGHEST { Err(wrong("no machine has a CPU with this number")) } else { Ok(cpu) }
    };
    let mut cpus = Vec::new();
    for part in text.trim().split(',').map(str::trim).filter(|_| !text.trim().is_empty()) {
        match part.split_once('-') {
            None => cpus.push(number(part)?),
            Some((first, last)) => {
                let (first, last) = (number(first)?, number(last)?);
                if first > last {
                    return Err(wrong("a range goes from the lower to the higher"));
                }
                cpus.extend(first..=last);
            }
        }
    }
    cpus.sort_unstable();
    cpus.dedup();
    Ok(cpus)
}

/// Writes a list such as `0-3,5`, sorted without duplicates.
pub fn format_cpu_list(cpus: &[u32]) -> String {
    let mut sorted = cpus.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    let runs = sorted.chunk_by(|a, b| a + 1 == *b);
    let write = |run: &[u32]| match run {
        [first, .., last] => format!("{first}-{last}"),
        single => single.iter().map(u32::to_string).collect(),
    };
    runs.map(write).collect::<Vec<_>>().join(",")
}

/// Writes a mask for `rps_cpus`: hexadecimal words of 32 CPUs, the highest first, separated by
/// commas.
///
/// # Errors
/// The first CPU beyond [`HIGHEST`]: the size of a mask grows with its highest number, so a hostile
/// one would fill the memory.
pub(crate) fn format_cpu_mask(cpus: &[u32]) -> Result<String, u32> {
    let mut words = vec![0u32];
    for &cpu in cpus {
        let word = usize::try_from(cpu / 32).ok().filter(|_| cpu <= HIGHEST).ok_or(cpu)?;
        words.resize(words.len().max(word + 1), 0);
        words[word] |= 1 << (cpu % 32);
    }
    Ok(words.iter().rev().map(|word| format!("{word:08x}")).collect::<Vec<_>>().join(","))
}

/// Reads such a mask, of any width.
pub(crate) fn parse_cpu_mask(text: &str) -> Option<Vec<u32>> {
    let mut cpus = Vec::new();
    for (index, word) in (0u32..).zip(text.trim().rsplit(',')) {
        let bits = u32::from_str_radix(word, 16).ok()?;
        cpus.extend((0..32).filter(|bit| bits >> bit & 1 == 1).map(|bit| index * 32 + bit));
    }
    Some(cpus)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn lists_are_read_as_the_kernel_writes_them() {
        assert_eq!(parse_cpu_list("0-3,5\n"), Ok(vec![0, 1, 2, 3, 5]));
        assert_eq!(parse_cpu_list("7"), Ok(vec![7]));
        assert_eq!(parse_cpu_list(""), Ok(vec![]));
        assert_eq!(parse_cpu_list("5,0-1,1"), Ok(vec![0, 1, 5]));
    }

    #[test]
    fn what_is_no_list_is_refused_with_the_reason() {
        for (text, why) in [
            ("3-1", "lower to the higher"),
            ("a", "is a number"),
            ("1,,2", "is a number"),
            ("-1", "is a number"),
            ("0-4294967295", "with this number"),
        ] {
            let error = parse_cpu_list(text).unwrap_err().to_string();
            assert!(error.contains(why) && error.contains(text), "{error}");
        }
    }

    #[test]
    fn masks_have_words_of_32_bits_the_highest_first() {
        assert_eq!(format_cpu_mask(&[]).unwrap(), "00000000");
        assert_eq!(format_cpu_mask(&[0, 1]).unwrap(), "00000003");
        assert_eq!(format_cpu_mask(&[33, 0]).unwrap(), "00000002,00000001");
        assert_eq!(format_cpu_mask(&[0, u32::MAX]), Err(u32::MAX));
        assert_eq!(parse_cpu_mask("3"), Some(vec![0, 1]));
        assert_eq!(parse_cpu_mask("00000002,00000001\n"), Some(vec![0, 33]));
        assert_eq!(parse_cpu_mask("x"), None);
    }

    proptest! {
        #[test]
        fn a_list_survives_the_round_trip(cpus in prop::collection::btree_set(0u32..500, 0..60)) {
            let list: Vec<u32> = cpus.iter().copied().collect();
            prop_assert_eq!(parse_cpu_list(&format_cpu_list(&list)).unwrap(), list);
        }

        #[test]
        fn a_mask_survives_the_round_trip(cpus in prop::collection::btree_set(0u32..500, 0..60)) {
            let list: Vec<u32> = cpus.iter().copied().collect();
            let read: BTreeSet<u32> = parse_cpu_mask(&format_cpu_mask(&list).unwrap()).unwrap().into_iter().collect();
            prop_assert_eq!(read, cpus);
        }
    }
}
