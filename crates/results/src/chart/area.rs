//! Rectangles that drawings and their labels cover.

/// A rectangle, in px, from the upper left corner of the drawing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Area {
    /// Its left edge.
    pub left: f64,
    /// Its upper edge.
    pub top: f64,
    /// Its right edge.
    pub right: f64,
    /// Its lower edge.
    pub bottom: f64,
}

impl Area {
    /// The empty area: it covers no point, and joining it changes nothing.
    pub(crate) const NONE: Self = Self { left: f64::MAX, top: f64::MAX, right: f64::MIN, bottom: f64::MIN };

    /// Whether both cover some place.
    #[must_use]
    pub fn meets(&self, other: &Self) -> bool {
        self.left < other.right
            && other.left < self.right
            && self.top < other.bottom
            && other.top < self.bottom
    }

    /// Whether it is within a drawing of that size.
    #[must_use]
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

    /// Grows to cover another area too, moved by `x` and `y`.
    pub(crate) fn join(&mut self, other: &Self, x: f64, y: f64) {
        if other.left <= other.right {
            self.reach(other.left + x, other.top + y);
            self.reach(other.right + x, other.bottom + y);
        }
    }
}
