//! A database of somebody else, whose texts and documents are anything: it is refused, or shown,
//! compared and exported, never a panic.
//!
//! The texts, with a zero byte between: plan, study file, environment, detail, label, evidence,
//! counters over time, reason, and lines "run key value".
#![no_main]

use libfuzzer_sys::fuzz_target;
use netassay_report::Layout;
use netassay_report::document::terminal;
use netassay_report::views;
use netassay_results::{ClassicTest, ComparisonRequest, Comparisons, ListedStudy, Results};
use netassay_store::{NewStudy, Store, StoredStudy, export};
use rusqlite::{Connection, params};

const TEXTS: usize = 9;

/// The narrowest terminal, and all figures.
const LAYOUTS: [Layout; 2] = [Layout { width: Layout::NARROWEST, ..Layout::PLAIN }, Layout::WIDE];

thread_local! {
    static BASE: Base = Base::make();
}

fuzz_target!(|input: &[u8]| {
    let mut texts: Vec<String> = input
        .splitn(TEXTS, |byte| *byte == 0)
        .map(|text| String::from_utf8_lossy(text).into_owned())
        .collect();
    texts.resize(TEXTS, String::new());
    BASE.with(|base| {
        base.write(&texts);
        let Ok(store) = Store::open_read_only(&base.path) else { return };
        let Ok(rows) = store.studies() else { return };
        let list: Vec<ListedStudy> = rows.iter().map(ListedStudy::from).collect();
        assert!(!terminal(&views::study_list(&list), LAYOUTS[0]).is_empty());
        let Ok(stored) = store.load(rows[0].id) else { return };
        if let Ok(series) = store.series(stored.row.id) {
            let _ = export::series(&stored, &series);
        }
        show(&stored);
    });
});

/// What `show`, `compare` and `db export` make of it.
fn show(stored: &StoredStudy) {
    let _ = export::csv(stored);
    let _ = export::json(stored).to_string();
    let _ = export::stat(stored, netassay_study::metric::THROUGHPUT);
    if let Ok(results) = Results::new(stored) {
        for layout in LAYOUTS {
            assert!(!terminal(&views::show(&results, "their.db", layout.wide), layout).is_empty());
        }
        let blocks = [views::evidence(&results), views::environment(&results), views::runs(&results)];
        let _ = terminal(&blocks.concat(), LAYOUTS[0]);
    }
    let request = ComparisonRequest::default();
    let compared =
        |comparisons| LAYOUTS.map(|layout| terminal(&views::compare(&comparisons, layout.wide), layout));
    let _ = Comparisons::new(stored, &request).map(compared);
    let _ = ClassicTest::new(stored, &request).map(|test| terminal(&views::classic(&test), LAYOUTS[0]));
    let _ = netassay_results::is_decided(stored);
}

/// A database with a study of 3 boots, 2 conditions and 2 runs of each, whose texts are replaced.
struct Base {
    path: std::path::PathBuf,
    connection: Connection,
    _directory: tempfile::TempDir,
}

impl Base {
    fn make() -> Self {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let path = directory.path().join("their.db");
        let mut store = Store::open(&path).expect("a new database");
        let study = NewStudy {
            name: "theirs".to_owned(),
            toml: String::new(),
            plan: netassay_study::bundled::find("quick").expect("bundled").study().plan(),
            seed: 1,
            scenario: "loopback".to_owned(),
            version: "0".to_owned(),
            pair: None,
        };
        store.begin_study(&study).expect("a new study");
        drop(store);
        let connection = Connection::open(&path).expect("the new database");
        // Another program wrote it: no check of ours held it back, and nobody waits for the disk.
        connection
            .execute_batch(
                "PRAGMA journal_mode = memory; PRAGMA synchronous = off; PRAGMA foreign_keys = off;
                 PRAGMA ignore_check_constraints = on;
                 INSERT INTO document (id, hash, json) VALUES (1, 0, '{}');",
            )
            .expect("known statements");
        for boot in 1..=3 {
            connection
                .execute(
                    "INSERT INTO boot (id, study, number, part, environment, environment_after, started_unix_ms)
                     VALUES (?1, 1, ?1, 1, 1, 1, 0)",
                    [boot],
                )
                .expect("a boot");
            for place in 0..4 {
                connection
                    .execute(
                        "INSERT INTO run (boot, study, number, part, block, repeat, position, warmup, condition,
                                          started_unix_ms, status, detail)
                         VALUES (?1, 1, ?1, 1, ?2, ?2, ?3, 0, ?3 % 2, 0, 'ok', '{}')",
                        params![boot, place / 2 + 1, place],
                    )
                    .expect("a run");
            }
        }
        Self { path, connection, _directory: directory }
    }

    fn write(&self, texts: &[String]) {
        let [plan, toml, environment, detail, label, evidence, columns, reason, metrics] = texts else {
            return;
        };
        let run = |statement: &str, values: &[&dyn rusqlite::ToSql]| {
            self.connection
                .prepare_cached(statement)
                .and_then(|mut ready| ready.execute(values))
                .expect("a change");
        };
        run("BEGIN", &[]);
        run(
            "UPDATE study SET plan = ?1, toml = ?2, name = substr(?3, 1, 20), status = 'complete'",
            &[plan, toml, reason],
        );
        run("UPDATE document SET json = ?1", &[environment]);
        run(
            "UPDATE run SET detail = ?1, limited_by = nullif(?2, ''), evidence = nullif(?3, '')",
            &[detail, label, evidence],
        );
        // The last run says what a reason makes of it.
        let status = if reason.is_empty() { "ok" } else { "invalid" };
        run("UPDATE run SET status = ?1, reason = nullif(?2, '') WHERE id = 12", &[&status, reason]);
        run("DELETE FROM series", &[]);
        run(
            "INSERT INTO series VALUES (1, 'transmitter', ?1), (1, 'receiver', ?1), (2, 'receiver', ?1)",
            &[columns],
        );
        run("DELETE FROM metric", &[]);
        for line in metrics.lines().take(200) {
            let mut words = line.split(' ');
            let (Some(number), Some(key), Some(value)) = (words.next(), words.next(), words.next()) else {
                continue;
            };
            let (Ok(number), Ok(value)) = (number.parse::<u8>(), value.parse::<f64>()) else { continue };
            if !value.is_nan() {
                run("INSERT OR REPLACE INTO metric VALUES (?1, ?2, ?3)", &[&(number % 13), &key, &value]);
            }
        }
        run("COMMIT", &[]);
    }
}
