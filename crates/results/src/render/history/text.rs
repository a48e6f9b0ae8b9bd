//! A history as text: the sentences first, then tables.

use super::changed::ends;
use super::member::{HistoryMember, studies};
use super::{HistorySeries, StudyHistory};
use crate::data::differences::StudyDifference;
use crate::words::colour::Tone;
use crate::words::layout::Layout;
use crate::words::number::{figure, percent, plain};
use crate::words::phrases::first_of;
use crate::words::table::Table;

// The largest number of differences between environments in a page that is not wide.
const TOLD: usize = 3;

impl StudyHistory {
    /// The history for people.
    #[must_use]
    pub fn text(&self, layout: Layout) -> String {
        let mut text = self.head();
        if self.series.len() > 1 {
            text.push_str(&format!("\n{}", self.summary(layout)));
        }
        let is_shown = |series: &&HistorySeries| layout.wide || self.series.len() == 1 || series.is_changed();
        for series in self.series.iter().filter(is_shown) {
            text.push_str(&format!("\n{}\n", series.title()));
            text.extend(series.sentences().iter().map(|sentence| format!("  {sentence}.\n")));
            text.push_str(&format!("\n{}", self.table(series, layout)));
        }
        let hidden = self.series.len() - self.series.iter().filter(is_shown).count();
        if hidden > 0 {
            text.push_str(&format!("\n(--wide or --condition shows {hidden} more)\n"));
        }
        text.push_str(&crate::data::truth::line(self.truth));
        self.environments(&mut text, layout);
        for one in &self.left_out {
            let tagged = if one.label == format!("study {}", one.study) {
                String::new()
            } else {
                format!(" ({})", one.label)
            };
            text.push_str(&format!("Left out: study {}{tagged}: {}.\n", one.study, one.why));
        }
        if layout.wide {
            text.extend(self.method.iter().map(|sentence| format!("Method: {sentence}.\n")));
        }
        text.extend(self.notes.iter().map(|note| format!("Note: {note}.\n")));
        text
    }

    fn head(&self) -> String {
        let ends = match self.studies.as_slice() {
            [first, .., last] => format!(", {} to {}", first.label, last.label),
            [one] => format!(", {}", one.label),
            [] => String::new(),
        };
        let order = self.ordered().trim_start_matches("studies ");
        format!("History of {}: {} {order}{ends}\n", self.name, studies(self.studies.len()))
    }

    /// A row for each series.
    fn summary(&self, layout: Layout) -> String {
        let mut table =
            Table::new(&["condition", "metric", "studies", "newest", "diff. %", "newest is", "changes"])
                .named(0)
                .optional(&[2, 1, 3]);
        for series in &self.series {
            let newest = series.newest.as_ref();
            let value = series.points.last().map_or_else(String::new, |point| {
                format!("{} {}", figure(point.mean), plain(&series.unit)).trim_end().to_owned()
            });
            let relative = newest.and_then(|newest| newest.expected.relative);
            let verdict =
                newest.map_or("-", |newest| newest.quality.unwrap_or(newest.expected.verdict.as_str()));
            let changes = if series.too_few.is_some() {
                "too few".to_owned()
            } else {
                series.changes.len().to_string()
            };
            table.row(&[
                &series.condition,
                &series.metric,
                &series.points.len().to_string(),
                &value,
                &relative.map_or_else(|| "-".to_owned(), |one| stats::signed(percent(one))),
                verdict,
                &changes,
            ]);
            table.paint(5, newest.map(|newest| Tone::from_verdict(newest.expected.verdict, series.better)));
        }
        table.fit(layout)
    }

    /// A row for each study of a series.
    fn table(&self, series: &HistorySeries, layout: Layout) -> String {
        let (_, unit) = series.quantity();
        let value = if unit.is_empty() { "value" } else { unit };
        let interval = format!("{} % interval", stats::confidence(series.confidence()));
        let mut table = Table::new(&[
            "study",
            "tag",
            "started (UTC)",
            value,
            &interval,
            "level",
            "change",
            "environment",
        ])
        .optional(&[2, 7, 4]);
        let levels: Vec<(usize, f64, String)> = series.levels().collect();
        for (place, point) in series.points.iter().enumerate() {
            let level = levels.iter().rfind(|(first, ..)| *first <= place);
            let begins = level.filter(|(first, ..)| *first == place);
            let change = begins.map_or("", |(_, _, change)| change.split(',').next().unwrap_or_default());
            let member = &self.studies[point.place];
            let tag = if member.label.starts_with("study ") { "" } else { &member.label };
            let mark = if self.marks(series, place).is_empty() { "" } else { "differs" };
            table.row(&[
                &point.study.to_string(),
                tag,
                &member.started,
                &figure(point.mean),
                &point.interval.map_or_else(|| "-".to_owned(), ends),
                &begins.map_or_else(String::new, |(_, mean, _)| figure(*mean)),
                change,
                mark,
            ]);
        }
        table.fit(layout)
    }

    /// Writes the differences between each study and the one before it.
    fn environments(&self, text: &mut String, layout: Layout) {
        let differing: Vec<&HistoryMember> =
            self.studies.iter().filter(|member| !member.differs.is_empty()).collect();
        if differing.is_empty() {
            text.push_str("Environments: nothing that is recorded of them differs.\n");
            return;
        }
        text.push_str("Environments that differ from those of the study before, which may be the cause:\n");
        for member in differing {
            let value =
                |values: &[String]| if values.is_empty() { "-".to_owned() } else { values.join(" / ") };
            let said = |one: &StudyDifference| {
                format!("{} ({} → {})", one.what, value(&one.baseline), value(&one.study))
            };
            let all: Vec<String> = member.differs.iter().map(said).collect();
            let most = if layout.wide { all.len() } else { TOLD };
            text.push_str(&format!("  {}: {}\n", member.label, first_of(&all, most)));
        }
    }
}
