//! Databases that somebody else changed to do harm: every command that reads one answers soon, in
//! bounded memory, with what it can show or with why not, as root and as an ordinary user.

#![expect(clippy::unwrap_used, reason = "a test panics where it fails")]

mod common;

use std::cell::RefCell;
use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant, SystemTime};

use common::{Bench, apart, code, stderr, stdout};
use rusqlite::Connection;

/// No command takes longer on a busy machine; what is endless would.
const SOON: Duration = Duration::from_secs(60);

const STUDY: &str = "name = \"s\"\nquestion = \"q\"\nscenario = \"loopback\"\n[[workload]]\nkind = \"tcp_stream\"\n\
    duration = \"50ms\"\nramp = \"0s\"\n[factors]\nfamily = [\"ipv4\", \"ipv6\"]\n\
    [protocol]\nboots = 2\nruns = 2\nwarmup = 0\n\
    [[comparison]]\nbaseline = { family = \"ipv4\" }\nmetric = \"throughput\"\n";

/// Everything that reads a database, and what goes on with a study.
const COMMANDS: [&[&str]; 12] = [
    &["db", "list"],
    &["show"],
    &["show", "--runs", "--environment"],
    &["show", "--format", "json"],
    &["compare"],
    &["report", "-o", "-"],
    &["report", "--format", "md", "-o", "-"],
    &["study", "plan", "s.toml", "--detect", "5%", "--from", "1"],
    &["db", "export", "--format", "csv"],
    &["db", "export", "--format", "series"],
    &["db", "export", "--format", "stat", "--metric", "all", "-o", "files"],
    RESUME,
];

const RESUME: &[&str] = &["run", "--progress", "none", "s.toml", "--resume"];

/// A database of a study that was measured to its end.
struct Measured {
    bench: Bench,
    database: Vec<u8>,
    /// The statements that [`CHANGED`] has had.
    changed: RefCell<Option<String>>,
}

/// The database as the last statements changed it, from which each command gets its own.
const CHANGED: &str = "changed.db";

/// The time of the last change of a database that no command has written to.
const UNTOUCHED: SystemTime = SystemTime::UNIX_EPOCH;

impl Measured {
    fn new() -> Self {
        let bench = Bench::new();
        bench.write("s.toml", STUDY);
        let output = apart(&bench.netassay(&["run", "--progress", "none", "s.toml"])).output().unwrap();
        // On a busy machine a run may fail.
        assert!(matches!(code(&output), 0 | 5), "{}", stderr(&output));
        let connection = bench.database();
        connection.pragma_update(None, "journal_mode", "delete").unwrap();
        drop(connection);
        let database = fs::read(bench.path("netassay.db")).unwrap();
        Self { bench, database, changed: RefCell::default() }
    }

    /// The study, not yet at its end, as somebody changed it.
    fn change(&self, statements: &str) {
        let path = self.bench.path("netassay.db");
        for name in ["netassay.db-wal", "netassay.db-shm", "netassay.db-journal"] {
            let _ = fs::remove_file(self.bench.path(name));
        }
        let is_new = self.changed.replace(Some(statements.to_owned())).as_deref() != Some(statements);
        if is_new {
            self.make(statements);
        }
        // Most commands leave a database as it is, and some of these have 70 MB.
        if is_new || fs::metadata(&path).unwrap().modified().unwrap() != UNTOUCHED {
            // Written over, a file may have to be on the disk when it is closed (ext4).
            fs::remove_file(&path).unwrap();
            fs::copy(self.bench.path(CHANGED), &path).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o666)).unwrap();
            File::options().write(true).open(&path).unwrap().set_modified(UNTOUCHED).unwrap();
        }
    }

    /// Makes [`CHANGED`].
    fn make(&self, statements: &str) {
        let path = self.bench.path(CHANGED);
        let _ = fs::remove_file(&path);
        fs::write(&path, &self.database).unwrap();
        let connection = Connection::open(&path).unwrap();
        let free =
            "PRAGMA foreign_keys = off; PRAGMA ignore_check_constraints = on; PRAGMA synchronous = off;
                    UPDATE study SET status = 'interrupted';";
        connection.execute_batch(free).unwrap();
        connection.execute_batch(statements).unwrap_or_else(|error| panic!("{statements:.300}: {error}"));
    }

    /// Every command shows something, or refuses in a sentence; those that refuse.
    #[track_caller]
    fn answers(&self, what: &str, commands: &[&[&str]]) -> Vec<String> {
        self.answers_to(&[false, true], what, commands)
    }

    /// The same to the user who runs the tests, to an ordinary one, or to both.
    #[track_caller]
    fn answers_to(&self, users: &[bool], what: &str, commands: &[&[&str]]) -> Vec<String> {
        let mut refusals = Vec::new();
        for arguments in commands {
            for &ordinary in users {
                self.change(what);
                let bench = &self.bench;
                let _ = fs::remove_dir_all(bench.path("files"));
                let command =
                    if ordinary { bench.netassay_as_nobody(arguments) } else { bench.netassay(arguments) };
                // It waits for no other session.
                let command = if *arguments == RESUME { apart(&command) } else { command };
                let output = bounded(bench, &command);
                let (code, said) = (code(&output), stderr(&output));
                let asked = format!("{what:.300}\n{arguments:?}: {code}: {said:.2000}");
                assert!(matches!(code, 0 | 2 | 3 | 4) || (code == 5 && *arguments == RESUME), "{asked}");
                assert!(!said.contains("panicked"), "{asked}");
                assert!(code == 0 || said.contains("netassay: "), "{asked}");
                assert!(said.len() < 4000, "{} bytes: {asked}", said.len());
                assert!(stdout(&output).len() < 256 << 20, "{} bytes: {asked}", stdout(&output).len());
                assert!(!stdout(&output).contains(['\0', '\u{1b}']), "{asked}");
                if code != 0 {
                    refusals.push(said);
                }
            }
        }
        refusals
    }

    /// Asserts that all commands refuse, each with these words.
    #[track_caller]
    fn refused(&self, statements: &str, words: &str) {
        let refusals = self.answers(statements, &COMMANDS);
        assert_eq!(refusals.len(), 2 * COMMANDS.len(), "{statements}");
        for said in refusals {
            assert!(said.contains(words), "{statements:.300}: {said}");
        }
    }
}

