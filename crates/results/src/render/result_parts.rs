//! The parts of a study's results, for pages that arrange them themselves. The words are those of
//! the page of text.

use crate::data::exact;
use crate::data::limits;
use crate::data::missing::MissingRuns;
use crate::data::notes::kept_disturbed;
use crate::render::answer::{answer_for, answer_lines};
use crate::render::comparison_row::ComparisonRow;
use crate::render::copies;
use crate::render::credit::Credits;
use crate::render::results::Results;
use crate::render::runs::{DISTURBED, FAILED};
use crate::render::spread;
use crate::render::titled_table::TitledTable;
use crate::words::layout::Layout;
use crate::words::number::{counted, instant, plain};
use crate::words::phrases::{before, capital, listed, title};
use crate::words::table::Table;

// The largest number of letters of an answer that is read at a glance; a longer one is replaced by
// its summary.
const GLANCE: usize = 360;

// The largest number of sentences that are read at a glance.
const SENTENCES: usize = 2;

impl Results {
    /// The study's number in its database.
    #[must_use]
    pub fn number(&self) -> i64 {
        self.study
    }

    /// The study's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The question of the study.
    #[must_use]
    pub fn question(&self) -> &str {
        &self.question
    }

    /// The answer in at most two sentences; why there is none, if no run counts.
    #[must_use]
    pub fn headline(&self) -> Vec<String> {
        if !self.has_measurements() {
            return self.missing.as_ref().map_or_else(Vec::new, |missing| missing.lines().to_vec());
        }
        if self.comparisons.is_empty() {
            let planned = !self.stored.plan.comparisons.is_empty();
            let why = match planned {
                true => "Nothing can be compared yet: the baseline was not measured.",
                false => "The study compares no conditions: the tables show what each of them measured.",
            };
            return vec![why.to_owned()];
        }
        if self.is_read_at_a_glance() {
            return self.answer.iter().map(|answer| capital(answer)).collect();
        }
        let rows = || self.comparisons.iter().flat_map(|group| &group.rows);
        let (all, proven) = (rows().count(), rows().filter(|row| row.is_proven()).count());
        let mut sentences = vec![match proven {
            0 => format!("No difference is proven in any of {}.", counted(all, "comparison")),
            _ => format!("A difference is proven in {proven} of {}.", counted(all, "comparison")),
        }];
        sentences.extend(self.largest());
        sentences
    }

    /// Whether [`Self::headline`] says all that [`Self::answers`] does.
    #[must_use]
    pub fn is_answered_by_headline(&self) -> bool {
        self.is_read_at_a_glance() && self.answers().iter().all(|lines| lines.len() == 1)
    }

    fn is_read_at_a_glance(&self) -> bool {
        let letters: usize = self.answer.iter().map(|answer| answer.chars().count()).sum();
        self.answer.len() <= SENTENCES && letters <= GLANCE
    }

    /// The largest proven difference in the study's first metric.
    fn largest(&self) -> Option<String> {
        let metric = &self.comparisons.first()?.metric;
        let groups = self.comparisons.iter().filter(|group| group.metric == *metric);
        let rows = groups.flat_map(|group| group.rows.iter().map(move |row| (group, row)));
        let size = |row: &ComparisonRow| {
            let comparison = &row.comparison;
            comparison.relative.map_or(comparison.difference, |share| share * comparison.baseline_mean).abs()
        };
        let (group, row) = rows
            .filter(|(_, row)| row.is_proven())
            .max_by(|(_, one), (_, other)| size(one).total_cmp(&size(other)))?;
        Some(format!("The largest: {}", answer_for(group, &[row])))
    }

    /// The answer of each comparison in full, then its remarks and what explains it.
    #[must_use]
    pub fn answers(&self) -> Vec<Vec<String>> {
        self.comparisons.iter().map(answer_lines).collect()
    }

    /// The missing runs, the reasons, and the remedy; empty if the study is complete.
    #[must_use]
    pub fn missing(&self) -> Vec<String> {
        self.missing.as_ref().map(MissingRuns::lines).into_iter().flatten().collect()
    }

    /// The notes to read before all figures: their kind, and counts that do not repeat.
    #[must_use]
    pub fn kind_of_truth(&self) -> Vec<String> {
        let compared = self.comparisons.iter().flat_map(|group| &group.unlike);
        let head = exact::head(compared.chain(self.credit.iter().flat_map(Credits::unlike)));
        let truth = self.truth.map(|truth| format!("{}.", capital(truth)));
        truth.into_iter().chain(head.lines().map(str::to_owned)).collect()
    }

