use proptest::prelude::*;

use super::*;

/// The places that path data leads to, in tenths, as the grammar of SVG reads them.
fn places(data: &str) -> Vec<TenthsOfPx> {
    let (mut places, mut at, mut begin) = (Vec::new(), (0, 0), (0, 0));
    let mut rest = data;
    while let Some(command) = rest.chars().next() {
        let end =
            rest[1..].find(|letter: char| letter.is_ascii_alphabetic()).map_or(rest.len(), |end| end + 1);
        let text = rest[1..end].replace('-', " -");
        let numbers: Vec<i64> = text
            .split_whitespace()
            .map(|number| (number.parse::<f64>().expect(data) * 10.0).round() as i64)
            .collect();
        let from = if command.is_ascii_lowercase() { at } else { (0, 0) };
        at = match (command.to_ascii_uppercase(), numbers.as_slice()) {
            ('M' | 'L', [x, y]) => (from.0 + x, from.1 + y),
            ('H', [x]) => (from.0 + x, at.1),
            ('V', [y]) => (at.0, from.1 + y),
            ('Z', []) => begin,
            other => panic!("{other:?} in {data}"),
        };
        if command.eq_ignore_ascii_case(&'m') {
            begin = at;
        }
        places.push(at);
        rest = &rest[end..];
    }
    places
}

#[test]
fn a_path_takes_few_letters() {
    let area = Area { left: 10.0, top: 5.25, right: 110.5, bottom: 19.25 };
    assert_eq!(SvgPath::around(&area).data, "M10 5.3H110.5v14H10z");
    let mut dots = SvgPath::new();
    [100.0, 100.4, 99.96].into_iter().for_each(|x| dots.dot(x, 47.5));
    assert_eq!(dots.data, "M100 47.5h0m.4 0h0m-.4 0h0");
    let mut odd = SvgPath::new();
    odd.to(f64::NAN, f64::INFINITY);
    assert_eq!(odd.data, "M0 100000000000");
}

proptest! {
    #[test]
    fn every_place_is_within_half_a_tenth(
        steps in prop::collection::vec((any::<bool>(), -999.0..999.0_f64, -999.0..999.0_f64, 0_u8..4), 1..40),
    ) {
        let (mut path, mut wanted) = (SvgPath::new(), Vec::new());
        let mut begin = (0.0, 0.0);
        for (moves, x, y, close) in steps {
            if moves || wanted.is_empty() {
                path.from(x, y);
                begin = (x, y);
            } else {
                path.to(x, y);
            }
            wanted.push((x, y));
            if close == 0 {
                path.close();
                wanted.push(begin);
            }
        }
        let found = places(&path.data);
        prop_assert_eq!(found.len(), wanted.len());
        for (found, wanted) in found.iter().zip(&wanted) {
            let off = |tenths: i64, px: f64| (tenths as f64 / 10.0 - px).abs();
            prop_assert!(off(found.0, wanted.0) <= 0.050_001 && off(found.1, wanted.1) <= 0.050_001, "{}", path.data);
        }
    }

    #[test]
    fn extremes_and_ends_stay(heights in prop::collection::vec(0.0..240.0, 1..3000)) {
        let points: Vec<(f64, f64)> =
            heights.iter().zip(0_u16..).map(|(y, at)| (f64::from(at) * 300.0 / heights.len() as f64, *y)).collect();
        let kept = thinned_line(&points);
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
        let kept = thinned_dots(&points);
        prop_assert!(kept.len() <= 51 * 11);
        for (x, y) in points {
            prop_assert!(kept.iter().any(|(a, b)| (a - x).abs() <= 0.5 && (b - y).abs() <= 0.5));
        }
    }
}
