//! Results as a terminal shows them.

use netassay_report::Layout;
use netassay_report::document::{Block, terminal};
use netassay_report::views;
use results::{
    BetweenStudies, BothWays, Comparisons, FalsePositives, PlanListing, Results, Sizing, StageDifferences,
    StageRanges, StudyHistory,
};

/// A result that has a page.
pub(crate) trait Shown {
    fn text(&self, layout: Layout) -> String;
}

macro_rules! shown {
    ($($result:ty: $view:expr;)*) => {$(
        impl Shown for $result {
            fn text(&self, layout: Layout) -> String {
                let view: fn(&Self, bool) -> Vec<Block<'_>> = $view;
                terminal(&view(self, layout.wide), layout)
            }
        }
    )*};
}

shown! {
    BetweenStudies: |found, is_whole| views::between(found, is_whole);
    BothWays: |found, _| views::both_ways(found);
    Comparisons: |found, is_whole| views::compare(found, is_whole);
    FalsePositives: |found, _| views::false_positives(found);
    PlanListing: |found, is_whole| views::plan(found, is_whole);
    Results: |found, is_whole| views::show(found, "netassay.db", is_whole);
    Sizing: |found, _| views::sizing(found);
    StageDifferences: |found, _| views::stage_differences(found);
    StageRanges: |found, _| views::stage_ranges(found, 8);
    StudyHistory: |found, is_whole| views::history(found, is_whole);
}
