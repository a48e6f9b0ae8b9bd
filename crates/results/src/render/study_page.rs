//! The page at the end of a study: the answer, one table for each workload, where the results are
//! stored, and suggestions.

use std::path::Path;

use crate::data::acted;
use crate::data::exact;
use crate::data::missing::MissingRuns;
use crate::render::answer::answered;
use crate::render::copies;
use crate::render::credit::Credits;
use crate::data::environment::{machines, programs};
use crate::render::overview::{is_needed, overview};
use crate::render::results::Results;
use crate::render::titled_table::TitledTable;
use crate::words::layout::Layout;
use crate::words::number::counted;
use crate::words::phrases::listed;

// The most suggestions on the first screen.
const ADVICE: usize = 3;

impl Results {
    /// The page for people. `db` is the study's database.
    #[must_use]
    pub fn text(&self, db: &Path, layout: Layout) -> String {
        let mut text = format!("{}: {}\n", self.name, self.question);
        let compared = self.comparisons.iter().flat_map(|group| &group.unlike);
        text.push_str(&exact::head(compared.chain(self.credit.iter().flat_map(Credits::unlike))));
        text.push_str(&self.missing.as_ref().map_or_else(String::new, MissingRuns::text));
        text.extend(self.not_applied().iter().map(|one| format!("{one}\n")));
        self.answers_into(&mut text, layout);
        if self.has_measurements() {
            self.measured(&mut text, layout);
        }
        let TitledTable { title, table, .. } = self.disturbed_figures();
        if !table.is_empty() {
            text.push_str(&format!("\n{title}:\n{}", table.fit(layout)));
        }
        text.push('\n');
        for sentence in copies::both_ways(&self.comparisons, &self.stored.plan) {
            text.push_str(&format!("Copies: {sentence}.\n"));
        }
        if layout.wide {
            self.spread(&mut text);
        }
        self.remarks(&mut text, layout.wide);
        text.extend(machines(&self.stored).iter().map(|line| format!("Measured on the {line}\n")));
        let db = db.display().to_string();
        let tags = &self.stored.row.tags;
        let tagged = if tags.is_empty() { String::new() } else { format!(", tagged {}", listed(tags)) };
        text.push_str(&format!("Results: study {}{tagged} in {}\n", self.study, words::sanitised_line(&db)));
        let next = self.advice(layout);
        if !next.is_empty() {
            text.push_str("Next:\n");
        }
        text.extend(next.iter().map(|advice| format!("  {advice}\n")));
        text
    }

    /// The study's answer.
    fn answers_into(&self, text: &mut String, layout: Layout) {
        if !layout.wide && is_needed(&self.comparisons) {
            text.push_str(&overview(&self.comparisons, layout));
        } else {
            text.extend(self.comparisons.iter().map(answered));
        }
    }

    /// The spread of boots and runs.
    fn spread(&self, text: &mut String) {
        for (place, group) in self.comparisons.iter().enumerate() {
            // Several comparisons in one metric have the same spread.
            let again = self.comparisons[..place]
                .iter()
                .any(|other| (&other.metric, &other.workload) == (&group.metric, &group.workload));
            if let (false, Some(spread)) = (again, group.spread_sentence()) {
                text.push_str(&format!("Spread: {spread}.\n"));
            }
        }
    }

    /// Notes beside the answer.
    fn remarks(&self, text: &mut String, is_whole: bool) {
        for caution in self.cautions(is_whole) {
            text.push_str(&format!("{caution}\n"));
        }
        let flags: usize = self.comparisons.iter().map(|group| group.flags.len()).sum();
        if flags > 0 {
            let flags = counted(flags, "data-quality warning");
            text.push_str(&format!("{flags}: netassay compare {}\n", self.study));
        }
        for told in self.told_last() {
            text.push_str(&format!("{told}\n"));
        }
    }

