//! The record of a boot and of a run. The agents, the testbed, the runner, the store and the report
//! share these types.
//!
//! Pure: no I/O. In JSON an unknown field is an error, and so is a missing one unless it is
//! optional (`Option`).

mod cpus;
mod detail;
mod disturbance;
mod drift;
mod environment;
mod evidence;
mod figure;
mod note;
mod path_trace;
mod run;
#[cfg(any(test, feature = "sample"))]
pub mod sample;
mod search;
mod side;
mod taken;
mod turns;

pub use cpus::CpuSplit;
pub use detail::{Detail, Drifted, ExactRun};
pub use disturbance::{Cause, Disturbance, Part, in_brief};
pub use drift::{Difference, Drift, Interface, Setting};
pub use environment::{Environment, GuestEnvironment, NamedMachine};
pub use evidence::{
    AtLinkRate, Contended, Driver, Dropped, Evidence, Limit, LossPlace, OnHost, Tcp, Threads, Wait, WaitedFor,
};
pub use host::perf::Profile;
pub use load::{LatencyBucket, LatencyHistogram};
pub use note::Note;
pub use path_trace::{PassedPlace, PathStep, PathTrace};
pub use run::{HostAccount, RunAccount, SideAccount};
pub use search::{RateSearch, RateTrial};
pub use words::Label;

pub use taken::{CpuTaken, Taker, TakerKind};

pub use turns::{CountedTurn, Edge, InTurns, Response, Slice, TENTHS, Turns};

pub use side::{Column, CountedEvents, Finished, GuestTimes, Late, Measured, Series, Watched};
