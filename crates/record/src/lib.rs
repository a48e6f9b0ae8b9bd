//! What is recorded of a boot and of a run: what the agents tell, the testbed puts together, the
//! runner judges, the store keeps and the report reads is this one set of types.
//!
//! Pure: no I/O. In JSON a field that is not known is an error, and one that is needed and missing
//! is, too. Only what may be absent (`Option`) reads as `None` where it is missing.

mod cpus;
mod detail;
mod drift;
mod environment;
mod limit;
mod run;
#[cfg(any(test, feature = "sample"))]
pub mod sample;
mod side;

pub use cpus::CpuSplit;
pub use detail::{Detail, Drifted, ExactRun};
pub use drift::{Difference, Drift, Interface, Setting};
pub use environment::{Environment, GuestEnvironment};
pub use limit::Limit;
pub use run::{HostAccount, RunAccount, SideAccount};
pub use words::Label;

pub use side::{Finished, GuestTimes, Late, Measured, Series, Watched};
