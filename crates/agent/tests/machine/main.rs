//! Agents that change the machine that they run on, and what is left of that when they end:
//! nothing.
//!
//! Each case runs in a process of its own, in a user namespace and a network namespace that it
//! makes, with a wire and a directory for the journal. An agent is this program again. A case that
//! cannot have a namespace says `SKIPPED`, and fails instead with `CI=true`.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "this is a test harness")]
#![expect(clippy::unwrap_used, reason = "a case fails by panicking where it fails")]

mod cases;
mod world;

use std::process::{Command, ExitCode};

use host::namespace;

/// Tells a process what it is: `probe`, `case` or `agent`.
const ROLE: &str = "NETASSAY_TEST_ROLE";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match std::env::var(ROLE).as_deref() {
        Ok("agent") => match netassay_agent::serve("test") {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("{error}");
                ExitCode::FAILURE
            }
        },
        Ok("probe") => match namespace::enter_user().and_then(|()| namespace::new_net()) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                println!("{error}");
                ExitCode::FAILURE
            }
        },
        Ok("case") => {
            let case = cases::ALL.iter().find(|case| case.name == arguments[0]).unwrap();
            namespace::enter_user().unwrap();
            namespace::new_net().unwrap();
            (case.run)(&world::World::new());
            ExitCode::SUCCESS
        }
        _ => run_all(&arguments),
    }
}

fn run_all(arguments: &[String]) -> ExitCode {
    let flag = |name: &str| arguments.iter().any(|argument| argument == name);
    let filter: Vec<&String> =
        arguments.iter().filter(|one| !one.starts_with('-') && *one != "terse").collect();
    let is_chosen = |name: &str| {
        let fits = |one: &&&String| if flag("--exact") { name == **one } else { name.contains(one.as_str()) };
        filter.is_empty() || filter.iter().any(|one| fits(&one))
    };
    // The usual harness lists ignored tests among all, and runs them where it is told to.
    let runs = |case: &&cases::Case| {
        let every = flag("--include-ignored") || flag("--list") && !flag("--ignored");
        every || case.is_ignored == flag("--ignored")
    };
    let chosen = cases::ALL.iter().filter(runs).map(|case| case.name).filter(|name| is_chosen(name));
    if flag("--list") {
        chosen.for_each(|name| println!("{name}: test"));
        return ExitCode::SUCCESS;
    }
    let again = |role: &str| {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.env(ROLE, role);
        command
    };
    let probe = again("probe").output().unwrap();
    if !probe.status.success() {
        let why = String::from_utf8_lossy(&probe.stdout).trim().to_owned();
        eprintln!("SKIPPED: {why}");
        return ExitCode::from(u8::from(std::env::var("CI").is_ok_and(|ci| ci == "true")));
    }
    let mut failed = 0;
    for name in chosen {
        let is_well = again("case").arg(name).status().unwrap().success();
        println!("test {name} ... {}", if is_well { "ok" } else { "FAILED" });
        failed += u8::from(!is_well);
    }
    ExitCode::from(failed)
}
