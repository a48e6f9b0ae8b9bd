//! All combinations of levels.

use std::collections::BTreeSet;

use words::metric::Metric;
use words::{Percent, grouped};

use crate::model::{DesignKind, Factor};

pub(crate) type LevelIndexes = Vec<usize>;

/// The number of combinations with `designed` rows of a design; `None` if it overflows.
pub(crate) fn size(factors: &[Factor], designed: usize) -> Option<usize> {
    factors.iter().try_fold(designed, |size, factor| size.checked_mul(factor.levels().len()))
}

/// In odometer order: the last factor varies fastest. The last factors, one for each place of a
/// row, take only the rows' combinations. Without factors there is one, empty combination.
pub(crate) fn cells(factors: &[Factor], rows: &[Vec<bool>]) -> impl Iterator<Item = LevelIndexes> {
    let designed = rows.first().map_or(0, Vec::len);
    let free = factors.len().saturating_sub(designed);
    let rows: Vec<LevelIndexes> =
        rows.iter().map(|row| row.iter().map(|on| if *on { ON } else { OFF }).collect()).collect();
    odometer(&factors[..free])
        .flat_map(move |cell| rows.clone().into_iter().map(move |row| [cell.clone(), row].concat()))
}

const ON: usize = 0;
const OFF: usize = 1;

pub(crate) fn row(levels: &[usize]) -> Vec<bool> {
    levels.iter().map(|level| *level == ON).collect()
}

fn odometer(factors: &[Factor]) -> impl Iterator<Item = LevelIndexes> + use<> {
    let sizes: Vec<usize> = factors.iter().map(|factor| factor.levels().len()).collect();
    let first = sizes.iter().all(|&size| size > 0).then(|| vec![0; sizes.len()]);
    std::iter::successors(first, move |cell| {
        let mut next = cell.clone();
        for (place, size) in next.iter_mut().zip(&sizes).rev() {
            *place += 1;
            if *place < *size {
                return Some(next);
            }
            *place = 0;
        }
        None
    })
}

/// All on first. A fraction takes all if they are at most `most`, none if its smallest has more.
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
    1 << offloads <= most
}

// Two-level fractions of a factorial: half of its combinations, a quarter and so on, chosen so
// that the effect of each offload alone stays apart from that of any other and of any pair.
//
// The generators are the usual ones of least aberration: G. E. P. Box and J. S. Hunter, "The
// 2^(k-p) fractional factorial designs", Technometrics 3 (1961); NIST/SEMATECH e-Handbook of
// Statistical Methods, 5.3.3.4.7. A test computes the resolution of each.

/// The first `base` factors take all combinations; each further one is a product of some of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fraction {
    factors: usize,
    base: usize,
    /// For each further factor, the base factors that it is the product of, by letter: `ABC`.
    words: &'static [&'static str],
}

/// The fractions of resolution IV or better, by factors, the larger ones first.
const FRACTIONS: &[Fraction] = &[
    fraction(4, &["ABC"]),
    fraction(5, &["ABCD"]),
    fraction(6, &["ABCDE"]),
    fraction(6, &["ABC", "BCD"]),
    fraction(7, &["ABCDEF"]),
    fraction(7, &["ABCD", "ABDE"]),
    fraction(7, &["ABC", "BCD", "ACD"]),
    fraction(8, &["ABCD", "ABEF"]),
    fraction(8, &["ABC", "ABD", "BCDE"]),
    fraction(8, &["BCD", "ACD", "ABC", "ABD"]),
    fraction(9, &["ACDFG", "BCEFG"]),
    fraction(9, &["ABCD", "ACEF", "CDEF"]),
    fraction(9, &["BCDE", "ACDE", "ABDE", "ABCE"]),
    fraction(10, &["ABCG", "BCDE", "ACDF"]),
    fraction(10, &["BCDF", "ACDF", "ABDE", "ABCE"]),
    fraction(10, &["ABCD", "ABCE", "ABDE", "ACDE", "BCDE"]),
    fraction(11, &["ABCG", "BCDE", "ACDF", "ABCDEFG"]),
    fraction(11, &["CDE", "ABCD", "ABF", "BDEF", "ADEF"]),
    fraction(11, &["ABC", "BCD", "CDE", "ACD", "ADE", "BDE"]),
];

const fn fraction(factors: usize, words: &'static [&'static str]) -> Fraction {
    Fraction { factors, base: factors - words.len(), words }
}

impl Fraction {
    pub(crate) const MOST_FACTORS: usize = 11;

    pub(crate) fn within(factors: usize, most: usize) -> Option<Self> {
        FRACTIONS.iter().find(|one| one.factors == factors && one.runs() <= most).copied()
    }