    /// The reasons why the figures are less certain than they look; `is_whole`: of each condition.
    pub(super) fn cautions(&self, is_whole: bool) -> Vec<String> {
        let mut cautions: Vec<&str> =
            self.comparisons.iter().filter_map(|group| group.caution.as_deref()).collect();
        cautions.dedup();
        let boots = self.stored.plan.how_of_boots().map(|how| format!("Boots: {}.", how.sentence()));
        let looks = self.stopping.iter().map(|stopping| format!("Looks: {stopping}."));
        let acted = self.conditions.iter().map(|condition| (condition.label.as_str(), &condition.acted));
        let flags = match is_whole {
            true => acted.flat_map(|(label, acted)| acted.flags(label)).collect(),
            false => acted::flags(acted),
        };
        let programs = programs(&self.stored);
        let cautions = cautions.into_iter().chain(programs.iter().map(String::as_str));
        cautions
            .map(|caution| format!("Caution: {caution}."))
            .chain(boots)
            .chain(looks)
            .chain(flags.into_iter().map(|flag| format!("Flag: {flag}.")))
            .collect()
    }

    /// The disturbances of runs, and the limitations of the testbed.
    pub(super) fn told_last(&self) -> Vec<String> {
        let disturbed = self.invalid_runs.sentence();
        let notes = self.comparisons.iter().flat_map(|group| &group.notes).chain(&self.notes);
        disturbed
            .into_iter()
            .map(|sentence| format!("Disturbed: {sentence}."))
            .chain(notes.map(|note| format!("Note: {note}")))
            .collect()
    }

    /// The tables of the page.
    fn measured(&self, text: &mut String, layout: Layout) {
        if layout.wide && !self.congestion_control.is_empty() {
            text.push_str(&format!("TCP's congestion control: {}\n", self.congestion_control.join(", ")));
        }
        for workload in self.workloads() {
            text.push_str(&if layout.wide {
                format!("\n{}", self.table(workload, layout))
            } else {
                self.summaries(workload, layout)
            });
        }
        let limits = self.limits().table;
        if layout.wide && !limits.is_empty() {
            text.push_str(&format!("\n{}", limits.render()));
        }
        if let Some(credit) = &self.credit {
            text.push_str(&credit.text(layout));
        }
    }

    fn advice(&self, layout: Layout) -> Vec<String> {
        let id = self.study;
        let rows = || self.comparisons.iter().flat_map(|group| &group.rows);
        let counts = self.conditions.first().map(|one| one.kind.counted_work());
        let counts = counts.filter(|_| self.stored.plan.exact).map(|per| format!("instructions_{per}"));
        let other = if self.conditions.iter().any(|condition| condition.kind.is_rr()) {
            "latency_p99"
        } else if self.conditions.iter().any(|condition| condition.kind.is_received()) {
            "receiver.cpu"
        } else {
            "transmitter.cpu"
        };
        let mut advice = Vec::new();
        if self.failed_runs > 0 {
            advice.push((format!("netassay show {id} --runs"), "why runs failed"));
        } else if self.invalid_runs.runs > 0 {
            advice.push((format!("netassay show {id} --runs"), "what disturbed runs"));
        }
        if is_needed(&self.comparisons) {
            advice.push((format!("netassay compare {id}"), "a table for each comparison"));
        }
        if self.has_measurements() {
            advice.push((format!("netassay show {id} --wide"), "all figures, and proof of switches"));
            let other = counts.as_deref().unwrap_or(other);
            advice
                .push((format!("netassay compare {id} --metric {other}"), "the same runs by another metric"));
        }
        if counts.is_none() && rows().any(|row| !row.is_proven()) {
            advice.push(("netassay study new mine".to_owned(), "more boots show smaller differences"));
        }
        if self.name == "quick" && self.has_measurements() {
            advice.push(("netassay run tcp-offload".to_owned(), "the same question with longer runs"));
        }
        if !self.notes.is_empty() {
            advice.push(("netassay doctor".to_owned(), "what limits this machine, and fixes"));
        }
        if !layout.wide {
            advice.truncate(ADVICE);
        }
        let width = advice.iter().map(|(command, _)| command.len()).max().unwrap_or(0);
        advice.into_iter().map(|(command, why)| format!("{command:width$}  {why}")).collect()
    }
}
