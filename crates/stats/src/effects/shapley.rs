//! Shapley shares: a total divided between factors.

use serde::Serialize;

use crate::effects::{DesignMatrix, EffectsError, Estimated, Estimator};
use crate::observed::Observation;

// The most factors: all their combinations are 65,536.
const MOST_FACTORS: usize = 16;

/// A total, from nothing switched on to everything, and each factor's share.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Shares {
    /// The mean with everything on less that with nothing on; percentages are of the latter.
    pub total: Estimated,
    /// The reverse: percentages are of the mean with everything on.
    pub back: Estimated,
    /// Each factor's share: the mean gain of switching it on over the orders; percentages are of
    /// the mean with everything off. They add up to the total.
    pub shares: Vec<Estimated>,
    /// The number of averaged orders.
    pub orders: u64,
    /// The number of orders that use only conditions of the layout, measured or not.
    pub planned_orders: u64,
    /// The number of all orders.
    pub all_orders: u64,
}

/// Divides the total of `layout`'s factors between them: a factor's share is the gain of the mean
/// when it is switched on, averaged over the orders of switching on that use only measured
/// combinations, with equal weight (L. S. Shapley, A value for n-person games, 1953): where a
/// kernel refuses combinations, a factor that needs another never gets the credit of being first.
/// With all orders this is his formula, weight |S|! (k - |S| - 1)! / k! for the gain on top of the
/// set S. Intervals have confidence `level`.
///
/// # Errors
/// [`EffectsError`] for more than 16 factors, and for the combinations with nothing
/// and with everything on that were not measured, by name.
pub fn shapley(
    observations: &[Observation],
    layout: &DesignMatrix,
    level: f64,
) -> Result<Shares, EffectsError> {
    let estimator = Estimator::new(observations, level)?;
    let conditions = by_set(layout, &estimator)?;
    let everything = conditions.len() - 1;
    let end = |set: usize| conditions[set].ok_or_else(|| EffectsError::Unmeasured(subset(layout, set)));
    let (off, on) = (end(0)?, end(everything)?);
    let are_measured: Vec<bool> = conditions.iter().map(Option::is_some).collect();
    let paths = Paths::count(&are_measured, layout.factors.len());
    let count = paths.to[everything];
    if count == 0 {
        return Err(EffectsError::NoOrder);
    }
    let share = |factor: usize| {
        let weights = conditions.iter().zip(paths.weights(factor));
        let terms: Vec<(usize, f64)> =
            weights.filter_map(|(condition, weight)| Some(((*condition)?, weight))).collect();
        estimator.estimate(&terms, &[(off, 1.0)], || format!("the share of {}", layout.factors[factor]))
    };
    let factors = layout.factors.len();
    let shares = (0..factors).map(share).collect::<Result<Vec<Estimated>, EffectsError>>()?;
    let change = |from: usize, to: usize| {
        estimator.estimate(&[(to, 1.0), (from, -1.0)], &[(from, 1.0)], || "the total".to_owned())
    };
    let (total, back) = (change(off, on)?, change(on, off)?);
    Ok(Shares {
        total,
        back,
        shares,
        orders: count,
        planned_orders: planned_orders(layout),
        all_orders: (1..=factors as u64).product(),
    })
}

fn planned_orders(layout: &DesignMatrix) -> u64 {
    let factors = layout.factors.len();
    let mut planned = vec![false; 1 << factors];
    layout.levels.iter().for_each(|levels| planned[switched_on(levels)] = true);
    Paths::count(&planned, factors).to[planned.len() - 1]
}

fn switched_on(levels: &[bool]) -> usize {
    levels.iter().enumerate().fold(0, |set, (factor, is_on)| set | usize::from(*is_on) << factor)
}

fn subset(layout: &DesignMatrix, set: usize) -> String {
    let on = (0..layout.factors.len()).filter(|factor| set >> factor & 1 == 1);
    let names: Vec<&str> = on.map(|factor| layout.factors[factor].as_str()).collect();
    match names.as_slice() {
        [] => "the combination with everything off".to_owned(),
        names => format!("the combination with only {} on", names.join(", ")),
    }
}

/// The condition of each set of factors, by the bits of the set.
fn by_set(layout: &DesignMatrix, estimator: &Estimator) -> Result<Vec<Option<usize>>, EffectsError> {
    let factors = layout.factors.len();
    if factors == 0 {
        return Err(EffectsError::NothingVaried);
    }
    if factors > MOST_FACTORS {
        return Err(EffectsError::TooMany { given: factors, most: MOST_FACTORS });
    }
    let mut conditions = vec![None; 1 << factors];
    for (levels, condition) in layout.states(estimator.fit.conditions())? {
        conditions[switched_on(levels)] = Some(condition);
    }
    Ok(conditions)
}

/// The number of orders from nothing to each set, and from it to everything, through allowed sets.
struct Paths {
    to: Vec<u64>,
    from: Vec<u64>,
}

impl Paths {
    fn count(reachable: &[bool], factors: usize) -> Paths {
        let sets = reachable.len();
        let (mut to, mut from) = (vec![0; sets], vec![0; sets]);
        (to[0], from[sets - 1]) = (1, 1);
        let bits = |set: usize, value: usize| {
            (0..factors).filter(move |factor| set >> factor & 1 == value).map(move |factor| set ^ 1 << factor)
        };
        // Subsets have smaller numbers than their supersets.
        for set in (1..sets).filter(|set| reachable[*set]) {
            to[set] = bits(set, 1).map(|before| to[before]).sum();
        }
        for set in (0..sets - 1).rev().filter(|set| reachable[*set]) {
            from[set] = bits(set, 0).map(|after| from[after]).sum();
        }
        Paths { to, from }
    }

    fn weights(&self, factor: usize) -> Vec<f64> {
        let sets = self.to.len();
        let total = self.to[sets - 1] as f64;
        let mut weights = vec![0.0; sets];
        for before in (0..sets).filter(|set| set >> factor & 1 == 0) {
            let after = before | 1 << factor;
            // 16! is less than 2^53, so these counts and their products over an order are exact.
            let weight = self.to[before] as f64 * self.from[after] as f64 / total;
            weights[after] += weight;
            weights[before] -= weight;
        }
        weights
    }
}
