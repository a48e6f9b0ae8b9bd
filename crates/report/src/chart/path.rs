//! Lines with corners, and many dots, in few letters; the areas that they cover.

/// A rectangle, in px, from the upper left corner of the drawing.
#[derive(Debug, Clone, Copy, PartialEq)]
#[expect(missing_docs, reason = "the names of its fields say it")]
pub struct Area {
    pub left: f64,
    pub top: f64,
    pub right: f64,
    pub bottom: f64,
}

impl Area {
    /// The empty area: it covers no point, and joining it changes nothing.
    pub(crate) const NONE: Self = Self { left: f64::MAX, top: f64::MAX, right: f64::MIN, bottom: f64::MIN };

    /// Whether both cover some place.
    pub fn meets(&self, other: &Self) -> bool {
        self.left < other.right
            && other.left < self.right
            && self.top < other.bottom
            && other.top < self.bottom
    }

    /// Whether it is within a drawing of that size.
    pub fn is_within(&self, width: f64, height: f64) -> bool {
        const ROUNDED: f64 = 0.01;
        self.left >= -ROUNDED
            && self.top >= -ROUNDED
            && self.right <= width + ROUNDED
            && self.bottom <= height + ROUNDED
    }

    pub(crate) fn reach(&mut self, x: f64, y: f64) {
        self.left = self.left.min(x);
        self.top = self.top.min(y);
        self.right = self.right.max(x);
        self.bottom = self.bottom.max(y);
    }

    pub(crate) fn join(&mut self, other: &Self, x: f64, y: f64) {
        // The empty area has no corners.
        if other.left <= other.right {
            self.reach(other.left + x, other.top + y);
            self.reach(other.right + x, other.bottom + y);
        }
    }
}

/// Places are written from the corner of the drawing or from the place before, as is shorter.
#[derive(Debug, Clone)]
pub(crate) struct SvgPath {
    pub(crate) data: String,
    pub(crate) area: Area,
    /// The current point, and the point where its subpath began; `None` at first.
    at: Option<[TenthsOfPx; 2]>,
}

type TenthsOfPx = (i64, i64);

impl SvgPath {
    pub(crate) fn new() -> Self {
        Self { data: String::new(), area: Area::NONE, at: None }
    }

    pub(crate) fn around(area: &Area) -> Self {
        let mut path = Self::new();
        path.from(area.left, area.top).to(area.right, area.top);
        path.to(area.right, area.bottom).to(area.left, area.bottom).close();
        path
    }

    pub(crate) fn to(&mut self, x: f64, y: f64) -> &mut Self {
        let Some([from, begin]) = self.at else { return self.from(x, y) };
        let place = self.reach(x, y);
        let (across, down) = (place.0 - from.0, place.1 - from.1);
        let step = match (across, down) {
            (_, 0) => shorter(format!("H{}", tenths(place.0)), format!("h{}", tenths(across))),
            (0, _) => shorter(format!("V{}", tenths(place.1)), format!("v{}", tenths(down))),
            _ => shorter(format!("L{}", pair(place)), format!("l{}", pair((across, down)))),
        };
        self.data.push_str(&step);
        self.at = Some([place, begin]);
        self
    }

    pub(crate) fn from(&mut self, x: f64, y: f64) -> &mut Self {
        let place = self.reach(x, y);
        let whole = format!("M{}", pair(place));
        let step = match self.at {
            Some([from, _]) => shorter(whole, format!("m{}", pair((place.0 - from.0, place.1 - from.1)))),
            None => whole,
        };
        self.data.push_str(&step);
        self.at = Some([place; 2]);
        self
    }

    pub(crate) fn dot(&mut self, x: f64, y: f64) {
        // A line without a length: its round ends show.
        self.from(x, y);
        self.data.push_str("h0");
    }

    pub(crate) fn close(&mut self) {
        self.data.push('z');
        self.at = self.at.map(|[_, begin]| [begin; 2]);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.data.is_empty()
    }

    fn reach(&mut self, x: f64, y: f64) -> TenthsOfPx {
        self.area.reach(x, y);
        // As all places are whole tenths of a px, the errors of steps do not add up.
        // A conversion saturates, and what is no number is 0.
        let tenths = |value: f64| (value * 10.0).round().clamp(-1e12, 1e12) as i64;
        (tenths(x), tenths(y))
    }
}

fn shorter(whole: String, from_here: String) -> String {
    if from_here.len() < whole.len() { from_here } else { whole }
}

fn pair((x, y): TenthsOfPx) -> String {
    let (x, y) = (tenths(x), tenths(y));
    // A minus parts numbers as well as a blank.
    let gap = if y.starts_with('-') { "" } else { " " };
    format!("{x}{gap}{y}")
}

/// `-1.5` for -15.
fn tenths(value: i64) -> String {
    let sign = if value < 0 { "-" } else { "" };
    let (whole, rest) = (value.unsigned_abs() / 10, value.unsigned_abs() % 10);
    match (whole, rest) {
        (whole, 0) => format!("{sign}{whole}"),
        // SVG needs no zero before a point.
        (0, rest) => format!("{sign}.{rest}"),
        (whole, rest) => format!("{sign}{whole}.{rest}"),
    }
}

/// A line of few points that looks like this one.
pub(crate) fn thinned_line(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let mut kept = Vec::new();
    // Of the points in a column of one px the first, lowest, highest and last draw the same line.
    for column in points.chunk_by(|a, b| a.0.floor() == b.0.floor()) {
        if column.len() <= 4 {
            kept.extend_from_slice(column);
            continue;
        }
        let by_height = |a: &usize, b: &usize| column[*a].1.total_cmp(&column[*b].1);
        let lowest = (0..column.len()).min_by(by_height).unwrap_or(0);
        let highest = (0..column.len()).max_by(by_height).unwrap_or(0);
        let mut places = vec![0, lowest, highest, column.len() - 1];
        places.sort_unstable();
        places.dedup();
        kept.extend(places.into_iter().map(|place| column[place]));
    }
    kept
}

/// The dots that show: one for each px of the grid that has any.
pub(crate) fn thinned_dots(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
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
}
