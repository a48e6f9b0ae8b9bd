//! How much CPU the controller takes while a run is under way.

use std::fs::{self, File};
use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use clap::Args;
use nix::pty::{Winsize, openpty};
use nix::sys::prctl;
use nix::sys::signal::Signal;
use nix::time::{clock_getcpuclockid, clock_gettime};
use nix::unistd::Pid;
use serde_json::json;

use crate::bench::{Bench, temporary_directory, write};
use crate::child::Owned;
use crate::failure::Failure;
use crate::figures::{cells, summary};
use crate::report::{Goal, Report};
use crate::wait;

/// Options of `controller`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// How long each observed run is, in seconds
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u64).range(2..=3600))]
    seconds: u64,
    /// How often each way of showing progress is observed
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=1000))]
    count: u32,
}

/// Percent of one CPU.
const GOAL: f64 = 1.0;
/// How the controller shows its progress; the last on a pseudo-terminal.
const SHOWN: [&str; 2] = ["lines, no terminal", "bar, pseudo-terminal"];
/// From the threads' start to the window of the observed run.
const RAMP: Duration = Duration::from_millis(500);
/// Left out at both edges of the window, where the controller asks and hears answers: the goal is
/// about a run under way.
const MARGIN: Duration = Duration::from_millis(250);
/// How long the controller may take to get its run under way, or to end after it.
const PATIENCE: Duration = Duration::from_secs(20);
/// Between two looks at the controller.
const LOOK: Duration = Duration::from_millis(20);

/// `netassay-bench controller`
pub(crate) fn run(bench: &Bench, options: &Options) -> Result<Report, Failure> {
    let heading = ["progress", "median % of a CPU", "min", "max", "count"];
    let mut report = Report::begin("controller", &heading);
    let (seconds, count) = bench.or_smoke((options.seconds, options.count), (1, 1));
    report.note(format!(
        "the controller's process alone (CPU clock of the process), inside the window of one tcp_stream run of {seconds} s over veth"
    ));
    let observed: [Vec<f64>; 2] =
        bench.in_turn("controller", (0, count), |which| observe(bench, which == 1, seconds))?;
    let mut results = json!({});
    for (name, percents) in SHOWN.iter().zip(&observed) {
        results[name] = json!({"cpu_percent": percents});
        let Some(cpu) = summary(percents.iter().copied()) else { continue };
        report.row([(*name).to_owned()].into_iter().chain(cells(&cpu, 3)));
        report.goals.push(Goal::under(format!("controller, {name}, median"), cpu.median, GOAL, "%"));
    }
    Ok(report.finish(results))
}

/// Lets the controller run one study with one run in it, and says how much of one CPU it took while
/// the window was open, in %.
fn observe(bench: &Bench, on_terminal: bool, seconds: u64) -> Result<f64, Failure> {
    let directory = temporary_directory()?;
    let study = directory.path().join("bench.toml");
    write(&study, text(seconds))?;
    let errors = if on_terminal { Stdio::from(terminal()?) } else { Stdio::null() };
    let mut controller = start(&bench.netassay, &study, directory.path(), errors)?;
    let pid = controller.0.id();

    await_traffic(bench, &mut controller)?;
    bench.sleep(RAMP + MARGIN)?;
    let (start, first) = (Instant::now(), cpu_time(pid)?);
    bench.sleep(Duration::from_secs(seconds) - 2 * MARGIN)?;
    let (time, last) = (start.elapsed(), cpu_time(pid)?);
    let ended = wait::until(PATIENCE, LOOK, &bench.interrupt, || {
        controller.0.try_wait().map_err(Failure::io("cannot wait for the controller"))
    })?;
    match ended {
        Some(status) if status.success() => {
            Ok(100.0 * last.saturating_sub(first).as_secs_f64() / time.as_secs_f64())
        }
        Some(status) => Err(Failure::Environment(format!("`netassay run` failed ({status})"))),
        None => Err(Failure::Environment(format!("`netassay run` does not end within {PATIENCE:?}"))),
    }
}

