//! All combinations of levels.

use crate::model::factor::Factor;

/// One level of each factor, by index.
pub(crate) type Cell = Vec<usize>;

/// The number of combinations of these factors and a design with `designed` rows; `None` if it
/// overflows.
pub(crate) fn size(factors: &[Factor], designed: usize) -> Option<usize> {
    factors.iter().try_fold(designed, |size, factor| size.checked_mul(factor.levels().len()))
}

/// Every combination in odometer order: factors in file order, the last one varies fastest. The
/// last factors (one for each place of a row) take only the combinations of the rows, and vary
/// faster still. Without factors there is one, empty combination.
pub(crate) fn cells(factors: &[Factor], rows: &[Vec<bool>]) -> impl Iterator<Item = Cell> {
    let designed = rows.first().map_or(0, Vec::len);
    let free = factors.len().saturating_sub(designed);
    let rows: Vec<Cell> =
        rows.iter().map(|row| row.iter().map(|on| if *on { ON } else { OFF }).collect()).collect();
    odometer(&factors[..free])
        .flat_map(move |cell| rows.clone().into_iter().map(move |row| [cell.clone(), row].concat()))
}

const ON: usize = 0;
const OFF: usize = 1;

/// Which of a design's factors are on, from their levels.
pub(crate) fn row(levels: &[usize]) -> Vec<bool> {
    levels.iter().map(|level| *level == ON).collect()
}

fn odometer(factors: &[Factor]) -> impl Iterator<Item = Cell> + use<> {
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
    use crate::model::factor::Subject;
    use words::Value;

    fn factor(levels: u64) -> Factor {
        let levels = (0..levels).map(Value::Number).collect();
        Factor::new("mtu".into(), Subject::Mtu, levels)
    }

    #[test]
    fn the_last_factor_varies_fastest() {
        let factors = [factor(2), factor(3)];
        let cells: Vec<Cell> = cells(&factors, &[vec![]]).collect();
        assert_eq!(cells, [[0, 0], [0, 1], [0, 2], [1, 0], [1, 1], [1, 2]]);
        assert_eq!(size(&factors, 1), Some(cells.len()));
    }

    #[test]
    fn a_design_takes_some_combinations_of_the_last_factors() {
        let factors = [factor(2), factor(2), factor(2)];
        let rows = [vec![true, true], vec![false, true]];
        let cells: Vec<Cell> = cells(&factors, &rows).collect();
        assert_eq!(cells, [[0, 0, 0], [0, 1, 0], [1, 0, 0], [1, 1, 0]]);
        assert_eq!(size(&factors[..1], rows.len()), Some(cells.len()));
        assert_eq!(row(&cells[1][1..]), rows[1]);
    }

    #[test]
    fn no_factor_means_one_combination_and_no_level_means_none() {
        assert_eq!(cells(&[], &[vec![]]).collect::<Vec<_>>(), [Cell::new()]);
        assert_eq!(size(&[], 1), Some(1));
        assert_eq!(cells(&[factor(2), factor(0)], &[vec![]]).count(), 0);
    }

    #[test]
    fn more_combinations_than_numbers_are_noticed() {
        assert_eq!(size(&vec![factor(10); 30], 1), None);
    }
}
