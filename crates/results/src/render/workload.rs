//! The tables of one workload's conditions on the page of a study.

use study::Kind;

use crate::data::truth;
use crate::render::column::{columns, counted as columns_of_counts};
use crate::render::comparison_row::size;
use crate::render::group::ComparisonGroup;
use crate::render::overview::is_needed;
use crate::render::results::{ConditionResult, Results};
use crate::render::summary_table::{ComparisonState, SummaryTable, tone};
use crate::render::titled_table::TitledTable;
use crate::words::layout::Layout;
use crate::words::number::counted;
use crate::words::table::Table;

impl Results {
    /// A table for each metric in which the workload is compared, one row for each condition; below
    /// an overview only for the first metric, and of many conditions only those that differ.
    /// Without a comparison: its main metric.
    pub(super) fn summaries(&self, workload: &str, layout: Layout) -> String {
        let truth = truth::line(self.truth);
        let is_below = is_needed(&self.comparisons);
        let mut text = String::new();
        for mut table in self.tables_of(workload, !is_below) {
            let others = if is_below { table.shorten() } else { 0 };
            text.push_str(&format!("\n{}", table.text(layout)));
            if others > 0 {
                text.push_str(&format!("(and {}: no difference proven)\n", counted(others, "condition")));
            }
            text.push_str(&truth);
        }
        text
    }

    /// The tables of conditions of all workloads, for each metric in which they are compared.
    #[must_use]
    pub fn tables(&self) -> Vec<TitledTable> {
        let workloads = self.workloads();
        let tables = workloads.iter().flat_map(|workload| self.tables_of(workload, true));
        let noted = |table: SummaryTable<'_>| TitledTable {
            notes: self.truth.iter().map(|truth| (*truth).to_owned()).collect(),
            ..table.exhibit()
        };
        if self.has_measurements() { tables.map(noted).collect() } else { Vec::new() }
    }

    /// The tables of a workload's conditions: for all metrics, or only for the first.
    fn tables_of<'a>(&'a self, workload: &'a str, is_whole: bool) -> Vec<SummaryTable<'a>> {
        let groups: Vec<&ComparisonGroup> =
            self.comparisons.iter().filter(|group| group.workload == workload).collect();
        let mut tables = side_by_side(&groups);
        if !is_whole {
            tables.retain(|table| table[0].metric == groups[0].metric);
        }
        let mut summaries: Vec<SummaryTable<'a>> = tables.iter().map(|table| self.compared(table)).collect();
        let alone: Vec<&ConditionResult> = self
            .conditions
            .iter()
            .filter(|one| one.workload == workload && !groups.iter().any(|group| group.has(&one.label)))
            .collect();
        if let Some(first) = alone.first() {
            summaries.push(self.uncompared(workload, first.kind, &alone));
        }
        summaries
    }

    /// The workloads of the conditions, each once.
    pub(super) fn workloads(&self) -> Vec<&str> {
        let mut workloads: Vec<&str> = Vec::new();
        for condition in &self.conditions {
            if !workloads.contains(&condition.workload.as_str()) {
                workloads.push(&condition.workload);
            }
        }
        workloads
    }

    /// A table of comparisons that share a metric.
    fn compared<'a>(&'a self, groups: &[&'a ComparisonGroup]) -> SummaryTable<'a> {
        let first = groups[0];
        let mut summary = SummaryTable::new(&first.workload, &first.metric, &first.unit, first.better);
        for group in groups {
            for estimate in &group.conditions {
                let Some(own) = self.conditions.get(estimate.estimate.condition) else { continue };
                let value = own.means.get(&group.metric).copied();
                summary.add(&own.label, value, group.beside(&own.label), own.limited_by.as_ref());
            }
        }
        summary
    }

    /// A table of conditions without a comparison, in the main metric of their traffic.
    fn uncompared<'a>(
        &'a self,
        workload: &'a str,
        kind: Kind,
        conditions: &[&'a ConditionResult],
    ) -> SummaryTable<'a> {
        let primary = kind.main_metric(self.stored.plan.exact);
        let mut summary = SummaryTable::new(workload, primary.key, primary.unit, None);
        for own in conditions {
            let value = own.means.get(primary.key).copied();
            let beside = if own.runs == 0 { ComparisonState::Missing } else { ComparisonState::Nothing };
            summary.add(&own.label, value, beside, own.limited_by.as_ref());
        }
        summary
    }

    /// One workload's conditions with every column. Beside each is the study's first comparison, or
    /// another of its metric that has the condition.
    pub(super) fn table(&self, workload: &str, layout: Layout) -> String {
        let members: Vec<&ConditionResult> =
            self.conditions.iter().filter(|c| c.workload == workload).collect();
        let Some(kind) = members.first().map(|condition| condition.kind) else { return String::new() };
        let groups: Vec<&ComparisonGroup> =
            self.comparisons.iter().filter(|group| group.workload == workload).collect();
        let columns = if self.stored.plan.exact { columns_of_counts(kind) } else { columns(kind) };
        let confidence = groups.first().map_or(self.confidence, |group| group.level);
        let interval = format!("{} % interval", stats::confidence(confidence));
        let mut head = vec![workload];
        head.extend(columns.iter().map(|column| column.head));
        let difference = groups.first().map_or_else(String::new, |group| {
            if group.metric == kind.primary_metric().key {
                "difference".to_owned()
            } else {
                format!("difference in {}", group.metric)
            }
        });
        let mut under = vec![""];
        under.extend(columns.iter().map(|column| column.unit));
        if !groups.is_empty() {
            head.extend([difference.as_str(), interval.as_str(), "verdict"]);
            under.extend(["%", "", ""]);
        }
        let mut table = Table::new(&head).units(&under);
        for condition in members {
            let mut cells = vec![condition.label.to_string()];
            cells.extend(columns.iter().map(|column| column.cell(&condition.means)));
            cells.extend(
                comparing(&groups, &condition.label)
                    .map_or_else(Vec::new, |group| verdict(group, &condition.label)),
            );
            table.row(&cells.iter().map(String::as_str).collect::<Vec<_>>());
            let own = |group: &ComparisonGroup| {
                let row = group.rows.iter().find(|row| row.label == *condition.label)?;
                Some(tone(row, group.better))
            };
            table.paint(cells.len() - 1, comparing(&groups, &condition.label).and_then(own));
        }
        table.fit(layout) + &truth::line(self.truth)
    }
}

