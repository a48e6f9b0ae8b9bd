//! The page that a study ends with: one table for each workload, the answer, where the results lie, what to try next.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Serialize;
use store::StoredStudy;
use study::{Asked, Kind, PlanDocument};

use crate::data::acted::Acted;
use crate::data::congestion_control;
use crate::data::decided::stopping;
use crate::data::disturbed::Disturbed;
use crate::data::error::Error;
use crate::data::exact;
use crate::data::limits::{self, LimitView};
use crate::data::means::boot_means;
use crate::data::metric::{asked_of, plan_of};
use crate::data::missing::Missing;
use crate::data::notes::notes;
use crate::data::stored::subjects;
use crate::data::target::{ComparisonRequest, Target, own_targets};
use crate::data::truth::{self, truth};
use crate::render::answer::answer;
use crate::render::column::{columns, counted as columns_of_counts};
use crate::render::comparison::groups;
use crate::render::copies;
use crate::render::credit::Credits;
use crate::render::explain::explain;
use crate::render::group::Group;
use crate::render::remarks::once;
use crate::render::row::size;
use crate::render::summary::{Beside, Summary, style};
use crate::words::layout::Layout;
use crate::words::number::{counted, figure};
use crate::words::phrases::list;
use crate::words::table::Table;

/// So many things to try next are told on the first screen.
const ADVICE: usize = 3;

/// What a stored study found.
#[derive(Debug, Serialize)]
pub struct Results {
    study: i64,
    name: String,
    question: String,
    scenario: String,
    /// The congestion control that the runs' TCP had; several where conditions differ, none without TCP.
    congestion_control: Vec<String>,
    status: String,
    confidence: f64,
    pub(crate) conditions: Vec<Condition>,
    comparisons: Vec<Group>,
    /// What each offload of the study's design brings.
    #[serde(skip_serializing_if = "Option::is_none")]
    credit: Option<Credits>,
    /// Which kind of truth the figures are, if not time on a machine.
    truth: Option<&'static str>,
    /// What the data answer, in one sentence for each comparison.
    answer: Vec<String>,
    /// Where a study that may stop early stands.
    stopping: Option<String>,
    /// What the testbed could not give.
    notes: Vec<String>,
    /// Planned runs without a measurement.
    #[serde(skip_serializing_if = "Option::is_none")]
    missing: Option<Missing>,
    failed_runs: u32,
    /// Runs that something disturbed.
    invalid_runs: Disturbed,
    #[serde(skip)]
    stored: StoredStudy,
    #[serde(skip)]
    pub(crate) plan: PlanDocument,
}

/// One condition's figures.
#[derive(Debug, Serialize)]
pub(crate) struct Condition {
    pub(crate) label: String,
    short_name: String,
    workload: String,
    #[serde(skip)]
    kind: Kind,
    boots: usize,
    runs: usize,
    /// What held its runs back; none if that was not told.
    limited_by: Option<LimitView>,
    /// The evidence that offloads acted.
    pub(crate) acted: Acted,
    /// Means of boot means of every metric, in the unit of the vocabulary; of a metric that is compared the model's estimate of
    /// it, so that one condition has one figure.
    means: BTreeMap<String, f64>,
}

