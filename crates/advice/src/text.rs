//! Advice for people at a terminal.

use report::Layout;

use crate::advice::Advice;
use crate::found::{StudyAdvice, Under};

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
        for study in &self.studies {
            for under in &study.under {
                text.push_str(&self.under(study, under));
            }
            study.notes().iter().for_each(|note| text.push_str(&format!("\n{note}\n")));
        }
        text
    }

    fn under(&self, study: &StudyAdvice, under: &Under) -> String {
        let of = if self.studies.len() > 1 { format!("study {}: ", study.study) } else { String::new() };
        let mut text = format!("\n{of}{}\n  {}\n", under.title(), under.holds_for());
        for said in self.said(study, under) {
            text.push_str(&format!("  For {}:\n", said.goal));
            for one in said.switches {
                text.push_str(&format!("    {}\n", one.head));
                for fact in one.facts {
                    text.push_str(&format!("      {}: {}\n", fact.name, fact.words));
                }
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
