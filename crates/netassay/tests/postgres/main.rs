//! Results on a PostgreSQL server. Each test has one of its own, without a password on a socket of
//! its directory; one test has TLS.

#![expect(clippy::unwrap_used, reason = "a test panics where it fails")]

#[path = "../common/mod.rs"]
mod common;
mod server;
#[path = "../common/studies.rs"]
mod studies;
mod tls;

use std::process::Output;

use common::{Bench, expect, skip, stderr, stdout};
use server::{COUNTED, PORT, Server, expect_told};
use store::{FleetPair, Store};
use studies::{Made, TOML, five_boots, level, plan, three};

fn start(test: &str, bench: &Bench) -> Option<Server> {
    let server = Server::start(bench, PORT, &[]);
    if server.is_none() {
        skip(test, "no PostgreSQL is installed");
    }
    server
}

/// Two pairs of a campaign, as studies 4 and 5.
fn pairs(bench: &Bench) {
    let mut store = Store::open(bench.path("netassay.db")).unwrap();
    for (name, factor) in [("a", 1.1), ("b", 1.2)] {
        pair(&mut store, name, factor);
    }
}

fn pair(store: &mut Store, name: &str, factor: f64) {
    let made = Made {
        toml: TOML,
        plan: plan(),
        kernel: "6.18",
        boots: 3,
        runs: 2,
        metric: plan().conditions[0].workload.traffic.kind.primary_metric().key,
        pair: Some(FleetPair {
            campaign: "quick@19a".to_owned(),
            name: name.to_owned(),
            labels: [("model".to_owned(), "old".to_owned())].into(),
            repeat: 1,
        }),
    };
    made.record(store, |condition, boot, run| {
        if run == 2 && boot == 2 && condition == 1 { f64::NAN } else { factor * level(condition, boot, run) }
    });
}

fn counts_of_file(bench: &Bench) -> [String; 5] {
    let database = bench.database();
    COUNTED.map(|table| {
        let count = format!("SELECT count(*) FROM {table}");
        database.query_row(&count, [], |row| row.get::<_, u32>(0)).unwrap().to_string()
    })
}

/// Output in which both databases have one name.
fn told(output: &Output, database: &str) -> (Option<i32>, String, String) {
    // A shell needs the address in quotes.
    let quoted = format!("'{database}'");
    let same = |text: String| text.replace(&quoted, database).replace(database, "DATABASE");
    (output.status.code(), same(stdout(output)), same(stderr(output)))
}

#[test]
#[ignore = "starts a PostgreSQL server: 20 s"]
fn every_command_reads_from_a_server_what_it_reads_from_a_file() {
    let bench = Bench::new();
    let Some(server) = start("every_command_reads_from_a_server", &bench) else { return };
    three(&bench);
    pairs(&bench);
    expect(&bench.run(&["db", "tag", "2", "main"]), 0);
    server.migrate(&bench);
    let address = server.address("owner");
    expect(&bench.run(&["db", "push", "--to", &address]), 0);
    // Under the numbers that a new file gives them.
    expect(&bench.run(&["db", "unpack", "netassay.db", "--db", "copy.db"]), 0);
    for command in [
        "db list",
        "db list --format json",
        "show",
        "show 1 --format json",
        "show main --runs --environment --wide",
        "show no-such-study",
        "show --fleet --by model",
        "show --fleet --format json",
        "report 1 2 -o -",
        "report 3 --format md -o -",
        "report 1 --format json -o -",
        "report --fleet -o -",
        "compare 1",
        "compare 1 main --format json",
        "compare 1 --classic --confidence 95",
        "history",
        "history quick --tags m* --format json",
        "gate 2 --baseline 1 --fail-if throughput<-2%",
        "gate 1 --baseline-condition 1 --fail-if throughput<-2%",
        "advise 1",
        "advise 1 2 --format json",
        "trace --from 1",
        "study plan quick --detect 5% --from 1",
        "study plan quick --detect 5%",
        "run --aa --from 1",
        "db export 1 --format csv",
        "db export 1 --format series",
        "db export 2 --format stat -o stat",
        "db remove 3 --dry-run",
        "db remove quick",
    ] {
        let read = |database: &str| {
            let words: Vec<&str> = command.split(' ').chain(["--db", database]).collect();
            let mut netassay = bench.netassay(&words);
            told(&netassay.env("COLUMNS", "1000").output().unwrap(), database)
        };
        assert_eq!(read("copy.db"), read(&address), "{command}");
    }
    // Back into a file.
    expect(&bench.run(&["db", "pack", "main", "-o", "packed.db", "--db", &address]), 0);
    expect(&bench.run(&["db", "unpack", "packed.db", "--db", "netassay.db"]), 0);
    expect(&bench.run(&["db", "unpack", &address, "--db", "back.db"]), 0);
    let [here, back] = ["copy.db", "back.db"].map(|file| {
        let store = Store::open_read_only(bench.path(file)).unwrap();
        let load = |row: &store::StudyRow| store.load(row.id).unwrap();
        store.studies().unwrap().iter().map(load).collect::<Vec<_>>()
    });
    assert_eq!(here, back);
}

