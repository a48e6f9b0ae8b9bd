//! One module for each command.

mod aa;
mod advise;
mod agent;
mod apply;
mod compare;
mod compare_files;
mod doctor;
mod explain;
mod export;
mod figure;
mod gate;
mod history;
mod hosts;
mod kept;
mod kernel;
mod load;
pub(crate) mod ministat;
mod plan;
mod report;
mod restore;
mod run;
mod stored;
mod studies;
mod trace;

use std::process::ExitCode;

use crate::cli::{Cli, Command, Run};
use crate::exit;
use crate::failure::Failure;

pub(crate) fn dispatch(cli: &Cli) -> Result<ExitCode, Failure> {
    let done = |()| ExitCode::from(exit::OK);
    match &cli.command {
        Command::Quick(measured) => run::run("quick", measured),
        Command::Run(Run { study, measured }) => run::run(study, measured),
        Command::Load(flags) => load::load(flags).map(done),
        Command::Aa(flags) => aa::aa(flags),
        Command::Plan(flags) => plan::plan(flags).map(done),
        Command::Studies(flags) => studies::studies(flags).map(done),
        Command::New(new) => studies::new(new).map(done),
        Command::Check(check) => studies::check(check).map(done),
        Command::Schema => studies::schema().map(done),
        Command::List(flags) => stored::list(flags).map(done),
        Command::Show(show) => stored::show(show).map(done),
        Command::Report(flags) => report::report(flags).map(done),
        Command::Compare(flags) => compare::compare(flags).map(done),
        Command::Gate(flags) => gate::gate(flags),
        Command::History(flags) => history::history(flags).map(done),
        Command::Advise(flags) => advise::advise(flags).map(done),
        Command::Apply(flags) => apply::apply(flags).map(done),
        Command::Tag(flags) => kept::tag(flags).map(done),
        Command::Remove(flags) => kept::remove(flags).map(done),
        Command::Pack(flags) => kept::pack(flags).map(done),
        Command::Unpack(flags) => kept::unpack(flags).map(done),
        Command::Export(flags) => export::export(flags).map(done),
        Command::Ministat(ministat) => Ok(ministat::ministat(ministat.words.iter().cloned())),
        Command::Explain(flags) => explain::explain(flags).map(done),
        Command::Trace(flags) => trace::trace(flags),
        Command::Kernel(flags) => kernel::kernel(flags).map(done),
        Command::Doctor(flags) => doctor::doctor(flags),
        Command::Restore(flags) => restore::restore(flags),
        Command::Unrestored => restore::unrestored(),
        Command::Agent => agent::agent().map(done),
        Command::Guest => agent::guest().map(done),
        Command::Hold { lease } => agent::await_lease_end(*lease).map(done),
    }
}