/// The comparisons that share a table: one metric and one confidence, and no condition twice.
fn side_by_side<'g>(groups: &[&'g ComparisonGroup]) -> Vec<Vec<&'g ComparisonGroup>> {
    let mut tables: Vec<Vec<&ComparisonGroup>> = Vec::new();
    for group in groups {
        let is_apart = |other: &&ComparisonGroup| {
            (&other.metric, other.level) == (&group.metric, group.level)
                && !group.conditions.iter().any(|one| other.has(&one.label))
        };
        match tables.iter_mut().find(|table| table.iter().all(is_apart)) {
            Some(table) => table.push(group),
            None => tables.push(vec![group]),
        }
    }
    tables
}

/// The comparison beside a condition.
fn comparing<'g>(groups: &[&'g ComparisonGroup], label: &str) -> Option<&'g ComparisonGroup> {
    let first = *groups.first()?;
    let of_its_columns =
        |group: &&ComparisonGroup| group.metric == first.metric && group.level == first.level;
    let of_condition = |group: &&ComparisonGroup| group.has(label);
    Some(groups.iter().copied().filter(of_its_columns).find(of_condition).unwrap_or(first))
}

fn verdict(group: &ComparisonGroup, label: &str) -> Vec<String> {
    if group.baseline.as_deref() == Some(label) {
        return vec!["-".to_owned(), String::new(), "baseline".to_owned()];
    }
    let Some(row) = group.rows.iter().find(|row| row.label == label) else {
        return vec!["-".to_owned(), String::new(), "not measured".to_owned()];
    };
    let comparison = &row.comparison;
    let size = size(comparison, &group.unit);
    let interval = size.interval();
    vec![size.difference, interval, row.verdict()]
}
