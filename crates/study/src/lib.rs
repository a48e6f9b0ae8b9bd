//! Turns a study file into conditions, and conditions into a schedule of boots, blocks and runs.
//! Reports problems of a file with line, column and the nearest valid word.
//!
//! Its modules, each of which uses only the ones before it: `model` (a study, and the tables of its
//! keys), `plan` (conditions, comparisons, the schedule), `read` (TOML to model), `write` (study
//! files that netassay writes), `edit` (`--set`), `schema`.
//!
//! Pure: no I/O, no clock; the only randomness is the seeded one of the schedule.
//!
//! ```
//! let study = netassay_study::bundled::find("quick").expect("bundled").study();
//! let plan = study.plan();
//! let boots = netassay_study::schedule(&plan.states_of_conditions(), &study.protocol);
//! assert_eq!(boots.len(), 7);
//! ```

pub mod bundled;
mod edit;
mod model;
mod plan;
mod quality;
mod read;
mod schema;
mod write;

pub use edit::assignment::{Assignment, AssignmentError};
pub use model::boot_state::{BootState, Guest};
pub use model::design::{DesignKind, Dropped, OffloadDesign, Unreachable};
pub use model::factor::Factor;
pub use model::machine::{MachineTuning, Machines};
pub use model::name::{Name, NameWord};
pub use model::protocol::{Alternate, BootKind, Bounds, Order, Protocol, Stop, Tracing};
pub use model::study::Study;
pub use model::switch::{Offload, Offloads, Switch};
pub use plan::comparison::PlannedComparison;
pub use plan::condition::{Condition, SideSettings, Underlay};
pub use plan::costs::{Costs, Expected, expected_duration};
pub use plan::effective::{Effective, Fragments};
pub use plan::schedule::{PlannedRun, schedule};
pub use plan::turns::Flows;
pub use plan::{Plan, PlannedQuestion};
pub use quality::Quality;
pub use read::diagnostic::{Diagnostics, Problem};
pub use schema::schema;
pub use words::{
    Acceleration, BySide, Closure, CongestionControl, Copies, DeviceSetting, Direction, Family, KEYS,
    KernelPath, Key, Kind, Nic, Pacing, Percent, Placement, Reader, Scenario, Sender, Settled, Side, Traffic,
    Tuning, TuningKey, Turn, Waiting, feature, format_duration, metric, parse_duration,
};
pub use write::{starter, twins};

/// The longest study file that is read, in bytes.
pub const MAX_TEXT: usize = model::limit::TEXT;
