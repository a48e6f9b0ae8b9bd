//! Turns a fit into comparisons: the family's critical values, intervals, tests and verdicts.

use std::collections::{BTreeMap, BTreeSet};

use crate::compare::analysis::{LookPosition, QuestionAtLook, Spending};
use crate::compare::comparison::{Comparison, Gap, Verdict};
use crate::compare::family::ComparisonFamily;
use crate::distribution::student;
use crate::model::{
    Borrowing, ErrorTerm, Estimate, Fit, Quantiles, paired_relative_interval, relative_interval,
};
use crate::observed::{Cells, in_common};
use crate::question::{Against, Correction, Design, Look, Margin, Question};
use crate::sequential::shifted;

impl<'a> QuestionAtLook<'a> {
    pub(crate) fn new(
        question: Question,
        cells: &Cells,
        takes_part: &'a dyn Fn(usize) -> bool,
        spending: &'a Spending,
    ) -> QuestionAtLook<'a> {
        let mut asked = QuestionAtLook { question, takes_part, spending, decided: BTreeSet::new() };
        let Some(look) = question.look else { return asked };
        for (number, boots) in (1..look.number).zip(look.schedule.after()) {
            let before = cells.up_to(boots);
            if before.iter().next().is_some() {
                asked.question.look = Some(Look { number, ..look });
                let comparisons = asked.judge(&before);
                let decided = comparisons.iter().filter(|one| one.verdict.is_decided());
                asked.decided.extend(decided.map(Comparison::pair));
            }
        }
        asked.question.look = Some(look);
        asked
    }

    pub(crate) fn judge(&self, cells: &Cells) -> Vec<Comparison> {
        judge(&Fit::new(cells, &self.question), self)
    }
}

pub(crate) fn judge(fit: &Fit, asked: &QuestionAtLook<'_>) -> Vec<Comparison> {
    let question = &asked.question;
    let conditions: Vec<usize> =
        fit.conditions().iter().copied().filter(|condition| (asked.takes_part)(*condition)).collect();
    let pairs: Vec<(usize, usize)> = match question.against {
        Against::Baseline(baseline) => {
            let others = conditions.iter().filter(|condition| **condition != baseline);
            others.map(|condition| (*condition, baseline)).collect()
        }
        Against::AllPairs => {
            let pairs = (0..conditions.len()).flat_map(|one| (0..one).map(move |other| (one, other)));
            pairs.map(|(one, other)| (conditions[one], conditions[other])).collect()
        }
    };
    let borrowing = match question.correction {
        Correction::Family if pairs.len() > 1 => Borrowing::Moderated,
        Correction::Family | Correction::None => Borrowing::None,
    };
    let pairs: Vec<Pair> = pairs.into_iter().map(|pair| Pair::new(fit, question, pair, borrowing)).collect();
    let sure: Vec<&Pair> = pairs.iter().filter(|pair| pair.difference.is_some()).collect();
    let family = match (question.correction, question.against) {
        (Correction::None, _) => ComparisonFamily::Alone,
        (Correction::Family, Against::AllPairs) => ComparisonFamily::independent(sure.len()),
        (Correction::Family, Against::Baseline(baseline)) => {
            let share = |pair: &&Pair| fit.share(baseline, &terms(pair.plain.pair())).unwrap_or(0.0);
            ComparisonFamily::beside_baseline(&sure.iter().map(share).collect::<Vec<f64>>())
        }
    };
    let mut judge = Judge {
        fit,
        borrowing,
        asked,
        family,
        baselines: BTreeMap::new(),
        criticals: BTreeMap::new(),
        levels: BTreeMap::new(),
        quantiles: Quantiles::default(),
    };
    pairs.iter().map(|pair| judge.comparison(pair)).collect()
}

struct Pair {
    /// Their comparison without it.
    plain: Comparison,
    /// The difference of the two; `None` with a gap.
    difference: Option<Estimate>,
}

