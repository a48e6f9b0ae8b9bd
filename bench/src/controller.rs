//! How much CPU the controller takes while a run is under way.

use std::fs::{self, File};
use std::io::{self, Write};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use clap::Args;
use nix::pty::{Winsize, openpty};
use nix::time::{clock_getcpuclockid, clock_gettime};
use nix::unistd::Pid;

use crate::bench::{Bench, temporary_directory, write};
use crate::failure::Failure;
use crate::goal::{Bound, Goal};
use crate::process::{Owned, dies_with_its_starter};
use crate::report::{Report, heading};
use crate::wait;

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// How long each observed run is, in seconds
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u64).range(2..=3600))]
    seconds: u64,
}

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

pub(crate) fn run(bench: &Bench, options: &Options) -> Result<Report, Failure> {
    let mut report = Report::begin("controller", &heading("progress", "% of a CPU"));
    let (seconds, count) = (bench.or_smoke(options.seconds, 1), bench.rounds(3, 1));
    report.note(format!(
        "the controller's process alone (CPU clock of the process), inside the window of one tcp_stream run of {seconds} s over veth"
    ));
    let observed: [Vec<f64>; 2] =
        bench.in_turn("controller", (0, count), |which| observe(bench, which == 1, seconds))?;
    for (name, percents) in SHOWN.iter().zip(&observed) {
        let Some(cpu) = report.figures(name, percents, 3) else { continue };
        let what = format!("controller, {name}, median");
        report.goals.push(Goal::new(what, cpu.median, Bound::Under(GOAL), "%"));
    }
    Ok(report.finish())
}

/// Lets the controller run one study with one run in it, and says how much of one CPU it took while
/// the window was open, in %.
fn observe(bench: &Bench, on_terminal: bool, seconds: u64) -> Result<f64, Failure> {
    let directory = temporary_directory()?;
    let study = directory.path().join("bench.toml");
    write(&study, text(seconds))?;
    let mut command = Command::new(&bench.netassay);
    // What others did to the run does not matter here: the controller is measured, not the traffic.
    command
        .arg("run")
        .arg(study)
        .arg("--keep-disturbed")
        .arg("--db")
        .arg(directory.path().join("netassay.db"));
    command.current_dir(directory.path()).env("TERM", "xterm").stdin(Stdio::null()).stdout(Stdio::null());
    let path = directory.path().join("said");
    let said = File::create(&path).map_err(Failure::io(format!("cannot create {}", path.display())))?;
    command.stderr(if on_terminal { Stdio::from(terminal(said)?) } else { Stdio::from(said) });
    let controller = dies_with_its_starter(&mut command).spawn();
    let mut controller = controller.map(Owned).map_err(Failure::io("cannot start netassay"))?;
    let pid = controller.0.id();

    let under_way = wait::until(PATIENCE, LOOK, &bench.interrupt, || {
        let (ended, sends) = (controller.ended()?.is_some(), children(pid).into_iter().any(sends));
        Ok((ended || sends).then_some(sends))
    })?;
    if under_way != Some(true) {
        return Err(Failure::environment("`netassay run` did not begin its run"));
    }
    bench.sleep(RAMP + MARGIN)?;
    let (start, first) = (Instant::now(), cpu_time(pid)?);
    bench.sleep(Duration::from_secs(seconds) - 2 * MARGIN)?;
    let (time, last) = (start.elapsed(), cpu_time(pid)?);
    match wait::until(PATIENCE, LOOK, &bench.interrupt, || controller.ended())? {
        Some(status) if status.success() => {
            Ok(100.0 * last.saturating_sub(first).as_secs_f64() / time.as_secs_f64())
        }
        Some(status) => {
            let said = fs::read(&path).unwrap_or_default();
            let said = String::from_utf8_lossy(&said);
            Err(Failure::Environment(format!("`netassay run` failed ({status}) and said:\n{said}")))
        }
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

/// A pseudo-terminal of the usual size, for a program; what is drawn on it goes to `drawn`.
fn terminal(mut drawn: impl Write + Send + 'static) -> Result<File, Failure> {
    let size = Winsize { ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0 };
    let cannot = |errno: nix::Error| Failure::io("cannot open a pseudo-terminal")(errno.into());
    let pair = openpty(&size, None).map_err(cannot)?;
    let mut master = File::from(pair.master);
    // It ends once nobody has the other end open any more: the kernel answers EIO then.
    std::thread::spawn(move || io::copy(&mut master, &mut drawn));
    Ok(File::from(pair.slave))
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
    let threads = fs::read_dir(format!("/proc/{parent}/task")).into_iter().flatten().flatten();
    let of_thread = threads.filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok());
    of_thread.flat_map(|text| text.split_whitespace().flat_map(str::parse).collect::<Vec<u32>>()).collect()
}

/// Does this agent send? Its threads' names tell.
fn sends(agent: u32) -> bool {
    host::ProcessThreads::read(agent)
        .is_ok_and(|threads| !threads.times_of(|name| name.starts_with("load-tx")).is_empty())
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
        let me = std::process::id();
        let sleeps = Owned(Command::new("/bin/sleep").arg("60").spawn().unwrap());
        assert!(children(me).contains(&sleeps.0.id()));
        let start = cpu_time(me).unwrap();
        while cpu_time(me).unwrap() < start + Duration::from_millis(5) {}
    }

    #[test]
    fn what_draws_sees_a_terminal() {
        let mut command = Command::new("/bin/sh");
        command
            .args(["-c", "test -t 2 && head -c 100000 /dev/zero >&2"])
            .stderr(terminal(io::sink()).unwrap());
        assert!(command.status().unwrap().success());
    }
}
