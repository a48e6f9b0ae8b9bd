//! The decision of a gate as blocks.

use crate::document::Block;
use crate::{Table, TitledTable};

use crate::gate::check::{GateCheck, GateOutcome};
use crate::gate::decision::Gate;
use crate::gate::sentences;

impl Gate {
    /// The outcome, a table for each bound, a sentence for each check that does not plainly pass,
    /// and how it was judged.
    #[must_use]
    pub fn blocks(&self) -> Vec<Block<'static>> {
        let mut blocks = vec![
            Block::Heading(format!("Gate: {}", self.outcome.as_str())),
            Block::Text(sentences::subject(self)),
            Block::Text(sentences::counts(self)),
        ];
        for checks in self.checks.chunk_by(|one, next| one.bound == next.bound) {
            let title = format!("fails if {}", checks[0].bound);
            blocks.push(Block::Table(TitledTable { title, table: table(checks), notes: Vec::new() }));
        }
        let has_sentence =
            |check: &&GateCheck| check.outcome != GateOutcome::Pass || check.acknowledged.is_some();
        let mut checks: Vec<&GateCheck> = self.checks.iter().filter(has_sentence).collect();
        checks.sort_by_key(|check| check.outcome);
        let sentence = |check: &GateCheck| {
            let (condition, key) = (&check.condition, check.bound.metric.key);
            format!("{}: {condition}, {key}: {}.", check.outcome.as_str(), sentences::check_sentence(check))
        };
        let notes = sentences::difference_sentence(self).into_iter().chain(self.notes.iter().cloned());
        let method = [
            ("Incomplete", sentences::lack_sentences(self)),
            ("Unused", self.unused.iter().map(sentences::unused_sentence).collect()),
            ("Note", notes.collect()),
            ("Method", self.method.clone()),
        ];
        let method = method.into_iter().flat_map(|(head, all)| all.into_iter().map(move |one| (head, one)));
        let lists = [
            checks.into_iter().map(sentence).collect::<Vec<_>>(),
            method.map(|(head, one)| format!("{head}: {one}.")).collect(),
        ];
        blocks.extend(lists.into_iter().filter(|list| !list.is_empty()).map(Block::List));
        blocks
    }
}

fn table(checks: &[GateCheck]) -> Table {
    let mut table =
        Table::new(&["condition", "difference", "interval", "boots", "outcome"]).named(0).optional(&[3, 2]);
    for check in checks {
        let bound = check.judged_by();
        let none = || "-".to_owned();
        let known = if check.acknowledged.is_some() { " (acknowledged)" } else { "" };
        table.row(&[
            &check.condition,
            &check.difference.map_or_else(none, |difference| sentences::size(&bound, difference)),
            &check.interval.map_or_else(none, |ends| sentences::interval(&bound, ends)),
            &check.boots.map_or_else(none, |boots| boots.to_string()),
            &format!("{}{known}", check.outcome.as_str()),
        ]);
    }
    table
}
