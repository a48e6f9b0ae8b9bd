//! From a fit to comparisons: the family's critical values, intervals, tests and verdicts.

use std::collections::BTreeMap;

use crate::comparison::{Comparison, Gap};
use crate::crossed::Pairs;
use crate::detectable::detectable;
use crate::family::Family;
use crate::fieller::{Fieller, Quantiles};
use crate::fit::{ErrorTerm, Fit};
use crate::model::Estimate;
use crate::question::{Against, Correction, Design, Margin, Question};
use crate::verdict::Verdict;

/// The comparisons that `question` asks of the conditions of `fit` that take part.
pub(crate) fn judge(fit: &Fit, question: &Question, takes_part: impl Fn(usize) -> bool) -> Vec<Comparison> {
    let conditions: Vec<usize> =
        fit.conditions().iter().copied().filter(|condition| takes_part(*condition)).collect();
    let pairs: Vec<Pair> =
        pairs(&conditions, question.against).map(|(one, other)| Pair::of(fit, one, other)).collect();
    let sure = pairs.iter().filter(|pair| pair.difference.is_some()).count();
    let family = match question.correction {
        Correction::None => Family { comparisons: 1 },
        Correction::Family => Family { comparisons: sure },
    };
    let mut judge = Judge {
        fit,
        question,
        family,
        baselines: BTreeMap::new(),
        criticals: BTreeMap::new(),
        errors_seen: BTreeMap::new(),
        quantiles: Quantiles::default(),
    };
    pairs.iter().map(|pair| judge.comparison(pair)).collect()
}

/// (condition, baseline) in order.
fn pairs(conditions: &[usize], against: Against) -> impl Iterator<Item = (usize, usize)> {
    conditions.iter().enumerate().flat_map(move |(place, condition)| {
        let others: Vec<usize> = match against {
            Against::Baseline(baseline) => (*condition != baseline).then_some(baseline).into_iter().collect(),
            Against::AllPairs => conditions[..place].to_vec(),
        };
        others.into_iter().map(|other| (*condition, other))
    })
}

/// Two conditions before any family is thought of.
struct Pair {
    condition: usize,
    baseline: usize,
    /// The difference of the two; none where there is a gap.
    difference: Option<Estimate>,
    gap: Option<Gap>,
    /// Whether the two have boots of their own in a crossed design.
    is_apart: bool,
    boots: usize,
    boots_left_out: usize,
}

impl Pair {
    fn of(fit: &Fit, condition: usize, baseline: usize) -> Pair {
        let (one, other) = (fit.cells(condition).len(), fit.cells(baseline).len());
        let common = fit.boots_in_common(condition, baseline);
        let is_apart = fit.are_apart(condition, baseline);
        let (boots, boots_left_out) = match fit.design {
            Design::Crossed if !is_apart => (common, one + other - 2 * common),
            _ => (one.min(other), 0),
        };
        let difference = fit.contrast(&[(condition, 1.0), (baseline, -1.0)]);
        let gap = match (fit.design, difference) {
            (Design::Nested, _) if boots < 2 => Some(Gap::OneBoot),
            (Design::Crossed, _) if is_apart && boots < 2 => Some(Gap::OneBoot),
            (Design::Crossed, difference)
                if common == 1 && (one.min(other) < 2 || difference.is_none_or(|one| !one.is_sure())) =>
            {
                Some(Gap::OneBootInCommon)
            }
            (Design::Crossed, _) if one.min(other) < 2 => Some(Gap::OneBoot),
            (_, Some(estimate)) if estimate.is_sure() => None,
            _ => Some(Gap::NoError),
        };
        Pair {
            condition,
            baseline,
            difference: if gap.is_none() { difference } else { None },
            gap,
            is_apart,
            boots,
            boots_left_out,
        }
    }
}

struct Judge<'a> {
    fit: &'a Fit,
    question: &'a Question,
    family: Family,
    /// The estimate of each baseline by itself.
    baselines: BTreeMap<usize, Option<Estimate>>,
    /// Critical values by error rate and degrees of freedom.
    criticals: BTreeMap<(u64, u64), Option<f64>>,
    /// Student's t for percentages.
    quantiles: Quantiles,
    /// Detectable standard errors by error rate and degrees of freedom.
    errors_seen: BTreeMap<(u64, u64), Option<f64>>,
}

