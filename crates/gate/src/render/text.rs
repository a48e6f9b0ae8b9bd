//! The page for people.

use report::{Layout, Table};

use crate::bound::Bound;
use crate::check::{Check, Outcome};
use crate::gate::Gate;
use crate::sentence;

impl Gate {
    /// What the gate came to, for people.
    #[must_use]
    pub fn text(&self, layout: Layout) -> String {
        let mut text = format!("Gate: {}\n{}\n", self.outcome.as_str(), sentence::subject(self));
        text.push_str(&format!("{}\n", sentence::counts(self)));
        for bound in self.bounds() {
            let own: Vec<&Check> = self.checks.iter().filter(|check| check.bound == bound).collect();
            text.push_str(&format!("\nfails if {bound}\n{}", table(&own).fit(layout)));
        }
        let mut open: Vec<&Check> = self.checks.iter().filter(|check| is_told(check)).collect();
        open.sort_by_key(|check| check.outcome);
        if !open.is_empty() {
            text.push('\n');
        }
        for check in open {
            let outcome = check.outcome.as_str();
            let (condition, key) = (&check.condition, check.bound.metric.key);
            text.push_str(&format!("{outcome}: {condition}, {key}: {}.\n", sentence::of_check(check)));
        }
        text.push('\n');
        let told = [
            ("Incomplete", sentence::of_lacks(self)),
            ("Unused", self.unused.iter().map(sentence::of_unused).collect()),
            ("Note", sentence::of_differences(self).into_iter().chain(self.notes.iter().cloned()).collect()),
            ("Method", self.method.clone()),
        ];
        for (head, sentences) in told {
            text.extend(sentences.iter().map(|sentence| format!("{head}: {sentence}.\n")));
        }
        text
    }

    /// The bounds of the gate, each once, in the order of the checks.
    pub(super) fn bounds(&self) -> Vec<Bound> {
        let mut bounds: Vec<Bound> = self.checks.iter().map(|check| check.bound).collect();
        bounds.dedup();
        bounds
    }
}

/// Whether a check has a sentence of its own.
pub(super) fn is_told(check: &Check) -> bool {
    check.outcome != Outcome::Pass || check.acknowledged.is_some()
}

fn table(checks: &[&Check]) -> Table {
    let mut table =
        Table::new(&["condition", "difference", "interval", "boots", "outcome"]).named(0).optional(&[3, 2]);
    for check in checks {
        let [difference, interval, boots] = cells(check);
        table.row(&[&check.condition, &difference, &interval, &boots, &outcome(check)]);
    }
    table
}

/// Difference, interval and boots.
pub(super) fn cells(check: &Check) -> [String; 3] {
    let bound = check.judged_by();
    let none = || "-".to_owned();
    [
        check.difference.map_or_else(none, |difference| sentence::size(&bound, difference)),
        check.interval.map_or_else(none, |ends| sentence::interval(&bound, ends)),
        check.boots.map_or_else(none, |boots| boots.to_string()),
    ]
}

/// `pass (acknowledged)`.
pub(super) fn outcome(check: &Check) -> String {
    let known = if check.acknowledged.is_some() { " (acknowledged)" } else { "" };
    format!("{}{known}", check.outcome.as_str())
}
