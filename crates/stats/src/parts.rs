//! A whole that is the sum of parts, under two conditions: which of the parts account for the
//! difference of the whole, and how much of it none of them does.

use std::collections::BTreeSet;

use serde::Serialize;

use crate::compare::{Comparison, Verdict, analyse};
use crate::distribution::student;
use crate::families;
use crate::model::{Common, Estimate, Spread};
use crate::observed::Observation;
use crate::question::{Margin, Question, StatsError};

/// One run: its whole, and the parts of it that were measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Divided {
    /// A run of the condition, or else of the baseline.
    pub of_condition: bool,
    /// The boot. Runs of both conditions in one boot are compared inside it.
    pub boot: u32,
    /// The whole, measured by itself: its parts need not add up to it.
    pub whole: f64,
    /// The parts, in the same order in all runs.
    pub parts: Vec<f64>,
    /// The variance of each part if it counts independent samples; empty where nothing is counted.
    pub by_count: Vec<f64>,
}

impl Divided {
    fn unexplained(&self) -> f64 {
        self.whole - self.parts.iter().sum::<f64>()
    }
}

/// In the unit of the values; the parts' differences and `unexplained` add up to the whole's.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Explained {
    /// The difference of the whole, at the level that was asked for.
    pub whole: Comparison,
    /// The differences of the parts, whose intervals hold together.
    pub parts: Vec<Comparison>,
    /// The part of the difference that is in none of the parts, at the level of the whole.
    pub unexplained: Comparison,
}

/// Explains the differences of several pairs of conditions, each with its own runs.
///
/// The unit is the boot, not the run ([`analyse`]). If boots have both conditions, a boot with one
/// of them alone is left out. The parts of all pairs are a family of hypotheses, of which Holm's
/// procedure ([`families::levels`]) rejects a true one with a chance of at most 1 - `level`; each
/// part's interval has the level that it got, so that it excludes zero where the difference is
/// proven.
///
/// If parts were counted ([`Divided::by_count`]) their spreads are moderated by each other: few
/// boots hardly show the spread of one part, but many parts show how far boots spread beyond what
/// counting explains.
///
/// # Errors
/// As [`analyse`]; [`StatsError::NoBaseline`] for a pair one of whose conditions has no run.
pub fn explain(pairs: &[Vec<Divided>], level: f64) -> Result<Vec<Explained>, StatsError> {
    let pairs: &[Vec<Divided>] = &pairs.iter().map(|runs| comparable(runs)).collect::<Vec<_>>();
    let question = Question { level, ..Question::against(0) };
    let mut explained =
        pairs.iter().map(|runs| explain_pair(runs, &question)).collect::<Result<Vec<_>, _>>()?;
    let spreads: Vec<Option<Vec<Spread>>> =
        explained.iter().zip(pairs).map(|(one, runs)| moderated(&one.parts, runs)).collect();
    for (one, spreads) in explained.iter_mut().zip(&spreads) {
        for (part, spread) in one.parts.iter_mut().zip(spreads.iter().flatten()) {
            *part = with_spread(part, *spread, 1.0 - level);
        }
    }
    let p = explained.iter().flat_map(|one| &one.parts).map(|part| part.p.into_iter().collect());
    let p: Vec<Vec<f64>> = p.collect();
    let mut levels = families::levels(&p, 1.0 - level).into_iter();
    for ((one, runs), spreads) in explained.iter_mut().zip(pairs).zip(&spreads) {
        for (place, part) in one.parts.iter_mut().enumerate() {
            let alpha = levels.next().unwrap_or(1.0 - level);
            let question = Question { level: 1.0 - alpha, ..question };
            *part = match spreads {
                Some(spreads) => with_spread(part, spreads[place], alpha),
                None => compare(runs, &question, |run| run.parts[place])?,
            };
        }
    }
    Ok(explained)
}

/// Explains the differences of counts that hardly vary, as [`crate::Analysis::by_resolution`]
/// judges them: a difference of more than `resolution` % of the baseline's whole is real, a smaller
/// one is equivalent. Counts that vary by more than that between the runs of one condition
/// ([`range`]) differ where their interval excludes zero too, as [`explain`] has it, and are
/// inconclusive otherwise.
///
/// # Errors
/// As [`explain`].
pub fn explain_counts(
    pairs: &[Vec<Divided>],
    resolution: f64,
    level: f64,
) -> Result<Vec<Explained>, StatsError> {
    let mut explained = explain(pairs, level)?;
    for (one, runs) in explained.iter_mut().zip(pairs) {
        let within = resolution / 100.0 * one.whole.baseline_mean.abs();
        let judge = |found: &mut Comparison, value: &dyn Fn(&Divided) -> f64| {
            let counts = |side: bool| runs.iter().filter(move |run| run.of_condition == side).map(value);
            let varies = [false, true].into_iter().any(|side| range(counts(side)) > within);
            let differs = matches!(found.verdict, Verdict::Higher | Verdict::Lower);
            if !(varies && differs && found.difference.abs() > within) {
                let margin = (within, Margin::Absolute(within));
                *found = std::mem::take(found).by_resolution(resolution, margin, varies);
            }
        };
        judge(&mut one.whole, &|run| run.whole);
        one.parts.iter_mut().enumerate().for_each(|(place, part)| judge(part, &|run| run.parts[place]));
        judge(&mut one.unexplained, &Divided::unexplained);
    }
    Ok(explained)
}

