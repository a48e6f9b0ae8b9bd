//! Results as a terminal shows them.

use netassay_report::views;
use results::document::terminal;
use results::{Comparisons, Layout, Results};

/// A result that has a page.
pub(crate) trait Shown {
    fn text(&self, layout: Layout) -> String;
}

impl Shown for Results {
    fn text(&self, layout: Layout) -> String {
        terminal(&views::show(self, "netassay.db", layout.wide), layout)
    }
}

impl Shown for Comparisons {
    fn text(&self, layout: Layout) -> String {
        terminal(&views::compare(self, layout.wide), layout)
    }
}
