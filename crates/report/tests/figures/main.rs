//! Figures of made-up stored studies: what they show, and that they can be read.

#![expect(clippy::unwrap_used, reason = "a test panics where it fails")]

use netassay_report::chart;

mod any;
#[path = "../drawn/faults.rs"]
mod faults;
mod latency;
#[path = "../designs/made.rs"]
mod made;
mod made_up;
mod near_zero;
mod seen;
mod size;
#[path = "../stored/mod.rs"]
mod stored;
