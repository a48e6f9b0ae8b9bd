//! The model fitted to the data, with the appropriate error term.

use serde::{Deserialize, Serialize};

use crate::distribution::student;
use crate::model::additive::{Additive, Borrowing};
use crate::model::layout::CellLayout;
use crate::observed::{BootCell, Cells};
use crate::question::{Design, Question};

/// The error term of a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorTerm {
    /// Nested: the spread of each condition's own boots.
    Boots,
    /// Crossed: how differently boots affect each condition (condition x boot).
    Interaction,
    /// Crossed, two conditions: the differences inside each boot, a paired t-test. Unequal numbers
    /// of runs only make it cautious: at error rates up to 8.3 % its error is largest when all
    /// differences have the same variance (Bakirov and Székely, J. Math. Sci. 139, 2006).
    Paired,
    /// Boots lack conditions, values cannot be negative, and the boots' common effects would make a
    /// mean negative: each condition by its own boots, as if it shared none.
    OwnBoots,
    /// Counts without noise: no error, but a resolution.
    Resolution,
}

impl ErrorTerm {
    /// The error term in a sentence, without a full stop.
    pub fn as_sentence(self) -> &'static str {
        match self {
            ErrorTerm::Boots => "intervals rest on the spread between each condition's own boots",
            ErrorTerm::Interaction => {
                "intervals rest on how differently boots treat each condition (condition x boot)"
            }
            ErrorTerm::Paired => {
                "intervals rest on the differences inside each boot of the two conditions (paired Student's t)"
            }
            ErrorTerm::OwnBoots => {
                "boots lack conditions, and what they have in common would make a mean negative: intervals rest on the spread between each condition's own boots"
            }
            ErrorTerm::Resolution => {
                "counts have almost no noise: a difference above their resolution is proven, a smaller one is equivalent"
            }
        }
    }
}

/// The model fitted to cells. Comparisons, effects and shares are all linear combinations of its
/// condition means.
#[derive(Clone, Debug)]
pub(crate) struct Fit {
    pub(crate) design: Design,
    pub(crate) error: ErrorTerm,
    pub(crate) model: Additive,
    /// The means are between these, as all values are.
    ends: (f64, f64),
    cells: Cells,
}

impl Fit {
    pub(crate) fn new(cells: &Cells, question: &Question) -> Fit {
        let (baseline, range) = (question.baseline(), question.range);
        let design = question.design.unwrap_or_else(|| CellLayout::recognised(cells));
        let is_non_negative = cells.iter().all(|cell| cell.mean >= 0.0);
        let (least, most) = range.ends();
        let natural = (if is_non_negative { least.max(0.0) } else { least }, most);
        let ends =
            cells.iter().fold(natural, |(least, most), cell| (least.min(cell.mean), most.max(cell.mean)));
        let fit = |design, error, model| Fit { design, error, model, ends, cells: cells.clone() };
        let model = Additive::fit(CellLayout::new(cells, design), baseline);
        // If boots lack conditions, a condition's mean over all boots includes the boots' common
        // effects on the others; if boots multiply instead of add, that can be far off.
        if is_non_negative && !model.layout.is_complete() {
            let largest = cells.iter().fold(0.0, |most: f64, cell| most.max(cell.mean));
            if (0..model.layout.rows()).any(|row| model.mean(row) < -ROUNDING * largest) {
                let nested = CellLayout::new(cells, Design::Nested);
                return fit(Design::Nested, ErrorTerm::OwnBoots, Additive::fit(nested, baseline));
            }
        }
        let error = match design {
            Design::Nested => ErrorTerm::Boots,
            Design::Crossed if model.layout.rows() == 2 => ErrorTerm::Paired,
            Design::Crossed => ErrorTerm::Interaction,
        };
        fit(design, error, model)
    }

    pub(crate) fn conditions(&self) -> &[usize] {
        &self.model.layout.conditions
    }

    pub(crate) fn cells(&self, condition: usize) -> &[BootCell] {
        self.cells.condition(condition)
    }

    /// Whether the two conditions have separate boots although others share theirs, as conditions
    /// of different states of a testbed, which need separate boots.
    pub(crate) fn are_apart(&self, one: usize, other: usize) -> bool {
        let layout = &self.model.layout;
        self.design == Design::Crossed && layout.part(one) != layout.part(other)
    }

