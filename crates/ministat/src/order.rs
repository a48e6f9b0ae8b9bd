//! Smallest, middle and largest value, with no more sorting than needed.

use std::cmp::Ordering;
use std::thread;

use crate::dialect::Dialect;
use crate::values::Values;

/// The results that depend on the order of values only.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Extent {
    pub(crate) min: f64,
    pub(crate) median: f64,
    pub(crate) max: f64,
}

/// Computes them, and reorders the values: ascending for FreeBSD's dialect, any order for Debian's.
///
/// # Panics
/// If there are no values.
pub(crate) fn extent(values: &mut Values, dialect: Dialect) -> Extent {
    let middle = values.len() / 2;
    if values.has_nan() {
        values.all = merge_sorted(&values.all);
    } else if values.has_both_zeros() {
        // Stable, because the order of the two zeros shows.
        values.all.sort_by(compare);
    } else if dialect == Dialect::Debian {
        let (_, median, _) = values.all.select_nth_unstable_by(middle, compare);
        return Extent { min: values.min, median: *median, max: values.max };
    } else {
        sort(&mut values.all);
    }
    let all = &values.all;
    let median = match dialect {
        Dialect::Freebsd if all.len().is_multiple_of(2) => (all[middle] + all[middle - 1]) / 2.0,
        _ => all[middle],
    };
    Extent { min: all[0], median, max: all[all.len() - 1] }
}

fn compare(one: &f64, other: &f64) -> Ordering {
    if one < other {
        Ordering::Less
    } else if one > other {
        Ordering::Greater
    } else {
        Ordering::Equal
    }
}

/// Below this, a thread costs more than it gains.
const WORTH_A_THREAD: usize = 1 << 16;

fn sort(values: &mut [f64]) {
    if values.len() < WORTH_A_THREAD {
        values.sort_unstable_by(compare);
        return;
    }
    let (low, _, high) = values.select_nth_unstable_by(values.len() / 2, compare);
    thread::scope(|scope| {
        scope.spawn(|| low.sort_unstable_by(compare));
        high.sort_unstable_by(compare);
    });
}

/// The order of glibc's qsort for values with NaNs: top-down merge sort, the left half the smaller
/// one, of equals the left one first. C does not define it, but ministat prints it on Debian.
fn merge_sorted(values: &[f64]) -> Vec<f64> {
    if values.len() < 2 {
        return values.to_vec();
    }
    let (left, right) = values.split_at(values.len() / 2);
    let (left, right) = (merge_sorted(left), merge_sorted(right));
    let mut merged = Vec::with_capacity(values.len());
    let (mut from_left, mut from_right) = (0, 0);
    while from_left < left.len() && from_right < right.len() {
        if compare(&left[from_left], &right[from_right]).is_le() {
            merged.push(left[from_left]);
            from_left += 1;
        } else {
            merged.push(right[from_right]);
            from_right += 1;
        }
    }
    merged.extend_from_slice(&left[from_left..]);
    merged.extend_from_slice(&right[from_right..]);
    merged
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn extent_of(values: &[f64], dialect: Dialect) -> Extent {
        extent(&mut Values::from(values.to_vec()), dialect)
    }

    #[test]
    fn the_middle_of_an_even_number() {
        let values = [4.0, 1.0, 3.0, 2.0];
        assert_eq!(extent_of(&values, Dialect::Debian), Extent { min: 1.0, median: 3.0, max: 4.0 });
        assert_eq!(extent_of(&values, Dialect::Freebsd), Extent { min: 1.0, median: 2.5, max: 4.0 });
    }

    #[test]
    fn nan_is_where_glibc_leaves_it() {
        let nan = f64::NAN;
        let text = |values: &[f64]| {
            let Extent { min, median, max } = extent_of(values, Dialect::Debian);
            format!("{min} {max} {median}")
        };
        assert_eq!(text(&[nan, f64::INFINITY, f64::NEG_INFINITY]), "NaN inf -inf");
        assert_eq!(text(&[1.0, nan, 2.0, 0.0, nan, 5.0, nan, 3.0, -1.0]), "0 3 NaN");
        assert_eq!(text(&[1.0, nan, f64::INFINITY, 2.0]), "1 inf 2");
    }

    #[test]
    fn equal_zeros_stay_in_order() {
        assert!(extent_of(&[0.0, -0.0, 1.0], Dialect::Debian).min.is_sign_positive());
        assert!(extent_of(&[0.0, -0.0, 1.0], Dialect::Debian).median.is_sign_negative());
        assert!(extent_of(&[-0.0, 0.0, -1.0], Dialect::Debian).max.is_sign_positive());
    }

    proptest! {
        #[test]
        fn equals_sorting(mut values in prop::collection::vec(-1e3..1e3, 1..200)) {
            let got = extent_of(&values, Dialect::Debian);
            values.sort_by(f64::total_cmp);
            let expected = Extent { min: values[0], median: values[values.len() / 2], max: values[values.len() - 1] };
            prop_assert_eq!(got, expected);
            prop_assert_eq!(merge_sorted(&values), values);
        }
    }

    #[test]
    fn many_values_are_sorted_on_two_threads() {
        let mut values: Vec<f64> =
            (0..WORTH_A_THREAD as u32 * 2).map(|n| f64::from(n.wrapping_mul(2_654_435_761))).collect();
        sort(&mut values);
        assert!(values.is_sorted());
    }
}
