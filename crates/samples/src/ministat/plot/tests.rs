use super::*;
use proptest::prelude::*;

const WIDTH: usize = 10;

fn sets(all: &[&[f64]]) -> Vec<Set> {
    let set = |(place, values): (usize, &&[f64])| Set::new(place.to_string(), values).unwrap();
    all.iter().enumerate().map(set).collect()
}

fn drawn(all: &[&[f64]], width: usize) -> String {
    let mut text = Vec::new();
    MinistatPlot::new(&sets(all), width, false).unwrap().unwrap().write(&mut text).unwrap();
    String::from_utf8(text).unwrap()
}

const TALL: &[f64] = &[1.0, 1.0, 1.0, 1.0, 9.0];
const SHORT: &[f64] = &[1.0, 5.0, 9.0];

#[test]
fn the_last_set_decides_how_tall() {
    let text = drawn(&[TALL, SHORT], WIDTH);
    assert_eq!(text.lines().nth(1), Some("|  *  +   *|"), "{text}");
    assert_eq!(text.lines().count(), 4);
    let text = drawn(&[TALL, SHORT, TALL], WIDTH);
    assert_eq!(text.lines().nth(1), Some("|  *       |"), "{text}");
    assert_eq!(text.lines().nth(4), Some("|  *  +   *|"), "{text}");
}

#[test]
fn what_cannot_be_plotted() {
    let refused = |values: &[f64], width| MinistatPlot::new(&sets(&[values]), width, false).unwrap_err();
    let not_finite = MinistatError::NotFinite("0".to_owned());
    for value in [f64::INFINITY, f64::NEG_INFINITY, f64::MAX] {
        assert_eq!(refused(&[value, 1.0, f64::MAX], 10), not_finite, "{value}");
    }
    assert_eq!(refused(&[f64::MAX, -f64::MAX, 0.0], 10), MinistatError::NoScale(f64::INFINITY));
    assert_eq!(refused(&[5e-324, 0.0, 0.0], 10), MinistatError::NoScale(5e-324));
    for width in [1, 1 << 25] {
        let error = MinistatError::Width { width, limit: MAX_WIDTH };
        assert_eq!(refused(&[1.0, 2.0, 3.0], width), error);
    }
    assert!(MinistatPlot::new(&sets(&[&[3.0, 3.0, 3.0]]), 0, false).unwrap().is_none());
}

#[test]
fn neighbouring_numbers_stay_in_the_frame() {
    for width in 2..40 {
        drawn(&[&[1e17, 1e17 + 16.0, 1e17 + 16.0]], width);
    }
}

/// The rows as ministat makes them: the slow way, point by point.
fn rows_point_by_point(sets: &[Set], axis: &MinistatAxis) -> Vec<String> {
    let mut cells: Vec<Vec<usize>> = Vec::new();
    let mut height = 0;
    for (place, set) in sets.iter().enumerate() {
        let mut counts = vec![0; axis.width];
        let mut points = set.points.clone();
        points.sort_by(f64::total_cmp);
        let columns = points.iter().map(|point| axis.column(*point));
        let stacked: Vec<(usize, usize)> = columns
            .map(|column| {
                counts[column] += 1;
                (counts[column], column)
            })
            .collect();
        let tallest = counts.iter().copied().max().unwrap() + 1;
        if tallest > height {
            cells.truncate(height);
            cells.resize(tallest, vec![0; axis.width]);
        }
        height = tallest;
        for (row, column) in stacked {
            cells[row][column] |= place + 1;
        }
    }
    let symbols = [' ', 'x', '+', '*', '%', '#', '@', 'O'];
    let line = |row: &Vec<usize>| row.iter().map(|cell| symbols[*cell]).collect();
    cells[1..height].iter().rev().map(line).collect()
}

proptest! {
    #[test]
    fn equals_the_slow_way(
        all in prop::collection::vec(prop::collection::vec(-9_i32..9, 3..30), 1..8),
        width in 2_usize..20,
    ) {
        let all: Vec<Vec<f64>> =
            all.into_iter().map(|set| set.into_iter().map(f64::from).collect()).collect();
        let sets = sets(&all.iter().map(Vec::as_slice).collect::<Vec<_>>());
        let Ok(Some(axis)) = MinistatAxis::new(&sets, width) else { return Ok(()) };
        let mut text = Vec::new();
        MinistatPlot::new(&sets, width, false).unwrap().unwrap().write(&mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        let lines: Vec<&str> = text.lines().map(|line| &line[1..line.len() - 1]).collect();
        prop_assert_eq!(&lines[1..lines.len() - 2], rows_point_by_point(&sets, &axis));
    }
}
