//! The table of a page: one row for each condition, which fits a terminal of 80 columns.

use stats::{Comparison, Verdict};
use study::Name;
use study::metric::Better;

use crate::data::limits::ConditionLimit;
use crate::render::comparison_row::{ComparisonRow, size};
use crate::render::titled_table::TitledTable;
use crate::words::colour::Tone;
use crate::words::layout::Layout;
use crate::words::number::{figure, plain};
use crate::words::phrases::{before, title};
use crate::words::table::Table;

/// The cells beside a condition's value.
pub(crate) enum ComparisonState<'a> {
    /// The condition is not compared.
    Nothing,
    /// The condition is the baseline.
    Baseline,
    /// The condition is compared, but was not measured.
    Missing,
    /// The condition is compared.
    Row(&'a ComparisonRow),
}

/// One condition, or one pair.
struct SummaryLine<'a> {
    name: Name,
    value: Option<f64>,
    beside: ComparisonState<'a>,
    limit: Option<&'a ConditionLimit>,
}

/// A table of conditions that have a metric in common.
pub(crate) struct SummaryTable<'a> {
    /// The common beginning of the names: the workload.
    workload: &'a str,
    metric: &'a str,
    unit: &'a str,
    /// The better direction of the metric; `None` if unknown.
    better: Option<Better>,
    lines: Vec<SummaryLine<'a>>,
}

// Up to this number of lines a table below an overview has them all.
const FEW: usize = 16;
// The positions of the columns that a narrow terminal leaves out.
const VALUE: usize = 1;
const INTERVAL: usize = 3;
const LIMIT: usize = 5;
// The heading of the limits.
const LIMITED: &str = "limited by";
// The meaning of the short names of limits.
const SIDES: &str = "; tx: transmitter, rx: receiver";
// The column of the verdict.
const VERDICT: usize = 4;

impl<'a> SummaryTable<'a> {
    pub(crate) fn new(workload: &'a str, metric: &'a str, unit: &'a str, better: Option<Better>) -> Self {
        Self { workload, metric, unit, better, lines: Vec::new() }
    }

    /// Adds a condition, or a pair.
    pub(crate) fn add(
        &mut self,
        name: &Name,
        value: Option<f64>,
        beside: ComparisonState<'a>,
        limit: Option<&'a ConditionLimit>,
    ) {
        self.lines.push(SummaryLine { name: name.clone(), value, beside, limit });
    }

    /// Removes compared conditions without a proven difference if there are more than [`FEW`]
    /// lines; returns their number.
    pub(crate) fn shorten(&mut self) -> usize {
        let all = self.lines.len();
        if all > FEW {
            self.lines.retain(|line| match line.beside {
                ComparisonState::Row(row) => row.comparison.verdict != Verdict::NoDifferenceProven,
                ComparisonState::Nothing | ComparisonState::Baseline | ComparisonState::Missing => true,
            });
        }
        all - self.lines.len()
    }

    /// The table below its title.
    pub(crate) fn text(&self, layout: Layout) -> String {
        let table = self.table("diff. %");
        // Only in tables that show the limit.
        let is_short = self.lines.iter().any(|line| line.limit.is_some_and(ConditionLimit::is_short));
        let limit = table.heads().iter().position(|head| head == LIMITED);
        let is_shown = limit.is_some_and(|place| table.columns(layout).contains(&place));
        let sides = if is_short && is_shown { SIDES } else { "" };
        format!("{}{sides}\n{}", self.title(), table.fit(layout))
    }

    /// The table under its title, for a page that has room for words.
    pub(crate) fn exhibit(&self) -> TitledTable {
        let better = match self.better {
            Some(Better::Higher) => ", higher is better",
            Some(Better::Lower) => ", lower is better",
            Some(Better::Neither) | None => "",
        };
        let unit = plain(self.unit);
        let unit = if unit.is_empty() { String::new() } else { format!(" in {unit}") };
        let sides = if self.lines.iter().any(|line| line.limit.is_some_and(ConditionLimit::is_short)) {
            SIDES
        } else {
            ""
        };
        let (place, level) = (before(self.workload), self.level());
        // Two tables of a metric differ in what they compare with.
        let baselines = || self.lines.iter().filter(|line| matches!(line.beside, ComparisonState::Baseline));
        let against = match (baselines().next(), baselines().count()) {
            (Some(one), 1) => format!("; against {}", one.name.as_str()),
            _ => String::new(),
        };
        let title = format!("{place}{}{unit}{better}{against}{level}{sides}", title(self.metric));
        TitledTable { title, table: self.table("difference, %"), notes: Vec::new() }
    }

