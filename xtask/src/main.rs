//! The jobs that people and CI both run: `cargo xtask` lists them.
//!
//! No dependencies: this is compiled before anything can be checked.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program for people and CI logs")]

mod ahead;
mod arrows;
mod bench;
mod bpf;
mod checks;
mod failure;
mod fuzz;
mod generated;
mod junit;
mod process;
mod report;
mod tally;
mod test;
mod workspace;

use std::env;
use std::process::ExitCode;

use failure::Failure;
use workspace::Workspace;

/// One subcommand.
struct Job {
    name: &'static str,
    arguments: &'static str,
    about: &'static str,
    run: fn(&Workspace, &[String]) -> Result<(), Failure>,
}

const JOBS: &[Job] = &[
    Job {
        name: "test",
        arguments: "[STEP…]",
        about: "every check of this repository, as CI runs it; or only the steps named",
        run: test::run,
    },
    Job { name: "steps", arguments: "", about: "list the steps of `test`", run: test::list },
    Job {
        name: "generate",
        arguments: "",
        about: "write the generated files that are checked in",
        run: generated::run,
    },
    Job {
        name: "bpf",
        arguments: "",
        about: "compile the programs that run in the kernel; their object is checked in",
        run: bpf::run,
    },
    Job {
        name: "draw",
        arguments: "[CRATE…]",
        about: "draw the crates and their modules in ARCHITECTURE.md; or print each arrow of the crates named",
        run: arrows::run,
    },
    Job {
        name: "bench",
        arguments: "[NAME …]",
        about: "netassay beside its goals and its peers (bench/README.md); all, or only the one named",
        run: bench::run,
    },
    Job {
        name: "fuzz",
        arguments: "[--seconds N] [TARGET…]",
        about: "each fuzz target, or only those named, for so long (60 s); fuzz/README.md",
        run: fuzz::run,
    },
];

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args_os().skip(1).map(|a| a.to_string_lossy().into_owned()).collect();
    match dispatch(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("xtask: {failure}");
            failure.exit_code()
        }
    }
}

fn dispatch(arguments: &[String]) -> Result<(), Failure> {
    let Some((name, rest)) = arguments.split_first() else {
        print!("{}", usage());
        return Ok(());
    };
    if matches!(name.as_str(), "help" | "--help" | "-h") {
        print!("{}", usage());
        return Ok(());
    }
    let job = JOBS
        .iter()
        .find(|job| job.name == name)
        .ok_or_else(|| Failure::Usage(format!("no job is called `{name}`; `cargo xtask` lists them")))?;
    (job.run)(&Workspace::find()?, rest)
}

fn usage() -> String {
    let mut text = String::from("Usage: cargo xtask JOB\n\n");
    for job in JOBS {
        let call = format!("{} {}", job.name, job.arguments);
        text.push_str(&format!("  {call:<16} {}\n", job.about));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usage_names_every_job() {
        let text = usage();
        for job in JOBS {
            assert!(text.contains(job.name) && text.contains(job.about), "{text}");
        }
    }

    #[test]
    fn an_unknown_job_is_a_usage_failure() {
        let failure = dispatch(&["tset".into()]).unwrap_err();
        assert!(matches!(failure, Failure::Usage(_)), "{failure}");
    }
}
