//! How much CPU the controller takes while a run is under way.

use std::fs;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use agent::Interrupt;
use clap::Args;
use nix::sys::prctl;
use nix::sys::signal::Signal;
use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid};
use serde::Serialize;

use crate::bench::Bench;
use crate::failure::Failure;
use crate::report::{Goal, Report};
use crate::spread::Spread;
use crate::table::Table;
use crate::terminal::Terminal;
use crate::{clock, interrupt};

/// Options of `controller`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// How long each observed run is, in seconds
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u64).range(2..=3600))]
    pub(crate) seconds: u64,
    /// How often each way of showing progress is observed
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) count: u32,
}

/// Percent of one CPU.
const GOAL: f64 = 1.0;
/// From the threads' start to the window of the observed run.
const RAMP: Duration = Duration::from_millis(500);
/// Left out at both edges of the window, where the controller asks and hears answers: the goal is
/// about a run under way.
const MARGIN: Duration = Duration::from_millis(250);
/// How long the controller may take to get its run under way, or to end after it.
const PATIENCE: Duration = Duration::from_secs(20);

/// How the controller shows its progress.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shown {
    /// As lines, where no terminal is.
    Lines,
    /// As a bar, on a pseudo-terminal.
    Bar,
}

/// One observed run.
#[derive(Debug, Serialize)]
struct Observed {
    /// Percent of one CPU while the window was open.
    cpu_percent: f64,
    /// How often the controller woke per second meanwhile.
    wakes_per_second: f64,
    /// CPU time of the whole command, from its start to its end, in ms.
    whole_ms: f64,
    /// Bytes drawn on the pseudo-terminal, from start to end.
    drawn: Option<u64>,
}

/// `netassay-bench controller`
pub(crate) fn run(bench: &Bench<'_>, options: &Options) -> Result<Report, Failure> {
    let heading =
        ["progress", "median % of a CPU", "min", "max", "count", "wakes/s", "whole command, CPU ms"];
    let mut report = Report::begin("controller", Table::new(1, heading));
    let (seconds, count) = if bench.common.smoke { (1, 1) } else { (options.seconds, options.count) };
    report.note(format!(
        "the controller's process alone (CPU clock of the process), inside the window of one tcp_stream run of {seconds} s over veth"
    ));
    let mut observed: [(&str, Shown, Vec<Observed>); 2] =
        [("lines, no terminal", Shown::Lines, Vec::new()), ("bar, pseudo-terminal", Shown::Bar, Vec::new())];
    for round in 1..=count {
        for (name, shown, all) in &mut observed {
            let one = observe(bench, *shown, seconds)?;
            bench.say(&format!("controller {round}/{count}, {name}: {:.3} % of a CPU", one.cpu_percent));
            all.push(one);
        }
    }
    let mut results = serde_json::Map::new();
    for (name, _, all) in &observed {
        let over = |of: fn(&Observed) -> f64| Spread::of(all.iter().map(of));
        let (cpu, wakes, whole) =
            (over(|o| o.cpu_percent), over(|o| o.wakes_per_second), over(|o| o.whole_ms));
        let (Some(cpu), Some(wakes), Some(whole)) = (cpu, wakes, whole) else { continue };
        let [median, min, max] = cpu.cells(3);
        let (wakes, whole) = (format!("{:.1}", wakes.median), format!("{:.1}", whole.median));
        report.table.row([(*name).to_owned(), median, min, max, cpu.count.to_string(), wakes, whole]);
        report.goals.push(Goal::under(format!("controller, {name}, median"), cpu.median, GOAL, "%"));
        let all = serde_json::to_value(all).map_err(|error| Failure::Internal(error.to_string()))?;
        results.insert((*name).to_owned(), all);
    }
    report.results = results.into();
    Ok(report.finish())
}

/// Lets the controller run one study with one run in it, and watches.
fn observe(bench: &Bench<'_>, shown: Shown, seconds: u64) -> Result<Observed, Failure> {
    let directory = tempfile::tempdir().map_err(Failure::io("cannot make a temporary directory"))?;
    let study = directory.path().join("bench.toml");
    fs::write(&study, text(seconds)).map_err(Failure::io(format!("cannot write {}", study.display())))?;
    let terminal = (shown == Shown::Bar).then(Terminal::open).transpose()?;
    let mut controller =
        Controller::start(&bench.netassay.program, &study, directory.path(), terminal.as_ref())?;

    controller.until_under_way(&bench.interrupt)?;
    interrupt::sleep(RAMP + MARGIN, &bench.interrupt)?;
    let first = controller.edge()?;
    interrupt::sleep(Duration::from_secs(seconds) - 2 * MARGIN, &bench.interrupt)?;
    let last = controller.edge()?;
    let whole = controller.end(&bench.interrupt)?;
    let time = last.at.saturating_sub(first.at).as_secs_f64();
    Ok(Observed {
        cpu_percent: 100.0 * last.cpu.saturating_sub(first.cpu).as_secs_f64() / time,
        wakes_per_second: last.wakes.saturating_sub(first.wakes) as f64 / time,
        whole_ms: whole.as_secs_f64() * 1e3,
        drawn: terminal.map(Terminal::close),
    })
}

