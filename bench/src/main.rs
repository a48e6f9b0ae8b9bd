//! netassay beside its goals and its peers: what it costs, and how its traffic compares.
//! `README.md` says how to run it and how to read it.

mod bench;
mod cli;
mod clock;
mod controller;
mod exact;
mod failure;
mod guest_boot;
mod in_place;
mod installed;
mod interrupt;
mod machine;
mod netassay;
mod observer;
mod peers;
mod place;
mod random;
mod ready;
mod report;
mod spread;
mod startup;
mod statistics;
mod table;
mod teardown;
mod terminal;
mod timed;
mod traffic;
mod verdict;

use std::process::ExitCode;

use clap::Parser as _;

fn main() -> ExitCode {
    in_place::if_first_process();
    cli::run(&cli::Cli::parse()).unwrap_or_else(|failure| failure.report())
}
