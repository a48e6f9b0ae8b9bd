//! Files that are no files, and files that are too much.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::{directory, ours, run};

#[test]
fn a_wrong_line_in_a_pipe_is_told_at_once() {
    let mut child =
        ours().arg("-n").stdin(Stdio::piped()).stderr(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(b"1\nnope\n").unwrap();
    // The pipe stays open.
    let mut text = String::new();
    child.stderr.take().unwrap().read_to_string(&mut text).unwrap();
    assert_eq!(text, "ministat: Invalid data on line 2 in <stdin>\n");
    assert_eq!(child.wait().unwrap().code(), Some(2));
    drop(stdin);
}

#[test]
fn an_endless_line_takes_bounded_memory() {
    let directory = directory(&[]);
    let file = File::create(directory.path().join("line")).unwrap();
    // A hole: 300 MB of NUL in one line, of which every piece is empty.
    file.set_len(300 << 20).unwrap();
    // A sixth of the file.
    let limited = format!("ulimit -v {}; exec \"$0\" \"$@\"", 50 << 10);
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(limited).arg(env!("CARGO_BIN_EXE_netassay")).args(["ministat", "-n"]);
    let started = Instant::now();
    let ended = run(shell, directory.path(), &["line"], b"");
    assert_eq!(ended.stderr, "Dataset line must contain at least 3 data points\n");
    assert_eq!(ended.code, Some(2));
    assert!(started.elapsed() < Duration::from_secs(20));
}

#[test]
fn rubbish_is_refused_with_its_line() {
    let directory = directory(&[]);
    let rubbish: Vec<u8> =
        (0..100_000_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8 | 0x80).collect();
    fs::write(directory.path().join("rubbish"), rubbish).unwrap();
    let ended = run(ours(), directory.path(), &["rubbish"], b"");
    assert_eq!((ended.stdout.as_str(), ended.code), ("", Some(2)));
    assert_eq!(ended.stderr, "ministat: Invalid data on line 1 in rubbish\n");
}