fn text(seconds: u64) -> String {
    format!(
        "name = \"bench\"\nquestion = \"What does the controller cost while a run is under way?\"\nscenario = \"veth\"\n\n\
         [[workload]]\nkind = \"tcp_stream\"\nduration = \"{seconds}s\"\nramp = \"{}ms\"\n\n\
         [protocol]\nboots = 1\nwarmup = 0\nruns = 1\n",
        RAMP.as_millis()
    )
}

/// A controller at work. Dropping it ends it, and its agents with it.
struct Controller {
    child: Child,
}

/// What a controller has used by some instant.
struct Edge {
    at: Duration,
    cpu: Duration,
    wakes: u64,
}

impl Controller {
    fn start(
        program: &Path,
        study: &Path,
        directory: &Path,
        terminal: Option<&Terminal>,
    ) -> Result<Self, Failure> {
        let mut command = Command::new(program);
        command.arg("run").arg(study).arg("--db").arg(directory.join("netassay.db"));
        command.current_dir(directory).env("TERM", "xterm").stdin(Stdio::null()).stdout(Stdio::null());
        command.stderr(terminal.map_or_else(|| Ok(Stdio::null()), Terminal::output)?);
        // SAFETY: between fork and exec this makes one system call and touches no memory.
        unsafe { command.pre_exec(|| Ok(prctl::set_pdeathsig(Signal::SIGKILL)?)) };
        let child = command.spawn().map_err(Failure::io(format!("cannot start {}", program.display())))?;
        Ok(Self { child })
    }

    fn edge(&self) -> Result<Edge, Failure> {
        let pid = self.child.id();
        let status = fs::read_to_string(format!("/proc/{pid}/status"))
            .map_err(Failure::io("cannot read the controller's status"))?;
        Ok(Edge { at: clock::monotonic()?, cpu: clock::cpu_time(pid)?, wakes: wakes(&status) })
    }

    /// Waits until the transmitter's threads are there.
    fn until_under_way(&mut self, interrupt: &Interrupt) -> Result<(), Failure> {
        let deadline = Instant::now() + PATIENCE;
        while !children(self.child.id()).into_iter().any(sends) {
            let ended = self.child.try_wait().map_err(Failure::io("cannot wait for the controller"))?;
            if let Some(status) = ended {
                return Err(Failure::Environment(format!(
                    "`netassay run` ended before its run began ({status})"
                )));
            }
            if Instant::now() >= deadline {
                return Err(Failure::Environment(format!("no run is under way after {PATIENCE:?}")));
            }
            interrupt::sleep(Duration::from_millis(20), interrupt)?;
        }
        Ok(())
    }

    /// Waits until it has ended well, and says what CPU time it took in all.
    fn end(&mut self, interrupt: &Interrupt) -> Result<Duration, Failure> {
        // Left unreaped: its CPU clock lives until then.
        let flags = WaitPidFlag::WEXITED | WaitPidFlag::WNOWAIT | WaitPidFlag::WNOHANG;
        let deadline = Instant::now() + PATIENCE;
        loop {
            match waitid(Id::Pid(clock::pid(self.child.id())), flags) {
                Ok(WaitStatus::StillAlive) if Instant::now() < deadline => {
                    interrupt::sleep(Duration::from_millis(20), interrupt)?;
                }
                Ok(WaitStatus::Exited(_, 0)) => return clock::cpu_time(self.child.id()),
                Ok(other) => return Err(Failure::Environment(format!("`netassay run` failed ({other:?})"))),
                Err(errno) => return Err(Failure::io("cannot wait for the controller")(errno.into())),
            }
        }
    }
}

impl Drop for Controller {
    fn drop(&mut self) {
        // Both fail only when it is gone already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The processes whose parent is `parent`.
fn children(parent: u32) -> Vec<u32> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let numbers = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    numbers
        .filter(|pid: &u32| {
            let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            parent_in(&stat) == Some(parent)
        })
        .collect()
}

/// The parent in a line of `/proc/PID/stat`: the second field after the name, which may hold
/// anything.
fn parent_in(stat: &str) -> Option<u32> {
    stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}

/// Does this agent send? Its threads' names tell.
fn sends(agent: u32) -> bool {
    let Ok(threads) = fs::read_dir(format!("/proc/{agent}/task")) else { return false };
    threads.flatten().any(|thread| {
        fs::read_to_string(thread.path().join("comm")).is_ok_and(|name| name.starts_with("load-tx"))
    })
}

/// How often a process has gone to sleep by itself, by its `/proc/PID/status`.
fn wakes(status: &str) -> u64 {
    let line = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
    line.and_then(|count| count.trim().parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_study_is_a_study() {
        let study = study::Study::parse("bench.toml", &text(10)).unwrap();
        assert_eq!(study.plan().conditions.len(), 1);
    }

    #[test]
    fn the_parent_is_found_behind_any_name() {
        assert_eq!(parent_in("12 (a) b (c) S 7 12 12 0"), Some(7));
        assert_eq!(parent_in("12 (a"), None);
        let own = fs::read_to_string("/proc/self/stat").unwrap();
        assert_eq!(parent_in(&own), Some(std::os::unix::process::parent_id()));
    }

    #[test]
    fn wakes_are_read() {
        assert_eq!(wakes("Name:\tx\nvoluntary_ctxt_switches:\t42\nnonvoluntary_ctxt_switches:\t7\n"), 42);
        assert_eq!(wakes(""), 0);
    }
}
