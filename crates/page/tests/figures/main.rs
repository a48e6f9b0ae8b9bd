//! Figures of made-up stored studies: what they show, and that they can be read.

#![expect(clippy::unwrap_used, reason = "a test panics where it fails")]

use ::chart;

mod any;
#[path = "../../../chart/tests/drawn/faults.rs"]
mod faults;
mod latency;
#[path = "../../../report/tests/designs/made.rs"]
mod made;
mod made_up;
mod near_zero;
mod seen;
mod size;
#[path = "../../../report/tests/stored/mod.rs"]
mod stored;
