//! Analyses of many experiments: what does not depend on the data is computed once.

use netassay_stats::{Analysis, Observation, Question, Spending, analyse_with};

thread_local! {
    static SPENDING: Spending = Spending::default();
}

/// The analysis by [`netassay_stats::analyse`].
pub(crate) fn analysed(observations: &[Observation], question: &Question) -> Analysis {
    SPENDING.with(|spending| analyse_with(observations, question, |_| true, spending)).unwrap()
}