/// Runs a command with at most 2 GiB of memory and 60 s of CPU time.
fn bounded(bench: &Bench, command: &Command) -> Output {
    let begun = Instant::now();
    let output = Command::new("prlimit")
        .args(["--as=2147483648", "--cpu=60"])
        .arg(command.get_program())
        .args(command.get_args())
        .current_dir(bench.path(""))
        .env("NO_COLOR", "1")
        .env("XDG_CACHE_HOME", bench.path("cache"))
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(begun.elapsed() < SOON, "{command:?} took {:?}", begun.elapsed());
    output
}

const ENDLESS: &str = "WITH RECURSIVE c (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c)";

#[test]
fn what_brings_work_along_is_refused() {
    let measured = Measured::new();
    let refused = |statements: &str, words: &str| measured.refused(statements, words);
    refused(
        &format!(
            "DROP TABLE metric; CREATE VIEW metric AS {ENDLESS} SELECT n AS run, 'k' AS key, 1.0 AS value FROM c"
        ),
        "its view \"metric\" is not of netassay's making",
    );
    refused(
        &format!("CREATE TRIGGER t AFTER INSERT ON boot BEGIN {} END", "DELETE FROM run;"),
        "its trigger \"t\" is not of netassay's making",
    );
    refused("CREATE VIRTUAL TABLE f USING dbstat", "is not of netassay's making");
    refused(
        "PRAGMA writable_schema = on; UPDATE sqlite_schema SET sql = 'CREATE TABLE study (x' WHERE name = 'study'",
        "netassay.db",
    );
    refused(
        "PRAGMA writable_schema = on; UPDATE sqlite_schema SET rootpage = 1 WHERE name = 'run'",
        "netassay.db",
    );
}

#[test]
fn values_of_other_types_and_out_of_range_are_refused_or_shown() {
    change_values(&[&["show"], &["report", "-o", "-"]]);
}

#[test]
#[ignore = "the gate proves this with the two commands that read the most"]
fn values_of_other_types_and_out_of_range_stop_no_command() {
    change_values(&COMMANDS);
}