impl Pair {
    fn new(
        fit: &Fit,
        question: &Question,
        (condition, baseline): (usize, usize),
        borrowing: Borrowing,
    ) -> Pair {
        let (one, other) = (fit.cells(condition), fit.cells(baseline));
        let common = in_common(one, other).count();
        let (one, other) = (one.len(), other.len());
        let boots_apart = fit.are_apart(condition, baseline);
        let boots = if fit.design == Design::Crossed && !boots_apart { common } else { one.min(other) };
        let difference = fit.contrast(&terms((condition, baseline)), borrowing);
        let gap = match (fit.design, difference) {
            (Design::Nested, _) if boots < 2 => Some(Gap::OneBoot),
            (Design::Crossed, _) if boots_apart && boots < 2 => Some(Gap::OneBoot),
            (Design::Crossed, difference)
                if common == 1 && (one.min(other) < 2 || difference.is_none_or(|one| !one.is_sure())) =>
            {
                Some(Gap::OneBootInCommon)
            }
            (Design::Crossed, _) if one.min(other) < 2 => Some(Gap::OneBoot),
            (_, Some(estimate)) if estimate.is_sure() => None,
            _ => Some(Gap::NoError),
        };
        let difference = difference.filter(|_| gap.is_none());
        let mean = |condition| fit.mean(condition).unwrap_or(f64::NAN);
        let (mean, baseline_mean) = (mean(condition), mean(baseline));
        let plain = Comparison {
            condition,
            baseline,
            level: question.level,
            mean,
            baseline_mean,
            difference: difference.map_or(mean - baseline_mean, |estimate| estimate.value),
            boots_apart,
            boots,
            margin: question.margin,
            range: question.range,
            gap,
            ..Comparison::default()
        };
        Pair { plain, difference }
    }
}

fn terms((condition, baseline): (usize, usize)) -> [(usize, f64); 2] {
    [(condition, 1.0), (baseline, -1.0)]
}

struct Judge<'a> {
    fit: &'a Fit,
    borrowing: Borrowing,
    asked: &'a QuestionAtLook<'a>,
    family: ComparisonFamily,
    levels: BTreeMap<u64, f64>,
    baselines: BTreeMap<usize, Option<Estimate>>,
    /// By error rate, degrees of freedom and, where the study looks before its end, boots.
    criticals: BTreeMap<(u64, u64, usize), Option<f64>>,
    quantiles: Quantiles,
}

