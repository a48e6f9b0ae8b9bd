//! Files that a user names and that do harm: each command refuses them in words, as root and as an
//! ordinary user.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;
#[path = "common/studies.rs"]
mod studies;

use std::fs;
use std::os::unix::fs::{lchown, symlink};
use std::process::Command;
use std::time::{Duration, Instant};

use common::{Bench, expect, stderr};
use rusqlite::Connection;

/// No refusal takes longer, on a busy machine; what is endless would.
const SOON: Duration = Duration::from_secs(60);

/// Runs as the user of the tests and as nobody, each with at most 2 GiB of memory, and gives what
/// was said.
fn refused(bench: &Bench, arguments: &[&str], code: u8) -> Vec<String> {
    by_both(bench, arguments).map(|command| refusal(bench, &command, code)).to_vec()
}

/// A command of the user of the tests, and of nobody.
fn by_both(bench: &Bench, arguments: &[&str]) -> [Command; 2] {
    [bench.netassay(arguments), bench.netassay_as_nobody(arguments)]
}

/// Runs a command with at most 2 GiB of memory, and gives what it said.
fn refusal(bench: &Bench, command: &Command, code: u8) -> String {
    let mut bounded = Command::new("prlimit");
    bounded.args(["--as=2147483648", "--cpu=60"]).arg(command.get_program()).args(command.get_args());
    bounded.current_dir(bench.path("")).env("NO_COLOR", "1").env("XDG_CACHE_HOME", bench.path("cache"));
    let begun = Instant::now();
    let output = bounded.stdin(std::process::Stdio::null()).output().unwrap();
    assert!(begun.elapsed() < SOON, "{command:?} took {:?}", begun.elapsed());
    expect(&output, code);
    stderr(&output)
}

#[test]
fn a_device_is_no_file_to_read() {
    let bench = Bench::new();
    for command in [&["study", "check"][..], &["run"], &["compare"]] {
        for said in refused(&bench, &[command, &["/dev/zero"]].concat(), 3) {
            assert!(
                said.contains("cannot read /dev/zero: it is neither a regular file nor a pipe"),
                "{said}"
            );
        }
    }
}

#[test]
fn standard_input_without_end_is_cut_off() {
    cut_off(&[
        ("cat /dev/zero", "<stdin>:1:1: a NUL byte, which no text has; give a text file"),
        ("yes | tr -d '\\n'", "<stdin>:1:1048577: a line of more than 1048576 bytes; this is not a file"),
    ]);
}

#[test]
#[ignore = "reads 1 GiB: `samples` proves that endless input is refused"]
fn standard_input_of_any_size_is_cut_off() {
    cut_off(&[
        ("yes 1", "<stdin>:33554433:1: more than 33554432 values"),
        // Long lines, as what is in them is skipped.
        ("yes \"# $(printf %010000d 0)\"", "cannot read <stdin>: more than 1073741824 bytes"),
    ]);
}

fn cut_off(inputs: &[(&str, &str)]) {
    let bench = Bench::new();
    for (endless, why) in inputs {
        // Who reads a pipe makes no difference.
        let command = bench.netassay(&["compare", "-"]);
        let words: Vec<&str> = command.get_args().map(|word| word.to_str().unwrap()).collect();
        let shell = format!(
            "{endless} | prlimit --as=2147483648 --cpu=60 {} {}",
            command.get_program().display(),
            words.join(" ")
        );
        let begun = Instant::now();
        let output = Command::new("sh").args(["-c", &shell]).current_dir(bench.path("")).output().unwrap();
        assert!(stderr(&output).contains(*why), "{endless}: {}", stderr(&output));
        assert!(begun.elapsed() < SOON, "{endless} took {:?}", begun.elapsed());
        // The content is refused, or the reading.
        expect(&output, if why.starts_with("cannot read") { 3 } else { 2 });
    }
}

