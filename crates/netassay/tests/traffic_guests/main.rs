//! Guests: a distribution's kernel, emulated, with netassay as its first process; and all that can
//! go wrong with one.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(clippy::print_stderr, reason = "where a machine's refusal is noted")]

#[path = "../common/mod.rs"]
mod common;
#[path = "../common/kept_report.rs"]
mod kept_report;
#[path = "../common/kernel.rs"]
mod kernel;

mod elf;
mod exact;
mod failures;
mod fetching;
mod life;
mod machine;
mod tracing;

use testbed::guest::{GuestOrder, Kernel, Tools};
use words::{Acceleration, Copies, Nic};

/// A small guest with two agents.
fn order() -> GuestOrder {
    GuestOrder {
        name: "transmitter".to_owned(),
        kernel: Kernel::find(kernel::directory().to_str()).unwrap(),
        command_line: String::new(),
        vcpus: 1,
        memory_mib: 256,
        nic: Nic::VirtioNet,
        tap: None,
        mac: [0x02, 0, 0, 0, 0, 1],
        ports: 2,
        acceleration: Acceleration::Emulation,
        exact: false,
        copies: Copies::Words,
        program: env!("CARGO_BIN_EXE_netassay").into(),
        modules: &[],
        packed: None,
        place: None,
        rootless: false,
        pin: Vec::new(),
    }
}

/// A directory with a program called as QEMU is.
fn fake_qemu(script: &str) -> (tempfile::TempDir, Tools) {
    use std::os::unix::fs::PermissionsExt as _;
    let directory = tempfile::tempdir().unwrap();
    let program = directory.path().join("qemu-system-x86_64");
    std::fs::write(&program, script).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut path = directory.path().as_os_str().to_owned();
    path.push(":");
    path.push(Tools::of_this_machine().path);
    (directory, Tools { path, ..Tools::of_this_machine() })
}
