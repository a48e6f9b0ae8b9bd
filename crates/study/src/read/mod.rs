//! Reads the text of a file as a valid study, or reports every problem in it.

mod check;
mod comparison;
mod design;
pub(crate) mod diagnostic;
pub(crate) mod factor;
mod machine;
mod part;
mod protocol;
mod study;
mod testbed;
mod tracing;
pub(crate) mod value;
mod workload;

pub(crate) use comparison::{FactorScope, ParsedComparison};
pub(crate) use diagnostic::{Diagnostics, Problem, Problems, Stale};
pub(crate) use factor::{Named, ParsedFactor};
pub(crate) use testbed::ParsedTestbed;
pub(crate) use value::{Section, TomlEntry};
pub(crate) use workload::{ParsedWorkload, keys as workload_keys};
