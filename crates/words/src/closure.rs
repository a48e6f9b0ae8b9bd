//! Whether the stages of a trace add up to the whole.

use serde::Serialize;

/// The sum of a trace's stages as a share of the whole way, which is measured separately. It is 1
/// if nothing is missing.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize)]
#[serde(transparent)]
pub struct Closure(f64);

/// The largest error of that sum for counted instructions, as a share of the whole. Instructions
/// repeat: the bundled paths stay within it, and a larger error means that a probe's cost is wrong.
const EXACT: f64 = 0.02;
/// Times do not repeat so well: the cost of all probes is several times the whole where these are
/// dear, and that of one is known to some percent. Beyond this a stage may be off by as much as the
/// differences that a study looks for.
const TIME: f64 = 0.10;

/// The share beyond which the measured whole is mostly an error of the probes' cost, and says
/// nothing.
const SENSELESS: f64 = 10.0;

impl Closure {
    /// The closure of stages with this sum; `None` without a whole.
    #[must_use]
    pub fn from_sum(sum: f64, whole: Option<f64>) -> Option<Self> {
        whole.filter(|whole| *whole > 0.0).map(|whole| Self(sum / whole))
    }

    /// The share of the whole.
    #[must_use]
    pub fn share(self) -> f64 {
        self.0
    }

    /// The largest error of the sum, as a share of the whole, for instructions (`exact`) or for
    /// time.
    #[must_use]
    pub fn bound(exact: bool) -> f64 {
        if exact { EXACT } else { TIME }
    }

    /// Whether the stages may be judged one by one.
    #[must_use]
    pub fn holds(self, exact: bool) -> bool {
        // Bounds are whole percents: 1.02 - 1.0 is a little more than 0.02.
        (self.0 - 1.0).abs() <= Self::bound(exact) + 1e-9
    }

    /// A share of the whole in percent, as it is printed.
    #[must_use]
    pub fn percent(share: f64) -> String {
        let (beyond, share) = if share > SENSELESS { ("more than ", SENSELESS) } else { ("", share) };
        format!("{beyond}{:.1}", 100.0 * share)
    }

    /// The error as a clause; `None` if it is within the bound.
    #[must_use]
    pub fn breach(self, exact: bool) -> Option<String> {
        let apart = self.0 - 1.0;
        let than = if apart > 0.0 { "more" } else { "less" };
        (!self.holds(exact)).then(|| {
            format!(
                "the stages add up to {} % {than} than the whole: they are not trusted one by one beyond {} %",
                Self::percent(apart.abs()),
                100.0 * Self::bound(exact)
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_may_be_as_far_from_the_whole_as_what_is_counted_repeats() {
        let closure = |sum: f64| Closure::from_sum(sum, Some(100.0)).unwrap();
        for (sum, exact, time) in
            [(100.0, true, true), (98.0, true, true), (102.0, true, true), (97.9, false, true)]
        {
            assert_eq!((closure(sum).holds(true), closure(sum).holds(false)), (exact, time), "{sum}");
        }
        for (sum, time) in [(90.0, true), (110.0, true), (110.1, false), (89.9, false), (147.0, false)] {
            assert_eq!((closure(sum).holds(true), closure(sum).holds(false)), (false, time), "{sum}");
        }
        assert_eq!(closure(100.0).breach(true), None);
        let breach = closure(147.0).breach(false).unwrap();
        assert!(breach.contains("47.0 % more") && breach.ends_with("beyond 10 %"), "{breach}");
        assert!(closure(97.0).breach(true).unwrap().contains("3.0 % less"));
        let breach = closure(1e15).breach(true).unwrap();
        assert!(breach.contains("more than 1000.0 % more than the whole"), "{breach}");
        assert!(closure(f64::NAN).breach(true).is_some(), "what is no number does not close");
        assert_eq!((Closure::from_sum(1.0, None), Closure::from_sum(1.0, Some(0.0))), (None, None));
    }
}
