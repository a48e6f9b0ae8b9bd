//! The rarity of flags.

/// The chance that a clean campaign shows any flag of a kind.
pub const LEVEL: f64 = 0.01;

/// A smaller effect of a boot, in standard deviations between runs, is rounding: where boots do not
/// differ at all, rounding would have outliers too.
pub(super) const ROUNDING: f64 = 1e-6;

/// `p` adjusted for this many tests, if that is rare enough for a flag.
pub(super) fn adjusted(p: f64, tests: usize) -> Option<f64> {
    let adjusted = (p * tests as f64).min(1.0);
    (adjusted < LEVEL).then_some(adjusted)
}
