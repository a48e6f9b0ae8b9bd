//! The CPUs of each host, and of the controller.

use std::ops::Index;

use serde::{Deserialize, Serialize};
use words::{BySide, Side};

/// The CPUs of each host, and the controller's. Where hosts are machines, each number is one of its
/// own machine's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CpuSplit {
    /// The transmitter's CPUs, by number.
    pub transmitter: Vec<u32>,
    /// The receiver's CPUs, by number.
    pub receiver: Vec<u32>,
    /// The controller's own CPUs; empty if there are too few.
    pub controller: Vec<u32>,
}

impl CpuSplit {
    /// The split of a testbed with one host, which has the CPUs of both.
    #[must_use]
    pub fn for_one_host(&self) -> Self {
        let mut transmitter = self.transmitter.clone();
        transmitter.extend(self.receiver.iter().filter(|cpu| !self.transmitter.contains(cpu)));
        transmitter.sort_unstable();
        Self { transmitter, receiver: Vec::new(), controller: self.controller.clone() }
    }

    /// Each host's CPUs.
    #[must_use]
    pub fn by_side(&self) -> BySide<&[u32]> {
        BySide { transmitter: &self.transmitter, receiver: &self.receiver }
    }

    /// Do both hosts run on the same CPUs? Then their CPU use cannot be separated.
    #[must_use]
    pub fn is_shared(&self) -> bool {
        self.transmitter == self.receiver
    }
}

impl Index<Side> for CpuSplit {
    type Output = Vec<u32>;

    fn index(&self, side: Side) -> &Vec<u32> {
        match side {
            Side::Transmitter => &self.transmitter,
            Side::Receiver => &self.receiver,
        }
    }
}
