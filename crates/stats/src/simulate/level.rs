//! The level of every decision.

/// The significance level of every decision.
pub const ALPHA: f64 = 0.05;
