//! The machine that the figures belong to.

use std::fmt;

use serde::Serialize;

/// What of a machine moves the figures.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Machine {
    kernel: String,
    cpu: String,
    cpus: usize,
    virtual_machine: Option<bool>,
    /// Load averages over 1, 5 and 15 minutes before the bench: what else was going on.
    load_before: String,
    /// The same after it; the bench itself is in it.
    load_after: String,
    /// Figures of a build without optimisation mean nothing.
    debug_build: bool,
}

impl Machine {
    /// Reads it, before the bench begins.
    pub(crate) fn read() -> Self {
        let found = host::HostEnvironment::read::<&str>(&[], env!("CARGO_PKG_VERSION"));
        let unknown = || "unknown".to_owned();
        Self {
            kernel: found.kernel.release.unwrap_or_else(unknown),
            cpu: found.cpu.model.unwrap_or_else(unknown),
            cpus: found.cpu.online,
            virtual_machine: found.machine.hypervisor,
            load_before: load_average(),
            load_after: String::new(),
            debug_build: cfg!(debug_assertions),
        }
    }

    /// Reads what has changed, after the bench.
    pub(crate) fn finish(&mut self) {
        self.load_after = load_average();
    }
}

fn load_average() -> String {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split_whitespace().take(3).collect::<Vec<_>>().join(" ")
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = if self.virtual_machine == Some(true) { ", virtual machine" } else { "" };
        writeln!(f, "  Linux {}, {} x {}{place}", self.kernel, self.cpus, self.cpu)?;
        writeln!(f, "  load average before {}, after {}", self.load_before, self.load_after)?;
        if self.debug_build {
            writeln!(f, "  A DEBUG BUILD: its figures mean nothing (cargo xtask bench)")?;
        }
        Ok(())
    }
}