#[test]
#[ignore = "starts a PostgreSQL server: 10 s"]
fn studies_are_tagged_and_removed_on_a_server() {
    let bench = Bench::new();
    let Some(server) = start("studies_are_tagged_and_removed", &bench) else { return };
    three(&bench);
    server.migrate(&bench);
    let address = server.address("owner");
    expect(&bench.run(&["db", "push", "1", "2", "--to", &address]), 0);
    let tag = |words: &[&str]| bench.run(&[&["db", "tag", "--db", address.as_str()][..], words].concat());
    expect(&tag(&["1", "main"]), 0);
    expect_told(&tag(&["2", "main"]), 2, &["the tag main names study 1 already"]);
    expect(&tag(&["2", "main", "--move"]), 0);
    assert_eq!(server.sql("SELECT study FROM netassay.tag"), "2");
    expect(&tag(&["--remove", "main"]), 0);
    expect_told(&tag(&["--remove", "main"]), 4, &["has no tag main"]);
    expect(&bench.run(&["db", "remove", "2", "--db", &address]), 0);
    assert_eq!(server.sql("SELECT id FROM netassay.study"), "1");
    assert_eq!(server.sql("SELECT count(*) FROM netassay.document"), "1");
}

#[test]
#[ignore = "starts a PostgreSQL server: 20 s"]
fn eight_pushes_at_once_add_each_study_once() {
    let bench = Bench::new();
    let Some(server) = start("eight_pushes_at_once", &bench) else { return };
    three(&bench);
    pairs(&bench);
    server.migrate(&bench);
    let address = server.address("adder");
    let all =
        [&["1", "2"][..], &["2", "3"], &["3", "4"], &["4", "5"], &["5", "1"], &["1", "3"], &["2", "4"], &[]];
    let push = |studies: &[&str]| {
        let words = [&["db", "push", "--to", address.as_str()][..], studies].concat();
        bench.netassay(&words).spawn().unwrap()
    };
    for mut pushing in all.map(push) {
        assert!(pushing.wait().unwrap().success());
    }
    let keys = "SELECT count(*), count(DISTINCT (seed, started_unix_ms)) FROM netassay.study";
    assert_eq!(server.sql(keys), "5|5");
    assert_eq!(server.counts(), counts_of_file(&bench));
    assert_eq!(server.sql("SELECT count(*) FROM netassay.document"), "2");
}

