//! Studies whose machines restart between boots: two virtual machines that are reached over ssh.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../common/mod.rs"]
mod common;
mod crashes;
#[path = "../common/kernel.rs"]
mod kernel;
mod kernels;
#[path = "../common/restarting.rs"]
mod restarting;
mod tracing;

use std::collections::BTreeSet;
use std::process::{Command, Stdio};

use common::{Bench, Watched, expect, skip, stderr, stdout};
use restarting::Machines;

/// Two boots of two runs. Each machine executes its instructions in software.
const STUDY: &str = "name = \"restarts\"\nquestion = \"Does it last over restarts?\"\nscenario = \"veth\"\n\
    [[workload]]\nkind = \"tcp_stream\"\nduration = \"500ms\"\nramp = \"100ms\"\nflows = 1\n\
    [factors]\nmtu = [1500, 1400]\n[protocol]\nboots = 2\nruns = 1\nwarmup = 0\n";

const REBOOT: &[&str] = &["--set", "boots.how=reboot"];

struct World {
    bench: Bench,
    machines: Machines,
}

impl World {
    fn make(test: &str) -> Option<Self> {
        let bench = Bench::to_be_sent();
        bench.write("restarts.toml", STUDY);
        let Some(machines) = Machines::make(&bench.path("netassay"), &kernel::two_directories()) else {
            skip(
                test,
                "it needs QEMU and the Debian packages openssh-server, busybox-static, e2fsprogs, kexec-tools, grub-common, grub2-common and grub-pc-bin",
            );
            return None;
        };
        Some(Self { bench, machines })
    }

    fn netassay(&self, more: &[&str]) -> Command {
        let mut command = Command::new(self.bench.path("netassay"));
        command.args(["run", "restarts.toml", "--keep-disturbed", "--progress", "plain", "--no-report"]);
        if !more.contains(&"--hosts") {
            command.args(["--transmitter", "a:eth1", "--receiver", "b:data0"]);
        }
        command.args(["--ssh-config", &self.machines.ssh_config()]);
        // It is there already: to send it, and to unpack it in software, takes as long as a boot.
        command.arg("--keep-agent");
        // Other tests may measure meanwhile: no figure is looked at.
        command.arg("--beside");
        command.args(more);
        command.current_dir(self.bench.path(".")).stdin(Stdio::null()).env("NO_COLOR", "1");
        command
    }

    /// Each boot of the newest study that has runs: its number and the boot ids of both machines.
    fn boots(&self) -> Vec<(u32, String, String)> {
        let database = self.bench.database();
        let text = "SELECT DISTINCT boot.number, document.json ->> '$.transmitter.kernel.boot_id', \
                    document.json ->> '$.receiver.kernel.boot_id' FROM boot JOIN document ON document.id = boot.environment \
                    JOIN run ON run.boot = boot.id WHERE boot.study = (SELECT max(id) FROM study) ORDER BY boot.number";
        let mut query = database.prepare(text).unwrap();
        query
            .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
            .unwrap()
            .map(Result::unwrap)
            .collect()
    }
}

/// What all machines' boots are.
fn distinct(boots: &[(u32, String, String)]) -> usize {
    boots.iter().flat_map(|(_, a, b)| [a, b]).collect::<BTreeSet<_>>().len()
}

#[test]
#[ignore = "lets a machine panic and restarts it: 200 s"]
fn a_machine_that_panics_in_a_run_is_named_and_power_cycled() {
    if let Some(world) = World::make("a_machine_that_panics_in_a_run_is_named_and_power_cycled") {
        crashes::a_panic_in_a_run_is_named_and_the_study_goes_on(&world);
    }
}

#[test]
#[ignore = "restarts machines: 240 s"]
fn machines_restart_between_boots_and_one_that_stays_away_is_named() {
    let Some(mut world) = World::make("machines_restart_between_boots_and_one_that_stays_away_is_named")
    else {
        return;
    };

    // Here, as two machines take minutes to boot again.
    tracing::a_path_is_traced_at_functions(&world);

    // Two boots, each of another kernel, with a restart of each machine between them.
    kernels::each_boot_runs_its_kernel_and_the_default_is_back(&world);
    let boots = world.boots();
    assert_eq!(boots.iter().map(|boot| boot.0).collect::<Vec<_>>(), [1, 2], "{boots:?}");
    assert_eq!(distinct(&boots), 4, "{boots:?}");
    // Nothing of the study is left: the machine that a boot starts with has its own settings.
    let left = world.machines.ask("a", "ls /tmp").unwrap();
    assert_eq!(left.trim(), "");

    // A machine that stays away is named within the bound, in which the other one is back however
    // busy this machine is, and what was recorded stays. Once it is back, the study goes on in the
    // boots that both machines are in.
    world.machines.let_b_go_off();
    let done = world.netassay(&[REBOOT, &["--reboot-within", "60s"]].concat()).output().unwrap();
    let said = stderr(&done);
    expect(&done, 3);
    assert!(said.contains("boot 2 of 2: both machines restart"), "{said}");
    assert!(!said.contains("boot 1 of 2: both machines restart"), "{said}");
    assert!(said.contains("b did not come back within 60 s after its reboot"), "{said}");
    assert!(said.contains("look at its console"), "{said}");
    let first = world.boots();
    assert_eq!(first.iter().map(|boot| boot.0).collect::<Vec<_>>(), [1], "{first:?}");
    world.machines.switch_b_on();
    let done = world.netassay(&[REBOOT, &["--resume"]].concat()).output().unwrap();
    expect(&done, 0);
    assert!(stdout(&done).contains("Boots: both machines restarted between boots."), "{}", stdout(&done));
    assert!(!stderr(&done).contains("both machines restart"), "{}", stderr(&done));
    let boots = world.boots();
    assert_eq!(boots[0], first[0]);
    assert_eq!((boots.len(), distinct(&boots)), (2, 4), "{boots:?}");
}
