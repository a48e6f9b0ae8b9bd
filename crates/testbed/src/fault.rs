//! A reason for which nothing would be measured between two machines.

use std::fmt;

/// Why nothing would be measured between two machines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The machine, as the user wrote it, with its side.
    pub host: String,
    /// The interface.
    pub interface: String,
    /// What is wrong.
    pub cause: String,
    /// How to mend it.
    pub remedy: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { host, interface, cause, remedy } = self;
        write!(f, "{host}, interface {interface}: {cause}: {remedy}")
    }
}
