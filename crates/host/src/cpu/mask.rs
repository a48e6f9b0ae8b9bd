//! Sets of CPUs as the masks of sysfs.

use words::HIGHEST_CPU;

/// Writes a mask for `rps_cpus`: hexadecimal words of 32 CPUs, the highest first, separated by
/// commas.
///
/// # Errors
/// The first CPU beyond [`HIGHEST_CPU`]: the size of a mask grows with its highest number, so a
/// hostile one would fill the memory.
pub(crate) fn format_cpu_mask(cpus: &[u32]) -> Result<String, u32> {
    let mut words = vec![0u32];
    for &cpu in cpus {
        let word = usize::try_from(cpu / 32).ok().filter(|_| cpu <= HIGHEST_CPU).ok_or(cpu)?;
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
        fn a_mask_survives_the_round_trip(cpus in prop::collection::btree_set(0u32..500, 0..60)) {
            let list: Vec<u32> = cpus.iter().copied().collect();
            let read: BTreeSet<u32> = parse_cpu_mask(&format_cpu_mask(&list).unwrap()).unwrap().into_iter().collect();
            prop_assert_eq!(read, cpus);
        }
    }
}
