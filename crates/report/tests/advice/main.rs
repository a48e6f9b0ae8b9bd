//! Advice against studies whose truth is known, how often it is wrong, and its renderings.

#![expect(clippy::unwrap_used, reason = "a test panics where it fails")]
#![expect(clippy::print_stderr, reason = "where a skip is announced")]

mod depends;
mod hostile;
mod known;
mod made;
mod markdown;
#[macro_use]
#[path = "../../../stats/tests/sizes/mod.rs"]
mod sizes;
mod simulated;
#[path = "../stored/mod.rs"]
mod stored;
