//! Main effects and interactions.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::effects::{EffectsError, Estimated, Estimator, Layout};
use crate::model::Factor;
use crate::observed::Observation;
use crate::question::Design;

/// The effects of factors and of their interactions.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Factorial {
    /// Interactions of up to this many factors are in the model. Larger ones, if possible, are
    /// taken as zero.
    pub order: usize,
    /// Whether every combination of the levels was measured.
    pub is_complete: bool,
    /// The effects by the number of factors, then in their order.
    pub effects: Vec<Effect>,
}

/// A main effect or an interaction.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Effect {
    /// The factors: one for a main effect, more for an interaction.
    pub factors: Vec<usize>,
    /// Their levels.
    pub levels: Vec<usize>,
    /// For factors of two levels: the mean at the high level less that at the low one; for two
    /// factors half the difference between the one's effect at the other's high level and at its
    /// low one, and so on (Box, Hunter and Hunter, Statistics for Experimenters, 1978, chapter 10),
    /// all for the high levels. Otherwise: the distance of the mean at these levels from the mean
    /// of all combinations, less main effects and smaller interactions; these sum to zero over the
    /// levels of each factor. Percentages are of the mean of all conditions.
    pub effect: Estimated,
}

/// The main effects of `layout`'s factors and the interactions of up to `order` of them, from the
/// means of all conditions with equal weight, with intervals of confidence `level`. Levels are
/// numbered from 0, the lowest. `design`: `None` detects it from the data.
///
/// If combinations are missing, interactions are estimated by least squares up to the size that the
/// measured ones can separate, all of a size or none; larger ones are taken as zero (see
/// [`Factorial::order`]). Missing combinations do not widen the intervals, which hold if the larger
/// interactions are small.
///
/// # Errors
/// [`EffectsError`] for conditions that are not combinations of levels, for a repeated one, if no
/// factor varies, and for a factor whose main effect cannot be separated from the others'.
pub fn factorial(
    observations: &[Observation],
    layout: &Layout,
    order: usize,
    design: Option<Design>,
    level: f64,
) -> Result<Factorial, EffectsError> {
    layout.check()?;
    let estimator = Estimator::new(observations, design, level)?;
    let conditions = estimator.fit.conditions();
    let measured = Measured::new(layout, conditions)?;
    let sizes: Vec<usize> = measured.levels_of.iter().map(Vec::len).collect();
    let combinations = sizes.iter().try_fold(1_usize, |product, size| product.checked_mul(*size));
    let model = largest(layout, &measured.places, &sizes, order)?;
    let share = 1.0 / conditions.len() as f64;
    let mean: Vec<(usize, f64)> = conditions.iter().map(|condition| (*condition, share)).collect();
    let mut effects = Vec::new();
    for term in model.terms.iter().filter(|term| !term.is_empty()) {
        let is_plain = term.iter().all(|factor| sizes[*factor] == 2);
        let scale = if is_plain { 2.0 } else { 1.0 };
        let all = combinations_of(term, &sizes);
        // With two levels each, the last combination has all high ones; the others repeat it with
        // other signs.
        for places in if is_plain { &all[all.len() - 1..] } else { &all[..] } {
            let coefficients =
                model.coefficients(term, places).into_iter().map(|of| without_rounding(scale * of));
            let terms: Vec<(usize, f64)> = conditions.iter().copied().zip(coefficients).collect();
            let effect = estimator.estimate(&terms, &mean, || {
                let names: Vec<String> = term.iter().map(|factor| layout.name(*factor)).collect();
                format!("the effect of {}", names.join(" x "))
            })?;
            let level = |(factor, place): (&usize, &usize)| measured.levels_of[*factor][*place];
            effects.push(Effect {
                factors: term.clone(),
                levels: term.iter().zip(places).map(level).collect(),
                effect,
            });
        }
    }
    let order = model.terms.iter().map(Vec::len).max().unwrap_or(0);
    Ok(Factorial { order, is_complete: combinations == Some(conditions.len()), effects })
}

struct Measured {
    /// The levels of each factor, rising.
    levels_of: Vec<Vec<usize>>,
    /// The level's place in `levels_of`, for each condition and factor.
    places: Vec<Vec<usize>>,
}

impl Measured {
    fn new(layout: &Layout, conditions: &[usize]) -> Result<Measured, EffectsError> {
        let mut seen: BTreeMap<&[usize], usize> = BTreeMap::new();
        let mut levels_of = vec![BTreeSet::new(); layout.factors.len()];
        for condition in conditions {
            let levels = layout.levels.get(*condition).ok_or(EffectsError::Unknown(*condition))?;
            if let Some(one) = seen.insert(levels, *condition) {
                return Err(EffectsError::Same { one, other: *condition });
            }
            for (of_factor, level) in levels_of.iter_mut().zip(levels) {
                of_factor.insert(*level);
            }
        }
        let levels_of: Vec<Vec<usize>> =
            levels_of.into_iter().map(|levels| levels.into_iter().collect()).collect();
        let place = |(levels, level): (&Vec<usize>, &usize)| levels.partition_point(|other| other < level);
        let places =
            |condition: &usize| levels_of.iter().zip(&layout.levels[*condition]).map(place).collect();
        let places = conditions.iter().map(places).collect();
        Ok(Measured { levels_of, places })
    }
}

