//! The time that passes in soft interrupts, where packets are received, to the nanosecond.
//!
//! The kernel's own account of it (`/proc/stat`) is by the tick, unless it was built with
//! `CONFIG_IRQ_TIME_ACCOUNTING`, which distributions leave out; and then it is counted in steps of
//! 10 ms.

use std::io;

use crate::cpu::affinity;
use crate::kernel::bpf::{Attached, Instruction, Program, SharedNumber, attach_to_tracepoint, load};

/// Counts the time in soft interrupts, from its start until it is dropped, on a machine with one
/// CPU.
///
/// A program runs where a soft interrupt begins and where it ends, and makes `sum` the clock's
/// reading less `sum`: after both, the time between them has been added. It is the same program at
/// both, and so costs the same: half of what counting costs lies between the two readings.
#[derive(Debug)]
pub struct Softirqs {
    sum: SharedNumber,
    _attached: [Attached; 2],
}

impl Softirqs {
    /// Starts counting.
    ///
    /// # Errors
    /// In words: several CPUs, or what the kernel said to the program (Linux 5.2 has all that it
    /// needs, and `CONFIG_BPF_EVENTS`).
    pub fn count() -> Result<Self, String> {
        let cpus = affinity::online_cpus().len();
        if cpus != 1 {
            return Err(format!("soft interrupts are counted on one CPU, and there are {cpus}"));
        }
        let counting = || {
            let sum = SharedNumber::new()?;
            let program = load(Program::RawTracepoint, &program(&sum))?;
            let attached = [
                attach_to_tracepoint(c"softirq_entry", &program)?,
                attach_to_tracepoint(c"softirq_exit", &program)?,
            ];
            // Soft interrupts may have begun between the two. None is under way now, because this
            // program runs.
            sum.write(0)?;
            Ok(Self { sum, _attached: attached })
        };
        counting().map_err(|error: io::Error| format!("soft interrupts cannot be traced (BPF): {error}"))
    }

    /// The time in soft interrupts so far, in ns.
    pub fn inside_ns(&self) -> io::Result<u64> {
        self.sum.read()
    }
}

/// `sum = now - sum`.
fn program(sum: &SharedNumber) -> [Instruction; 8] {
    const KTIME_GET_NS: i32 = 5;
    let [address, address_again] = sum.address(1);
    [
        Instruction(0x85, 0, 0, KTIME_GET_NS), // r0 = now
        address,                               // r1 = &sum
        address_again,
        Instruction(0x79, 0x12, 0, 0), // r2 = *r1
        Instruction(0x1f, 0x20, 0, 0), // r0 -= r2
        Instruction(0x7b, 0x01, 0, 0), // *r1 = r0
        Instruction(0xb7, 0x00, 0, 0), // r0 = 0
        Instruction(0x95, 0x00, 0, 0), // exit
    ]
}
