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
pub(crate) use combinations::{Cell, ComparisonRequest, Fraction, Selection};
pub(crate) use design::{Design, DesignKind, Dropped, Unreachable};
pub(crate) use factor::{Factor, Subject};
pub(crate) use machine::{Machine, Machines};
pub(crate) use name::{Name, NameWord};
pub(crate) use protocol::{Alternate, BootKind, Bounds, Order, Protocol, Stop, Tracing, WhetherTurns};
pub(crate) use study::Study;
pub(crate) use switch::{Offload, Offloads, Scope};
pub(crate) use tables::{Part, Table, TestbedPlace};