impl Results {
    /// Works out what a stored study found.
    ///
    /// # Errors
    /// [`Error::Plan`] when the stored plan cannot be read; [`Error::Stats`] for data that no statistics can take.
    pub fn new(stored: &StoredStudy) -> Result<Self, Error> {
        let plan = plan_of(stored)?;
        let mut conditions = conditions(stored, &plan);
        // A study that was interrupted may lack a baseline: the table shows what there is.
        let request = ComparisonRequest::default();
        let has_runs =
            |target: &Target| subjects(stored, &plan, std::slice::from_ref(target), &request).is_ok();
        let targets: Vec<Target> = own_targets(&plan).into_iter().filter(has_runs).collect();
        let mut comparisons = groups(&mut subjects(stored, &plan, &targets, &request)?)?;
        explain(&mut comparisons, stored);
        let mut notes = notes(stored, &plan);
        notes.extend(estimates(&mut conditions, &comparisons));
        let Asked { question, protocol } = asked_of(stored, &plan)?;
        Ok(Self {
            study: stored.row.id.0,
            name: stored.row.name.clone(),
            question,
            scenario: stored.row.scenario.clone(),
            congestion_control: congestion_control::names(stored, &plan),
            status: stored.row.status.to_string(),
            confidence: request.confidence,
            answer: comparisons.iter().map(answer).collect(),
            credit: Credits::of(stored, &plan, None, request.confidence),
            stopping: stopping(stored, &plan)?.or_else(|| Some(plan.plan.looks_dropped?.to_string())),
            missing: Missing::of(stored, &plan, &protocol),
            notes,
            truth: truth(stored, &plan),
            failed_runs: stored.row.failed_runs,
            invalid_runs: Disturbed::of(stored, &plan.plan.conditions),
            conditions,
            comparisons,
            stored: stored.clone(),
            plan,
        })
    }

    /// The stored study behind the results.
    pub(crate) fn stored(&self) -> &StoredStudy {
        &self.stored
    }

    /// The page for people. `db` is where the study lies.
    #[must_use]
    pub fn text(&self, db: &Path, layout: Layout) -> String {
        let mut text = format!("{}: {}\n", self.name, self.question);
        let compared = self.comparisons.iter().flat_map(|group| &group.unlike);
        text.push_str(&exact::head(compared.chain(self.credit.iter().flat_map(Credits::unlike))));
        text.push_str(&self.missing.as_ref().map_or_else(String::new, Missing::text));
        self.answers(&mut text);
        if self.has_measurements() {
            self.measured(&mut text, layout);
        }
        text.push('\n');
        for sentence in copies::both_ways(&self.comparisons, &self.plan) {
            text.push_str(&format!("Copies: {sentence}.\n"));
        }
        if layout.wide {
            self.spread(&mut text);
        }
        self.remarks(&mut text);
        let db = db.display().to_string();
        text.push_str(&format!("Results: study {} in {}\n", self.study, text::line(&db)));
        text.push_str("Next:\n");
        for advice in self.advice(layout) {
            text.push_str(&format!("  {advice}\n"));
        }
        text
    }

    /// What the study came for.
    fn answers(&self, text: &mut String) {
        for (answer, group) in self.answer.iter().zip(&self.comparisons) {
            text.push_str(&format!("Answer: {answer}\n"));
            for (whose, remark) in once(group.rows.iter().map(|row| (&*row.label, &*row.remarks))) {
                text.push_str(&format!("  {whose}: {remark}.\n"));
            }
            let whys: Vec<(&str, String)> =
                group.rows.iter().filter_map(|row| Some((&*row.label, row.why()?))).collect();
            // Conditions often have one reason.
            for same in whys.chunk_by(|(_, one), (_, other)| one == other) {
                let labels: Vec<&str> = same.iter().map(|(label, _)| *label).collect();
                text.push_str(&format!("  why {}: {}\n", list(&labels), same[0].1));
            }
        }
    }

    /// How far boots and runs spread.
    fn spread(&self, text: &mut String) {
        for (place, group) in self.comparisons.iter().enumerate() {
            // Several comparisons in one metric rest on the same spread.
            let again = self.comparisons[..place]
                .iter()
                .any(|other| (&other.metric, &other.workload) == (&group.metric, &group.workload));
            if let (false, Some(spread)) = (again, group.spread_sentence()) {
                text.push_str(&format!("Spread: {spread}.\n"));
            }
        }
    }

