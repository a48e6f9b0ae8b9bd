//! The room `study` (see ARCHITECTURE.md): a study file becomes conditions, and conditions become a schedule
//! of boots, blocks and runs. It says what is wrong with a file, with line, column and the nearest valid word.
//!
//! Pure: no I/O, no clock, no randomness but the seeded one of the schedule.
//!
//! ```
//! let study = netassay_study::bundled::find("quick").expect("bundled").study();
//! let plan = study.plan();
//! let boots = netassay_study::schedule(&plan.states_of_conditions(), study.protocol());
//! assert_eq!(boots.len(), 3);
//! ```

pub mod bundled;

mod asked;
mod assignment;
mod boot_state;
mod comparison;
mod condition;
mod costs;
mod dependency;
mod design;
mod diagnostic;
mod document;
mod effective;
mod factor;
mod grid;
mod guest;
mod machine;
mod merge;
mod name;
mod percent;
mod plan;
mod protocol;
mod quality;
mod read;
mod rule;
mod schedule;
mod schema;
mod scope;
mod selection;
mod set;
mod starter;
mod stop;
mod study;
mod twins;
mod underlay;

/// The longest study file that is read, in bytes.
pub const MAX_TEXT: usize = read::limit::TEXT;

pub use asked::Asked;
pub use assignment::{Assignment, AssignmentError};
pub use boot_state::BootState;
pub use comparison::Comparison;
pub use condition::{Condition, Offloads, SideSettings};
pub use costs::{Costs, Expected, expected_duration};
pub use design::{Design, DesignKind, Offload, Unreachable};
pub use diagnostic::{Diagnostic, Diagnostics};
pub use document::PlanDocument;
pub use effective::{Effective, State};
pub use factor::Factor;
pub use guest::{Acceleration, Copies, Guest, Nic};
pub use machine::Machine;
pub use percent::{Percent, PercentError};
pub use plan::{Dropped, Plan};
pub use protocol::{Order, Protocol};
pub use quality::Quality;
pub use schedule::{PlannedRun, schedule};
pub use schema::schema;
pub use starter::starter;
pub use stop::{Bounds, LooksDropped, Stop};
pub use study::Study;
pub use twins::twins;
pub use underlay::Underlay;
pub use words::{
    BySide, CongestionControl, Direction, Family, KEYS, Key, Kind, Pacing, Reader, Scenario, Sender, Settled,
    Side, Traffic, Workload, feature, format_duration, metric, parse_duration,
};