#[test]
#[ignore = "waits 10 s: `host` proves this with a shorter time"]
fn a_pipe_without_a_writer_is_not_waited_for_without_end() {
    let bench = Bench::new();
    assert!(
        Command::new("mkfifo").args(["-m", "666"]).arg(bench.path("pipe.toml")).status().unwrap().success()
    );
    // Both users wait at the same time.
    std::thread::scope(|scope| {
        for command in by_both(&bench, &["study", "check", "pipe.toml"]) {
            let bench = &bench;
            scope.spawn(move || {
                let said = refusal(bench, &command, 3);
                assert!(
                    said.contains("cannot read pipe.toml: no data arrived on this pipe for 10 s"),
                    "{said}"
                );
            });
        }
    });
}

#[test]
fn a_study_without_end_is_cut_off() {
    let bench = Bench::new();
    fs::File::create(bench.path("huge.toml")).unwrap().set_len(1 << 40).unwrap();
    for said in refused(&bench, &["study", "check", "huge.toml"], 2) {
        assert!(said.contains("huge.toml: it has more than"), "{said}");
    }
}

#[test]
fn an_endless_database_is_refused_by_every_command_that_reads_one() {
    let bench = Bench::new();
    let database = Connection::open(bench.path("netassay.db")).unwrap();
    database
        .execute_batch(
            "PRAGMA application_id = 1312904025; PRAGMA user_version = 1;
             CREATE VIEW study AS WITH RECURSIVE c (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c)
             SELECT n AS id, 'x' AS name, '' AS toml, '{}' AS plan, 0 AS seed, '' AS scenario, '' AS version,
                    'complete' AS status, 0 AS started_unix_ms, 0 AS finished_unix_ms FROM c;
             CREATE TABLE boot (study, number); CREATE TABLE run (study, status, warmup);",
        )
        .unwrap();
    drop(database);
    for arguments in [
        ["show"].as_slice(),
        &["db", "list"],
        &["compare"],
        &["db", "export", "--format", "csv"],
        &["run", "quick", "--resume"],
    ] {
        for said in refused(&bench, arguments, 3) {
            assert!(
                said.contains("netassay.db is not a database of netassay (its view \"study\" is not"),
                "{arguments:?}: {said}"
            );
        }
    }
}

/// Commands that write a file, and that file.
const WRITERS: [(&[&str], &str); 7] = [
    (&["report"], "quick-3.html"),
    (&["report", "--format", "md"], "quick-3.md"),
    (&["study", "new", "mine"], "mine.toml"),
    (&["db", "pack", "1", "-o", "packed.db"], "packed.db"),
    (&["db", "export", "--format", "stat", "-o", "."], "STAT"),
    (&["db", "export", "--format", "csv", "-o", "out.csv"], "out.csv"),
    (&["history", "-o", "history.svg"], "history.svg"),
];

#[test]
fn what_others_lay_in_the_place_of_a_file_is_neither_written_nor_waited_for() {
    let bench = Bench::new();
    studies::three(&bench);
    fs::write(bench.path("precious"), "precious").unwrap();
    expect(&bench.run(&["db", "export", "--format", "stat", "-o", "stat"]), 0);
    let first = fs::read_dir(bench.path("stat")).unwrap().next().unwrap().unwrap().file_name();
    for (arguments, name) in WRITERS {
        let place = bench.path(if name == "STAT" { first.to_str().unwrap() } else { name });
        for is_link in [true, false] {
            if is_link {
                symlink("precious", &place).unwrap();
            } else {
                assert!(Command::new("mkfifo").arg(&place).status().unwrap().success());
            }
            // What the user made there would be what the user means.
            if arguments[0] == "history" && lchown(&place, Some(65534), None).is_err() {
                fs::remove_file(&place).unwrap();
                continue;
            }
            let said = refusal(&bench, &bench.netassay(arguments), 3);
            assert!(said.contains(place.file_name().unwrap().to_str().unwrap()), "{arguments:?}: {said}");
            assert_eq!(fs::read_to_string(bench.path("precious")).unwrap(), "precious", "{arguments:?}");
            fs::remove_file(&place).unwrap();
        }
    }
}