impl Judge<'_> {
    fn comparison(&mut self, pair: &Pair) -> Comparison {
        let mean = |condition| self.fit.mean(condition).unwrap_or(f64::NAN);
        let (mean, baseline_mean) = (mean(pair.condition), mean(pair.baseline));
        let mut comparison = Comparison {
            condition: pair.condition,
            baseline: pair.baseline,
            level: self.question.level,
            mean,
            baseline_mean,
            difference: pair.difference.map_or(mean - baseline_mean, |estimate| estimate.value),
            standard_error: None,
            interval: None,
            relative: None,
            relative_interval: None,
            ratio: None,
            boots_apart: pair.is_apart,
            boots: pair.boots,
            boots_left_out: pair.boots_left_out,
            df: 0.0,
            p: None,
            detectable: None,
            detectable_relative: None,
            margin: self.question.margin,
            gap: pair.gap,
            resolution: None,
            verdict: Verdict::Inconclusive,
            wild: None,
            checks: Vec::new(),
        };
        let alpha = self.question.alpha();
        if let Some(estimate) = pair.difference
            && let Some(critical) = self.critical(alpha, estimate.df)
            && let Some(interval) = estimate.interval_with(critical)
        {
            comparison.standard_error = Some(estimate.se);
            comparison.df = estimate.df;
            comparison.interval = Some(interval);
            comparison.relative_interval = self.relative_interval(pair, estimate, critical);
            comparison.p = Some(self.family.p(estimate.t(), estimate.df));
            comparison.detectable = self.detectable(alpha, estimate);
        } else {
            comparison.gap = pair.gap.or(Some(Gap::NoError));
        }
        let has_percentage = comparison.relative_interval.is_some() || comparison.interval.is_none();
        if has_percentage && baseline_mean != 0.0 {
            // A share beyond what a number holds is none.
            let percent =
                |value: f64| Some(value / baseline_mean.abs() * 100.0).filter(|share| share.is_finite());
            comparison.relative = percent(comparison.difference).map(|share| self.question.possible(share));
            comparison.detectable_relative = comparison.detectable.and_then(percent);
        }
        if comparison.relative.is_none() {
            comparison.relative_interval = None;
        }
        let is_equivalent = self.question.margin.map(|margin| self.is_equivalent(pair, margin));
        comparison.verdict = Verdict::of(comparison.interval, is_equivalent);
        comparison
    }

    /// Whether the interval of twice the error rate lies inside the margin.
    fn is_equivalent(&mut self, pair: &Pair, margin: Margin) -> bool {
        let alpha = 2.0 * self.question.alpha();
        let Some(estimate) = pair.difference else { return false };
        if alpha >= 1.0 {
            return false;
        }
        let Some(critical) = self.critical(alpha, estimate.df) else { return false };
        let (interval, margin) = match margin {
            Margin::Absolute(margin) => (estimate.interval_with(critical), margin),
            Margin::Percent(margin) => (self.relative_interval(pair, estimate, critical), margin),
        };
        interval.is_some_and(|(low, high)| -margin < low && high < margin)
    }

    fn relative_interval(&mut self, pair: &Pair, difference: Estimate, critical: f64) -> Option<(f64, f64)> {
        let (low, high) = self.any_relative_interval(pair, difference, critical)?;
        Some((self.question.possible(low), self.question.possible(high)))
    }

    fn any_relative_interval(
        &mut self,
        pair: &Pair,
        difference: Estimate,
        critical: f64,
    ) -> Option<(f64, f64)> {
        let (condition, baseline) = (pair.condition, pair.baseline);
        let fit = self.fit;
        if fit.error == ErrorTerm::Paired && fit.model.layout.is_complete() {
            return Pairs::of(fit.cells(condition), fit.cells(baseline)).relative_interval(critical);
        }
        let of_baseline = self.baselines.entry(baseline).or_insert_with(|| fit.contrast(&[(baseline, 1.0)]));
        let baseline_mean = of_baseline.filter(Estimate::is_sure)?;
        let error = |r: f64| {
            let estimate = fit.contrast(&[(condition, 1.0), (baseline, -1.0 - r)])?;
            estimate.is_sure().then_some((estimate.se, estimate.df))
        };
        let quantiles = &self.quantiles;
        Fieller { difference, baseline: baseline_mean, error: &error, critical, quantiles }.interval()
    }

    fn critical(&mut self, alpha: f64, df: f64) -> Option<f64> {
        let place = (alpha.to_bits(), df.to_bits());
        *self.criticals.entry(place).or_insert_with(|| self.family.critical(alpha, df))
    }

    /// Degrees of freedom are rounded down in steps of 2 %, so that not every pair needs a search of its own.
    fn detectable(&mut self, alpha: f64, estimate: Estimate) -> Option<f64> {
        let df = ((estimate.df.ln() / 0.02).floor() * 0.02).exp().max(1.0);
        let family = self.family;
        let seen = || detectable(family.critical(alpha, df)?, df);
        let errors = *self.errors_seen.entry((alpha.to_bits(), df.to_bits())).or_insert_with(seen);
        Some(errors? * estimate.se + estimate.rounding)
    }
}
