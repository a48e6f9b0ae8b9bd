//! Advice for people at a terminal.

use report::{Layout, listed};

use crate::advice::Advice;
use crate::found::{StudyAdvice, Under};
use crate::said::Said;

/// Up to so many kinds of traffic everything is said of each.
const FEW: usize = 4;

impl Advice {
    /// The recommendations in short: a table for each scenario, and one over all.
    #[must_use]
    pub fn table(&self, layout: Layout) -> String {
        let mut text = String::new();
        for summary in &self.summaries {
            text.push_str(&format!("\nRecommendations, {}\n", summary.title()));
            text.push_str(&summary.text(layout));
        }
        text
    }

    /// All of it for people.
    #[must_use]
    pub fn text(&self, layout: Layout) -> String {
        let mut text = String::new();
        for study in &self.studies {
            let mut indent = "";
            for line in study.head() {
                text.push_str(&format!("{indent}{line}\n"));
                indent = "  ";
            }
        }
        if !self.has_switches() {
            text.push_str(&format!("\n{NOTHING}\n"));
        }
        text.push_str(&self.table(layout));
        let is_brief =
            !layout.wide && self.studies.iter().map(|study| study.under.len()).sum::<usize>() > FEW;
        for study in &self.studies {
            for under in &study.under {
                text.push_str(&self.under(study, under, is_brief));
            }
            study.notes().iter().for_each(|note| text.push_str(&format!("\n{note}\n")));
        }
        text
    }

    /// One kind of traffic. In brief the switches of which nothing is proven are only named.
    fn under(&self, study: &StudyAdvice, under: &Under, is_brief: bool) -> String {
        let of = if self.studies.len() > 1 { format!("study {}: ", study.study) } else { String::new() };
        let mut text = format!("\n{of}{}\n  {}\n", under.title(), under.holds_for());
        for said in self.said(study, under) {
            text.push_str(&format!("  For {}:\n", said.goal));
            let (open, told): (Vec<Said>, Vec<Said>) =
                said.switches.into_iter().partition(|one| is_brief && one.is_open);
            for one in told {
                text.push_str(&format!("    {}\n", one.head));
                for fact in one.facts {
                    text.push_str(&format!("      {}: {}\n", fact.name, fact.words));
                }
            }
            if !open.is_empty() {
                let open: Vec<String> = open.into_iter().map(|one| one.switch).collect();
                text.push_str(&format!(
                    "    no evidence for {} (--wide says what would settle it)\n",
                    listed(&open)
                ));
            }
            said.others.iter().for_each(|line| text.push_str(&format!("    {line}\n")));
        }
        for flag in &under.flags {
            text.push_str(&format!("  Flag: {}.\n", text::line(flag)));
        }
        text
    }
}

/// What is said where no switch was tried.
pub const NOTHING: &str = "No switch of a host was varied, so there is no advice: name offloads in [design], or features, mtu or \
                           congestion_control in [factors].";
