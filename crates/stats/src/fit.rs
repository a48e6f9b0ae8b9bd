//! The model fitted to the data, with the error term that they call for.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::boots::{Cell, Cells};
use crate::homogeneity::Homogeneity;
use crate::model::{Additive, Estimate, Layout, ROUNDING, Welch};
use crate::question::Design;

/// What a difference is held against.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorTerm {
    /// Nested: the mean square of boots within conditions, pooled over all conditions.
    BootsPooled,
    /// Nested, unequal spreads: each condition's own boots, with Welch's degrees of freedom.
    BootsByPair,
    /// Crossed: the mean square of condition x boot, pooled over all conditions.
    InteractionPooled,
    /// Crossed, two conditions or unequal spreads: the differences inside each boot, a paired t-test. Unequal numbers of runs
    /// only make it cautious: at error rates up to 8.3 % its error is largest when all differences have the same variance
    /// (Bakirov and Székely, J. Math. Sci. 139, 2006), so that two conditions need no estimated weights, which few boots
    /// cannot give.
    PairedByPair,
    /// Counts without noise: no error at all, but a resolution.
    Resolution,
    /// Unequal numbers of runs: variances by restricted maximum likelihood, with Kenward and Roger's degrees of freedom.
    Reml,
}

impl ErrorTerm {
    /// The error term in a sentence, without a full stop.
    pub fn as_sentence(self) -> &'static str {
        match self {
            ErrorTerm::BootsPooled => {
                "intervals rest on the spread between the boots of a condition, pooled over all conditions"
            }
            ErrorTerm::BootsByPair => {
                "intervals rest on the boots of the two conditions alone, because conditions spread unequally (Welch)"
            }
            ErrorTerm::InteractionPooled => {
                "intervals rest on how differently boots treat the conditions (condition x boot), pooled over all conditions"
            }
            ErrorTerm::PairedByPair => {
                "intervals rest on the differences inside each boot of the two conditions (paired Student's t)"
            }
            ErrorTerm::Resolution => {
                "counts have no noise to speak of: what differs by more than their resolution differs, what does not is equivalent"
            }
            ErrorTerm::Reml => {
                "conditions have unequal numbers of runs: intervals rest on variances by REML (Kenward and Roger)"
            }
        }
    }
}

/// The model fitted to cells. Comparisons, effects and shares are all linear combinations of its condition means.
#[derive(Clone, Debug)]
pub(crate) struct Fit {
    pub(crate) design: Design,
    pub(crate) error: ErrorTerm,
    pub(crate) homogeneity: Option<Homogeneity>,
    /// The model with a common error. Used for every combination unless the error term is by pair.
    pub(crate) additive: Additive,
    /// The model with every cell weighing the same, where that is another.
    even: Option<Additive>,
    cells: Cells,
}

impl Fit {
    /// Fits `cells` as they came out of `design`; none: as the data show it.
    pub(crate) fn of(cells: &Cells, design: Option<Design>) -> Fit {
        let design = design.unwrap_or_else(|| Layout::recognised(cells));
        let layout = Layout::of(cells, design);
        let conditions = layout.rows();
        let is_pair = design == Design::Crossed && conditions == 2;
        let even = Additive::even(layout.clone());
        // What two conditions leave in a boot is the same but for the sign, so their spreads cannot be told apart.
        let of_conditions = if is_pair { None } else { Homogeneity::of(even.residuals()) };
        // Groups that share no boot are held against the spread of all their boots, so that must be one too.
        let of_boots = Homogeneity::of(even.boot_effects()).filter(|test| !test.is_equal());
        let homogeneity = of_conditions.filter(|test| !test.is_equal()).or(of_boots).or(of_conditions);
        let is_equal = homogeneity.is_none_or(|test| test.is_equal());
        let reml = if layout.is_even() { None } else { Additive::reml(layout) };
        let (additive, even) = match reml {
            Some(reml) => (reml, Some(even)),
            None => (even, None),
        };
        let error = match design {
            Design::Nested if !is_equal => ErrorTerm::BootsByPair,
            Design::Crossed if !is_equal || is_pair => ErrorTerm::PairedByPair,
            _ if even.is_some() => ErrorTerm::Reml,
            Design::Nested => ErrorTerm::BootsPooled,
            Design::Crossed => ErrorTerm::InteractionPooled,
        };
        Fit { design, error, homogeneity, additive, even, cells: cells.clone() }
    }

