//! One module for each command.

mod aa;
mod advise;
mod agent;
mod apply;
mod compare;
mod compare_files;
mod db;
mod doctor;
mod export;
mod fleet;
mod gate;
mod history;
pub(crate) mod hosts;
mod kernel;
mod load;
pub(crate) mod ministat;
mod plan;
mod report;
mod run;
mod stored;
mod study_files;
mod term;
mod trace;
mod undo;

use std::process::ExitCode;

use crate::cli::{Cli, Command, FleetCommand};
use crate::exit;
use crate::failure::Failure;

pub(crate) fn dispatch(cli: &Cli) -> Result<ExitCode, Failure> {
    let done = |()| ExitCode::from(exit::OK);
    match &cli.command {
        Command::Quick(flags) => run::measure_and_show("quick", flags),
        Command::Run(flags) => run::run(flags),
        Command::Load(flags) => load::load(flags).map(done),
        Command::Trace(flags) => trace::trace(flags),
        Command::Show { study, runs, environment, over, stored } => {
            stored::show(study.as_deref(), *runs, *environment, over, stored).map(done)
        }
        Command::Report(flags) => report::report(flags).map(done),
        Command::Compare(flags) => compare::compare(flags).map(done),
        Command::History(flags) => history::history(flags).map(done),
        Command::Advise(flags) => advise::advise(flags).map(done),
        Command::Gate(flags) => gate::gate(flags),
        Command::Doctor { host, output, hosts } => doctor::doctor(host.as_ref(), hosts, output),
        Command::Fleet(FleetCommand::Script(flags)) => fleet::script(flags).map(done),
        Command::Fleet(FleetCommand::Status(flags)) => fleet::status(flags),
        Command::Kernel(command) => kernel::kernel(command).map(done),
        Command::Apply(flags) => apply::apply(flags).map(done),
        Command::Undo(flags) => undo::undo(flags),
        Command::Study(command) => study_files::study_files(command).map(done),
        Command::Db(command) => db::db(command).map(done),
        Command::Ministat { words } => Ok(ministat::ministat(words.iter().cloned())),
        Command::Term { word, terms, markdown, output } => {
            term::define(word, *terms, *markdown, output).map(done)
        }
        Command::Unrestored => undo::unrestored(),
        Command::Agent => agent::agent().map(done),
        Command::Guest => agent::guest().map(done),
        Command::Hold { lease } => agent::await_lease_end(*lease).map(done),
    }
}
