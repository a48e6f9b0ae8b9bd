//! Main effects and interactions.

use serde::Serialize;

use crate::effects::{DesignMatrix, EffectsError, Estimated, Estimator};
use crate::model::CholeskyFactor;
use crate::observed::Observation;

/// A main effect or an interaction.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Effect {
    /// The factors: one for a main effect, more for an interaction.
    pub factors: Vec<usize>,
    /// The mean with the factor on less that with it off; for two factors half the difference
    /// between the one's effect with the other on and with it off, and so on (Box, Hunter and
    /// Hunter, Statistics for Experimenters, 1978, chapter 10). Percentages are of the mean of all
    /// conditions.
    pub effect: Estimated,
}

/// The main effects of `layout`'s factors and the interactions of up to `order` of them, by the
/// number of factors, then in their order, from the means of all conditions with equal weight, with
/// intervals of confidence `level`.
///
/// If combinations are missing, interactions are estimated by least squares up to the size that the
/// measured ones can separate, all of a size or none; larger ones are taken as zero. Missing
/// combinations do not widen the intervals, which hold if the larger interactions are small.
///
/// # Errors
/// [`EffectsError`] for conditions without levels of their own, if no factor varies, and for a
/// factor whose main effect cannot be separated from the others'.
pub fn factorial(
    observations: &[Observation],
    layout: &DesignMatrix,
    order: usize,
    level: f64,
) -> Result<Vec<Effect>, EffectsError> {
    let estimator = Estimator::new(observations, level)?;
    let conditions = estimator.fit.conditions();
    layout.states(conditions)?;
    let levels: Vec<&[bool]> =
        conditions.iter().map(|condition| layout.levels[*condition].as_slice()).collect();
    let model = largest(layout, &levels, order)?;
    let share = 1.0 / conditions.len() as f64;
    let mean: Vec<(usize, f64)> = conditions.iter().map(|condition| (*condition, share)).collect();
    let effect = |term: &Vec<usize>| {
        // Zero for a coefficient that is only rounding: its condition may then be missing.
        let without_rounding = |of: f64| if of.abs() < 1e-12 { 0.0 } else { of };
        let coefficients = model.coefficients(term).into_iter().map(|of| without_rounding(2.0 * of));
        let terms: Vec<(usize, f64)> = conditions.iter().copied().zip(coefficients).collect();
        let effect = estimator.estimate(&terms, &mean, || {
            let names: Vec<&str> = term.iter().map(|factor| layout.factors[*factor].as_str()).collect();
            format!("the effect of {}", names.join(" x "))
        })?;
        Ok(Effect { factors: term.clone(), effect })
    };
    model.terms.iter().filter(|term| !term.is_empty()).map(effect).collect()
}

/// With the largest interactions, up to `order` factors, that the conditions can separate.
fn largest(layout: &DesignMatrix, levels: &[&[bool]], order: usize) -> Result<Model, EffectsError> {
    let varies = |factor: &usize| levels.iter().any(|of| of[*factor] != levels[0][*factor]);
    let varied: Vec<usize> = (0..layout.factors.len()).filter(varies).collect();
    if varied.is_empty() {
        return Err(EffectsError::NothingVaried);
    }
    let mut model = Model::new(levels, &varied, 1).map_err(|term| {
        EffectsError::Confounded(
            term.first().map_or_else(String::new, |factor| layout.factors[*factor].clone()),
        )
    })?;
    for larger in 2..=order.min(varied.len()) {
        let Ok(fitting) = Model::new(levels, &varied, larger) else { break };
        model = fitting;
    }
    Ok(model)
}

struct Model {
    /// Sets of factors, by size: the columns of X.
    terms: Vec<Vec<usize>>,
    /// X: a row for each condition.
    rows: Vec<Vec<f64>>,
    factor: CholeskyFactor,
}

impl Model {
    /// The model of all interactions of up to `order` of the factors that `varied`, with the mean;
    /// `levels` are those of each condition. Err with the first term that the conditions cannot
    /// separate from those before it.
    fn new(levels: &[&[bool]], varied: &[usize], order: usize) -> Result<Model, Vec<usize>> {
        let terms = up_to(varied, order);
        // More parameters than conditions: some term cannot be estimated.
        if let Some(term) = terms.get(levels.len()) {
            return Err(term.clone());
        }
        let row = |levels: &&[bool]| terms.iter().map(|term| sign(term, |factor| levels[factor])).collect();
        let rows: Vec<Vec<f64>> = levels.iter().map(row).collect();
        let columns = 0..terms.len();
        let entry = |(i, j)| if j > i { 0.0 } else { rows.iter().map(|row| row[i] * row[j]).sum() };
        let matrix = columns.clone().flat_map(|i| columns.clone().map(move |j| (i, j))).map(entry).collect();
        let factor = CholeskyFactor::decompose(matrix, terms.len());
        match factor.dependent {
            Some(column) => Err(terms[column].clone()),
            None => Ok(Model { terms, rows, factor }),
        }
    }

    /// The coefficients by which the condition means give the parameter of `term` with its factors
    /// on: the distance of the mean there from the sum of the mean and all smaller terms.
    fn coefficients(&self, term: &[usize]) -> Vec<f64> {
        let entry = |factors: &Vec<usize>| if factors == term { sign(term, |_| true) } else { 0.0 };
        let mut solved: Vec<f64> = self.terms.iter().map(entry).collect();
        self.factor.solve(&mut solved);
        let dot = |row: &Vec<f64>| row.iter().zip(&solved).map(|(one, other)| one * other).sum();
        self.rows.iter().map(dot).collect()
    }
}

/// The entry of a term in X: 1 for a factor that is off and -1 for one that is on, multiplied.
fn sign(term: &[usize], is_on: impl Fn(usize) -> bool) -> f64 {
    term.iter().map(|factor| if is_on(*factor) { -1.0 } else { 1.0 }).product()
}

/// Up to `order` of them, the empty one first, by size and then in order.
fn up_to(factors: &[usize], order: usize) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new()];
    let mut start = 0;
    for _ in 0..order.min(factors.len()) {
        let end = all.len();
        for place in start..end {
            let last = all[place].last().copied();
            for factor in factors.iter().filter(|factor| last.is_none_or(|last| **factor > last)) {
                let mut longer: Vec<usize> = all[place].clone();
                longer.push(*factor);
                all.push(longer);
            }
        }
        start = end;
    }
    all
}
