//! From a fit to comparisons: the family's critical values, intervals, tests and verdicts.

use std::collections::BTreeMap;

use crate::comparison::{Comparison, Gap};
use crate::crossed::Pairs;
use crate::detectable::detectable;
use crate::family::{Family, Largest};
use crate::fieller::{Fieller, Quantiles};
use crate::fit::{ErrorTerm, Fit};
use crate::model::{Estimate, Uncertainty, Welch};
use crate::question::{Against, Correction, Design, Margin, Question};
use crate::verdict::Verdict;

/// The comparisons that `question` asks of the conditions of `fit` that take part.
pub(crate) fn judge(fit: &Fit, question: &Question, takes_part: impl Fn(usize) -> bool) -> Vec<Comparison> {
    let conditions: Vec<usize> =
        fit.conditions().iter().copied().filter(|condition| takes_part(*condition)).collect();
    let pairs: Vec<Pair> =
        pairs(&conditions, question.against).map(|(one, other)| Pair::of(fit, one, other)).collect();
    let family = family(fit, question, &pairs);
    let mut judge = Judge {
        fit,
        question,
        family,
        singles: BTreeMap::new(),
        largest: BTreeMap::new(),
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
        let common = fit.inside_boots(&[(condition, 1.0), (baseline, -1.0)]).map_or(0, |boots| boots.len());
        let is_apart = fit.are_apart(condition, baseline);
        let (boots, boots_left_out) = match fit.design {
            Design::Crossed if !is_apart => (common, one + other - 2 * common),
            _ => (one.min(other), 0),
        };
        let difference = fit.contrast(&[(condition, 1.0), (baseline, -1.0)]);
        let gap = match (fit.design, difference) {
            (Design::Nested, _) if boots < 2 => Some(Gap::OneBoot),
            (Design::Crossed, _) if is_apart && boots < 2 => Some(Gap::OneBoot),
            (Design::Crossed, None) => Some(Gap::NotConnected),
            (Design::Crossed, _) if common == 1 && (one.min(other) < 2 || fit.is_by_pair()) => {
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

/// The family of the pairs that can be judged.
fn family(fit: &Fit, question: &Question, pairs: &[Pair]) -> Family {
    let sure: Vec<&Pair> = pairs.iter().filter(|pair| pair.difference.is_some()).collect();
    if question.correction == Correction::None || sure.len() < 2 {
        return Family::Single;
    }
    // Comparisons inside a group of conditions and between two have errors, and degrees of freedom, of their own.
    if fit.is_by_pair() || sure.iter().any(|pair| pair.is_apart) {
        return Family::Sidak { comparisons: sure.len() };
    }
    match question.against {
        Against::AllPairs => {
            let mut conditions: Vec<usize> =
                sure.iter().flat_map(|pair| [pair.condition, pair.baseline]).collect();
            conditions.sort_unstable();
            conditions.dedup();
            Family::Tukey { conditions: conditions.len() }
        }
        Against::Baseline(_) => {
            let terms: Vec<[(usize, f64); 2]> =
                sure.iter().map(|pair| [(pair.condition, 1.0), (pair.baseline, -1.0)]).collect();
            let covariance = fit.covariance(&terms);
            Family::dunnett(|one, other| covariance[one][other], sure.len())
        }
    }
}

struct Judge<'a> {
    fit: &'a Fit,
    question: &'a Question,
    family: Family,
    /// The estimate of each condition by itself, and its uncertainty under a common error.
    singles: BTreeMap<usize, (Option<Estimate>, Option<Uncertainty>)>,
    /// The family's distributions by degrees of freedom.
    largest: BTreeMap<u64, Option<Largest>>,
    /// Critical values by error rate and degrees of freedom.
    criticals: BTreeMap<(u64, u64), Option<f64>>,
    /// Student's t for percentages.
    quantiles: Quantiles,
    /// Detectable standard errors by critical value and degrees of freedom.
    errors_seen: BTreeMap<(u64, u64), Option<f64>>,
}

impl Judge<'_> {
    fn comparison(&mut self, pair: &Pair) -> Comparison {
        let (mean, baseline_mean) = self.means(pair);
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
            comparison.p = self.p(estimate);
            comparison.detectable = self.detectable(critical, estimate);
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

    /// The means behind the difference; where nothing connects the two, each over its own boots.
    fn means(&mut self, pair: &Pair) -> (f64, f64) {
        let terms = [(pair.condition, 1.0), (pair.baseline, -1.0)];
        if self.fit.error == ErrorTerm::PairedByPair || pair.gap.is_some() {
            if let (Design::Crossed, Some(common)) = (self.fit.design, self.fit.inside_boots(&terms)) {
                let over = |condition| {
                    let is_common = |boot| common.binary_search_by_key(&boot, |cell| cell.boot).is_ok();
                    let cells = self.fit.cells(condition).iter().filter(|cell| is_common(cell.boot));
                    Welch::of(&cells.copied().collect::<Vec<_>>()).mean
                };
                return (over(pair.condition), over(pair.baseline));
            }
            let own = |condition| Welch::of(self.fit.cells(condition)).mean;
            return (own(pair.condition), own(pair.baseline));
        }
        let mut mean = |condition| self.single(condition).0.map_or(0.0, |estimate| estimate.value);
        (mean(pair.condition), mean(pair.baseline))
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

    fn single(&mut self, condition: usize) -> (Option<Estimate>, Option<Uncertainty>) {
        let fit = self.fit;
        *self.singles.entry(condition).or_insert_with(|| {
            let term = [(condition, 1.0)];
            (fit.contrast(&term), fit.rows(&term).map(|rows| fit.additive.uncertainty(&rows)))
        })
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
        match fit.error {
            ErrorTerm::PairedByPair if !pair.is_apart => {
                Pairs::of(fit.cells(condition), fit.cells(baseline)).relative_interval(critical)
            }
            ErrorTerm::BootsByPair | ErrorTerm::PairedByPair => {
                let error = |r: f64| {
                    let estimate = fit.contrast(&[(condition, 1.0), (baseline, -1.0 - r)])?;
                    estimate.is_sure().then_some((estimate.se, estimate.df))
                };
                self.fieller(baseline, difference, critical, &error)
            }
            _ => {
                let model = &fit.additive;
                let terms = [(condition, 1.0), (baseline, -1.0)];
                let of_difference = model.uncertainty(&fit.rows(&terms)?);
                let (of_baseline, of_condition) = (self.single(baseline).1?, self.single(condition).1?);
                let error = |r: f64| {
                    let along = Uncertainty::along(of_difference, of_baseline, of_condition, -r);
                    let (variance, df) = model.variance_and_df(&along)?;
                    Some((model.layout.scale * variance.sqrt(), df))
                };
                self.fieller(baseline, difference, critical, &error)
            }
        }
    }

    fn fieller(
        &mut self,
        baseline: usize,
        difference: Estimate,
        critical: f64,
        error: &dyn Fn(f64) -> Option<(f64, f64)>,
    ) -> Option<(f64, f64)> {
        let baseline = self.single(baseline).0?;
        Fieller { difference, baseline, error, critical, quantiles: &self.quantiles }.interval()
    }

    fn critical(&mut self, alpha: f64, df: f64) -> Option<f64> {
        let place = (alpha.to_bits(), self.family_df(df).to_bits());
        if let Some(critical) = self.criticals.get(&place) {
            return *critical;
        }
        let critical = self.largest(df)?.critical(alpha);
        self.criticals.insert(place, critical);
        critical
    }

    fn p(&mut self, estimate: Estimate) -> Option<f64> {
        Some(self.largest(estimate.df)?.p(estimate.t()))
    }

    /// The distribution of the family's largest |t|.
    fn largest(&mut self, df: f64) -> Option<&Largest> {
        let df = self.family_df(df);
        let family = &self.family;
        self.largest.entry(df.to_bits()).or_insert_with(|| family.at(df)).as_ref()
    }

    /// The degrees of freedom to look a family's critical value up with. Those of REML differ a little from pair to pair; they
    /// are rounded down in steps of 2 %, so that not every pair needs a quadrature of its own.
    fn family_df(&self, df: f64) -> f64 {
        if self.fit.error != ErrorTerm::Reml || !self.family.is_costly() {
            return df;
        }
        ((df.ln() / 0.02).floor() * 0.02).exp().max(1.0)
    }

    fn detectable(&mut self, critical: f64, estimate: Estimate) -> Option<f64> {
        let errors = *self
            .errors_seen
            .entry((critical.to_bits(), estimate.df.to_bits()))
            .or_insert_with(|| detectable(critical, estimate.df));
        Some(errors? * estimate.se + estimate.rounding)
    }
}
