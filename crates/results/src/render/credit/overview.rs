//! The credit of many combinations at a glance: a line for each.

use super::gain::{gain, share};
use super::text::from_orders;
use super::{Credit, Credits};
use crate::data::truth;
use crate::words::layout::Layout;
use crate::words::number::counted;
use crate::words::phrases::metric_words;

// Up to this number of combinations each has a table and sentences of its own.
const FEW: usize = 4;

impl Credits {
    /// Are there too many combinations for a table each?
    pub(super) fn needs_overview(&self) -> bool {
        self.by_combination().count() > FEW
    }

    /// The gain of all offloads together and of each by itself, as far as it is proven, in the
    /// first metric: the rate.
    pub(super) fn overview(&self, layout: Layout) -> String {
        let firsts: Vec<&Credit> = self.by_combination().map(|group| &group[0]).collect();
        let mut text = format!("\nCredit ({}), what is proven\n", self.title());
        for credit in &firsts {
            let orders = from_orders(std::slice::from_ref(credit));
            let place = format!("{} {}", credit.workload, credit.at);
            let line = format!("{}{orders}: {}\n", place.trim_end(), credit.proven());
            text.push_str(&layout.hang(&line, 2));
        }
        let base = match firsts.iter().find_map(|credit| credit.base()) {
            Some("off") => "of all off",
            Some(_) => "of the step before, or of the state that is named",
            None => "",
        };
        let level = stats::confidence(firsts[0].level);
        let metric = metric_words(firsts[0].metric);
        let note = format!(
            "({metric}, in % {base}; each holds with {level} % confidence by itself; --wide shows all, with intervals and CPU)\n"
        );
        text.push_str(&layout.hang(&note, 2));
        text.push_str(&truth::line(self.truth));
        for dropped in &self.dropped {
            text.push_str(
                &layout.hang(&format!("Not in the design: {}: {}\n", dropped.label, dropped.why), 2),
            );
        }
        if !self.unreachable.is_empty() {
            let line = format!(
                "Left out: {} that cannot be reached, because some switches depend on others (--wide lists them)\n",
                counted(self.unreachable.len(), "state")
            );
            text.push_str(&layout.hang(&line, 2));
        }
        text
    }
}

impl Credit {
    /// `all on +25.3 % over off; tso +17.1 %, gro -45.8 %`.
    fn proven(&self) -> String {
        if let Some(limit) = &self.saturated {
            return format!("saturated at the limit of {limit}");
        }
        let whole = self.whole.as_ref().filter(|whole| self.is_proven(&whole.gain));
        let whole = whole.map(|whole| format!("all on {}", gain(&whole.gain, self.unit, "off")));
        let mut parts: Vec<_> = self.parts.iter().filter(|part| self.is_proven(&part.change)).collect();
        parts.sort_by(|one, other| other.change.value.abs().total_cmp(&one.change.value.abs()));
        let parts: Vec<String> =
            parts.iter().map(|part| format!("{} {}", part.name, share(&part.change, self.unit))).collect();
        let parts = (!parts.is_empty()).then(|| parts.join(", "));
        let told: Vec<String> = whole.into_iter().chain(parts).collect();
        if told.is_empty() { "nothing".to_owned() } else { told.join("; ") }
    }
}
