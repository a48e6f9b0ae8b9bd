//! Files that are no files, and files that are too much.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::{directory, ours, run};

#[test]
fn a_wrong_line_in_a_pipe_is_reported_at_once() {
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

/// Runs it on the output of a shell's command, with 60 MB of address space, of which its code takes
/// 45, and 60 s of CPU time. Gives its standard error.
fn refused(words: &str, redirected: &str) -> String {
    let directory = directory(&[]);
    // A hole: 300 MB of NUL in one line, of which every piece is empty.
    File::create(directory.path().join("hole")).unwrap().set_len(300 << 20).unwrap();
    let limited = format!("ulimit -v {} -t 60; exec \"$0\" ministat -n {words} {redirected}", 60 << 10);
    let mut shell = Command::new("bash");
    shell.arg("-c").arg(limited).arg(env!("CARGO_BIN_EXE_netassay")).stdin(Stdio::null());
    let started = Instant::now();
    let ended = run(shell, directory.path(), &[] as &[&str], b"");
    assert_eq!((ended.stdout.as_str(), ended.code), ("", Some(2)), "{words} {redirected}: {}", ended.stderr);
    assert!(started.elapsed() < Duration::from_secs(60));
    ended.stderr
}

#[test]
fn what_has_no_end_is_refused_in_bounded_time_and_memory() {
    let line = "a line of more than 1048576 bytes: not a file of measurements";
    assert_eq!(refused("hole", ""), format!("ministat: cannot read hole: {line}\n"));
    assert_eq!(refused("/dev/zero", ""), format!("ministat: cannot read /dev/zero: {line}\n"));
    let stdin = format!("ministat: cannot read <stdin>: {line}\n");
    assert_eq!(refused("", "< /dev/zero"), stdin);
    assert_eq!(refused("-", "< <(cat /dev/zero)"), stdin);
    assert_eq!(refused("", "< <(yes 1 | tr '\\n' ' ')"), stdin);
}

#[test]
#[ignore = "reads 64 MiB three times: 14 s"]
fn lines_without_values_and_without_end_are_refused_in_bounded_time_and_memory() {
    let lines = "67108864 bytes without a value: not a file of measurements";
    for endless in ["yes ''", "yes '# 1'", r"yes $'\t'"] {
        let said = refused("", &format!("< <({endless})"));
        assert_eq!(said, format!("ministat: cannot read <stdin>: {lines}\n"), "{endless}");
    }
}

#[test]
fn long_lines_and_long_comments_are_read() {
    let long = "x".repeat(1_000_000);
    let comments = "# no value\n".repeat(1_000_000);
    let directory = directory(&[("a", &format!("1\n#{long}\n2\n{comments}#{long}\n4\n{comments}"))]);
    let ended = run(ours(), directory.path(), &["-n", "a"], b"");
    assert_eq!((ended.stderr.as_str(), ended.code), ("ministat: Invalid data on line 3 in a\n", Some(2)));
    let blanks = " ".repeat(1_000_000);
    fs::write(directory.path().join("a"), format!("1\n{blanks}\n2\n{comments}{blanks}\n4\n{comments}"))
        .unwrap();
    let ended = run(ours(), directory.path(), &["-n", "a"], b"");
    assert_eq!((ended.stderr.as_str(), ended.code), ("", Some(0)));
    assert!(
        ended.stdout.contains("x   3             1             4             2     2.3333333"),
        "{}",
        ended.stdout
    );
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
