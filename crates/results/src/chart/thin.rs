//! Fewer points where more could not be seen.

/// The points of a line that show at a resolution of one px: of those in the same column the first,
/// the lowest, the highest and the last. `points` are places in px, from left to right.
pub(crate) fn line(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let mut kept = Vec::new();
    for column in points.chunk_by(|a, b| a.0.floor() == b.0.floor()) {
        if column.len() <= 4 {
            kept.extend_from_slice(column);
            continue;
        }
        let by_height = |a: &usize, b: &usize| column[*a].1.total_cmp(&column[*b].1);
        let lowest = (0..column.len()).min_by(by_height).unwrap_or(0);
        let highest = (0..column.len()).max_by(by_height).unwrap_or(0);
        let mut places = [0, lowest, highest, column.len() - 1];
        places.sort_unstable();
        let mut before = None;
        for place in places {
            if before != Some(place) {
                kept.push(column[place]);
            }
            before = Some(place);
        }
    }
    kept
}

/// The dots that show: one for each px of the grid that has any.
pub(crate) fn dots(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let mut places: Vec<(i32, i32)> =
        points.iter().map(|(x, y)| (x.round() as i32, y.round() as i32)).collect();
    places.sort_unstable();
    places.dedup();
    if places.len() == points.len() {
        return points.to_vec();
    }
    places.into_iter().map(|(x, y)| (x.into(), y.into())).collect()
}

/// A note on the number of marks that are drawn; `None` if all are.
pub(crate) fn drawn_note(drawn: usize, all: usize, noun: &str) -> Option<String> {
    (drawn < all).then(|| format!("{drawn} of {all} {noun} are drawn: the others would cover these."))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn extremes_and_ends_stay(heights in prop::collection::vec(0.0..240.0, 1..3000)) {
            let points: Vec<(f64, f64)> =
                heights.iter().zip(0_u16..).map(|(y, at)| (f64::from(at) * 300.0 / heights.len() as f64, *y)).collect();
            let kept = line(&points);
            prop_assert!(kept.len() <= 1200 && kept.windows(2).all(|pair| pair[0].0 <= pair[1].0));
            let end = |points: &[(f64, f64)], most: fn(f64, f64) -> f64| points.iter().map(|point| point.1).fold(points[0].1, most);
            prop_assert_eq!(end(&kept, f64::min), end(&points, f64::min));
            prop_assert_eq!(end(&kept, f64::max), end(&points, f64::max));
            prop_assert_eq!((kept.first(), kept.last()), (points.first(), points.last()));
            prop_assert!(kept.iter().all(|point| points.contains(point)));
        }

        #[test]
        fn every_dot_is_within_a_pixel_of_one_that_stays(
            points in prop::collection::vec((0.0..50.0, 0.0..10.0), 0..2000),
        ) {
            let kept = dots(&points);
            prop_assert!(kept.len() <= 51 * 11);
            for (x, y) in points {
                prop_assert!(kept.iter().any(|(a, b)| (a - x).abs() <= 0.5 && (b - y).abs() <= 0.5));
            }
        }
    }
}
