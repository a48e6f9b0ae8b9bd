use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use super::*;

fn contrast_of(values: &[f64]) -> (f64, usize) {
    let mut sums = Sums::with_room(values.len());
    sums.fill(values.iter().map(|value| (1.0, *value)));
    strongest(&sums, &sizes(values.len())).unwrap()
}

#[test]
fn sizes_grow_by_a_third() {
    assert_eq!(sizes(20), [2, 3, 4, 5, 6, 8, 10, 13, 17]);
    assert_eq!(sizes(4), [2, 3]);
}

#[test]
fn a_step_is_compared_in_the_whole_history() {
    let (size, first) = contrast_of(&[1.0, 1.0, 1.0, 1.0, 3.0, 3.0, 3.0, 3.0]);
    assert_eq!(first, 4);
    // 2^2 times 4 * 4 / 8.
    assert!((size - 8.0).abs() < 1e-12, "{size}");
}

#[test]
fn a_regression_that_was_mended_is_compared_without_what_followed() {
    let mut values = [5.0; 20];
    values[8..12].fill(4.0);
    let (size, first) = contrast_of(&values);
    assert!(first == 8 || first == 12, "{first}");
    // All eight before or after it against these four.
    assert!((size - 8.0 * 4.0 / 12.0).abs() < 1e-12, "{size}");
}

#[test]
fn no_window_that_is_searched_has_a_larger_contrast() {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    for points in 4..40 {
        let mut sums = Sums::with_room(points);
        // Ties, and weights from far apart.
        let point = |_| (random.random_range(1e-3..1e3), f64::from(random.random_range(0..4_i32)));
        sums.fill((0..points).map(point));
        let sizes = sizes(points);
        let mut expected: Option<(f64, usize)> = None;
        for first in FEWEST..=points - FEWEST {
            let windows = |most: usize| sizes.iter().copied().filter(move |size| *size < most).chain([most]);
            for (before, after) in
                windows(first).flat_map(|one| windows(points - first).map(move |other| (one, other)))
            {
                let size = sums.between(first - before, first, first + after);
                if expected.is_none_or(|(best, _)| size > best) {
                    expected = Some((size, first));
                }
            }
        }
        assert_eq!(strongest(&sums, &sizes), expected, "{points} points");
    }
}

#[test]
fn three_points_have_no_contrast() {
    let mut sums = Sums::with_room(3);
    sums.fill([(1.0, 1.0); 3].into_iter());
    assert_eq!(strongest(&sums, &sizes(3)), None);
}
