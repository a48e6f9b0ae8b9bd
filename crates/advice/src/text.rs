//! Advice for people at a terminal.

use report::Layout;

use crate::advice::Advice;
use crate::found::StudyAdvice;
use crate::said;
use crate::under::Under;

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
            text.push_str(&format!("{}\n", study.title()));
        }
        if !self.has_switches() {
            text.push_str(&format!("\n{NOTHING}\n"));
        }
        text.push_str(&self.table(layout));
        for study in &self.studies {
            let of = if self.studies.len() > 1 { format!("study {}: ", study.study) } else { String::new() };
            text.push('\n');
            study.method().iter().for_each(|line| text.push_str(&format!("{of}{line}\n")));
            for under in &study.under {
                text.push_str(&self.under(study, under, layout.wide));
            }
            study.notes().iter().for_each(|note| text.push_str(&format!("\n{note}\n")));
        }
        text
    }

    /// One kind of traffic. Switches of which nothing is proven share a sentence unless it is wide.
    fn under(&self, study: &StudyAdvice, under: &Under, is_wide: bool) -> String {
        let of = if self.studies.len() > 1 { format!("study {}: ", study.study) } else { String::new() };
        let mut text = format!("\n{of}{}\n  {}\n", under.title(), under.holds_for());
        for (said, (_, all)) in self.said(study, under).into_iter().zip(&under.recommendations) {
            text.push_str(&format!("  For {}:\n", said.goal));
            let open = said::open(all, study, self.matters.value()).filter(|_| !is_wide);
            for one in said.switches.into_iter().filter(|one| open.is_none() || !one.is_open) {
                text.push_str(&format!("    {}\n", one.head));
                for fact in one.facts {
                    text.push_str(&format!("      {}: {}\n", fact.name, fact.words));
                }
            }
            open.into_iter().chain(said.others).for_each(|line| text.push_str(&format!("    {line}\n")));
        }
        for flag in &under.flags {
            text.push_str(&format!("  Flag: {}.\n", words::sanitised_line(flag)));
        }
        text
    }
}

/// What is said where no switch was tried.
pub const NOTHING: &str = "No switch of a host was varied, so there is no advice: name offloads in [design], or features, mtu or \
                           congestion_control in [factors].";
