//! netassay finds out, with proof, what each part of the Linux network stack costs and gains.

mod again;
mod cli;
mod commands;
mod doctor;
mod exit;
mod failure;
mod log;
mod machine;
mod output;
mod signals;
mod terminal;
mod turn;

use std::process::ExitCode;

fn main() -> ExitCode {
    if agent::init::is_called() {
        agent::init::run(env!("CARGO_PKG_VERSION"));
    }
    if let Some(code) = commands::ministat::if_called() {
        return code;
    }
    signals::outlive_file_limits();
    let result = cli::Cli::read(std::env::args_os())
        .map_err(failure::Failure::from)
        .and_then(|cli| log::begin(&cli).and_then(|()| commands::dispatch(&cli)));
    result.unwrap_or_else(|failure| failure.report())
}
