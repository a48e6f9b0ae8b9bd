//! Errors of testbeds, of guests, and on the way to machines.

use std::fmt::Display;
use std::io;
use std::path::Path;

use agent::{CallError, ServeError};
use record::Crash;
use thiserror::Error as ThisError;

use crate::pair::PairFault;

/// Why a testbed could not be built or used.
#[derive(Debug, ThisError)]
#[expect(missing_docs, reason = "the messages of its variants say it")]
pub enum Error {
    /// An agent could not be started, or exited unexpectedly.
    #[error("{0}")]
    Agent(String),
    #[error(transparent)]
    Call(#[from] CallError),
    #[error(transparent)]
    Serve(#[from] ServeError),
    #[error("{0}, but answers again: the machine is busy")]
    Late(CallError),
    #[error("{0}; the virtual machine still runs; last lines of its console:\n{1}")]
    SilentGuest(CallError, String),
    #[error("{what}\n{console}")]
    Guest { what: String, console: String, fault: GuestFault },
    /// A guest, a file or a machine of the user's cannot be used: its name, why, and the remedy.
    #[error("{0}")]
    Failed(String),
    /// There is no kernel of this name: the remedy.
    #[error("{0}")]
    NoKernel(String),
    /// A machine of the user's did not answer, or not as expected. Another attempt may succeed.
    #[error("{0}")]
    Unanswered(String),
    /// Machines did not come up as a boot needs them. `answers`: they run, but another kernel.
    #[error("{why}")]
    NotUp { why: String, crash: Crash, answers: bool },
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
    Pair(Vec<PairFault>),
    #[error(
        "the switches do not read back as they did when the study was planned: {0}: something changed them since; start the study anew"
    )]
    Drifted(record::Drift),
    #[error("the {host} cannot take turns: {why}")]
    NotInTurns { host: String, why: String },
    /// The testbed is well, but this order cannot be carried out on it: why, and the remedy.
    #[error("{0}")]
    Unfit(String),
    #[error("interrupted")]
    Interrupted,
}

/// The part at fault when a guest does not run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GuestFault {
    /// Its kernel, which panicked, hung or reset: once in many boots that happens to any.
    Passing,
    /// Its kernel, or its command line.
    Kernel,
    /// QEMU, or the machine.
    Machine,
}

impl From<String> for Error {
    fn from(what: String) -> Self {
        Self::Failed(what)
    }
}

impl Error {
    /// A scenario between the user's machines, of which none are given.
    pub fn no_hosts(scenario: study::Scenario) -> Self {
        Self::Failed(format!(
            "scenario \"{scenario}\" runs between machines of yours: name them with --transmitter USER@HOST:INTERFACE and --receiver USER@HOST:INTERFACE (one is enough if the other is this machine)"
        ))
    }

    /// Whether the user asked to stop.
    pub fn is_interrupt(&self) -> bool {
        matches!(self, Self::Interrupted | Self::Call(CallError::Interrupted))
    }

    /// Whether every further change would fail too, so that a study ends with it.
    pub fn ends_the_study(&self) -> bool {
        matches!(self, Self::Call(CallError::NoJournal { .. }))
    }

    pub(crate) fn refusal(self) -> Result<String, Self> {
        match self {
            Self::Call(CallError::Refused { why, .. }) => Ok(why),
            other => Err(other),
        }
    }

    pub(crate) fn or_not_set(self, end: impl Display) -> Self {
        self.refusal().map_or_else(|other| other, |why| Self::Failed(format!("the {end}: {why}")))
    }

    pub(crate) fn after(mut self, first: &Self) -> Self {
        if let Self::Guest { console, .. } = &mut self {
            *console += &format!("\nit was booted twice; the first time {first}");
        }
        self
    }

    pub(crate) fn or_late(self) -> Self {
        match self {
            Self::Call(source @ CallError::Silent { .. })
            | Self::SilentGuest(source @ CallError::Silent { .. }, _) => Self::Late(source),
            other => other,
        }
    }

    /// Whether its text says what to do; other errors are about what this machine supports.
    pub fn names_its_way_out(&self) -> bool {
        use Error::{Failed, NoKernel, NotUp, Pair, Unanswered, Unfit};
        matches!(self, Failed(_) | NoKernel(_) | Unanswered(_) | NotUp { .. } | Pair(_) | Unfit(_))
    }

    /// Whether the testbed can be used for the next run. If not, it must be built again.
    pub fn testbed_is_well(&self) -> bool {
        match self {
            Self::Late(_) | Self::Unfit(_) | Self::NotInTurns { .. } | Self::Drifted(_) => true,
            Self::Call(error) => error.agent_is_well(),
            _ => false,
        }
    }

    /// Whether to boot a guest again.
    pub fn may_pass(&self) -> bool {
        matches!(self, Self::Guest { fault: GuestFault::Passing, .. })
    }

    /// Whether it is the guest's kernel that does not boot, and nothing that the machine lacks.
    pub fn is_of_kernel(&self) -> bool {
        matches!(self, Self::Guest { fault: GuestFault::Passing | GuestFault::Kernel, .. })
    }

    pub(crate) fn read(path: impl AsRef<Path>) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Failed(format!("cannot read {}: {source}", path.as_ref().display()))
    }

    pub(crate) fn write(path: impl AsRef<Path>) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Failed(format!("cannot write {}: {source}", path.as_ref().display()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guest(what: &str, fault: GuestFault) -> Error {
        Error::Guest { what: what.to_owned(), console: "  | x".to_owned(), fault }
    }

    #[test]
    fn two_failures_are_both_reported() {
        let panicked =
            |what: &str| guest(&format!("the guest's kernel panicked: {what}"), GuestFault::Passing);
        let other = panicked("no init").after(&panicked("out of memory")).to_string();
        assert!(
            other.starts_with("the guest's kernel panicked: no init\n  | x\n")
                && other.ends_with("the first time the guest's kernel panicked: out of memory\n  | x"),
            "{other}"
        );
    }

    #[test]
    fn a_kernel_that_does_not_boot_is_told_from_what_the_machine_lacks() {
        let [passing, kernel, machine] = [GuestFault::Passing, GuestFault::Kernel, GuestFault::Machine]
            .map(|fault| guest("it exited", fault));
        assert!(passing.may_pass() && !kernel.may_pass() && !machine.may_pass());
        assert!(passing.is_of_kernel() && kernel.is_of_kernel());
        let again = guest("the guest's kernel panicked", GuestFault::Passing);
        for of_machine in [machine.after(&again), Error::Failed("no QEMU".to_owned()), Error::Interrupted] {
            assert!(!of_machine.is_of_kernel(), "{of_machine}");
        }
    }
}
