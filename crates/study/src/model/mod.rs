//! The model of a study.

pub(crate) mod boot_state;
pub(crate) mod combinations;
pub(crate) mod design;
pub(crate) mod factor;
pub(crate) mod limit;
pub(crate) mod machine;
pub(crate) mod name;
pub(crate) mod protocol;
pub(crate) mod study;
pub(crate) mod switch;
pub(crate) mod tables;

pub(crate) use boot_state::{BootState, Guest};
pub(crate) use combinations::{ComparisonSpec, Fraction, LevelIndexes, Selection};
pub(crate) use design::{DesignKind, Dropped, OffloadDesign, Unreachable};
pub(crate) use factor::{Factor, Varied};
pub(crate) use machine::{MachineTuning, Machines};
pub(crate) use name::{Name, NameWord};
pub(crate) use protocol::{Alternate, BootKind, Bounds, Order, Protocol, Stop, Tracing, WhetherTurns};
pub(crate) use study::Study;
pub(crate) use switch::{Offload, Offloads, Scope};
pub(crate) use tables::{KeyPart, KeyTable, TestbedPlace};
