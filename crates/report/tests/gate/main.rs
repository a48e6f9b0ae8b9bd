//! A study against the baseline it has to hold.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod error_rates;
mod junit;
mod made_up;
mod outcomes;
