//! The record of a boot and of a run. The agents, the testbed, the runner, the store and the report
//! share these types.
//!
//! Pure: no I/O. In JSON an unknown field is an error, and so is a missing one unless it is
//! optional (`Option`).

#![expect(missing_docs, reason = "most fields and variants are clear by their names or sentences")]

mod crash;
mod detail;
mod disturbance;
mod drift;
mod environment;
mod evidence;
mod figure;
mod note;
mod run;
#[cfg(any(test, feature = "sample"))]
pub mod sample;
mod side;

pub use crash::{Crash, CrashSign, CrashedMachine, with_console};
pub use detail::{Detail, ExactRun};
pub use disturbance::{Cause, CpuTaken, Disturbance, Part, Taker, TakerKind, in_brief};
pub use drift::{Difference, Drift, InterfaceRole, Setting};
pub use environment::{CpuSplit, Environment, GuestEnvironment, NamedMachine};
pub use evidence::{Evidence, Limit, LossPlace, Wait, WaitedFor};
pub use figure::{counted, in_thousands};
pub use host::perf::Profile;
pub use load::{LatencyHistogram, TcpReadings, Zerocopy};
pub use note::Note;
pub use run::{
    HostAccount, PassedPlace, PathStep, PathTrace, RateSearch, RateTrial, RunAccount, SideAccount,
};
pub use side::{
    Column, CountedEvents, CountedTurn, Finished, InTurns, Late, Measured, Response, Series, Slice, TENTHS,
    Turns, Watched,
};
pub use words::Label;