    /// The fewest that keep the factors apart; all, where no fraction does.
    pub(crate) fn fewest(factors: usize) -> usize {
        let runs = FRACTIONS.iter().filter(|one| one.factors == factors).map(Self::runs).min();
        runs.unwrap_or(1 << factors.min(20))
    }

    pub(crate) fn runs(&self) -> usize {
        1 << self.base
    }

    pub(crate) fn rows(&self) -> Vec<Vec<bool>> {
        let mut rows = factorial(self.base);
        for row in &mut rows {
            for word in self.words {
                // A product of signs is negative if an odd number of them is: off.
                let off = letters(word).filter(|letter| !row[*letter]).count();
                row.push(off.is_multiple_of(2));
            }
        }
        rows
    }

    /// Groups of two or more pairs of factors (by index) whose joint effects it cannot tell apart.
    pub(crate) fn aliased_pairs(&self) -> Vec<Vec<(usize, usize)>> {
        let pairs = (0..self.factors).flat_map(|one| (one + 1..self.factors).map(move |other| (one, other)));
        let groups = grouped(pairs.map(|(one, other)| (self.column(one) ^ self.column(other), (one, other))));
        groups.into_iter().map(|(_, pairs)| pairs).filter(|pairs| pairs.len() > 1).collect()
    }

    fn column(&self, factor: usize) -> u32 {
        match factor.checked_sub(self.base) {
            None => 1 << factor,
            Some(further) => letters(self.words[further]).map(|letter| 1 << letter).sum(),
        }
    }
}

/// Every combination: all on first, the last one varies fastest.
pub(crate) fn factorial(offloads: usize) -> Vec<Vec<bool>> {
    let row = |number: usize| (0..offloads).map(|one| number >> (offloads - 1 - one) & 1 == 0).collect();
    (0..1_usize << offloads).map(row).collect()
}

fn letters(word: &str) -> impl Iterator<Item = usize> {
    word.bytes().map(|letter| usize::from(letter - b'A'))
}

/// Levels by index: a condition has one of each factor named. The empty selection selects all.
pub(crate) type Selection = Vec<(usize, BTreeSet<usize>)>;

