//! What is recorded of a boot and of a run: what the agents tell, the testbed puts together, the
//! runner judges, the store keeps and the report reads is this one set of types.
//!
//! Pure: no I/O. In JSON a field that is not known is an error, and one that is needed and missing
//! is, too. Only what may be absent (`Option`) reads as `None` where it is missing.

mod cpus;
mod detail;
mod disturbance;
mod drift;
mod environment;
mod evidence;
mod figure;
mod limit;
mod note;
mod run;
#[cfg(any(test, feature = "sample"))]
pub mod sample;
mod side;
mod taken;

pub use cpus::CpuSplit;
pub use detail::{Detail, Drifted, ExactRun};
pub use disturbance::{Cause, Disturbance, Part};
pub use drift::{Difference, Drift, Interface, Setting};
pub use environment::{Environment, GuestEnvironment};
pub use evidence::{AtLinkRate, Contended, Dropped, Evidence, OnHost, Place, Tcp, Threads, WaitedFor};
pub use limit::Limit;
pub use note::Note;
pub use run::{HostAccount, RunAccount, SideAccount};
pub use words::Label;

pub use taken::{Taken, Taker, Who};

pub use side::{Finished, GuestTimes, Late, Measured, Series, Watched};
