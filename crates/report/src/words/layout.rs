//! What a page is laid out for: a terminal's width, and how much a reader asked to see.

/// What a page is laid out for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    /// Columns of the terminal. Below [`Layout::NARROWEST`] rows may wrap.
    pub width: usize,
    /// Every figure, in tables as wide as they are.
    pub wide: bool,
    /// Verdicts in colour.
    pub colour: bool,
}

impl Layout {
    /// So many columns a table's row needs at least.
    pub const NARROWEST: usize = 40;

    /// How pages are laid out where there is no terminal.
    pub const PLAIN: Layout = Layout { width: 80, wide: false, colour: false };

    /// The same with every figure.
    pub const WIDE: Layout = Layout { wide: true, ..Layout::PLAIN };
}

impl Default for Layout {
    fn default() -> Self {
        Self::PLAIN
    }
}