pub(crate) fn chooses(selection: &Selection, cell: &LevelIndexes) -> bool {
    selection.iter().all(|(factor, levels)| levels.contains(&cell[*factor]))
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct ComparisonSpec {
    /// `None`: the workload's main one, in exact mode the kernel's instructions.
    pub(crate) metric: Option<Metric>,
    pub(crate) baseline: Option<Selection>,
    pub(crate) only: Selection,
    pub(crate) equivalent: Option<Percent>,
}

#[cfg(test)]
mod tests {
    use words::Value;

    use super::*;
    use crate::model::Varied;

    fn factor(levels: u64) -> Factor {
        let levels = (0..levels).map(Value::Number).collect();
        Factor { name: "mtu".into(), subject: Varied::Mtu, values: levels }
    }

    #[test]
    fn the_last_factor_varies_fastest() {
        let factors = [factor(2), factor(3)];
        let cells: Vec<LevelIndexes> = cells(&factors, &[vec![]]).collect();
        assert_eq!(cells, [[0, 0], [0, 1], [0, 2], [1, 0], [1, 1], [1, 2]]);
        assert_eq!(size(&factors, 1), Some(cells.len()));
    }

    #[test]
    fn a_design_takes_some_combinations_of_the_last_factors() {
        let factors = [factor(2), factor(2), factor(2)];
        let rows = [vec![true, true], vec![false, true]];
        let cells: Vec<LevelIndexes> = cells(&factors, &rows).collect();
        assert_eq!(cells, [[0, 0, 0], [0, 1, 0], [1, 0, 0], [1, 1, 0]]);
        assert_eq!(size(&factors[..1], rows.len()), Some(cells.len()));
        assert_eq!(row(&cells[1][1..]), rows[1]);
    }

    #[test]
    fn no_factor_means_one_combination_and_no_level_means_none() {
        assert_eq!(cells(&[], &[vec![]]).collect::<Vec<_>>(), [LevelIndexes::new()]);
        assert_eq!(size(&[], 1), Some(1));
        assert_eq!(cells(&[factor(2), factor(0)], &[vec![]]).count(), 0);
    }

    #[test]
    fn more_combinations_than_numbers_are_noticed() {
        assert_eq!(size(&vec![factor(10); 30], 1), None);
    }
}

#[cfg(test)]
mod rows_tests {
    use words::Word;

    use super::*;

    fn rows_as_digits(kind: DesignKind, offloads: usize, most: usize) -> Vec<String> {
        let row = |row: Vec<bool>| row.iter().map(|on| if *on { '1' } else { '0' }).collect();
        rows(kind, offloads, most).into_iter().map(row).collect()
    }

    #[test]
    fn each_kind_has_its_combinations() {
        assert_eq!(rows_as_digits(DesignKind::Ladder, 3, 0), ["111", "011", "001", "000"]);
        assert_eq!(rows_as_digits(DesignKind::Factorial, 2, 0), ["11", "10", "01", "00"]);
        assert_eq!(rows_as_digits(DesignKind::Fractional, 2, 4), ["11", "10", "01", "00"]);
        assert_eq!(rows_as_digits(DesignKind::Fractional, 4, 8)[..3], ["1111", "1100", "1010"]);
        assert!(rows_as_digits(DesignKind::Fractional, 4, 7).is_empty());
    }

    #[test]
    fn no_combination_comes_twice() {
        for &(_, kind) in DesignKind::WORDS {
            for offloads in 1..=8 {
                for most in [8, 16, 32, 1 << 8] {
                    let rows = rows(kind, offloads, most);
                    let mut distinct = rows.clone();
                    distinct.sort_unstable();
                    distinct.dedup();
                    assert_eq!(distinct.len(), rows.len(), "{kind} of {offloads}");
                }
            }
        }
    }
}

#[cfg(test)]
mod fraction_tests {
    use super::*;

    /// The length of the shortest product of factors that is always positive.
    fn resolution(fraction: &Fraction) -> u32 {
        let sets = 1_u32..1 << fraction.factors;
        let product = |set: &u32| {
            (0..fraction.factors)
                .filter(|factor| set >> factor & 1 == 1)
                .fold(0, |product, factor| product ^ fraction.column(factor))
        };
        sets.filter(|set| product(set) == 0).map(u32::count_ones).min().unwrap()
    }

    #[test]
    fn every_fraction_has_the_resolution_that_the_handbook_says() {
        let resolutions: Vec<u32> = FRACTIONS.iter().map(resolution).collect();
        assert_eq!(resolutions, [4, 5, 6, 4, 7, 4, 4, 5, 4, 4, 6, 4, 4, 5, 4, 4, 5, 4, 4]);
    }

    #[test]
    fn every_column_is_balanced_and_apart_from_every_other() {
        for fraction in FRACTIONS {
            let rows = fraction.rows();
            assert_eq!(rows.len(), fraction.runs());
            assert!(rows[0].iter().all(|on| *on), "all on comes first");
            for one in 0..fraction.factors {
                assert_eq!(rows.iter().filter(|row| row[one]).count() * 2, rows.len());
                for other in one + 1..fraction.factors {
                    let agree = rows.iter().filter(|row| row[one] == row[other]).count();
                    assert_eq!(agree * 2, rows.len(), "{one} and {other} of {fraction:?}");
                }
            }
        }
    }

    #[test]
    fn the_largest_that_fits_is_taken() {
        assert_eq!(Fraction::within(6, 40).unwrap().runs(), 32);
        assert_eq!(Fraction::within(6, 31).unwrap().runs(), 16);
        assert_eq!(Fraction::within(6, 15), None);
        assert_eq!(Fraction::within(3, 4), None, "three factors have no fraction that keeps them apart");
        assert_eq!((Fraction::fewest(3), Fraction::fewest(5), Fraction::fewest(11)), (8, 16, 32));
    }

    #[test]
    fn a_half_of_four_cannot_tell_pairs_from_their_counterparts() {
        let aliases = Fraction::within(4, 8).unwrap().aliased_pairs();
        assert_eq!(aliases, [[(0, 1), (2, 3)], [(0, 2), (1, 3)], [(0, 3), (1, 2)]]);
        assert!(Fraction::within(5, 16).unwrap().aliased_pairs().is_empty());
    }
}

#[cfg(test)]
mod selection_tests {
    use super::*;

    #[test]
    fn every_factor_named_must_agree() {
        let selection: Selection = vec![(0, [1].into()), (2, [0, 2].into())];
        assert!(chooses(&selection, &vec![1, 9, 2]));
        assert!(!chooses(&selection, &vec![0, 9, 2]));
        assert!(!chooses(&selection, &vec![1, 9, 1]));
        assert!(!chooses(&selection, &vec![1, 9, 3]), "a level beyond those named");
        assert!(chooses(&Selection::default(), &vec![5]));
        assert!(!chooses(&vec![(0, [].into())], &vec![0]));
    }
}