    pub(crate) fn mean(&self, condition: usize) -> Option<f64> {
        let (least, most) = self.ends;
        Some(self.model.mean(self.model.layout.row(condition)?).clamp(least, most))
    }

    /// The linear combination of condition means with these coefficients, each condition once.
    /// `None` if a condition was not measured. With an unknown error (fewer than two boots) it is
    /// not [sure](Estimate::is_sure).
    pub(crate) fn contrast(&self, terms: &[(usize, f64)], borrowing: Borrowing) -> Option<Estimate> {
        Some(self.model.estimate(&self.rows(terms)?, borrowing, self.rounding(terms)))
    }

    /// The part of a combination's variance from one of its conditions. `None` if a condition was
    /// not measured, or nothing varies.
    pub(crate) fn share(&self, condition: usize, terms: &[(usize, f64)]) -> Option<f64> {
        self.model.share(self.model.layout.row(condition)?, &self.rows(terms)?)
    }

    fn rows(&self, terms: &[(usize, f64)]) -> Option<Vec<(usize, f64)>> {
        let row = |(condition, factor): &(usize, f64)| Some((self.model.layout.row(*condition)?, *factor));
        terms.iter().map(row).collect()
    }

    /// The rounding error of a combination: that of a difference of the largest means, for
    /// coefficients 1 and -1.
    pub(crate) fn rounding(&self, terms: &[(usize, f64)]) -> f64 {
        let conditions = terms.iter().filter(|(_, coefficient)| *coefficient != 0.0);
        let largest = conditions
            .flat_map(|(condition, _)| self.cells(*condition))
            .fold(0.0, |most: f64, cell| most.max(cell.mean.abs()));
        let size: f64 = terms.iter().map(|(_, coefficient)| coefficient.abs()).sum();
        ROUNDING * largest * size / 2.0
    }
}

// The rounding error of a cell's mean and of differences, as a share of the largest value: numbers
// are written and read with 15 digits. An interval is never narrower, so rounding alone proves
// nothing.
pub(crate) const ROUNDING: f64 = 1e-14;

/// An estimated combination of condition means, in the metric's unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Estimate {
    pub(crate) value: f64,
    /// The standard error; infinite if unknown.
    pub(crate) se: f64,
    /// Degrees of freedom of the standard error, at least 1; 0 if unknown.
    pub(crate) df: f64,
    pub(crate) rounding: f64,
}

impl Estimate {
    pub(crate) fn unsure(value: f64, rounding: f64) -> Estimate {
        Estimate { value, se: f64::INFINITY, df: 0.0, rounding }
    }

    pub(crate) fn is_sure(&self) -> bool {
        self.df > 0.0
    }

    /// Half the width of the interval with `critical` standard errors on either side; `None` if the
    /// error is unknown, or an end is not finite.
    pub(crate) fn half_width(&self, critical: f64) -> Option<f64> {
        let half = critical * self.se + self.rounding;
        (self.is_sure() && (self.value.abs() + half).is_finite()).then_some(half)
    }

    /// Whether the value, and `critical` of its standard errors, are rounding errors.
    pub(crate) fn is_rounding(&self, critical: f64) -> bool {
        self.is_sure() && self.value.abs().max(critical * self.se) <= self.rounding
    }

    pub(crate) fn interval_with(&self, critical: f64) -> Option<(f64, f64)> {
        let half = self.half_width(critical)?;
        Some((self.value - half, self.value + half))
    }

    /// The t-interval at error rate `alpha` (two-sided).
    pub(crate) fn interval(&self, alpha: f64) -> Option<(f64, f64)> {
        self.interval_with(student::upper_quantile(alpha / 2.0, self.df)?)
    }

    /// The value in standard errors, less rounding, without its sign.
    pub(crate) fn t(&self) -> f64 {
        let beyond = (self.value.abs() - self.rounding).max(0.0);
        if beyond == 0.0 { 0.0 } else { beyond / self.se }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_has_ends_or_there_is_none() {
        let estimate = Estimate { value: -9e307, se: 1e307, df: 2.0, rounding: 0.0 };
        assert_eq!(estimate.interval_with(4.0), Some((-9e307 - 4.0 * 1e307, -9e307 + 4.0 * 1e307)));
        assert_eq!(estimate.interval_with(12.0), None);
        let unsure = Estimate { value: 1.0, se: f64::INFINITY, df: 0.0, rounding: 0.0 };
        assert_eq!(unsure.interval_with(2.0), None);
    }
}