/// The model with the largest interactions, up to `order` factors, that the conditions can
/// separate.
fn largest(
    layout: &Layout,
    places: &[Vec<usize>],
    sizes: &[usize],
    order: usize,
) -> Result<Model, EffectsError> {
    let varied = sizes.iter().filter(|size| **size > 1).count();
    if varied == 0 {
        return Err(EffectsError::NothingVaried);
    }
    let of_order = |order| Model::new(places, sizes.to_vec(), order);
    let mut model = of_order(1).map_err(|term| {
        let factor = term.first().map_or_else(String::new, |factor| layout.name(*factor));
        EffectsError::Confounded(factor)
    })?;
    for larger in 2..=order.min(varied) {
        match of_order(larger) {
            Ok(fitting) => model = fitting,
            Err(_) => break,
        }
    }
    Ok(model)
}

/// All combinations of the levels of `term`'s factors, by place, the last factor running fastest.
fn combinations_of(term: &[usize], sizes: &[usize]) -> Vec<Vec<usize>> {
    term.iter().fold(vec![Vec::new()], |all, factor| {
        let longer = |start: &Vec<usize>, level: usize| [start.as_slice(), &[level]].concat();
        all.iter().flat_map(|start| (0..sizes[*factor]).map(move |level| longer(start, level))).collect()
    })
}

/// Zero for a coefficient that is only rounding: its condition may then be missing.
fn without_rounding(coefficient: f64) -> f64 {
    if coefficient.abs() < 1e-12 { 0.0 } else { coefficient }
}

/// A model of condition means with every interaction of up to some number of factors.
pub(super) struct Model {
    /// The number of levels of each factor.
    sizes: Vec<usize>,
    /// Sets of factors, by size.
    pub(super) terms: Vec<Vec<usize>>,
    /// X: a row for each condition, a column for each parameter.
    rows: Vec<Vec<f64>>,
    /// The factor of X'X.
    factor: Factor,
}

impl Model {
    /// The model of all interactions of up to `order` factors of those with several levels, with
    /// the mean; `levels` are those of each factor for each condition. Err with the first term that
    /// the conditions cannot separate from those before it.
    pub(super) fn new(levels: &[Vec<usize>], sizes: Vec<usize>, order: usize) -> Result<Model, Vec<usize>> {
        let varied: Vec<usize> = (0..sizes.len()).filter(|factor| sizes[*factor] > 1).collect();
        let terms = up_to(&varied, order);
        let mut model = Model { sizes, terms, rows: Vec::new(), factor: Factor::decompose(Vec::new(), 0) };
        let owners = model.owners();
        // More parameters than conditions: some term cannot be estimated.
        if owners.len() > levels.len() {
            return Err(model.terms[owners[levels.len()]].clone());
        }
        model.rows = levels.iter().map(|levels| model.row(levels)).collect();
        let columns = 0..owners.len();
        let entry = |(i, j)| if j > i { 0.0 } else { model.rows.iter().map(|row| row[i] * row[j]).sum() };
        let matrix = columns.clone().flat_map(|i| columns.clone().map(move |j| (i, j))).map(entry).collect();
        model.factor = Factor::decompose(matrix, owners.len());
        match model.factor.dependent {
            Some(column) => Err(model.terms[owners[column]].clone()),
            None => Ok(model),
        }
    }

    /// The coefficients by which the condition means, in the order of `levels`, give the parameter
    /// of `term` at these levels of its factors: the distance of the mean there from the sum of the
    /// mean and all smaller terms.
    pub(super) fn coefficients(&self, term: &[usize], at: &[usize]) -> Vec<f64> {
        let mut solved = self.row_of(|factors| {
            if factors != term {
                return vec![0.0; self.columns(factors)];
            }
            product(factors.iter().zip(at).map(|(factor, level)| code(*level, self.sizes[*factor])))
        });
        self.factor.solve(&mut solved);
        let dot = |row: &Vec<f64>| row.iter().zip(&solved).map(|(one, other)| one * other).sum();
        self.rows.iter().map(dot).collect()
    }

    fn columns(&self, factors: &[usize]) -> usize {
        factors.iter().map(|factor| self.sizes[*factor] - 1).product()
    }

    /// A condition's row of X.
    fn row(&self, levels: &[usize]) -> Vec<f64> {
        self.row_of(|factors| {
            product(factors.iter().map(|factor| code(levels[*factor], self.sizes[*factor])))
        })
    }

    fn row_of(&self, columns: impl Fn(&[usize]) -> Vec<f64>) -> Vec<f64> {
        self.terms.iter().flat_map(|factors| columns(factors)).collect()
    }

    /// The term of each column.
    fn owners(&self) -> Vec<usize> {
        let columns = |term: usize| std::iter::repeat_n(term, self.columns(&self.terms[term]));
        (0..self.terms.len()).flat_map(columns).collect()
    }
}

/// A level's code in the columns of its factor: a row of the identity, and -1 everywhere for the
/// last level, so that a factor's effects sum to zero.
fn code(level: usize, size: usize) -> Vec<f64> {
    (0..size - 1)
        .map(|column| match level {
            level if level + 1 == size => -1.0,
            level => f64::from(u8::from(level == column)),
        })
        .collect()
}

/// All products of one entry of each; 1 for no factors.
fn product(codes: impl Iterator<Item = Vec<f64>>) -> Vec<f64> {
    codes.fold(vec![1.0], |products, code| {
        products.iter().flat_map(|product| code.iter().map(move |entry| product * entry)).collect()
    })
}

/// The subsets of `factors` of up to `order` of them, the empty one first, by size and then in
/// order.
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
