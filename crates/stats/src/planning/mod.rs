//! The size of a study in boots and runs: power, the smallest difference it can show, and the
//! cheapest way to show one.
//!
//! The model is that of the analysis: a boot's mean of one condition varies with [`Noise::cell`], a
//! run within the boot with [`Noise::run`]; the error of a difference between two conditions is
//! sqrt(2 (cell^2 + run^2 / runs) / boots), and its test is t with the typical degrees of freedom
//! of conditions that spread alike. They vary between studies, on balance favourably: the power is
//! a few hundredths above the planned one. Lengths are in the metric's unit throughout.

mod cheapest;
mod pilot;
mod plan;

pub use cheapest::{Choice, Goal};
pub use pilot::Pilot;
pub use plan::{Cost, Family, Noise, Plan, expected_boots, noncentrality};