/// Each value in turn is of another type, or out of range.
fn change_values(commands: &[&[&str]]) {
    let measured = Measured::new();
    let loose = |table: &str, change: &str| {
        // STRICT is what the definition says: a file can say it and hold other values all the same.
        format!(
            "PRAGMA writable_schema = on;
             UPDATE sqlite_schema SET sql = replace(sql, ') STRICT', ')') WHERE name = '{table}';
             PRAGMA writable_schema = reset; {change};
             PRAGMA writable_schema = on;
             UPDATE sqlite_schema SET sql = sql || ' STRICT' WHERE name = '{table}' AND sql NOT LIKE '%WITHOUT ROWID';
             UPDATE sqlite_schema SET sql = replace(sql, ') WITHOUT', ') STRICT, WITHOUT') WHERE name = '{table}'"
        )
        .replace("') WITHOUT', ') STRICT, WITHOUT'", "'), WITHOUT', ') STRICT, WITHOUT'")
    };
    for change in [
        loose("study", "UPDATE OR IGNORE study SET name = x'ff00fe'"),
        loose("study", "UPDATE OR IGNORE study SET seed = 'text', started_unix_ms = 1e300"),
        loose("run", "UPDATE OR IGNORE run SET condition = 'x', detail = x'00' WHERE id = 1"),
        "UPDATE OR IGNORE study SET name = cast(x'ff00fe41' AS TEXT), scenario = cast(x'c328' AS TEXT)".to_owned(),
        "UPDATE OR IGNORE run SET detail = cast(x'22ff22' AS TEXT)".to_owned(),
        "UPDATE OR IGNORE study SET name = 'a' || char(0) || 'b' || char(27) || '[2J'".to_owned(),
        "UPDATE OR IGNORE metric SET key = 'a' || char(0) || '/' || char(27) WHERE key = 'throughput'".to_owned(),
        "UPDATE OR IGNORE study SET started_unix_ms = 9223372036854775807, finished_unix_ms = -9223372036854775808".to_owned(),
        "UPDATE OR IGNORE run SET started_unix_ms = -9223372036854775808".to_owned(),
        "UPDATE OR IGNORE boot SET started_unix_ms = 9223372036854775807, ended_unix_ms = -9223372036854775808".to_owned(),
        "UPDATE OR IGNORE run SET condition = 4294967295".to_owned(),
        "UPDATE OR IGNORE run SET condition = 9223372036854775807".to_owned(),
        "UPDATE OR IGNORE run SET repeat = id + 4294967280".to_owned(),
        "UPDATE OR IGNORE run SET repeat = 4294967296".to_owned(),
        "UPDATE OR IGNORE run SET number = 4294967295, part = 4294967295; UPDATE OR IGNORE boot SET number = id + 4294967290".to_owned(),
        "UPDATE OR IGNORE run SET block = -1, position = -1".to_owned(),
        "UPDATE OR IGNORE run SET warmup = 7".to_owned(),
        "UPDATE OR IGNORE run SET status = 'other'".to_owned(),
        "UPDATE OR IGNORE run SET status = 'failed', reason = NULL".to_owned(),
        "UPDATE OR IGNORE study SET status = 'other'".to_owned(),
        "UPDATE OR IGNORE study SET id = -9223372036854775808; UPDATE OR IGNORE boot SET study = -9223372036854775808; UPDATE OR IGNORE run SET study = -9223372036854775808".to_owned(),
        "UPDATE OR IGNORE metric SET value = 9e999".to_owned(),
        "UPDATE OR IGNORE metric SET value = -9e999 WHERE run > 4".to_owned(),
        "UPDATE OR IGNORE metric SET value = 1.7e308".to_owned(),
        "UPDATE OR IGNORE metric SET value = 5e-324 * run".to_owned(),
        "UPDATE OR IGNORE metric SET value = 0".to_owned(),
        "DELETE FROM metric".to_owned(),
        "DELETE FROM document".to_owned(),
        "DELETE FROM boot".to_owned(),
        "DELETE FROM study".to_owned(),
        "UPDATE OR IGNORE boot SET environment = 99".to_owned(),
        series("'transmitter'", "[18446744073709551615,0]", "[0,18446744073709551615]"),
        series("'receiver'", "[1,1]", "[5,1]"),
        series("'receiver'", "[1,1]", "[5]"),
        series("char(27)", "[1,1]", "[5,1]"),
        "INSERT OR REPLACE INTO series SELECT id, 'x', '[]' FROM run".to_owned(),
    ] {
        measured.answers_to(&[false], &change, commands);
    }
}

#[test]
fn a_plan_of_another_shape_is_refused_or_shown() {
    let measured = Measured::new();
    for plan in ["null", "0", "[]", "{}", "\"x\"", r#"{"conditions":{}}"#, r#"{"conditions":[null]}"#] {
        let change = format!("UPDATE study SET plan = '{plan}'");
        measured.answers_to(&[false], &change, &[&["show"], RESUME]);
    }
    let deep = "UPDATE study SET plan = replace(hex(zeroblob(400)), '00', '[') || replace(hex(zeroblob(400)), '00', ']')";
    measured.answers_to(&[false], deep, &COMMANDS);
}