    /// The model with every cell weighing the same.
    pub(crate) fn unweighted(&self) -> &Additive {
        self.even.as_ref().unwrap_or(&self.additive)
    }

    /// Is every pair of conditions held against an error of its own?
    pub(crate) fn is_by_pair(&self) -> bool {
        matches!(self.error, ErrorTerm::BootsByPair | ErrorTerm::PairedByPair)
    }

    /// The conditions that were measured, in order.
    pub(crate) fn conditions(&self) -> &[usize] {
        &self.additive.layout.conditions
    }

    /// A condition's cells.
    pub(crate) fn cells(&self, condition: usize) -> &[Cell] {
        self.cells.condition(condition)
    }

    /// Have the two conditions boots of their own though others share theirs? So have conditions of different states of a
    /// testbed, each of which needs a boot.
    pub(crate) fn are_apart(&self, one: usize, other: usize) -> bool {
        let layout = &self.additive.layout;
        self.design == Design::Crossed && layout.part(one) != layout.part(other)
    }

    /// The linear combination of condition means with these coefficients. None if a condition was not measured, or if errors
    /// are by pair and no boot measured what is compared though other boots connect it. An estimate whose error nothing tells (fewer than two boots) is not
    /// [sure](Estimate::is_sure).
    pub(crate) fn contrast(&self, terms: &[(usize, f64)]) -> Option<Estimate> {
        let rounding = self.rounding(terms);
        match self.error {
            ErrorTerm::BootsByPair => {
                let welch = |(condition, coefficient): &(usize, f64)| {
                    let cells = self.cells(*condition);
                    (!cells.is_empty()).then(|| (Welch::of(cells), *coefficient))
                };
                Some(Welch::combination(&terms.iter().map(welch).collect::<Option<Vec<_>>>()?, rounding))
            }
            ErrorTerm::PairedByPair => {
                let mut parts: BTreeMap<usize, Vec<(usize, f64)>> = BTreeMap::new();
                for term in terms {
                    parts.entry(self.additive.layout.part(term.0)?).or_default().push(*term);
                }
                let combined = parts.values().map(|terms| Some((Welch::of(&self.inside_boots(terms)?), 1.0)));
                Some(Welch::combination(&combined.collect::<Option<Vec<_>>>()?, rounding))
            }
            _ => Some(self.additive.estimate(&self.rows(terms)?, rounding)),
        }
    }

    /// The covariances of combinations under a common error, but for a factor. Of those that cannot be estimated it is zero.
    pub(crate) fn covariance(&self, combinations: &[[(usize, f64); 2]]) -> Vec<Vec<f64>> {
        let rows: Vec<Vec<(usize, f64)>> =
            combinations.iter().map(|terms| self.rows(terms).unwrap_or_default()).collect();
        self.additive.covariance(&rows)
    }

    /// The combination taken inside each boot that has all of its conditions; none without such a boot.
    pub(crate) fn inside_boots(&self, terms: &[(usize, f64)]) -> Option<Vec<Cell>> {
        let (first, rest) = terms.split_first()?;
        let mut combined: Vec<Cell> =
            self.cells(first.0).iter().map(|cell| Cell { mean: first.1 * cell.mean, ..*cell }).collect();
        for (condition, coefficient) in rest {
            let others = self.cells(*condition);
            combined.retain_mut(|cell| {
                let Ok(place) = others.binary_search_by_key(&cell.boot, |other| other.boot) else {
                    return false;
                };
                cell.mean += coefficient * others[place].mean;
                true
            });
        }
        (!combined.is_empty()).then_some(combined)
    }

    /// The terms by the rows of the model.
    pub(crate) fn rows(&self, terms: &[(usize, f64)]) -> Option<Vec<(usize, f64)>> {
        let row = |(condition, coefficient): &(usize, f64)| {
            Some((self.additive.layout.row(*condition)?, *coefficient))
        };
        terms.iter().map(row).collect()
    }

    /// How far rounding alone may move a combination: as far as a difference of the largest means, for coefficients 1 and -1.
    pub(crate) fn rounding(&self, terms: &[(usize, f64)]) -> f64 {
        let conditions = terms.iter().filter(|(_, coefficient)| *coefficient != 0.0);
        let largest = conditions
            .flat_map(|(condition, _)| self.cells(*condition))
            .fold(0.0, |most: f64, cell| most.max(cell.mean.abs()));
        let size: f64 = terms.iter().map(|(_, coefficient)| coefficient.abs()).sum();
        ROUNDING * largest * size / 2.0
    }
}