    /// What a reader must know beside the answer.
    fn remarks(&self, text: &mut String) {
        if let Some(stopping) = &self.stopping {
            text.push_str(&format!("Looks: {stopping}.\n"));
        }
        for flag in self.conditions.iter().flat_map(|condition| condition.acted.flags(&condition.label)) {
            text.push_str(&format!("Flag: {flag}.\n"));
        }
        let flags: usize = self.comparisons.iter().map(|group| group.flags.len()).sum();
        if flags > 0 {
            let flags = counted(flags, "data-quality warning");
            text.push_str(&format!("{flags}: netassay compare {}\n", self.study));
        }
        if let Some(disturbed) = self.invalid_runs.sentence() {
            text.push_str(&format!("Disturbed: {disturbed}.\n"));
        }
        for note in self.comparisons.iter().flat_map(|group| &group.notes).chain(&self.notes) {
            text.push_str(&format!("Note: {note}\n"));
        }
    }

    /// Whether any run counts. Without one there is nothing to show in tables.
    pub(crate) fn has_measurements(&self) -> bool {
        self.stored.measurements().next().is_some()
    }

    /// What was measured: the tables of the page.
    fn measured(&self, text: &mut String, layout: Layout) {
        if layout.wide && !self.congestion_control.is_empty() {
            text.push_str(&format!("TCP's congestion control: {}\n", self.congestion_control.join(", ")));
        }
        let mut workloads: Vec<&str> = Vec::new();
        for condition in &self.conditions {
            if !workloads.contains(&condition.workload.as_str()) {
                workloads.push(&condition.workload);
            }
        }
        for workload in workloads {
            let table =
                if layout.wide { self.table(workload, layout) } else { self.summary(workload, layout) };
            text.push_str(&format!("\n{table}"));
        }
        let limits =
            limits::table(self.conditions.iter().map(|one| (one.label.as_str(), one.limited_by.as_ref())));
        if layout.wide && !limits.is_empty() {
            text.push_str(&format!("\n{limits}"));
        }
        if let Some(credit) = &self.credit {
            text.push_str(&credit.text(layout));
        }
    }

    /// One workload's conditions, a row each. The metric is that of the first comparison that the study asks for.
    fn summary(&self, workload: &str, layout: Layout) -> String {
        let members = || self.conditions.iter().filter(|condition| condition.workload == workload);
        let Some(kind) = members().next().map(|condition| condition.kind) else { return String::new() };
        let groups: Vec<&Group> =
            self.comparisons.iter().filter(|group| group.workload == workload).collect();
        let counts = || study::metric::find(&format!("instructions_{}", exact::counted_unit(kind)));
        let primary = if self.plan.plan.exact { counts() } else { None }.unwrap_or(kind.primary_metric());
        let (metric, unit) =
            groups.first().map_or((primary.key, primary.unit), |group| (&group.metric, &group.unit));
        let better = groups.first().and_then(|group| group.better);
        let mut summary = Summary::new(workload, metric, unit, better);
        for condition in members() {
            let value = condition.means.get(metric).copied();
            let beside = comparing(&groups, &condition.label)
                .map_or(Beside::Nothing, |group| group.beside(&condition.label));
            summary.add(&condition.label, value, beside, condition.limited_by.as_ref());
        }
        summary.text(layout) + &truth::line(self.truth)
    }

    /// The same with every column. The comparison beside them is the first that the study asks for, or another of its metric that has the
    /// condition; others follow below.
    fn table(&self, workload: &str, layout: Layout) -> String {
        let members: Vec<&Condition> = self.conditions.iter().filter(|c| c.workload == workload).collect();
        let Some(kind) = members.first().map(|condition| condition.kind) else { return String::new() };
        let groups: Vec<&Group> =
            self.comparisons.iter().filter(|group| group.workload == workload).collect();
        let columns = if self.plan.plan.exact { columns_of_counts(kind) } else { columns(kind) };
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
        let mut table = Table::new(&head).under(&under);
        for condition in members {
            let mut cells = vec![condition.label.clone()];
            cells.extend(columns.iter().map(|column| column.cell(&condition.means)));
            cells.extend(
                comparing(&groups, &condition.label)
                    .map_or_else(Vec::new, |group| verdict(group, &condition.label)),
            );
            table.row(&cells.iter().map(String::as_str).collect::<Vec<_>>());
            let own = |group: &Group| {
                let row = group.rows.iter().find(|row| row.label == condition.label)?;
                Some(style(row, group.better))
            };
            table.paint(cells.len() - 1, comparing(&groups, &condition.label).and_then(own));
        }
        table.fit(layout) + &truth::line(self.truth)
    }

