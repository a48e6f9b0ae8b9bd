//! The problems found so far.

use std::ops::Range;

use words::suggest;

use crate::plan::comparison::Unresolved;
use crate::read::diagnostic::Problem;

/// Problems beyond this many are only counted, without suggestions, which take the most time.
const MOST_KEPT: usize = 500;

#[derive(Debug, Default)]
pub(crate) struct Problems {
    kept: Vec<Problem>,
    further: usize,
    /// Comparisons that cannot be made, by their places in the file.
    pub(crate) void_comparisons: Vec<(usize, Unresolved)>,
}

impl Problems {
    pub(crate) fn push(&mut self, problem: Problem) {
        if self.is_full() {
            self.further += 1;
        } else {
            self.kept.push(problem);
        }
    }

    pub(crate) fn report(
        &mut self,
        place: Range<usize>,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.push(Problem::new(place, message).help(help));
    }

    pub(crate) fn count(&self) -> usize {
        self.kept.len() + self.further
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }

    /// [`suggest::help`], while more problems are kept.
    pub(crate) fn help<'w>(&self, word: &str, known: impl IntoIterator<Item = &'w str>) -> Option<String> {
        if self.is_full() { None } else { suggest::help(word, known) }
    }

    /// [`suggest::nearest`], while more problems are kept.
    pub(crate) fn nearest<'w>(
        &self,
        word: &str,
        known: impl IntoIterator<Item = &'w str>,
    ) -> Option<&'w str> {
        if self.is_full() { None } else { suggest::nearest(word, known) }
    }

    /// The kept problems, how many more there were, and the comparisons that cannot be made.
    pub(crate) fn into_parts(self) -> (Vec<Problem>, usize, Vec<(usize, Unresolved)>) {
        (self.kept, self.further, self.void_comparisons)
    }

    fn is_full(&self) -> bool {
        self.kept.len() >= MOST_KEPT
    }
}