#[test]
#[ignore = "starts a PostgreSQL server, and cuts a push at each of its statements: 240 s"]
fn a_push_that_is_cut_at_any_statement_adds_all_or_nothing() {
    let bench = Bench::new();
    let Some(server) = start("a_push_that_is_cut", &bench) else { return };
    let mut store = Store::open(bench.path("netassay.db")).unwrap();
    let metric = plan().conditions[0].workload.traffic.kind.primary_metric().key;
    let made = Made { toml: TOML, plan: plan(), kernel: "6.18", boots: 1, runs: 1, metric, pair: None };
    made.record(&mut store, level);
    drop(store);
    server.migrate(&bench);
    let (mut cuts, whole, none) = (0, counts_of_file(&bench), ["0"; 5]);
    for cut_at in 1.. {
        let mut was_cut = false;
        for arrives in [false, true] {
            let wire = server.wire(&format!("{cut_at}{arrives}"), cut_at, arrives);
            let pushed = bench.run(&["db", "push", "--to", &wire.address("adder")]);
            was_cut |= wire.requests() >= cut_at;
            let counts = server.counts();
            match pushed.status.code() {
                // It was tried again.
                Some(0) => assert_eq!(counts, whole, "{cut_at} {arrives}"),
                // The session was cut before a transaction began.
                Some(3) => {
                    assert_eq!(counts, none, "{cut_at} {arrives}");
                    expect_told(&pushed, 3, &["wholly or not at all: try again"]);
                    expect(&bench.run(&["db", "push", "--to", &server.address("adder")]), 0);
                    assert_eq!(server.counts(), whole);
                }
                _ => panic!("{cut_at} {arrives}: {}", stderr(&pushed)),
            }
            server.sql("DELETE FROM netassay.study");
        }
        if !was_cut {
            break;
        }
        cuts += 1;
    }
    assert!(cuts > 20, "{cuts}");
}

#[test]
#[ignore = "starts a PostgreSQL server: 10 s"]
fn a_role_that_may_only_add_changes_nothing_that_is_there() {
    let bench = Bench::new();
    let Some(server) = start("a_role_that_may_only_add", &bench) else { return };
    three(&bench);
    pairs(&bench);
    server.migrate(&bench);
    let address = server.address("adder");
    for times in ["pushed study 1 as 1", "already: study 1"] {
        expect_told(&bench.run(&["db", "push", "--to", &address]), 0, &[times]);
    }
    expect(&bench.run(&["db", "tag", "1", "main", "--db", &address]), 0);
    let denied = ["permission denied", "let its owner grant the role what it lacks"];
    expect_told(&bench.run(&["db", "tag", "2", "main", "--move", "--db", &address]), 3, &denied);
    expect_told(&bench.run(&["db", "tag", "--remove", "main", "--db", &address]), 3, &denied);
    expect_told(&bench.run(&["db", "remove", "1", "--db", &address]), 3, &denied);
    expect_told(&bench.run(&["db", "migrate", "--db", &address]), 0, &["already"]);
    assert_eq!(server.sql("SELECT count(*) FROM netassay.study"), "5");
    server.sql("REVOKE USAGE ON SCHEMA netassay FROM adder");
    expect_told(&bench.run(&["db", "list", "--db", &address]), 3, &denied);
}

#[test]
#[ignore = "starts a PostgreSQL server: 10 s"]
fn tables_of_another_version_are_named_with_the_way_out() {
    let bench = Bench::new();
    let Some(server) = start("tables_of_another_version", &bench) else { return };
    let address = server.address("owner");
    let list = || bench.run(&["db", "list", "--db", &address]);
    expect_told(&list(), 4, &["has no tables of netassay: `netassay db migrate --db postgres://owner@"]);
    // As an earlier version left them.
    server.migrate(&bench);
    server.sql(
        "SET search_path TO netassay; DELETE FROM version WHERE number > 2; ALTER TABLE pair DROP COLUMN repeat;
         INSERT INTO pair VALUES ('c', 'rack1', '{}', NULL, 'away');
         DROP INDEX study_by_name, tag_by_study, run_by_study, run_not_ok, metric_compared",
    );
    expect_told(&list(), 3, &["has tables of schema 2, this program needs", "netassay db migrate"]);
    let migrate = || bench.run(&["db", "migrate", "--db", &address]);
    expect_told(&migrate(), 0, &["went from schema 2 to"]);
    expect(&list(), 0);
    assert_eq!(server.sql("SELECT name, repeat FROM netassay.pair").trim(), "rack1|1");
    server.sql("ALTER TABLE netassay.run ALTER COLUMN block TYPE INTEGER");
    let told = ["the column block of its table run is integer, and not bigint: ", "(ALTER TABLE)"];
    expect_told(&list(), 3, &told);
    server.sql("ALTER TABLE netassay.run ALTER COLUMN block TYPE BIGINT");
    // As a dump of the schema alone leaves them.
    server.sql("DELETE FROM netassay.version");
    let told =
        "its schema netassay holds tables, but no version of them (relation \"version\" already exists)";
    expect_told(&migrate(), 3, &[told, "`DROP SCHEMA netassay CASCADE`"]);
    server.sql("DROP TABLE netassay.version");
    expect_told(&migrate(), 3, &["no version of them", "already exists"]);
    server.sql("CREATE TABLE netassay.version (number BIGINT PRIMARY KEY)");
    server.sql("INSERT INTO netassay.version VALUES (99)");
    for command in [&["db", "list", "--db"][..], &["db", "migrate", "--db"]] {
        let told = ["written by a newer netassay: schema 99", "upgrade netassay"];
        expect_told(&bench.run(&[command, &[address.as_str()]].concat()), 3, &told);
    }
    expect_told(&bench.run(&["db", "migrate", "--db", "a.db"]), 2, &["a.db is a file"]);
}

