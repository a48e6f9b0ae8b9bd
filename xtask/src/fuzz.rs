//! `fuzz/`: each target with libFuzzer, for a bounded time and in bounded memory.
//!
//! cargo-fuzz is made for the sanitizers of a nightly toolchain; the compiler's own coverage pass
//! does without.

use std::fs;
use std::path::Path;

use crate::Result;
use crate::program::run as program;
use crate::session::{Session, has_program, make_directory};

pub(crate) const MANIFEST: &str = "fuzz/Cargo.toml";

/// Counters at each edge, where they are in the program, and the operands of comparisons: what
/// libFuzzer learns from. No warnings.
const FLAGS: &str = "-Dwarnings -Cpasses=sancov-module \
    -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
    -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares";

/// A profile of `fuzz/Cargo.toml`, and where cargo puts its programs.
#[derive(Clone, Copy)]
struct Profile {
    name: &'static str,
    directory: &'static str,
}

/// For two seconds of each target: it takes half the time to compile.
const QUICKLY_BUILT: Profile = Profile { name: "dev", directory: "debug" };
const OPTIMISED: Profile = Profile { name: "release", directory: "release" };

/// Memory of a target's process in MiB, and time of one input in seconds.
const LIMITS: [&str; 2] = ["-rss_limit_mb=2048", "-timeout=10"];

/// `cargo xtask fuzz [--seconds N] [TARGET…]`: goes on where earlier runs stopped.
pub(crate) fn run(session: &mut Session, arguments: &[String]) -> Result {
    let (seconds, names) = match arguments {
        [option, number, names @ ..] if option == "--seconds" => {
            (number.parse().map_err(|_| format!("--seconds needs a number, not `{number}`"))?, names)
        }
        names => (60, names),
    };
    let names = if names.is_empty() { targets(session)? } else { names.to_vec() };
    each(session, OPTIMISED, &names, seconds, &session.target.join("fuzz/corpus"), &[])
}

/// The step `fuzz`: starts from the corpus that is checked in and a fixed seed, and forgets what it
/// learns.
pub(crate) fn check(session: &mut Session) -> Result {
    if !has_program("c++") {
        session.report.skips.push("fuzz: no C++ compiler for libFuzzer".to_owned());
        return Ok(());
    }
    let scratch = session.target.join("fuzz/scratch");
    // Mostly there is one, of the run before.
    let _ = fs::remove_dir_all(&scratch);
    each(session, QUICKLY_BUILT, &targets(session)?, 2, &scratch, &["-seed=1"])
}

/// Every file in `fuzz/fuzz_targets` is a target of that name.
fn targets(session: &Session) -> Result<Vec<String>> {
    let files = session.tracked_files()?;
    let name =
        |file: &String| file.strip_prefix("fuzz/fuzz_targets/")?.strip_suffix(".rs").map(str::to_owned);
    Ok(files.iter().filter_map(name).filter(|name| !name.contains('/')).collect())
}

/// Builds the targets and runs one after the other. libFuzzer writes what it learns to `learnt`.
fn each(
    session: &Session,
    profile: Profile,
    targets: &[String],
    seconds: u64,
    learnt: &Path,
    options: &[&str],
) -> Result {
    let mut build = session.cargo(&["build", "--bins", "--manifest-path", MANIFEST]);
    // Cargo keeps what was compiled with other flags beside this.
    program(build.args(["--profile", profile.name]).env("RUSTFLAGS", FLAGS))?;
    let mut failed = Vec::new();
    for target in targets {
        let learnt = learnt.join(target);
        let given = session.root.join("fuzz/corpus").join(target);
        let artifacts = session.root.join("fuzz/artifacts").join(target);
        [&learnt, &given, &artifacts].into_iter().try_for_each(|directory| make_directory(directory))?;
        let mut fuzzer = session.command(session.built.join(profile.directory).join(target));
        fuzzer.args(LIMITS).args(options).arg(format!("-max_total_time={seconds}"));
        fuzzer.arg(format!("-artifact_prefix={}/", artifacts.display())).arg(&learnt).arg(&given);
        let output = fuzzer.output().map_err(|error| format!("cannot start {target}: {error}"))?;
        let said = String::from_utf8_lossy(&output.stderr);
        let complaint = complaint(&said, output.status.success());
        let last = said.lines().rfind(|line| line.starts_with('#')).unwrap_or_default();
        eprintln!("{target:<20} {}", complaint.as_deref().unwrap_or(last));
        failed.extend(complaint.map(|_| target.as_str()));
    }
    if failed.is_empty() { Ok(()) } else { Err(format!("fuzz targets failed: {}", failed.join(", "))) }
}

/// What is wrong with a run of libFuzzer.
fn complaint(said: &str, has_succeeded: bool) -> Option<String> {
    if !has_succeeded {
        return Some(format!("failed\n{said}"));
    }
    let has_coverage = said.contains("inline 8-bit counters") && said.contains(" cov: ");
    (!has_coverage).then(|| format!("was built without coverage: libFuzzer is blind\n{said}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_blind_target_has_failed() {
        let well = "INFO: Loaded 1 modules (13 inline 8-bit counters)\n#20\tDONE   cov: 8 ft: 11\n";
        assert_eq!(complaint(well, true), None);
        assert!(complaint(well, false).is_some());
        assert!(complaint("#20\tDONE   cov: 8 ft: 11\n", true).unwrap().contains("blind"));
    }
}
