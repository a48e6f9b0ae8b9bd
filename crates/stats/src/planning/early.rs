//! Plans that may stop early.

use crate::sequential::{Bounds, crossings};

/// Looks before the end.
#[derive(Clone, Debug, PartialEq)]
pub struct Early {
    /// The bounds.
    pub bounds: Bounds,
    /// After how many boots each look is, growing; the last is the end.
    pub looks: Vec<u32>,
}

impl Early {
    /// The share of all boots that each look has.
    pub fn fractions(&self) -> Vec<f64> {
        let all = self.looks.last().copied().map_or(f64::NAN, f64::from);
        self.looks.iter().map(|boots| f64::from(*boots) / all).collect()
    }

    /// The nominal level of the last look, which a [`Plan`](super::Plan) of the largest size takes as its alpha. `None` where
    /// the looks have no bounds ([`Bounds::nominal`]).
    pub fn last_nominal(&self, alpha: f64) -> Option<f64> {
        self.bounds.nominal(&self.fractions(), alpha).pop()
    }
}

/// The number of boots to be expected if the true difference is `drift` times its standard error at the last look, each look
/// tested at `alpha` overall: by the normal distribution, so a little less than with the few boots of a t-adjusted design.
/// `None` where the looks have no bounds or `drift` is not finite.
pub fn expected_boots(early: &Early, alpha: f64, drift: f64) -> Option<f64> {
    let fractions = early.fractions();
    let stops = crossings(&fractions, &early.bounds.z(&fractions, alpha), drift);
    let last = f64::from(*early.looks.last()?);
    let spared: f64 =
        stops.iter().zip(&early.looks).map(|(stop, boots)| stop * (last - f64::from(*boots))).sum();
    (!stops.is_empty()).then_some(last - spared)
}