fn text(seconds: u64) -> String {
    format!(
        "name = \"bench\"\nquestion = \"What does the controller cost while a run is under way?\"\nscenario = \"veth\"\n\n\
         [[workload]]\nkind = \"tcp_stream\"\nduration = \"{seconds}s\"\nramp = \"{}ms\"\n\n\
         [protocol]\nboots = 1\nwarmup = 0\nruns = 1\n",
        RAMP.as_millis()
    )
}

/// A pseudo-terminal of the usual size, for a program; what is drawn on it is read and thrown away.
fn terminal() -> Result<File, Failure> {
    let size = Winsize { ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0 };
    let cannot = |errno: nix::Error| Failure::io("cannot open a pseudo-terminal")(errno.into());
    let pair = openpty(&size, None).map_err(cannot)?;
    let mut master = File::from(pair.master);
    // It ends once nobody has the other end open any more: the kernel answers EIO then.
    std::thread::spawn(move || io::copy(&mut master, &mut io::sink()));
    Ok(File::from(pair.slave))
}

fn start(program: &Path, study: &Path, directory: &Path, errors: Stdio) -> Result<Owned, Failure> {
    let mut command = Command::new(program);
    // What others did to the run does not matter here: the controller is measured, not the traffic.
    command.arg("run").arg(study).arg("--keep-disturbed").arg("--db").arg(directory.join("netassay.db"));
    command.current_dir(directory).env("TERM", "xterm").stdin(Stdio::null()).stdout(Stdio::null());
    command.stderr(errors);
    // SAFETY: between fork and exec this makes one system call and touches no memory.
    unsafe { command.pre_exec(|| Ok(prctl::set_pdeathsig(Signal::SIGKILL)?)) };
    command.spawn().map(Owned).map_err(Failure::io(format!("cannot start {}", program.display())))
}

/// Waits until the transmitter's threads are there.
fn await_traffic(bench: &Bench, controller: &mut Owned) -> Result<(), Failure> {
    let pid = controller.0.id();
    let under_way = wait::until(PATIENCE, LOOK, &bench.interrupt, || {
        if children(pid).into_iter().any(sends) {
            return Ok(Some(()));
        }
        match controller.0.try_wait().map_err(Failure::io("cannot wait for the controller"))? {
            Some(status) => {
                Err(Failure::Environment(format!("`netassay run` ended before its run began ({status})")))
            }
            None => Ok(None),
        }
    });
    under_way?.ok_or_else(|| Failure::Environment(format!("no run is under way after {PATIENCE:?}")))
}

/// CPU time that all threads of a process have used, those that have ended included, exact to the
/// nanosecond.
fn cpu_time(process: u32) -> Result<Duration, Failure> {
    let pid = Pid::from_raw(process.cast_signed());
    let time = clock_getcpuclockid(pid).and_then(clock_gettime).map(Duration::from);
    time.map_err(|errno| Failure::io(format!("cannot read the CPU clock of process {process}"))(errno.into()))
}

/// The processes whose parent is `parent`.
fn children(parent: u32) -> Vec<u32> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let numbers = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let is_child = |pid: &u32| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        parent_in(&stat) == Some(parent)
    };
    numbers.filter(is_child).collect()
}

/// The parent in a line of `/proc/PID/stat`: the second field after the name, which may hold
/// anything.
fn parent_in(stat: &str) -> Option<u32> {
    stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}

/// Does this agent send? Its threads' names tell.
fn sends(agent: u32) -> bool {
    host::ProcessThreads::read(agent)
        .is_ok_and(|threads| !threads.each(|name| name.starts_with("load-tx")).is_empty())
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
    fn processes_are_read() {
        assert_eq!(parent_in("12 (a) b (c) S 7 12 12 0"), Some(7));
        assert_eq!(parent_in("12 (a"), None);
        let me = std::process::id();
        let start = cpu_time(me).unwrap();
        while cpu_time(me).unwrap() < start + Duration::from_millis(5) {}
    }

    #[test]
    fn what_draws_sees_a_terminal() {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", "test -t 2 && head -c 100000 /dev/zero >&2"]).stderr(terminal().unwrap());
        assert!(command.status().unwrap().success());
    }
}
