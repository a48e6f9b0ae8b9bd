//! All combinations of levels.

use crate::factor::Factor;

/// One level of each factor, by index.
pub(crate) type Cell = Vec<usize>;

/// How many combinations there are; `None` if they cannot even be counted.
pub(crate) fn size(factors: &[Factor]) -> Option<usize> {
    factors.iter().try_fold(1_usize, |size, factor| size.checked_mul(factor.levels().len()))
}

/// Every combination, in the order of an odometer: factors in file order, the last one varies fastest.
/// Without factors there is one, the empty one.
pub(crate) fn cells(factors: &[Factor]) -> impl Iterator<Item = Cell> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::factor::{Level, Subject};

    fn factor(levels: u32) -> Factor {
        let levels = (0..levels).map(|n| Level::Number(Some(n))).collect();
        Factor::new("mtu".into(), Subject::Mtu, levels)
    }

    #[test]
    fn the_last_factor_varies_fastest() {
        let factors = [factor(2), factor(3)];
        let cells: Vec<Cell> = cells(&factors).collect();
        assert_eq!(cells, [[0, 0], [0, 1], [0, 2], [1, 0], [1, 1], [1, 2]]);
        assert_eq!(size(&factors), Some(cells.len()));
    }

    #[test]
    fn no_factor_means_one_combination_and_no_level_means_none() {
        assert_eq!(cells(&[]).collect::<Vec<_>>(), [Cell::new()]);
        assert_eq!(size(&[]), Some(1));
        assert_eq!(cells(&[factor(2), factor(0)]).count(), 0);
    }

    #[test]
    fn more_combinations_than_numbers_are_noticed() {
        assert_eq!(size(&vec![factor(10); 30]), None);
    }
}
