//! netassay beside its goals and its peers: what it costs, and how its traffic compares.
//! `README.md` says how to run it and how to read it.

mod bench;
mod cli;
mod compare;
mod connect;
mod controller;
mod exact;
mod failure;
mod figures;
mod fleet;
mod goal;
mod guest_boot;
mod installed;
mod machine;
mod made_up;
#[path = "../../crates/stats/tests/normal/mod.rs"]
mod normal;
mod observer;
mod pages;
mod peers;
mod place;
mod process;
mod report;
#[path = "../../crates/stats/tests/simulator/mod.rs"]
#[expect(dead_code, unused_imports, reason = "the tests of `stats` compare more methods than the bench")]
mod simulator;
mod startup;
mod statistics;
mod teardown;
mod trace;
mod traffic;
mod verdict;
mod wait;

use std::process::ExitCode;

use clap::Parser as _;

fn main() -> ExitCode {
    place::serve_if_first_process();
    cli::run(cli::Cli::parse()).unwrap_or_else(|failure| failure.report())
}
