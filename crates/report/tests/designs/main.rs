//! Studies with designs, states of the testbed, guests and exact mode, from made-up stores whose
//! truth is known.

#![expect(clippy::unwrap_used, reason = "a test panics where it fails")]

mod any;
mod credit;
mod figures;
mod fragments;
mod made;
mod missing;
mod overview;
#[path = "../shown/mod.rs"]
mod shown;
mod states;
#[path = "../stored/mod.rs"]
mod stored;
mod truth;
