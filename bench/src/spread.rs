//! Smallest, middle and largest of some figures.

use serde::Serialize;

/// A few figures in three.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct Spread {
    pub(crate) min: f64,
    pub(crate) median: f64,
    pub(crate) max: f64,
    /// How many figures.
    pub(crate) count: usize,
}

impl Spread {
    /// `None` without figures.
    pub(crate) fn of(figures: impl IntoIterator<Item = f64>) -> Option<Self> {
        let mut sorted: Vec<f64> = figures.into_iter().collect();
        sorted.sort_by(f64::total_cmp);
        let (count, half) = (sorted.len(), sorted.len() / 2);
        let median = match count {
            0 => return None,
            _ if count % 2 == 1 => sorted[half],
            _ => (sorted[half - 1] + sorted[half]) / 2.0,
        };
        Some(Self { min: sorted[0], median, max: sorted[count - 1], count })
    }

    /// Median, smallest and largest, each with this many decimals.
    pub(crate) fn cells(&self, decimals: usize) -> [String; 3] {
        [self.median, self.min, self.max].map(|figure| format!("{figure:.decimals$}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_middle_of_an_even_number_lies_between() {
        assert_eq!(Spread::of([]), None);
        assert_eq!(Spread::of([3.0]), Some(Spread { min: 3.0, median: 3.0, max: 3.0, count: 1 }));
        assert_eq!(Spread::of([4.0, 1.0, 2.0, 9.0]).unwrap().median, 3.0);
        assert_eq!(Spread::of([4.0, 1.0, 9.0]).unwrap().cells(1), ["4.0", "1.0", "9.0"]);
    }

    proptest! {
        #[test]
        fn half_of_the_figures_lie_on_either_side(figures in proptest::collection::vec(-1e9f64..1e9, 1..50)) {
            let spread = Spread::of(figures.iter().copied()).unwrap();
            let below = figures.iter().filter(|figure| **figure <= spread.median).count();
            let above = figures.iter().filter(|figure| **figure >= spread.median).count();
            prop_assert!(2 * below >= figures.len() && 2 * above >= figures.len());
            prop_assert!(spread.min <= spread.median && spread.median <= spread.max);
        }
    }
}
