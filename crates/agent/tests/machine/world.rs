//! A machine of namespaces, and an agent on it.

use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use host::{Ethtool, Links};
use netassay_agent::message::{Answer, PROTOCOL, Request};
use netassay_agent::{CallError, Client, Interrupt, Isolation, Launch};

use crate::ROLE;

/// The machine's own interface, configured by hand.
pub(crate) const WIRE: &str = "wire";

/// The longest time for an agent's answer, or its end, on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

pub(crate) struct World {
    state: tempfile::TempDir,
    pub(crate) before: String,
}

impl World {
    /// In the namespaces of this process.
    pub(crate) fn new() -> Self {
        let mut links = Links::open().unwrap();
        links.create_veth(WIRE, "far", std::process::id()).unwrap();
        for name in [WIRE, "far"] {
            links.quiet_ipv6(name).unwrap();
            links.set_up(name).unwrap();
        }
        for address in ["192.0.2.1/24", "fd00:1::1/64"] {
            ip(&["address", "add", address, "dev", WIRE, "nodad"]
                [..if address.contains(':') { 6 } else { 5 }]);
        }
        ip(&["-6", "route", "add", "fd00:2::/64", "via", "fd00:1::2", "dev", WIRE, "metric", "7"]);
        // The kernel notices a carrier, and adds a route for an address, a moment later.
        for name in [WIRE, "far"] {
            links.await_running(name).unwrap();
        }
        let deadline = Instant::now() + PATIENCE;
        while !ip(&["-6", "route", "show", "table", "local"]).contains("fd00:1::1") {
            assert!(Instant::now() < deadline);
            std::thread::sleep(Duration::from_millis(5));
        }
        let world = Self { state: tempfile::tempdir().unwrap(), before: String::new() };
        Self { before: world.snapshot(), ..world }
    }

    /// The state of the interface.
    pub(crate) fn snapshot(&self) -> String {
        let sorted = |text: String| {
            let mut lines: Vec<&str> = text.lines().collect();
            lines.sort_unstable();
            lines.join("\n")
        };
        let mut all = vec![
            ip(&["-d", "link"]),
            ip(&["-4", "-d", "address"]),
            sorted(ip(&["-6", "-d", "-o", "address"])),
            ip(&["-4", "-d", "route", "show", "table", "all"]),
            sorted(ip(&["-6", "-d", "route", "show", "table", "all"])),
            format!("{:#?}", Ethtool::open().unwrap().features(WIRE).unwrap()),
            format!("{:#?}", Ethtool::open().unwrap().device(WIRE).unwrap()),
        ];
        for directory in ["ipv4/conf", "ipv6/conf", "ipv6/neigh"] {
            let directory = format!("/proc/sys/net/{directory}/{WIRE}");
            // There are none while IPv6 is off.
            let files = std::fs::read_dir(directory).into_iter().flatten();
            let mut files: Vec<_> = files.map(|file| file.unwrap().path()).collect();
            files.sort();
            all.extend(files.iter().map(|file| format!("{} {:?}", file.display(), std::fs::read(file).ok())));
        }
        all.join("\n")
    }

    /// The journals that are there.
    pub(crate) fn journals(&self) -> usize {
        let entries = std::fs::read_dir(self.state.path().join("netassay/undo")).into_iter().flatten();
        let is_journal = |path: &PathBuf| path.extension().is_some_and(|end| end == "journal");
        entries.map(|entry| entry.unwrap().path()).filter(is_journal).count()
    }

    /// Waits until nothing is left to undo, and says how long that took.
    pub(crate) fn await_undone(&self) -> Duration {
        let begun = Instant::now();
        while self.journals() > 0 {
            assert!(begun.elapsed() < PATIENCE, "changes are not undone:\n{}", self.left());
            std::thread::sleep(Duration::from_millis(5));
        }
        let took = begun.elapsed();
        // The kernel adds the route of an address in the background.
        let mut now = self.snapshot();
        while now != self.before && begun.elapsed() < PATIENCE {
            std::thread::sleep(Duration::from_millis(5));
            now = self.snapshot();
        }
        let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
        let (before, after) = (lines(&self.before), lines(&now));
        let lost = before.iter().filter(|line| !after.contains(line)).map(|line| format!("- {line}\n"));
        let new = after.iter().filter(|line| !before.contains(line)).map(|line| format!("+ {line}\n"));
        assert!(self.before == now, "{}", lost.chain(new).collect::<String>());
        took
    }

    /// The journals that are there, with what keeps them.
    fn left(&self) -> String {
        let directory = self.state.path().join("netassay/undo");
        let files = std::fs::read_dir(&directory).unwrap().map(|entry| entry.unwrap().path());
        let texts: String = files
            .map(|path| format!("{}\n{}", path.display(), std::fs::read_to_string(&path).unwrap_or_default()))
            .collect();
        let dry = host::journal::RestoreOptions { dry_run: true, ..host::journal::RestoreOptions::default() };
        let reports = host::journal::restore(&directory, &host::machine::Machine::system(), dry);
        format!("{texts}\n{reports:#?}")
    }

    pub(crate) fn agent(&self, isolation: Isolation, lease_ms: Option<u64>) -> Agent {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.env(ROLE, "agent").env("XDG_STATE_HOME", self.state.path());
        command.env("SSH_CONNECTION", "192.0.2.7 4711 192.0.2.1 22");
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let launch = Launch { isolation, lease_ms, ..Launch::default() };
        let to: OwnedFd = process.stdin.take().unwrap().into();
        let client = Client::new("host", to, process.stdout.take().unwrap(), Interrupt::new().unwrap());
        client.launch(&launch, PATIENCE).unwrap();
        Agent { process, client: Some(client) }
    }

    pub(crate) fn state(&self) -> PathBuf {
        self.state.path().to_owned()
    }
}

pub(crate) struct Agent {
    pub(crate) process: Child,
    /// Dropped, it closes the agent's input.
    pub(crate) client: Option<Client>,
}

impl Agent {
    pub(crate) fn client(&mut self) -> &mut Client {
        self.client.as_mut().unwrap()
    }

    pub(crate) fn ask(&mut self, request: &Request) -> Result<Answer, CallError> {
        self.client().call(request, PATIENCE)
    }

    pub(crate) fn greeted(mut self) -> Self {
        let hello = self.ask(&Request::Hello { protocol: PROTOCOL });
        assert!(matches!(hello, Ok(Answer::Hello { .. })), "{hello:?}");
        self
    }

    /// Waits for its end.
    pub(crate) fn await_end(&mut self) {
        let begun = Instant::now();
        while self.process.try_wait().unwrap().is_none() {
            assert!(begun.elapsed() < PATIENCE, "the agent goes on");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

pub(crate) fn ip(arguments: &[&str]) -> String {
    let output = Command::new("ip").args(arguments).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "ip {arguments:?}: {said}");
    String::from_utf8(output.stdout).unwrap()
}
