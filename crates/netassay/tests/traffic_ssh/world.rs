//! Two machines behind an sshd each, the program, and a study to run between them.

use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::common::{Bench, expect, skip, stdout};
use crate::machines::{Machines, first_difference};

/// Its runs are longer than TCP waits before it sends a lost packet once more (200 ms).
pub(crate) const STUDY: &str = "name = \"tso\"\nquestion = \"Does TSO make TCP faster between two machines?\"\nscenario = \"veth\"\n\
    [[workload]]\nkind = \"tcp_stream\"\nduration = \"400ms\"\nramp = \"50ms\"\nflows = 1\n\
    [factors]\ntso = [\"on\", \"off\"]\n[protocol]\nboots = 1\nruns = 2\nwarmup = 0\n";

pub(crate) struct World {
    pub(crate) bench: Bench,
    pub(crate) machines: Machines,
    /// How a machine gets the program.
    pub(crate) given: &'static [&'static str],
}

impl World {
    /// Machines that keep the program: what a test is about comes sooner.
    pub(crate) fn make(test: &str) -> Option<Self> {
        let mut world = Self::bare(test)?;
        let program = world.bench.path("netassay");
        [&world.machines.a, &world.machines.b].into_iter().for_each(|machine| machine.keep(&program));
        world.given = &["--keep-agent"];
        Some(world)
    }

    /// Machines that the program is sent to, and on which it does not stay.
    pub(crate) fn bare(test: &str) -> Option<Self> {
        let Some(machines) = Machines::make() else {
            skip(test, "it needs root, and the Debian package openssh-server");
            return None;
        };
        let bench = Bench::to_be_sent();
        bench.write("tso.toml", STUDY);
        Some(Self { bench, machines, given: &[] })
    }

    /// netassay in the controller's namespace, with these machines.
    pub(crate) fn netassay(&self, hosts: [&str; 2], more: &[&str]) -> Command {
        self.netassay_run("tso.toml", hosts, more)
    }

    pub(crate) fn netassay_run(&self, study: &str, hosts: [&str; 2], more: &[&str]) -> Command {
        let program = self.bench.path("netassay").display().to_string();
        let config = self.machines.ssh_config();
        let mut words =
            vec![program.as_str(), "run", study, "--keep-disturbed", "--progress", "plain", "--no-report"];
        words.extend(["--transmitter", hosts[0], "--receiver", hosts[1], "--ssh-config", &config]);
        words.extend(self.given.iter().chain(more));
        let mut command = self.machines.command(&words);
        command.current_dir(self.bench.path(".")).stdin(Stdio::null()).env("NO_COLOR", "1");
        command
    }

    /// A bundled study between the machines, whose results are kept in `bench`.
    pub(crate) fn bundled(&self, bench: &Bench, name: &str, more: &[&str]) -> Output {
        let program = bench.path("netassay").display().to_string();
        let config = self.machines.ssh_config();
        let mut words = vec![program.as_str(), "run", name, "--no-report", "--keep-disturbed"];
        words.extend(["--transmitter", "a:data0", "--receiver", "b:data0", "--ssh-config", &config]);
        words.extend(self.given.iter().chain(more));
        self.machines.command(&words).current_dir(bench.path(".")).output().unwrap()
    }

    /// What a command prints that is run on one of the machines.
    #[track_caller]
    pub(crate) fn on(&self, host: &str, words: &[&str]) -> String {
        let program = self.bench.path("netassay").display().to_string();
        let config = self.machines.ssh_config();
        let all = [&[program.as_str()], words, &["--host", host, "--ssh-config", &config]].concat();
        let done = self.machines.run(&all);
        expect(&done, 0);
        stdout(&done)
    }

    pub(crate) fn states(&self) -> [String; 2] {
        [self.machines.a.state(), self.machines.b.state()]
    }

    /// Waits until both machines are as before and hold nothing of netassay's.
    #[track_caller]
    pub(crate) fn expect_as_before(&self, before: &[String; 2], within: Duration) {
        let deadline = Instant::now() + within;
        let left = || [self.machines.a.left(), self.machines.b.left()];
        while self.states() != *before || left().iter().any(|left| !left.is_empty()) {
            if Instant::now() >= deadline {
                assert_eq!(left(), ["", ""]);
                let [a, b] = self.states();
                panic!("a: {}\nb: {}", first_difference(&a, &before[0]), first_difference(&b, &before[1]));
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}
