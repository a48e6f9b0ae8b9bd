//! What a study asks to be compared.

use words::{Percent, metric::Metric};

use crate::model::selection::Selection;

/// A comparison as the file asks for it. `Request::default()` is the one of a file that asks for
/// none.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Request {
    /// The metric; if absent, the workload's primary one, in exact mode the instructions for it.
    pub(crate) metric: Option<&'static Metric>,
    /// What is compared with; the first condition if absent.
    pub(crate) baseline: Option<Selection>,
    /// What takes part.
    pub(crate) only: Selection,
    /// How much would not matter.
    pub(crate) equivalent: Option<Percent>,
}
