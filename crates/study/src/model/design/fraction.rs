//! Two-level fractions of a factorial: half of its combinations, a quarter and so on, chosen so
//! that the effect of each offload alone stays apart from that of any other and of any pair.
//!
//! The generators are the usual ones of least aberration: G. E. P. Box and J. S. Hunter, "The
//! 2^(k-p) fractional factorial designs", Technometrics 3 (1961); NIST/SEMATECH e-Handbook of
//! Statistical Methods, 5.3.3.4.7. A test computes the resolution of each.

/// A fraction: the first `base` factors take all their combinations, and each further one is the
/// product of some of them.
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
    /// The most factors that there are fractions for.
    pub(crate) const MOST_FACTORS: usize = 11;

    /// The largest fraction of this many factors with at most `most` combinations.
    pub(crate) fn within(factors: usize, most: usize) -> Option<Self> {
        FRACTIONS.iter().find(|one| one.factors == factors && one.runs() <= most).copied()
    }

    /// The fewest combinations of this many factors that still keep them apart; all, where no
    /// fraction does.
    pub(crate) fn fewest(factors: usize) -> usize {
        let runs = FRACTIONS.iter().filter(|one| one.factors == factors).map(Self::runs).min();
        runs.unwrap_or(1 << factors.min(20))
    }

    pub(crate) fn runs(&self) -> usize {
        1 << self.base
    }

    /// Its combinations, all on first; `true` is on.
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
        let mut groups: Vec<(u32, Vec<(usize, usize)>)> = Vec::new();
        for one in 0..self.factors {
            for other in one + 1..self.factors {
                let column = self.column(one) ^ self.column(other);
                match groups.iter_mut().find(|(known, _)| *known == column) {
                    Some((_, pairs)) => pairs.push((one, other)),
                    None => groups.push((column, vec![(one, other)])),
                }
            }
        }
        groups.into_iter().map(|(_, pairs)| pairs).filter(|pairs| pairs.len() > 1).collect()
    }

    /// A factor as a product of base factors: one bit for each.
    fn column(&self, factor: usize) -> u32 {
        match factor.checked_sub(self.base) {
            None => 1 << factor,
            Some(further) => letters(self.words[further]).map(|letter| 1 << letter).sum(),
        }
    }
}

/// Every combination: all on first, the last one varies fastest.
pub(crate) fn factorial(offloads: usize) -> Vec<Vec<bool>> {
    (0..1_usize << offloads)
        .map(|number| (0..offloads).map(|one| number >> (offloads - 1 - one) & 1 == 0).collect())
        .collect()
}

fn letters(word: &str) -> impl Iterator<Item = usize> {
    word.bytes().map(|letter| usize::from(letter - b'A'))
}

#[cfg(test)]
mod tests {
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