#[test]
#[ignore = "starts a PostgreSQL server: 10 s"]
fn a_server_that_fails_keeps_nothing_half_and_its_cause_is_told() {
    let bench = Bench::new();
    let Some(server) = start("a_server_that_fails", &bench) else { return };
    let mut store = Store::open(bench.path("netassay.db")).unwrap();
    five_boots(&mut store, plan(), "6.18", 1.0);
    pair(&mut store, "a", 1.0);
    drop(store);
    server.migrate(&bench);
    let address = server.address("adder");
    let push = |study: &str| bench.run(&["db", "push", study, "--to", &address]);
    server.sql(
        "CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS
             $$BEGIN RAISE 'could not extend file' USING ERRCODE = 'disk_full'; END$$;
         CREATE TRIGGER full_disk BEFORE INSERT ON netassay.metric EXECUTE FUNCTION full_disk()",
    );
    expect_told(&push("1"), 3, &["the disk of the server is full", "wholly or not at all"]);
    assert_eq!(server.counts(), ["0"; 5]);
    server.sql("DROP TRIGGER full_disk ON netassay.metric");
    expect(&push("1"), 0);
    // Another study of a pair that is there.
    expect(&push("2"), 0);
    let mut store = Store::open(bench.path("other.db")).unwrap();
    pair(&mut store, "a", 1.0);
    drop(store);
    let other = bench.run(&["db", "push", "--db", "other.db", "--to", &address]);
    let there = server.sql("SELECT study FROM netassay.pair");
    let told = [
        format!("pair a of campaign quick@19a is study {there} there"),
        format!("netassay db remove {there}"),
    ];
    expect_told(&other, 3, &told.each_ref().map(String::as_str));
    assert_eq!(server.sql("SELECT count(*) FROM netassay.study"), "2");
    server.sql("UPDATE netassay.metric SET value = 'Infinity'");
    let damaged = bench.run(&["show", &there, "--db", &address]);
    expect_told(&damaged, 3, &["is damaged", "restore the tables on the server from a copy"]);
    let missing = bench.run(&["db", "list", "--db", "postgres://x:secret@/bench?host=/nonexistent"]);
    expect_told(&missing, 3, &["postgres://x@/bench?host=/nonexistent: the server cannot be reached"]);
    let into = bench.run(&["db", "pack", "1", "-o", "postgres://x:secret@/bench"]);
    expect_told(&into, 2, &["postgres://x@/bench is no file", "netassay db push"]);
    let wrong = bench.run(&["db", "list", "--db", "postgres://db/bench?sslmode=prefer"]);
    expect_told(&wrong, 3, &["sslmode=prefer is none of disable, require and verify-full"]);
}

#[test]
#[ignore = "starts a PostgreSQL server, and measures: 20 s"]
fn netns_a_study_for_a_server_is_measured_into_a_file_and_pushed() {
    let bench = Bench::new();
    let Some(server) = start("a_study_for_a_server", &bench) else { return };
    let address = server.address("adder");
    let run = ["quick", "--set", "duration=50ms", "--set", "boots=2", "--db", &address];
    // Before anything is measured.
    expect_told(&bench.run(&run), 4, &["has no tables of netassay"]);
    server.migrate(&bench);
    expect_told(&bench.run(&run), 0, &["pushed study 1 as 1"]);
    assert_eq!(server.sql("SELECT name, status FROM netassay.study"), "quick|complete");
    expect(&bench.run(&["show", "1"]), 0);
    expect(&bench.run(&["show", "1", "--db", &address]), 0);
}