#[test]
#[ignore = "runs two commands for each part of a plan: the gate proves this with whole plans"]
fn any_part_of_a_plan_of_another_shape_is_refused_or_shown() {
    let measured = Measured::new();
    measured.change("");
    let plan: String =
        measured.bench.database().query_row("SELECT plan FROM study", [], |row| row.get(0)).unwrap();
    let mut paths = Vec::new();
    collect(&serde_json::from_str(&plan).unwrap(), "$", &mut paths);
    assert!(paths.len() > 50, "{} parts", paths.len());
    let others =
        ["null", "-1", "4294967295", "1e308", "\"\"", "[]", "{}", "[0,0]", "\"x\"", "18446744073709551615"];
    for (number, path) in paths.iter().enumerate() {
        let other = others[number % others.len()];
        let change = format!("UPDATE study SET plan = json_set(plan, '{path}', json('{other}'))");
        measured.answers_to(&[false], &change, &[&["show"], RESUME]);
    }
    for runs in ["4294967295", "1000000"] {
        let change = format!("UPDATE study SET plan = json_set(plan, '$.asked.protocol.runs', {runs})");
        measured.answers_to(&[false], &change, &COMMANDS);
    }
}

/// Gives each run counters over time, all of the same values.
fn series(side: &str, at_ns: &str, values: &str) -> String {
    let columns = record::Series::default().columns().map(|column| format!("\"{}\":{values}", column.name));
    format!(
        "INSERT OR REPLACE INTO series SELECT id, {side}, '{{\"step_ns\":1,\"at_ns\":{at_ns},{}}}' FROM run",
        columns.join(",")
    )
}

/// The paths of all parts of a document, as SQLite has them.
fn collect(value: &serde_json::Value, path: &str, paths: &mut Vec<String>) {
    match value {
        serde_json::Value::Object(fields) => {
            for (name, field) in fields {
                let path = format!("{path}.\"{name}\"");
                collect(field, &path, paths);
                paths.push(path);
            }
        }
        serde_json::Value::Array(items) => {
            for (index, item) in items.iter().enumerate().take(2) {
                let path = format!("{path}[{index}]");
                collect(item, &path, paths);
                paths.push(path);
            }
        }
        _ => {}
    }
}

#[test]
#[ignore = "reads databases of 70 MB: `store` proves its limits"]
fn what_is_far_too_much_is_refused_in_bounded_time() {
    let measured = Measured::new();
    let rows = |columns: &str, from: &str, count: u32| {
        format!(
            "WITH RECURSIVE c (n) AS (SELECT 1000 UNION ALL SELECT n + 1 FROM c LIMIT {count}) INSERT INTO {from} SELECT {columns} FROM c"
        )
    };
    let changes = [
        "UPDATE run SET detail = '\"' || hex(zeroblob(34000000)) || '\"' WHERE id = 1".to_owned(),
        "UPDATE study SET toml = hex(zeroblob(20000000))".to_owned(),
        "UPDATE study SET plan = '[' || replace(hex(zeroblob(4000000)), '00', '0,') || '0]'".to_owned(),
        "UPDATE document SET json = '[' || replace(hex(zeroblob(4000000)), '00', '0,') || '0]'".to_owned(),
        "UPDATE run SET reason = hex(zeroblob(20000000)), status = 'invalid' WHERE id = 2".to_owned(),
        rows("n, 's', '', '{}', 0, '', '', 'complete', 0, 0", "study", 200_000),
        rows("n, 1, n, 1, 1, NULL, 0, NULL", "boot", 200_000),
        rows("n, 1, 1, 1, 1, 0, n, 0, 0, 0, 0, 'ok', NULL, NULL, NULL, '{}'", "run", 200_000),
        rows("n, 1, 1, 1, 1, 0, n, 0, 0, 0, 0, 'failed', 'x', NULL, NULL, '{}'", "run", 200_000),
        rows("1, 'k' || n, 1.0", "metric", 200_000),
        rows("1, 's' || n, '{}'", "series", 100_000),
    ];
    let commands: [&[&str]; 5] =
        [&["db", "list"], &["show"], &["compare"], &["db", "export", "--format", "csv"], RESUME];
    // Either user reads as much: one of them each time.
    for (change, is_ordinary) in changes.iter().zip([false, true].into_iter().cycle()) {
        measured.answers_to(&[is_ordinary], change, &commands);
    }
}

/// The kernel's signal would end the process without a word.
#[test]
fn a_limit_on_the_size_of_files_is_named_with_the_way_out() {
    let bench = Bench::new();
    bench.write("s.toml", STUDY);
    let command = apart(&bench.netassay(&["run", "--progress", "none", "s.toml"]));
    let mut limited = Command::new("prlimit");
    limited.arg("--fsize=8192").arg(command.get_program()).args(command.get_args());
    let output = limited.current_dir(bench.path("")).stdin(Stdio::null()).output().unwrap();
    let said = stderr(&output);
    assert_eq!(code(&output), 3, "{said}");
    assert!(said.contains("this process may write 8192 bytes to a file at most (ulimit -f)"), "{said}");
}