    /// The table; `percent` is the heading of differences in %.
    fn table(&self, percent: &'static str) -> Table {
        // Some differences may be in the metric's unit, or ratios to the baseline.
        let is_percent = self.lines.iter().all(|line| match line.beside {
            ComparisonState::Row(row) => row.comparison.relative.is_some(),
            _ => true,
        });
        let figures: Vec<[String; 5]> =
            self.lines.iter().map(|line| line.cells(self.unit, is_percent)).collect();
        let difference = if is_percent { percent } else { "difference" };
        let mut heads = [plain(self.unit), difference, "interval", "verdict", LIMITED];
        if heads[0].is_empty() {
            heads[0] = "value";
        }
        let is_empty = |column: &usize| figures.iter().all(|cells| cells[*column].is_empty());
        let shown: Vec<usize> = (0..heads.len()).filter(|column| !is_empty(column)).collect();
        let place = |column: usize| shown.iter().position(|own| own + 1 == column).map(|place| place + 1);
        let optional: Vec<usize> = [LIMIT, INTERVAL, VALUE].into_iter().filter_map(place).collect();
        let head: Vec<&str> =
            ["condition"].into_iter().chain(shown.iter().map(|column| heads[*column])).collect();
        let mut table = Table::new(&head).named(0).optional(&optional);
        for (line, cells) in self.lines.iter().zip(&figures) {
            let own = shown.iter().map(|column| cells[*column].as_str());
            table.row(&[line.name.as_str()].into_iter().chain(own).collect::<Vec<_>>());
            table.is_of(&line.name);
            if let Some(place) = place(VERDICT) {
                table.paint(place, line.tone(self.better));
            }
        }
        table
    }

    /// `tcp_stream: throughput; 95 % intervals`.
    fn title(&self) -> String {
        format!("{}{}{}", before(self.workload), title(self.metric), self.level())
    }

    /// `; 95 % intervals`; empty without any.
    fn level(&self) -> String {
        let level = self.lines.iter().find_map(|line| match line.beside {
            ComparisonState::Row(ComparisonRow {
                comparison: Comparison { interval: Some(_), level, .. },
                ..
            }) => Some(*level),
            _ => None,
        });
        level.map_or_else(String::new, |level| format!("; {} % intervals", stats::confidence(level)))
    }
}

impl SummaryLine<'_> {
    /// Value, difference, interval, verdict, limit. The interval has the unit of the difference; it
    /// is in % if all are.
    fn cells(&self, unit: &str, is_percent: bool) -> [String; 5] {
        let value = self.value.map_or_else(|| "-".to_owned(), figure);
        let limit = self.limit.map_or_else(String::new, ConditionLimit::short);
        let [difference, interval, verdict] = match self.beside {
            ComparisonState::Nothing => [String::new(), String::new(), String::new()],
            ComparisonState::Baseline => ["-".to_owned(), String::new(), "baseline".to_owned()],
            ComparisonState::Missing => ["-".to_owned(), String::new(), "not measured".to_owned()],
            ComparisonState::Row(row) => {
                let mut size = size(&row.comparison, unit);
                let mut difference = std::mem::take(&mut size.difference);
                if row.comparison.relative.is_some() && !is_percent {
                    difference.push_str(" %");
                }
                // The title and remarks explain an interval of ratios.
                [difference, size.ends, short(row).to_owned()]
            }
        };
        [value, difference, interval, verdict, limit]
    }

    fn tone(&self, better: Option<Better>) -> Option<Tone> {
        let ComparisonState::Row(row) = self.beside else { return None };
        Some(tone(row, better))
    }
}

/// The verdict in a word or two.
pub(crate) fn short(row: &ComparisonRow) -> &'static str {
    match row.comparison.verdict {
        Verdict::NoDifferenceProven if row.comparison.is_equal() => "equal",
        Verdict::NoDifferenceProven => "not proven",
        verdict => row.quality.unwrap_or(verdict.as_str()),
    }
}

/// The meaning of a row's verdict.
pub(crate) fn tone(row: &ComparisonRow, better: Option<Better>) -> Tone {
    tone_of(row.comparison.verdict, better)
}

/// The meaning of a verdict.
pub(crate) fn tone_of(verdict: Verdict, better: Option<Better>) -> Tone {
    match (verdict, better) {
        (Verdict::Higher, Some(Better::Higher)) | (Verdict::Lower, Some(Better::Lower)) => Tone::Better,
        (Verdict::Higher, Some(Better::Lower)) | (Verdict::Lower, Some(Better::Higher)) => Tone::Worse,
        (Verdict::Higher | Verdict::Lower | Verdict::Equivalent, _) => Tone::Proven,
        (Verdict::NoDifferenceProven | Verdict::Inconclusive, _) => Tone::Open,
    }
}
