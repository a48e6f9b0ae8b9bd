//! The two ends of a workload.

use std::ops::{Index, IndexMut};

use serde::{Deserialize, Serialize};

crate::vocabulary! {
    /// A host, by its role in a workload.
    #[derive(PartialOrd, Ord)]
    pub enum Side: "a side" {
        /// The host that sends the stream, or the requests.
        Transmitter = "transmitter";
        /// The host that receives the stream, or answers the requests.
        Receiver = "receiver";
    }
}

impl Side {
    /// Both sides, in the order in which tables show them.
    pub const BOTH: [Self; 2] = [Self::Transmitter, Self::Receiver];

    /// The other side.
    pub fn other(self) -> Self {
        if self == Self::Transmitter { Self::Receiver } else { Self::Transmitter }
    }

    /// The short form in names of conditions: `tx-tso-off`.
    pub fn short(self) -> &'static str {
        if self == Self::Transmitter { "tx" } else { "rx" }
    }
}

/// One value for each side.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BySide<T> {
    /// The transmitter's.
    pub transmitter: T,
    /// The receiver's.
    pub receiver: T,
}

impl<T> BySide<T> {
    /// Calls `make` for each side.
    pub fn from_fn(mut make: impl FnMut(Side) -> T) -> Self {
        Self { transmitter: make(Side::Transmitter), receiver: make(Side::Receiver) }
    }

    /// Makes a value for each side with a function that can fail.
    ///
    /// # Errors
    /// The first error of `make`.
    pub fn try_from_fn<E>(mut make: impl FnMut(Side) -> Result<T, E>) -> Result<Self, E> {
        Ok(Self { transmitter: make(Side::Transmitter)?, receiver: make(Side::Receiver)? })
    }

    /// Calls `turn` for each.
    pub fn map<U>(self, mut turn: impl FnMut(Side, T) -> U) -> BySide<U> {
        BySide {
            transmitter: turn(Side::Transmitter, self.transmitter),
            receiver: turn(Side::Receiver, self.receiver),
        }
    }

    /// Maps both values with a function that can fail.
    ///
    /// # Errors
    /// The first error of `turn`.
    pub fn try_map<U, E>(self, mut turn: impl FnMut(Side, T) -> Result<U, E>) -> Result<BySide<U>, E> {
        Ok(BySide {
            transmitter: turn(Side::Transmitter, self.transmitter)?,
            receiver: turn(Side::Receiver, self.receiver)?,
        })
    }

    /// References to both values.
    pub fn each_ref(&self) -> BySide<&T> {
        BySide { transmitter: &self.transmitter, receiver: &self.receiver }
    }

    /// Mutable references to both values.
    pub fn each_mut(&mut self) -> BySide<&mut T> {
        BySide { transmitter: &mut self.transmitter, receiver: &mut self.receiver }
    }
}

impl<T> Index<Side> for BySide<T> {
    type Output = T;

    fn index(&self, side: Side) -> &T {
        if side == Side::Transmitter { &self.transmitter } else { &self.receiver }
    }
}

impl<T> IndexMut<Side> for BySide<T> {
    fn index_mut(&mut self, side: Side) -> &mut T {
        if side == Side::Transmitter { &mut self.transmitter } else { &mut self.receiver }
    }
}

impl<T> IntoIterator for BySide<T> {
    type Item = (Side, T);
    type IntoIter = std::array::IntoIter<(Side, T), 2>;

    fn into_iter(self) -> Self::IntoIter {
        [(Side::Transmitter, self.transmitter), (Side::Receiver, self.receiver)].into_iter()
    }
}
