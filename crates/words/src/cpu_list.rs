//! Lists of CPUs in the kernel's notation.

/// The highest accepted number of a CPU: more than any kernel supports (`NR_CPUS` is at most 8192),
/// and small enough that a range in a hostile text does not fill the memory.
pub const HIGHEST_CPU: u32 = 65_535;

/// Reads a list such as `0-3,5`, sorted, without duplicates; an empty text is an empty list.
///
/// # Errors
/// Why the text is not a list of CPUs.
pub fn parse_cpu_list(text: &str) -> Result<Vec<u32>, &'static str> {
    let number = |part: &str| -> Result<u32, &'static str> {
        let cpu = part.parse().map_err(|_| "a CPU is a number")?;
        if cpu > HIGHEST_CPU { Err("no machine has a CPU with this number") } else { Ok(cpu) }
    };
    let mut cpus = Vec::new();
    for part in text.trim().split(',').map(str::trim).filter(|_| !text.trim().is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last) = (number(first)?, number(last)?);
        if first > last {
            return Err("a range goes from the lower to the higher");
        }
        cpus.extend(first..=last);
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

#[cfg(test)]
mod tests {
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
            let error = parse_cpu_list(text).unwrap_err();
            assert!(error.contains(why), "{text}: {error}");
        }
    }

    proptest! {
        #[test]
        fn a_list_survives_the_round_trip(cpus in prop::collection::btree_set(0u32..500, 0..60)) {
            let list: Vec<u32> = cpus.iter().copied().collect();
            prop_assert_eq!(parse_cpu_list(&format_cpu_list(&list)).unwrap(), list);
        }
    }
}
