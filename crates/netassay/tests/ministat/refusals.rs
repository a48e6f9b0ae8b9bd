//! Where ministat's behaviour is undefined, ours is a clear error, or what a person would expect.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::os::unix::process::ExitStatusExt;
use std::process::Stdio;

use super::{Ended, directory, ours, run, words};

#[track_caller]
fn assert_refused(files: &[(&str, &str)], line: &str, complaint: &str) {
    let directory = directory(files);
    let ended = run(ours(), directory.path(), &words(line), b"1\n2\n3\n");
    assert_eq!(ended.stderr, format!("ministat: {complaint}\n"), "{line}");
    assert_eq!((ended.stdout.as_str(), ended.code), ("", Some(2)), "{line}");
}

const NUMBERS: (&str, &str) = ("a", "1\n2\n4\n");

#[test]
fn a_plot_without_width() {
    assert_refused(
        &[NUMBERS],
        "-w 0 a",
        "cannot plot in 0 columns: give -w 2 to 16777216, or -A to leave the plot out",
    );
    assert_refused(
        &[NUMBERS],
        "-w 1 a",
        "cannot plot in 1 columns: give -w 2 to 16777216, or -A to leave the plot out",
    );
    assert_refused(
        &[NUMBERS],
        "-w 2000000000 a",
        "cannot plot in 2000000000 columns: give -w 2 to 16777216, or -A to leave the plot out",
    );
    // The width does not matter where nothing is drawn.
    let directory = directory(&[NUMBERS, ("same", "3\n3\n3\n")]);
    for line in ["-n -w 0 a", "-A -w 1 a", "-w 0 same"] {
        let ended = run(ours(), directory.path(), &words(line), b"");
        assert_eq!((ended.stderr.as_str(), ended.code), ("", Some(0)), "{line}");
    }
}

#[test]
fn a_plot_of_what_has_no_place() {
    let complaint =
        "cannot plot a: a value, or the mean, is infinite or not a number; -A leaves the plot out";
    for value in ["inf", "-inf", "1e999", "1.7e308\n1.7e308"] {
        assert_refused(&[("a", &format!("1\n2\n{value}\n4\n"))], "a", complaint);
    }
    let complaint = "cannot plot values that are inf apart; -A leaves the plot out";
    assert_refused(&[("a", "1.7e308\n-1.7e308\n3\n")], "a", complaint);
    let complaint = "cannot plot values that are 5e-324 apart; -A leaves the plot out";
    assert_refused(&[("a", "5e-324\n0\n0\n")], "a", complaint);
}

#[test]
fn what_is_no_decimal_number() {
    for value in ["nan", "0x10"] {
        assert_refused(&[("a", &format!("1\n{value}\n3\n4\n"))], "-A a", "Invalid data on line 2 in a");
    }
}

#[test]
fn standard_input_twice() {
    assert_refused(&[], "- -", "standard input can be read only once: give - once");
}

#[test]
fn a_device_that_cannot_be_read() {
    // The kernel's own memory at address 0, which nobody may read, not even root.
    assert_refused(&[], "/proc/self/mem", "cannot read /proc/self/mem: Input/output error");
}

#[test]
fn output_that_cannot_be_written() {
    let directory = directory(&[NUMBERS]);
    let output = ours()
        .arg("a")
        .current_dir(directory.path())
        .stdout(Stdio::from(File::options().write(true).open("/dev/full").unwrap()))
        .stderr(Stdio::piped())
        .output()
        .unwrap();
    let text = "ministat: cannot write to standard output: No space left on device\n";
    assert_eq!(Ended::from(output), Ended { stdout: String::new(), stderr: text.to_owned(), code: Some(1) });
}

#[test]
fn a_reader_that_leaves_ends_it_silently() {
    let lines: String = (0..200_000).map(|_| "1\n2\n").collect();
    let directory = directory(&[("a", &lines)]);
    let mut command = ours();
    command.arg("a").current_dir(directory.path()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut first = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut first).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!((first.as_str(), output.stderr.as_slice()), ("x a\n", b"".as_slice()));
    assert_eq!(output.status.signal(), Some(libc::SIGPIPE));
}
