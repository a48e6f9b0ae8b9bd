//! A testbed whose wire, CPUs and agents a test can interfere with.

use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use agent::Interrupt;
use load::Traffic;
use record::{Label, Limit};
use runner::limit;
use study::{Scenario, metric};
use testbed::{End, RunAccount, RunOrder, Testbed, TestbedOptions};

use crate::common::{Bench, is_root};

/// One at a time: whether a CPU had time left is what these tests look at.
static TURN: Mutex<()> = Mutex::new(());

const WINDOW: Duration = Duration::from_millis(1200);

/// One or two hosts, and what keeps them.
pub(crate) struct Wire {
    testbed: Testbed,
    _interrupt: Interrupt,
    _program: Bench,
    _turn: MutexGuard<'static, ()>,
}

impl Wire {
    /// With both ends before whatever else the machine does, where that is allowed: what others do
    /// is no part of these tests.
    pub(crate) fn new(scenario: Scenario) -> Self {
        let wire = Self::that_others_hold_up(scenario);
        hurry(wire.transmitter());
        wire.testbed.receiver.iter().for_each(hurry);
        wire
    }

    /// With ends like any other process.
    pub(crate) fn that_others_hold_up(scenario: Scenario) -> Self {
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        let program = Bench::new();
        let cpus = testbed::split_cpus(&host::affinity::usable());
        let options = TestbedOptions::new(scenario, program.path("netassay"), cpus, !is_root());
        let interrupt = Interrupt::new().unwrap();
        let testbed = Testbed::build(&options, &interrupt).unwrap();
        Self { testbed, _interrupt: interrupt, _program: program, _turn: turn }
    }

    pub(crate) fn transmitter(&self) -> &End {
        &self.testbed.transmitter
    }

    pub(crate) fn receiver(&self) -> &End {
        self.testbed.receiver.as_ref().unwrap()
    }

    /// Gives the transmitter's interface this queueing discipline, in `tc`'s words; the reason if
    /// it cannot be had.
    pub(crate) fn shape(&self, discipline: &str) -> Result<(), String> {
        let pid = self.testbed.transmitter.pid().to_string();
        let mut command = Command::new("nsenter");
        command.args(["--target", &pid, "--net"]);
        if !is_root() {
            command.args(["--user", "--preserve-credentials"]);
        }
        let interface = &self.testbed.transmitter.interface;
        command.args(["tc", "qdisc", "replace", "dev", interface, "root"]).args(discipline.split(' '));
        match command.output() {
            Err(error) => Err(format!("nsenter (util-linux): {error}")),
            Ok(output) if output.status.success() => Ok(()),
            Ok(output) => Err(format!("tc (iproute2): {}", String::from_utf8_lossy(&output.stderr).trim())),
        }
    }

    /// Runs this traffic for a little more than a second.
    pub(crate) fn run(&mut self, traffic: Traffic) -> Found {
        let order = RunOrder {
            traffic,
            family: study::Family::Ipv4,
            ramp: Duration::from_millis(200),
            window: WINDOW,
            step: RunOrder::step_of(WINDOW),
        };
        let account = self.testbed.run(&order, &mut || ()).unwrap();
        Found { limit: limit(&order, &account), order, account }
    }
}

/// What came of a run.
pub(crate) struct Found {
    limit: Limit,
    order: RunOrder,
    account: RunAccount,
}

impl Found {
    /// Asserts the label, and that a sentence of its evidence holds this.
    #[track_caller]
    pub(crate) fn expect(&self, label: Label, words: &str) {
        let found = &self.limit;
        assert_eq!(found.label, label, "{found:#?}");
        assert!(
            found.evidence.iter().any(|what| what.to_string().contains(words)),
            "no {words:?} in {found:#?}"
        );
    }

    /// Asserts that datagrams were lost, and that each was lost at a place that is known.
    #[track_caller]
    pub(crate) fn expect_no_loss_unaccounted_for(&self) {
        let metrics = runner::metrics(&self.order.traffic, &self.account);
        let value = |metric| metrics.get(metric).unwrap();
        assert!(value(metric::LOST) > 0.0, "{metrics:?}");
        assert_eq!(value(metric::LOST_UNACCOUNTED), 0.0, "{metrics:?}");
        assert_eq!(value(metric::RECEIVED) + value(metric::LOST), value(metric::OFFERED), "{metrics:?}");
    }
}

/// Puts a process to sleep, for 160 ms of every 200, until it is dropped. At each end of a sleep it
/// may wait some ms for its CPU, so that shorter turns would make others a limit too.
pub(crate) struct Nap {
    over: Arc<AtomicBool>,
    keeper: Option<JoinHandle<()>>,
}

impl Nap {
    pub(crate) fn of(pid: u32) -> Self {
        let over = Arc::new(AtomicBool::new(false));
        let pid = i32::try_from(pid).unwrap();
        // SAFETY: a signal to a child of this process, which nobody waits for before the nap is
        // over.
        let signal = move |signal| assert_eq!(unsafe { libc::kill(pid, signal) }, 0);
        let seen = Arc::clone(&over);
        let keeper = std::thread::spawn(move || {
            while !seen.load(Ordering::Relaxed) {
                signal(libc::SIGSTOP);
                std::thread::sleep(Duration::from_millis(160));
                signal(libc::SIGCONT);
                std::thread::sleep(Duration::from_millis(40));
            }
        });
        Self { over, keeper: Some(keeper) }
    }
}

impl Drop for Nap {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        let ended = self.keeper.take().map(JoinHandle::join);
        assert!(std::thread::panicking() || ended.is_none_or(|end| end.is_ok()), "the nap failed");
    }
}

/// As root, lets a process, and the threads that it will start, run before everything that is not
/// as urgent. Not for what never sleeps.
pub(crate) fn hurry(end: &End) {
    if is_root() {
        let pid = i32::try_from(end.pid()).unwrap();
        let least = libc::sched_param { sched_priority: 1 };
        // SAFETY: a valid parameter that outlives the call.
        assert_eq!(unsafe { libc::sched_setscheduler(pid, libc::SCHED_RR, &raw const least) }, 0);
    }
}

/// Programs that want all of a CPU's time, until they are dropped.
pub(crate) struct Hogs(Vec<Child>);

impl Hogs {
    /// As many as `count` on each of these CPUs.
    pub(crate) fn on(cpus: &[u32], count: usize) -> Self {
        let hog = |cpu: &u32| {
            let mut command = Command::new("taskset");
            command.args(["--cpu-list", &cpu.to_string(), "sh", "-c", "while :; do :; done"]);
            command.stdin(Stdio::null()).stdout(Stdio::null()).spawn().unwrap()
        };
        Self(cpus.iter().flat_map(|cpu| (0..count).map(move |_| hog(cpu))).collect())
    }
}

impl Drop for Hogs {
    fn drop(&mut self) {
        for child in &mut self.0 {
            // It ends by nothing else.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
