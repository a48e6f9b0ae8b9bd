//! The parts of a page, and the studies that it is made from.

use results::Results;
use results::chart::{Figure, Id};
use store::StoredSeries;

/// A study that a page shows.
pub struct ReportedStudy {
    /// The results of the study.
    pub results: Results,
    /// The counters of its runs over time.
    pub series: Vec<StoredSeries>,
}

// The largest number of conditions of which a page shows all; of more it leaves out what it says
// elsewhere, and says so.
const MANY: usize = 64;

/// Whether a study has so many conditions that repetition would be most of the page.
pub(crate) fn is_vast(results: &Results) -> bool {
    results.conditions.len() > MANY
}

/// Figures under one heading.
pub struct FigureSection {
    /// Its name in the page.
    pub id: Id,
    /// Its heading.
    pub title: String,
    /// Sentences on all figures together; empty if none are needed.
    pub about: Vec<String>,
    /// The figures, in the order of the page.
    pub figures: Vec<Figure>,
    /// Figures that a reader opens on demand, below the others: of more conditions, or for few
    /// readers.
    pub folded: Vec<Figure>,
}
