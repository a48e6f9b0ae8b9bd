//! Kernels that are chosen for one boot: by GRUB on one machine, by kexec on the other.

use std::process::Command;

use super::kernel;
use super::{STUDY, Watched, World, expect, stderr, stdout};

/// With this seed the boot of the default kernel is the first one.
const SEED: u64 = 2;

/// The kernel of each boot of the newest study, on both machines.
fn kernels_of_boots(world: &World) -> Vec<(u32, [String; 2])> {
    let database = world.bench.database();
    let text = "SELECT boot.number, document.json ->> '$.transmitter.kernel.release', \
                document.json ->> '$.receiver.kernel.release' FROM boot JOIN document ON document.id = boot.environment \
                WHERE boot.study = (SELECT max(id) FROM study) AND boot.id IN (SELECT boot FROM run) ORDER BY boot.id";
    let mut query = database.prepare(text).unwrap();
    query
        .query_map([], |row| Ok((row.get(0)?, [row.get(1)?, row.get(2)?])))
        .unwrap()
        .map(Result::unwrap)
        .collect()
}

pub(super) fn each_boot_runs_its_kernel_and_the_default_is_back(world: &World) {
    let [default, other] = kernel::two_directories().map(|kernel| kernel::release(&kernel));
    let write = |kernels: &[&str]| {
        let text = STUDY.replace("mtu = [1500, 1400]", &format!("kernel = {kernels:?}"));
        let text =
            text.replace("boots = 2", &format!("seed = {SEED}\nboots = {{ how = \"reboot\", count = 1 }}"));
        world.bench.write("restarts.toml", &text);
    };
    let running = || ["a", "b"].map(|name| world.machines.tell(name, "uname -r").trim().to_owned());
    let both = |release: &str| [release.to_owned(), release.to_owned()];
    assert_eq!(running(), both(&default));
    let command_line = world.machines.tell("b", "cat /proc/cmdline");

    // One that is not there is refused before anything restarts, with those that are.
    write(&["running", "6.6.6"]);
    let refused = world.netassay(&[]).output().unwrap();
    expect(&refused, 3);
    let said = stderr(&refused);
    let mut all = [default.as_str(), other.as_str()];
    all.sort_unstable();
    let listed = format!("there is no kernel 6.6.6: /boot has those of {}", all.join(", "));
    assert!(said.contains(&listed), "{said}");

    // The controller is killed while the machines restart with the other kernel.
    write(&["running", &other]);
    let before = world.machines.boots();
    let mut controller = Watched::start(world.netassay(&[]));
    controller.wait_for(&format!("both machines restart with kernel {other}"));
    world.machines.await_end_of(&before, || controller.expect_alive());
    let killed = Command::new("kill").args(["-9", &controller.id().to_string()]).status().unwrap();
    assert!(killed.success());
    drop(controller.finish());
    world.machines.await_next_boots(&before);
    assert_eq!(running(), both(&other));
    // kexec hands on what the machine was started with.
    let now = world.machines.tell("b", "cat /proc/cmdline");
    assert!(now.contains(command_line.trim()), "{now}");
    // Whoever orders the next restart, it boots the default: GRUB itself emptied what it was told,
    // and kexec leaves nothing.
    let next_is_default = || {
        let environment = world.machines.tell("a", "grub-editenv - list");
        assert_eq!(environment.trim(), "saved_entry=kept\nnext_entry=");
    };
    next_is_default();

    // The rest of the study goes on in these boots. Each boot is stored with its kernel.
    let done = world.netassay(&["--resume"]).output().unwrap();
    expect(&done, 0);
    let said = stderr(&done);
    assert!(stdout(&done).contains(&other), "{}", stdout(&done));
    assert!(!said.contains("boot 2 of 2: both machines restart"), "{said}");
    assert!(said.contains("both machines restart with their default kernels"), "{said}");
    assert_eq!(kernels_of_boots(world), [(1, both(&default)), (2, both(&other))]);
    // Both run their default, and nothing of the choice is left.
    assert_eq!(running(), both(&default), "{said}");
    next_is_default();
    for name in ["a", "b"] {
        let note = world.machines.ask(name, "cat /var/lib/netassay/default-kernel");
        assert_eq!(note, None, "{name}");
    }
    world.bench.write("restarts.toml", STUDY);
}
