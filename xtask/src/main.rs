//! The jobs that people and CI both run: `cargo xtask` lists them.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program for people and CI logs")]

mod architecture;
mod bench;
mod bpf;
mod browser;
mod deny;
mod fuzz;
mod generated;
mod needs;
mod nextest;
mod program;
mod report;
mod scripts;
mod session;
mod test;
mod times;
mod touched;
mod tree;

use std::env;
use std::process::ExitCode;

use session::Session;

/// A failure is a message for people.
type Result<T = ()> = std::result::Result<T, String>;

/// Name, arguments, what it does, and how.
type Job = (&'static str, &'static str, &'static str, fn(&mut Session, &[String]) -> Result);

const JOBS: &[Job] = &[
    ("test", "[STEP…]", "the checks of each change (the gate), or only the steps named", test::run),
    ("test", "--all [STEP…]", "every check", test::run),
    ("test", "--touched [REV]", "the gate for the crates that changed since REV and their users", test::run),
    ("generate", "", "write the generated files that are checked in", generated::run),
    ("bpf", "", "compile the programs that run in the kernel; the object is checked in", bpf::run),
    ("advisories", "[FROM]", "check in RustSec's advisories on the crates that are used", deny::run),
    ("bench", "[NAME …]", "compare netassay with its goals and with similar programs", bench::run),
    ("fuzz", "[--seconds N] [TARGET…]", "run fuzz targets, each for N seconds (60)", fuzz::run),
];

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args_os().skip(1).map(|a| a.to_string_lossy().into_owned()).collect();
    if let Err(failure) = dispatch(&arguments) {
        eprintln!("xtask: {failure}");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

fn dispatch(arguments: &[String]) -> Result {
    let Some((name, rest)) = arguments.split_first().filter(|(name, _)| !name.ends_with("help")) else {
        print_usage();
        return Ok(());
    };
    let job = JOBS.iter().find(|(job, ..)| job == name);
    let (.., run) = job.ok_or_else(|| format!("no job is called `{name}`; `cargo xtask` lists them"))?;
    run(&mut Session::find()?, rest)
}

fn print_usage() {
    println!("Usage: cargo xtask JOB\n");
    for (name, arguments, about, _) in JOBS {
        println!("  {:<30} {about}", format!("{name} {arguments}"));
    }
    print!("\nSteps of `test` (*: only with --all, or when named):\n\n{}", test::steps_text());
}