    fn advice(&self, layout: Layout) -> Vec<String> {
        let id = self.study;
        let rows = || self.comparisons.iter().flat_map(|group| &group.rows);
        let counts = self.conditions.first().map(|one| exact::counted_unit(one.kind));
        let counts = counts.filter(|_| self.plan.plan.exact).map(|per| format!("kernel_instructions_{per}"));
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
        if self.has_measurements() {
            advice.push((format!("netassay show {id} --wide"), "all figures, and proof of switches"));
            let other = counts.as_deref().unwrap_or(other);
            advice
                .push((format!("netassay compare {id} --metric {other}"), "the same runs by another metric"));
        }
        if counts.is_none() && rows().any(|row| !row.is_proven()) {
            advice.push(("netassay new mine".to_owned(), "more boots show smaller differences"));
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

/// The comparison that stands beside a condition.
fn comparing<'g>(groups: &[&'g Group], label: &str) -> Option<&'g Group> {
    let first = *groups.first()?;
    let has = |group: &&Group| {
        group.baseline.as_deref() == Some(label) || group.rows.iter().any(|row| row.label == label)
    };
    let of_its_columns = |group: &&Group| group.metric == first.metric && group.level == first.level;
    Some(groups.iter().copied().filter(of_its_columns).find(has).unwrap_or(first))
}

fn verdict(group: &Group, label: &str) -> Vec<String> {
    if group.baseline.as_deref() == Some(label) {
        return vec!["-".to_owned(), String::new(), "baseline".to_owned()];
    }
    let Some(row) = group.rows.iter().find(|row| row.label == label) else {
        return vec!["-".to_owned(), String::new(), "not measured".to_owned()];
    };
    let comparison = &row.comparison;
    let [difference, interval] = size(comparison, &group.unit);
    vec![difference, interval, row.verdict()]
}

/// Gives conditions the means that their comparisons rest on. Where these are not the means of boot means, because boots lack
/// conditions, returns a note of both.
fn estimates(conditions: &mut [Condition], groups: &[Group]) -> Vec<String> {
    let mut notes = Vec::new();
    for group in groups {
        let mut differ = Vec::new();
        for own in &group.conditions {
            let Some(condition) = conditions.get_mut(own.estimate.condition) else { continue };
            let Some(mean) = condition.means.get_mut(&group.metric) else { continue };
            let (plain, shown) = (figure(*mean), figure(own.estimate.mean));
            if plain != shown {
                differ.push(format!("{} {shown} beside {plain}", own.label));
            }
            *mean = own.estimate.mean;
        }
        if !differ.is_empty() {
            notes.push(format!(
                "boots lack conditions, so means of {} are what they would be over all boots, and are not the means of boot means: {}",
                group.metric,
                differ.join(", ")
            ));
        }
    }
    notes
}

fn conditions(stored: &StoredStudy, plan: &PlanDocument) -> Vec<Condition> {
    let planned = plan.plan.conditions.iter().enumerate();
    planned
        .map(|(index, condition)| {
            let means = boot_means(stored, index);
            let boots: std::collections::BTreeSet<u32> =
                stored.measurements().filter(|run| run.condition == index).map(|run| run.boot).collect();
            Condition {
                label: condition.label.clone(),
                short_name: condition.slug.clone(),
                workload: condition.workload.name.clone(),
                kind: condition.workload.traffic.kind,
                boots: boots.len(),
                runs: stored.measurements().filter(|run| run.condition == index).count(),
                limited_by: LimitView::of(stored, index),
                acted: Acted::of(condition, plan.effective.get(index), &means),
                means,
            }
        })
        .collect()
}
