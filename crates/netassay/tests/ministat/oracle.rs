//! Debian's program and ours on the same random cases.

use std::fs;
use std::num::NonZero;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::{ffi::OsStr, thread};

use super::random::Case;
use super::{Ended, debians, has_debians, ours, run};

/// The first case's seed. For a longer look, MINISTAT_CASES and MINISTAT_SEED are other numbers.
const SEED: u64 = 20150715;

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| text.parse().unwrap())
}

#[test]
fn equals_debians_program_on_300_random_cases() {
    compare_random_cases("oracle::equals_debians_program_on_300_random_cases", 300);
}

#[test]
#[ignore = "the gate proves this with 300 cases"]
fn equals_debians_program_on_2400_random_cases() {
    compare_random_cases("oracle::equals_debians_program_on_2400_random_cases", 2400);
}

fn compare_random_cases(test: &str, cases: u64) {
    if !has_debians(test) {
        return;
    }
    let (cases, first) = (setting("MINISTAT_CASES", cases), setting("MINISTAT_SEED", SEED));
    eprintln!("{cases} random cases from seed {first}");
    let next = AtomicU64::new(0);
    let undefined = AtomicU64::new(0);
    let good = AtomicU64::new(0);
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, NonZero::get) {
            scope.spawn(|| {
                loop {
                    let case = next.fetch_add(1, Ordering::Relaxed);
                    if case >= cases {
                        return;
                    }
                    match compare(first + case) {
                        Some(0) => good.fetch_add(1, Ordering::Relaxed),
                        Some(_) => 0,
                        None => undefined.fetch_add(1, Ordering::Relaxed),
                    };
                }
            });
        }
    });
    // The cases are worth something only if most get as far as results, and some do not.
    let (undefined, good) = (undefined.into_inner(), good.into_inner());
    assert!(good > cases / 2 && good < cases * 19 / 20, "{good} of {cases} cases had results");
    assert!(undefined < cases / 20, "{undefined} of {cases} cases crashed Debian's program");
}

/// The common exit code; none if Debian's program crashed, where ours has to refuse.
fn compare(seed: u64) -> Option<i32> {
    let case = Case::new(seed);
    let directory = tempfile::tempdir().unwrap();
    case.write_files(directory.path());
    let expected = run_case(debians(), &case, directory.path());
    let got = run_case(ours(), &case, directory.path());
    let Some(code) = expected.code else {
        assert_eq!((got.code, got.stdout.as_str()), (Some(2), ""), "seed {seed}: {:?}", case.words);
        assert!(got.stderr.starts_with("ministat: cannot plot"), "seed {seed}: {}", got.stderr);
        return None;
    };
    if got != expected {
        let kept = directory.keep();
        let words: Vec<String> = case.words.iter().map(|word| word.escape_ascii().to_string()).collect();
        assert_eq!(
            (&got.stdout, &got.stderr, got.code),
            (&expected.stdout, &expected.stderr, expected.code),
            "seed {seed}: {} {words:?} in {}:\n{}\n---\n{}",
            case.program,
            kept.display(),
            got.stdout,
            expected.stdout
        );
    }
    Some(code)
}

fn run_case(mut command: Command, case: &Case, directory: &Path) -> Ended {
    command.arg0(case.program);
    if case.posix {
        command.env("POSIXLY_CORRECT", "1");
    }
    let words: Vec<&OsStr> = case.words.iter().map(|word| OsStr::from_bytes(word)).collect();
    run(command, directory, &words, &case.stdin)
}

#[test]
fn equals_debians_program_on_files_of_many_blocks() {
    if !has_debians("equals_debians_program_on_files_of_many_blocks") {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let mut text = String::new();
    let mut state = 1_u32;
    for line in 0..400_000 {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        text.push_str(&format!("{:.4}\n", 9414.0 + f64::from(state >> 8) / 1e5));
        if line % 1000 == 0 {
            text.push_str("# a comment\n\n 7 # and more\r\n");
        }
    }
    fs::write(directory.path().join("a"), &text).unwrap();
    fs::write(directory.path().join("b"), text.replace("4.", "5.")).unwrap();
    fs::write(directory.path().join("wrong"), format!("{text}oops\n{text}worse\n")).unwrap();
    for words in [
        &["-n", "a"][..],
        &["a"],
        &["-sw40", "b", "a"],
        &["-A", "a", "b"],
        &["-n", "b", "wrong"],
        &["-n", "-"],
    ] {
        let stdin = if words.contains(&"-") { text.as_bytes() } else { b"" };
        let expected = run(debians(), directory.path(), words, stdin);
        assert_eq!(run(ours(), directory.path(), words, stdin), expected, "{words:?}");
    }
}