    /// The place, time and tools of the study: names and values.
    #[must_use]
    pub fn facts(&self) -> Vec<(&'static str, String)> {
        let row = &self.stored.row;
        let mut facts = vec![
            ("study", format!("{} ({})", self.study, self.name)),
            ("scenario", self.scenario.clone()),
            ("measured", format!("{} UTC", instant(row.started_unix_ms))),
            (
                "data",
                format!(
                    "{} of {}{}",
                    counted(self.stored.measurements().count(), "run"),
                    counted(row.boots as usize, "boot"),
                    self.stored
                        .plan
                        .how_of_boots()
                        .map_or_else(String::new, |how| format!(": {}", how.sentence()))
                ),
            ),
        ];
        if self.status != "complete" {
            facts.push(("state", self.status.clone()));
        }
        if let Some(boot) = self.stored.boots.first() {
            let host = &boot.environment.transmitter;
            facts.extend(host.kernel.release.clone().map(|release| ("kernel", release)));
            facts.extend(host.cpu.model.clone().map(|model| ("CPU", model)));
        }
        if !self.congestion_control.is_empty() {
            facts.push(("congestion control", self.congestion_control.join(", ")));
        }
        facts.push(("netassay", row.version.clone()));
        if !row.tags.is_empty() {
            facts.push(("tags", listed(&row.tags)));
        }
        facts
    }

    /// The limit of the runs of each condition, with the evidence; without a row if unknown.
    #[must_use]
    pub fn limits(&self) -> TitledTable {
        let limits = self.conditions.iter().map(|one| (one.label.as_str(), one.limited_by.as_ref()));
        let title = "What limited the runs".to_owned();
        TitledTable { title, table: limits::table(limits), notes: Vec::new() }
    }

    /// The effect of each offload of the study's design, as text; empty without a design.
    #[must_use]
    pub fn credit_text(&self, layout: Layout) -> String {
        let text = self.credit.as_ref().map_or_else(String::new, |credit| credit.text(layout));
        text.trim_start_matches('\n').to_owned()
    }

    /// The method of each metric that is compared: the workload and the metric with its meaning;
    /// then, as sentences, the judgement of differences, the spread of the values, and unusual
    /// values in them.
    #[must_use]
    pub fn methods(&self) -> Vec<(String, Vec<String>)> {
        let mut methods: Vec<(String, Vec<String>)> = Vec::new();
        for group in &self.comparisons {
            let mut of = format!("{}{}", before(&group.workload), title(&group.metric));
            if let Some(metric) = study::metric::find(&group.metric) {
                of.push_str(&format!(" ({}):", metric.meaning));
            }
            let mut sentences: Vec<String> = group.method.iter().map(|one| stopped(one)).collect();
            sentences.extend(group.spread_sentence().map(|spread| format!("Spread: {spread}.")));
            sentences.extend(group.flags.iter().map(|flag| format!("Flag: {flag}.")));
            match methods.iter_mut().find(|(known, _)| *known == of) {
                Some((_, known)) => {
                    sentences.retain(|sentence| !known.contains(sentence));
                    known.extend(sentences);
                }
                None => methods.push((of, sentences)),
            }
        }
        methods
    }

    /// The standard deviations between and inside boots of each metric compared.
    #[must_use]
    pub fn spreads(&self) -> Vec<TitledTable> {
        let mut exhibits: Vec<TitledTable> = Vec::new();
        for group in self.comparisons.iter().filter(|group| group.resolution.is_none()) {
            let title =
                format!("{}{}, spread of boots and runs", before(&group.workload), title(&group.metric));
            if !exhibits.iter().any(|known| known.title == title) {
                let table = spread::table(&group.spread, plain(&group.unit), group.mean(), group.level);
                exhibits.push(TitledTable { title, table, notes: Vec::new() });
            }
        }
        exhibits.retain(|exhibit| !exhibit.table.is_empty());
        exhibits
    }

    /// The warnings of the study, as sentences, each with a word for its kind.
    #[must_use]
    pub fn beware(&self) -> Vec<String> {
        let mut told = self.cautions(false);
        told.extend(
            copies::both_ways(&self.comparisons, &self.stored.plan)
                .iter()
                .map(|one| format!("Copies: {one}.")),
        );
        told.extend(self.told_last());
        told
    }

    /// The tries that do not count, failed ones and disturbed ones apart: which, and why.
    #[must_use]
    pub fn uncounted(&self) -> Vec<TitledTable> {
        let bad = self.bad_runs();
        let exhibits = [FAILED, DISTURBED].into_iter().zip(bad).map(|(title, runs)| {
            let mut table = Table::new(&["run", "why"]);
            for run in &runs {
                table.row(&[&run.which(), run.reason]);
            }
            TitledTable { title: title.to_owned(), table, notes: Vec::new() }
        });
        let figures = std::iter::once(self.disturbed_figures());
        figures.chain(exhibits).filter(|exhibit| !exhibit.table.is_empty()).collect()
    }

    /// The number of disturbed runs that count (`--keep-disturbed`).
    #[must_use]
    pub fn kept_disturbed(&self) -> usize {
        kept_disturbed(self.stored()).0
    }
}

/// A sentence with a capital letter and a full stop.
fn stopped(sentence: &str) -> String {
    capital(sentence) + "."
}
