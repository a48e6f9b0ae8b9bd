//! Lists in which nothing stands twice.

pub use ::words::{distinct, grouped};