impl Judge<'_> {
    fn comparison(&mut self, pair: &Pair) -> Comparison {
        let mut comparison = pair.plain.clone();
        let question = self.asked.question;
        let alpha = question.alpha();
        let judged = pair.difference.and_then(|estimate| {
            let critical = self.critical(pair, alpha, estimate.df)?;
            Some((estimate, critical, estimate.interval_with(critical)?))
        });
        if let Some((estimate, critical, interval)) = judged {
            comparison.standard_error = Some(estimate.se);
            comparison.df = estimate.df;
            let baseline = self.baseline_interval(pair, critical);
            comparison.interval = Some(question.range.of_difference(interval, baseline));
            comparison.relative_interval = self.relative_interval(pair, estimate, critical);
            comparison.p = self.p(pair, estimate);
            comparison.look_level =
                self.look_of(pair, estimate.df).map(|_| student::two_sided(critical, estimate.df));
            comparison.detectable = self.detectable(pair, alpha, estimate);
        } else {
            comparison.gap = comparison.gap.or(Some(Gap::NoError));
        }
        let has_percentage = comparison.relative_interval.is_some() || comparison.interval.is_none();
        if has_percentage && comparison.baseline_mean != 0.0 {
            // Not finite: no percentage.
            let percent = |value: f64| {
                Some(value / comparison.baseline_mean.abs() * 100.0).filter(|share| share.is_finite())
            };
            let possible = |share| question.range.of_share((share, share), (0.0, f64::INFINITY)).0;
            comparison.relative = percent(comparison.difference).map(possible);
            comparison.detectable_relative = comparison.detectable.and_then(percent);
        }
        if comparison.relative.is_none() {
            comparison.relative_interval = None;
        }
        if judged.is_some_and(|(estimate, critical, _)| estimate.is_rounding(critical)) {
            comparison.difference = 0.0;
            comparison.interval = Some((0.0, 0.0));
            comparison.relative = comparison.relative.map(|_| 0.0);
            comparison.relative_interval = comparison.relative_interval.map(|_| (0.0, 0.0));
        }
        let is_equivalent = question.margin.map(|margin| self.is_equivalent(pair, margin));
        comparison.verdict = Verdict::from_interval(comparison.interval, is_equivalent);
        if let Some(stated) = self.median_unbiased(pair, comparison.verdict) {
            comparison.unadjusted = Some(comparison.difference);
            comparison.unadjusted_relative = comparison.relative;
            comparison.relative = comparison.relative.map(|share| share * stated / comparison.difference);
            comparison.difference = stated;
        }
        comparison
    }

    /// `None` if the measured one is stated: this look did not end the study.
    fn median_unbiased(&mut self, pair: &Pair, verdict: Verdict) -> Option<f64> {
        let estimate = pair.difference?;
        let at = self.look_of(pair, estimate.df)?;
        let is_last = at.look.number == at.look.schedule.looks;
        let has_ended = match verdict {
            Verdict::Higher | Verdict::Lower => true,
            Verdict::NoDifferenceProven | Verdict::Inconclusive => is_last,
            Verdict::Equivalent => false,
        };
        if !has_ended || self.asked.decided.contains(&pair.plain.pair()) {
            return None;
        }
        let alpha = self.asked.question.alpha();
        let (each, critical) = (self.comparison_level(alpha), self.critical(pair, alpha, estimate.df)?);
        let t = estimate.t();
        let shift = self.asked.spending.shift(at, each, t, estimate.df);
        let stated = shifted(t, critical, shift) / t;
        (shift > 0.0 && stated.is_finite()).then_some(stated * estimate.value)
    }

    fn is_equivalent(&mut self, pair: &Pair, margin: Margin) -> bool {
        let alpha = 2.0 * self.asked.question.alpha();
        let Some(estimate) = pair.difference else { return false };
        if alpha >= 1.0 {
            return false;
        }
        let Some(critical) = self.critical(pair, alpha, estimate.df) else { return false };
        let (interval, margin) = match margin {
            Margin::Absolute(margin) => (estimate.interval_with(critical), margin),
            Margin::Percent(margin) => (self.relative_interval(pair, estimate, critical), margin),
        };
        interval.is_some_and(|(low, high)| -margin < low && high < margin)
    }

    fn relative_interval(&mut self, pair: &Pair, difference: Estimate, critical: f64) -> Option<(f64, f64)> {
        let ((condition, baseline), fit, borrowing) = (pair.plain.pair(), self.fit, self.borrowing);
        let (low, high) = if fit.error == ErrorTerm::Paired && fit.model.layout.is_complete() {
            paired_relative_interval(fit.cells(condition), fit.cells(baseline), critical)?
        } else {
            let estimates = (difference, self.baseline(pair)?);
            let less = |r: f64| fit.contrast(&[(condition, 1.0), (baseline, -1.0 - r)], borrowing);
            relative_interval(estimates, critical, &self.quantiles, less)?
        };
        // A difference is possible from any baseline within its interval.
        let ends = self.baseline_interval(pair, critical);
        Some(self.asked.question.range.of_share((low, high), ends))
    }

    fn baseline_interval(&mut self, pair: &Pair, critical: f64) -> (f64, f64) {
        let interval = self.baseline(pair).and_then(|mean| mean.interval_with(critical));
        let ends = interval.unwrap_or((f64::NEG_INFINITY, f64::INFINITY));
        self.asked.question.range.of_value(ends, pair.plain.baseline_mean)
    }

    fn baseline(&mut self, pair: &Pair) -> Option<Estimate> {
        let (baseline, fit, borrowing) = (pair.plain.baseline, self.fit, self.borrowing);
        let of_mean = || fit.contrast(&[(baseline, 1.0)], borrowing);
        let mean = self.baselines.entry(baseline).or_insert_with(of_mean);
        mean.filter(Estimate::is_sure)
    }

    fn critical(&mut self, pair: &Pair, alpha: f64, df: f64) -> Option<f64> {
        let at = self.look_of(pair, df);
        let place = (alpha.to_bits(), df.to_bits(), at.map_or(0, |_| pair.plain.boots));
        let (each, spending) = (self.comparison_level(alpha), self.asked.spending);
        *self.criticals.entry(place).or_insert_with(|| {
            let nominal = at.map_or(Some(each), |at| spending.nominal(at, each))?;
            student::upper_quantile(0.5 * nominal, df)
        })
    }

    fn comparison_level(&mut self, alpha: f64) -> f64 {
        let family = &self.family;
        *self.levels.entry(alpha.to_bits()).or_insert_with(|| family.comparison_level(alpha))
    }

    fn p(&self, pair: &Pair, estimate: Estimate) -> Option<f64> {
        let each = student::two_sided(estimate.t(), estimate.df).min(1.0);
        let each = match self.look_of(pair, estimate.df) {
            Some(at) => self.asked.spending.p(at, each)?,
            None => each,
        };
        Some(self.family.of_all(each))
    }

    fn look_of(&self, pair: &Pair, df: f64) -> Option<LookPosition> {
        Some(LookPosition::new(self.asked.question.look?, df, pair.plain.boots))
    }

    fn detectable(&mut self, pair: &Pair, alpha: f64, estimate: Estimate) -> Option<f64> {
        // Degrees of freedom are rounded down in steps of 2 %, so that pairs share a search.
        let df = ((estimate.df.ln() / 0.02).floor() * 0.02).exp().max(1.0);
        let critical = self.critical(pair, alpha, df)?;
        let size = self.asked.spending.detectable(critical, df)? * estimate.se;
        // Not finite: no size. Below the resolution of the numbers: none that could be seen.
        (size.is_finite() && size > estimate.rounding).then_some(size + estimate.rounding)
    }
}
