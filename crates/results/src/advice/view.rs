//! The advice as blocks: the recommendations in short, and the proof of each on demand.

use crate::TitledTable;
use crate::document::bounded::line;
use crate::document::{Block, ListItem};

use crate::advice::advise::Advice;
use crate::advice::sentences::SwitchAdvice;
use crate::advice::study_advice::StudyAdvice;
use crate::advice::workload_advice::WorkloadAdvice;

// Stands where no switch was tried.
const NOTHING: &str = "No switch of a host was varied, so there is no advice: name offloads in [design], or features, mtu or \
                       congestion_control in [factors].";

/// The detail in which switches without a proven effect are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AdviceDetail {
    /// One sentence for all of them.
    Brief,
    /// Each by itself, with its figures.
    Full,
}

impl Advice {
    /// The recommendations in short: a table for each scenario, and one over all.
    #[must_use]
    pub fn tables(&self) -> Vec<Block<'static>> {
        let table = |summary: &crate::advice::AdviceSummary| {
            let title = format!("Recommendations, {}", summary.title());
            Block::Table(TitledTable { title, table: summary.table(), notes: summary.notes() })
        };
        self.summaries.iter().map(table).collect()
    }

    /// All of the advice: the tables, then a fold for each kind of traffic.
    #[must_use]
    pub fn blocks(&self, detail: AdviceDetail) -> Vec<Block<'static>> {
        let is_alone = self.studies.len() == 1;
        let titles = self.studies.iter().map(|study| Block::Text(study.title()));
        let mut blocks: Vec<Block<'static>> = titles.filter(|_| is_alone).collect();
        if !self.has_switches() {
            blocks.push(Block::Text(NOTHING.to_owned()));
        }
        blocks.extend(self.tables());
        for study in &self.studies {
            if !is_alone {
                blocks.push(Block::Heading(study.title()));
            }
            blocks.extend(study.method().into_iter().map(Block::Text));
            blocks.extend(study.under.iter().map(|workload| self.fold(study, workload, detail)));
            blocks.extend(study.notes().into_iter().map(Block::Text));
        }
        blocks
    }

    /// One kind of traffic.
    fn fold(&self, study: &StudyAdvice, workload: &WorkloadAdvice, detail: AdviceDetail) -> Block<'static> {
        let mut inside = vec![Block::Text(workload.holds_for())];
        for goal in self.by_goal(study, workload) {
            inside.push(Block::Text(format!("For {}:", goal.goal)));
            let open = goal.open.filter(|_| detail == AdviceDetail::Brief);
            let is_shown = |one: &SwitchAdvice| open.is_none() || !one.is_open;
            let mut items: Vec<ListItem> = goal.switches.into_iter().filter(is_shown).map(item).collect();
            items.extend(open.into_iter().chain(goal.others).map(ListItem::from));
            inside.push(Block::Items(items));
        }
        inside.extend(workload.flags.iter().map(|flag| Block::Warning(vec![flag.clone()])));
        let title = match self.studies.as_slice() {
            [_] => workload.title(),
            // A fold is found by its title alone: by a search in the page, or from one fold to the
            // next.
            _ => format!("Study {} ({}): {}", study.study, line(&study.name), workload.title()),
        };
        Block::Fold(title, inside)
    }
}

fn item(advice: SwitchAdvice) -> ListItem {
    let facts = advice.facts.into_iter().map(|fact| (fact.name, fact.words, fact.is_command));
    ListItem { sentence: advice.head, facts: facts.collect() }
}
