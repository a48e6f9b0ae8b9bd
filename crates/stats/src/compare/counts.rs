//! Counts of instructions without noise: judged by their resolution instead of intervals.

use super::analysis::Analysis;
use super::comparison::{Comparison, Gap};
use super::verdict::Verdict;
use crate::model::ErrorTerm;
use crate::question::Margin;

impl Analysis {
    /// Judges the comparisons by a resolution in %: a larger difference is real, a smaller one is
    /// equivalent. For counts that repeat within this share on every machine, so that one boot is
    /// enough; there are no intervals. Conditions in `unlike`, whose counts did not repeat, have no
    /// verdict.
    #[must_use]
    pub fn by_resolution(mut self, resolution: f64, unlike: &[usize]) -> Analysis {
        self.error = ErrorTerm::Resolution;
        let judge = |one: Comparison| {
            let is_unlike = unlike.contains(&one.condition) || unlike.contains(&one.baseline);
            let within = resolution / 100.0 * one.baseline_mean.abs();
            one.by_resolution(resolution, (within, Margin::Percent(resolution)), is_unlike)
        };
        self.comparisons = self.comparisons.into_iter().map(judge).collect();
        for condition in &mut self.conditions {
            condition.interval = None;
        }
        self
    }
}

impl Comparison {
    /// The comparison, equivalent where the difference is at most `within`, which is `resolution`
    /// in % and `margin`.
    pub(crate) fn by_resolution(
        self,
        resolution: f64,
        (within, margin): (f64, Margin),
        is_unlike: bool,
    ) -> Comparison {
        let difference = self.unadjusted.unwrap_or(self.difference);
        let share = 100.0 * difference / self.baseline_mean.abs();
        let verdict = match difference {
            _ if is_unlike => Verdict::Inconclusive,
            difference if difference.abs() <= within => Verdict::Equivalent,
            difference if difference > 0.0 => Verdict::Higher,
            _ => Verdict::Lower,
        };
        Comparison {
            relative: share.is_finite().then_some(share),
            margin: Some(margin),
            gap: is_unlike.then_some(Gap::Unlike),
            resolution: Some(resolution),
            verdict,
            ..self.without_answer(Gap::Unlike)
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{ErrorTerm, Observation, Question, Verdict, analyse};

    #[test]
    fn what_differs_beyond_the_resolution_differs() {
        // One boot of one run each has no spread and no interval.
        let run = |condition, value| Observation { condition, boot: 1, value };
        let runs = [run(0, 10_000.0), run(1, 10_009.0), run(2, 10_011.0), run(3, 9_000.0), run(4, 10_000.0)];
        let analysis = analyse(&runs, &Question::against(0)).unwrap().by_resolution(0.1, &[]);
        assert_eq!(analysis.error, ErrorTerm::Resolution);
        let verdicts: Vec<Verdict> = analysis.comparisons.iter().map(|one| one.verdict).collect();
        assert_eq!(verdicts, [Verdict::Equivalent, Verdict::Higher, Verdict::Lower, Verdict::Equivalent]);
        let sentences: Vec<String> =
            analysis.comparisons.iter().map(|one| one.sentence("c", "1", None)).collect();
        assert_eq!(
            sentences,
            [
                "c: equivalent, +0.090 % is within the resolution of counts (0.1 %)",
                "c is 0.110 % higher (counts are the same to 0.1 %)",
                "c is 10.000 % lower (counts are the same to 0.1 %)",
                "c: equivalent, 0.000 % is within the resolution of counts (0.1 %)",
            ]
        );
        // Two zeros are equivalent; a count against zero has no percentage.
        let none = analyse(&[run(0, 0.0), run(1, 0.0), run(2, 5.0)], &Question::against(0)).unwrap();
        let none = none.by_resolution(0.1, &[]).comparisons;
        assert_eq!((none[0].verdict, none[1].verdict), (Verdict::Equivalent, Verdict::Higher));
        assert_eq!(none[1].sentence("c", "", None), "c is 5 higher (counts are the same to 0.1 %)");
    }

    #[test]
    fn counts_that_do_not_repeat_are_not_reported() {
        let run = |condition, value| Observation { condition, boot: 1, value };
        let judged = |unlike: &[usize]| {
            let runs = [run(0, 10_000.0), run(1, 9_000.0), run(2, 9_000.0)];
            let analysis = analyse(&runs, &Question::against(0)).unwrap().by_resolution(0.1, unlike);
            analysis
                .comparisons
                .iter()
                .map(|one| (one.verdict, one.sentence("c", "1", None)))
                .collect::<Vec<_>>()
        };
        let open = "c: inconclusive, its counts or the baseline's are not the same each time";
        let lower = "c is 10.000 % lower (counts are the same to 0.1 %)";
        let (open, lower) = ((Verdict::Inconclusive, open.to_owned()), (Verdict::Lower, lower.to_owned()));
        assert_eq!(judged(&[1]), [open.clone(), lower]);
        assert_eq!(judged(&[0]), [open.clone(), open]);
    }
}
