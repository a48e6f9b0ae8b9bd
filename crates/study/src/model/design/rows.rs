//! The combinations of a design: for each a row of on (`true`) and off.

use crate::model::design::DesignKind;
use crate::model::design::fraction::{Fraction, factorial};

/// The combinations of a design over this many offloads; all on comes first.
/// A fraction takes all of them if they are at most `most`, and none if even its smallest has more.
pub(crate) fn rows(kind: DesignKind, offloads: usize, most: usize) -> Vec<Vec<bool>> {
    match kind {
        DesignKind::Ladder => {
            (0..=offloads).map(|step| (0..offloads).map(|one| one >= step).collect()).collect()
        }
        DesignKind::Factorial => factorial(offloads),
        DesignKind::Fractional if is_whole(offloads, most) => factorial(offloads),
        DesignKind::Fractional => {
            Fraction::within(offloads, most).map(|fraction| fraction.rows()).unwrap_or_default()
        }
    }
}

pub(crate) fn is_whole(offloads: usize, most: usize) -> bool {
    u32::try_from(offloads)
        .ok()
        .and_then(|offloads| 2_usize.checked_pow(offloads))
        .is_some_and(|all| all <= most)
}

/// The number of combinations of a design; `None` if it overflows.
pub(crate) fn count(kind: DesignKind, offloads: usize, most: usize) -> Option<usize> {
    match kind {
        DesignKind::Ladder => Some(offloads + 1),
        DesignKind::Factorial => 2_usize.checked_pow(u32::try_from(offloads).ok()?),
        DesignKind::Fractional if is_whole(offloads, most) => Some(1 << offloads),
        DesignKind::Fractional => {
            Some(Fraction::within(offloads, most).map_or(0, |fraction| fraction.runs()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use words::Word;

    fn shown(kind: DesignKind, offloads: usize, most: usize) -> Vec<String> {
        let row = |row: Vec<bool>| row.iter().map(|on| if *on { '1' } else { '0' }).collect();
        rows(kind, offloads, most).into_iter().map(row).collect()
    }

    #[test]
    fn each_kind_has_its_combinations() {
        assert_eq!(shown(DesignKind::Ladder, 3, 0), ["111", "011", "001", "000"]);
        assert_eq!(shown(DesignKind::Factorial, 2, 0), ["11", "10", "01", "00"]);
        assert_eq!(shown(DesignKind::Fractional, 2, 4), ["11", "10", "01", "00"]);
        assert_eq!(shown(DesignKind::Fractional, 4, 8)[..3], ["1111", "1100", "1010"]);
        assert!(shown(DesignKind::Fractional, 4, 7).is_empty());
    }

    #[test]
    fn no_combination_comes_twice_and_all_are_counted() {
        for &(_, kind) in DesignKind::WORDS {
            for offloads in 1..=8 {
                for most in [8, 16, 32, 1 << 8] {
                    let rows = rows(kind, offloads, most);
                    assert_eq!(count(kind, offloads, most), Some(rows.len()), "{kind} of {offloads}");
                    let mut distinct = rows.clone();
                    distinct.sort_unstable();
                    distinct.dedup();
                    assert_eq!(distinct.len(), rows.len(), "{kind} of {offloads}");
                }
            }
        }
        assert_eq!(count(DesignKind::Factorial, 64, 0), None);
    }
}
