//! Several comparisons as one family: critical values and p-values that hold for all of them together.

use crate::distribution::student;

/// Comparisons that are judged together, each with an error and degrees of freedom of its own: by Šidák's rule (J. Am. Stat.
/// Assoc. 62, 1967), which holds whatever their correlation. One comparison has Student's t.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Family {
    pub(crate) comparisons: usize,
}

impl Family {
    /// The error rate that is left to each comparison where the family has `alpha`.
    pub(crate) fn each(self, alpha: f64) -> f64 {
        match self.comparisons {
            0 | 1 => alpha,
            comparisons => -((-alpha).ln_1p() / comparisons as f64).exp_m1(),
        }
    }

    /// The p-value among all comparisons of one that has `each` by itself.
    pub(crate) fn of_all(self, each: f64) -> f64 {
        let p = match self.comparisons {
            0 | 1 => each,
            comparisons => -(comparisons as f64 * (-each).ln_1p()).exp_m1(),
        };
        p.clamp(0.0, 1.0)
    }

    /// The value that the largest |t| exceeds with probability `alpha` where nothing differs; none below 1 degree of freedom.
    pub(crate) fn critical(self, alpha: f64, df: f64) -> Option<f64> {
        student::upper_quantile(self.each(alpha) / 2.0, df)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracles::is_close;

    #[test]
    fn critical_and_p_are_each_others_inverse() {
        for comparisons in [1, 2, 6, 190] {
            let family = Family { comparisons };
            let critical = family.critical(0.05, 7.5).unwrap();
            assert!(is_close(family.of_all(2.0 * student::sf(critical, 7.5)), 0.05, 1e-9), "{comparisons}");
        }
    }

    #[test]
    fn a_family_asks_for_sidaks_share() {
        let each = 1.0 - 0.95_f64.powf(1.0 / 7.0);
        let critical = Family { comparisons: 7 }.critical(0.05, 16.0).unwrap();
        assert!(is_close(2.0 * student::sf(critical, 16.0), each, 1e-9));
    }
}
