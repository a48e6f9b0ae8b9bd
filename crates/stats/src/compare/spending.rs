//! The error rate of a look for a comparison.

use std::cell::RefCell;
use std::collections::BTreeMap;

use crate::distribution::{normal, student};
use crate::question::Look;
use crate::sequential::{Looks, Schedule, shift};

/// Degrees of freedom per boot are rounded to this share: the error rate changes by less than 0.02
/// %.
const STEP: f64 = 0.05;

/// Computed levels of looks: they take milliseconds, and do not depend on the data. Kept between
/// analyses, each is computed once.
#[derive(Default)]
pub struct Spending {
    looks: RefCell<BTreeMap<LookKey, Looks>>,
    /// The bounds by error rate.
    bounds: RefCell<BTreeMap<(LookKey, u64), Vec<f64>>>,
}

/// A schedule, and the degrees of freedom per boot of its comparisons, in steps.
type LookKey = (Schedule, i64);

/// A comparison at a look.
#[derive(Clone, Copy, Debug)]
pub(crate) struct At {
    pub(crate) look: Look,
    /// Degrees of freedom of its error per boot but one, in steps.
    df: i64,
}

impl At {
    /// The position of a look with `df` degrees of freedom from this many boots.
    pub(crate) fn new(look: Look, df: f64, boots: usize) -> At {
        let per_boot = (df / (boots as f64 - 1.0).max(1.0)).max(1.0);
        At { look, df: (per_boot.ln() / STEP).round() as i64 }
    }

    fn df_per_boot(self) -> f64 {
        (self.df as f64 * STEP).exp()
    }

    fn place(self) -> LookKey {
        (self.look.schedule, self.df)
    }
}

impl Spending {
    /// The two-sided level of the look for a comparison with the error rate `alpha` over all looks.
    pub(crate) fn nominal(&self, at: At, alpha: f64) -> Option<f64> {
        let z = *self.bounds(at, alpha).get(at.look.number as usize - 1)?;
        Some(normal::two_sided(z))
    }

    /// The error rate over all looks at which a comparison with this two-sided p at the look is
    /// just proven.
    pub(crate) fn p(&self, at: At, nominal: f64) -> Option<f64> {
        self.with_looks(at, |looks| looks.p(at.look.number, nominal))
    }

    /// The shift, in standard errors, of the median-unbiased estimate toward zero for this t at the
    /// look, if no earlier look decided.
    pub(crate) fn shift(&self, at: At, alpha: f64, t: f64, df: f64) -> f64 {
        let before = at.look.number as usize - 1;
        let bounds = self.bounds(at, alpha);
        let z = normal::upper_quantile(student::sf(t, df)).unwrap_or(0.0);
        match bounds.get(..before) {
            Some(bounds) => self.with_looks(at, |looks| shift(&looks.fractions()[..=before], bounds, z)),
            None => 0.0,
        }
    }

    fn bounds(&self, at: At, alpha: f64) -> Vec<f64> {
        let key = (at.place(), alpha.to_bits());
        if let Some(bounds) = self.bounds.borrow().get(&key) {
            return bounds.clone();
        }
        let bounds = self.with_looks(at, |looks| looks.z(alpha));
        self.bounds.borrow_mut().insert(key, bounds.clone());
        bounds
    }

    fn with_looks<T>(&self, at: At, ask: impl FnOnce(&Looks) -> T) -> T {
        let mut all = self.looks.borrow_mut();
        ask(all.entry(at.place()).or_insert_with(|| at.look.schedule.looks(at.df_per_boot())))
    }
}
