//! The drop-in from outside, beside Debian's program where that is installed.

#![expect(clippy::unwrap_used, reason = "a test panics where it fails")]
#![expect(clippy::print_stderr, reason = "where a skip and a seed are announced")]

mod cases;
mod input;
mod oracle;
mod random;
mod refusals;
mod terminal;
mod wider;

use std::ffi::OsStr;
use std::fs;
use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// What a program left behind. What is no text is escaped.
#[derive(Debug, PartialEq)]
struct Ended {
    stdout: String,
    stderr: String,
    /// None if a signal ended it.
    code: Option<i32>,
}

impl From<Output> for Ended {
    fn from(output: Output) -> Ended {
        let text = |bytes: Vec<u8>| {
            String::from_utf8(bytes).unwrap_or_else(|error| error.as_bytes().escape_ascii().to_string())
        };
        Ended { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
    }
}

/// netassay under the name of ministat.
fn ours() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_netassay"));
    command.arg0("ministat");
    prepared(command)
}

/// `netassay ministat`
fn subcommand() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_netassay"));
    command.arg("ministat");
    prepared(command)
}

/// Debian's program.
fn debians() -> Command {
    prepared(Command::new("ministat"))
}

fn prepared(mut command: Command) -> Command {
    command.stdin(Stdio::null()).env_remove("POSIXLY_CORRECT").env_remove("COLUMNS");
    command
}

/// Runs it in `directory` with these words, and with `stdin` if that is not empty.
fn run(mut command: Command, directory: &Path, words: &[impl AsRef<OsStr>], stdin: &[u8]) -> Ended {
    command.current_dir(directory).args(words).stdout(Stdio::piped()).stderr(Stdio::piped());
    if stdin.is_empty() {
        return command.output().unwrap().into();
    }
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    // A program that does not read it all closes the pipe.
    if let Err(error) = child.stdin.take().unwrap().write_all(stdin) {
        assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
    }
    child.wait_with_output().unwrap().into()
}

/// Words of a line without quotes.
fn words(line: &str) -> Vec<&str> {
    line.split_whitespace().collect()
}

/// Those that `stats` keeps.
fn fixtures(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../samples/tests/fixtures").join(name)
}

/// A directory with files in it.
fn directory(files: &[(&str, &str)]) -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    for (name, text) in files {
        fs::write(directory.path().join(name), text).unwrap();
    }
    directory
}

/// Says that Debian's program is missing, which CI must not pass over.
fn has_debians(test: &str) -> bool {
    if Command::new("ministat").stdin(Stdio::null()).output().is_ok() {
        return true;
    }
    let line = format!("SKIPPED: {test}: the program ministat is not installed (apt-get install ministat)");
    assert!(std::env::var_os("CI").is_none_or(|ci| ci != "true"), "{line}");
    eprintln!("{line}");
    false
}