/// The difference of the highest and the lowest count; 0 of none.
pub fn range(counts: impl Iterator<Item = f64>) -> f64 {
    let ends = (f64::INFINITY, f64::NEG_INFINITY);
    let (low, high) = counts.fold(ends, |(low, high), count| (low.min(count), high.max(count)));
    (high - low).max(0.0)
}

/// All runs where no boot has both conditions.
fn comparable(runs: &[Divided]) -> Vec<Divided> {
    let boots = |of_condition: bool| -> BTreeSet<u32> {
        runs.iter().filter(|run| run.of_condition == of_condition).map(|run| run.boot).collect()
    };
    // The weight of a boot with one of them depends on the spread of a value: with it the parts'
    // differences would not add up to that of the whole.
    let both: BTreeSet<u32> = boots(false).intersection(&boots(true)).copied().collect();
    runs.iter().filter(|run| both.is_empty() || both.contains(&run.boot)).cloned().collect()
}

fn explain_pair(runs: &[Divided], question: &Question) -> Result<Explained, StatsError> {
    let parts = 0..runs.iter().map(|run| run.parts.len()).min().unwrap_or(0);
    let part = |place: usize| compare(runs, question, |run| run.parts[place]);
    Ok(Explained {
        whole: compare(runs, question, |run| run.whole)?,
        parts: parts.map(part).collect::<Result<_, _>>()?,
        unexplained: compare(runs, question, Divided::unexplained)?,
    })
}

/// `None` where parts were not counted, or have nothing in common.
fn moderated(parts: &[Comparison], runs: &[Divided]) -> Option<Vec<Spread>> {
    // The variance of a count grows with the count, so that variances of unlike parts are not draws
    // around a common one. Their ratios to that of independent samples are: they would be 1 if
    // boots did not differ and samples did not come in bunches (the dispersions of S. P. Lund et
    // al., Stat. Appl. Genet. Mol. Biol. 11(5):8, 2012, moderated as by Smyth).
    let ratio = |(place, part): (usize, &Comparison)| {
        let by_count = by_count(runs, place).filter(|variance| *variance > 0.0)?;
        let ratio = Spread { variance: part.standard_error?.powi(2) / by_count, df: part.df };
        Some((ratio, by_count))
    };
    let ratios: Vec<(Spread, f64)> = parts.iter().enumerate().map(ratio).collect::<Option<_>>()?;
    // Counts that are the same in all of a few boots are so by chance: they say nothing of the
    // others, and the others say how far they may be off.
    let some = ratios.iter().map(|(ratio, _)| *ratio).filter(|ratio| ratio.variance > f64::EPSILON);
    let common = Common::from_estimates(some)?;
    let moderated = |(ratio, by_count): &(Spread, f64)| {
        let Spread { variance, df } = common.moderate(*ratio);
        Spread { variance: variance * by_count, df }
    };
    Some(ratios.iter().map(moderated).collect())
}

/// The variance that the difference of a part would have if it were of independent samples.
fn by_count(runs: &[Divided], place: usize) -> Option<f64> {
    let of_mean = |of_condition: bool| {
        let of = runs.iter().filter(|run| run.of_condition == of_condition);
        let variances: Vec<f64> = of.map(|run| run.by_count.get(place).copied()).collect::<Option<_>>()?;
        Some(variances.iter().sum::<f64>() / (variances.len() as f64).powi(2))
    };
    Some(of_mean(false)? + of_mean(true)?)
}

/// Drops all that rests on the comparison's own variance.
fn with_spread(one: &Comparison, spread: Spread, alpha: f64) -> Comparison {
    let estimate =
        Estimate { value: one.difference, se: spread.variance.sqrt(), df: spread.df, rounding: 0.0 };
    let interval = estimate.interval(alpha);
    Comparison {
        level: 1.0 - alpha,
        standard_error: Some(estimate.se),
        df: spread.df,
        p: Some(student::two_sided(estimate.t(), spread.df)),
        interval,
        verdict: Verdict::from_interval(interval, None),
        ..one.clone().means()
    }
}

fn compare(
    runs: &[Divided],
    question: &Question,
    value: impl Fn(&Divided) -> f64,
) -> Result<Comparison, StatsError> {
    let observation = |run: &Divided| {
        let condition = usize::from(run.of_condition);
        Observation { condition, boot: run.boot, value: value(run) }
    };
    let observations: Vec<Observation> = runs.iter().map(observation).collect();
    let found = analyse(&observations, question)?.comparisons.pop();
    // One condition alone is no comparison.
    found.ok_or(StatsError::NoBaseline(1))
}

#[cfg(test)]
mod tests;
