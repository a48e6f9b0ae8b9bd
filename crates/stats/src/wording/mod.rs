//! Results in words: numbers, the figures that are shown, sentences.

mod check;
mod number;
mod sentence;
mod shown;

pub use number::{confidence, fixed, signed};
pub use shown::{Seen, corrected};
