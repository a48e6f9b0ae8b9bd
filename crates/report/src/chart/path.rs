//! Lines with corners, and many dots, in few letters; the areas that they cover.

use std::collections::BTreeSet;

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
        let places = BTreeSet::from([0, lowest, highest, column.len() - 1]);
        kept.extend(places.into_iter().map(|place| column[place]));
    }
    kept
}

/// The dots that show: one for each px of the grid that has any.
pub(crate) fn thinned_dots(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let places: BTreeSet<(i32, i32)> =
        points.iter().map(|(x, y)| (x.round() as i32, y.round() as i32)).collect();
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
mod tests;
