//! Parquet, as DuckDB and pandas read it.

mod common;
#[path = "common/studies.rs"]
mod studies;

use std::process::Command;

use common::{Bench, expect, skip, stdout};
use store::{FleetPair, Store};
use studies::{Made, TOML, level, plan};

/// Compares a file with the CSV of the same study.
const SCRIPT: &str = r#"
import csv, duckdb, json, pandas, pyarrow.parquet, sys

long = list(csv.DictReader(open("runs.csv")))
frame = pandas.read_parquet("runs.parquet")
key = ["boot", "part", "block", "repeat", "position", "warmup", "condition"]
wide = {tuple(int(row[name]) for name in key): row for _, row in frame.iterrows()}
assert len(wide) == len(frame), "each run is there once"
assert {tuple(int(row[name]) for name in key) for row in long} == set(wide), "all runs"
units = frame.attrs["units"]
for row in long:
    run = wide[tuple(int(row[name]) for name in key)]
    for name in ["study", "name", "label", "status"]:
        assert str(run[name]) == row[name], (name, run[name], row[name])
    assert (run["reason"] if isinstance(run["reason"], str) else "") == row["reason"]
    assert int(run["started"].timestamp() * 1000) == int(row["started_unix_ms"])
    assert str(run["started"].tz) == "UTC", run["started"]
    if row["metric"]:
        assert run[row["metric"]] == float(row["value"]), row
        assert units[row["metric"]] == row["unit"], row
    else:
        assert all(pandas.isna(run[metric]) for metric in units), row
assert frame["warmup"].dtype == bool and frame["boot"].dtype == "int64"
assert (frame["pair"] == "rack1").all() and (frame["pair_model"] == "=R650").all()
assert json.loads(pyarrow.parquet.read_schema("runs.parquet").metadata[b"netassay"])["units"] == units

for metric in units:
    query = f'SELECT factor_family, boot, avg("{metric}") FROM "runs.parquet" GROUP BY ALL ORDER BY ALL'
    in_duckdb = duckdb.sql(query).fetchall()
    in_pandas = frame.groupby(["factor_family", "boot"])[metric].mean().reset_index()
    assert len(in_duckdb) == len(in_pandas) > 4
    for (family, boot, mean), (_, row) in zip(in_duckdb, in_pandas.iterrows()):
        assert (family, boot) == (row["factor_family"], row["boot"])
        assert abs(mean - row[metric]) <= 1e-12 * abs(mean)
types = dict(duckdb.sql('SELECT column_name, column_type FROM (DESCRIBE SELECT * FROM "runs.parquet")').fetchall())
assert types["warmup"] == "BOOLEAN" and types["study"] == "BIGINT" and types["label"] == "VARCHAR", types
assert types["started"].startswith("TIMESTAMP") and all(types[metric] == "DOUBLE" for metric in units), types
print(len(frame), "runs are equal")
"#;

#[test]
#[ignore = "installs DuckDB and pandas: 60 s"]
fn duckdb_and_pandas_read_what_the_store_holds() {
    let bench = Bench::new();
    let python = |words: &[&str]| {
        let mut python = Command::new("python3");
        python.args(words).current_dir(bench.path("")).env("PYTHONPATH", bench.path("python"));
        python.output().unwrap()
    };
    if !python(&["-c", "import duckdb, pandas, pyarrow"]).status.success() {
        let install =
            ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--target", "python"];
        let installed = python(&[&install[..], &["duckdb", "pandas", "pyarrow", "pytz"]].concat());
        if !installed.status.success() {
            return skip("duckdb_and_pandas", "neither is there, and pip cannot install them");
        }
    }
    let mut store = Store::open(bench.path("netassay.db")).unwrap();
    let pair = FleetPair {
        campaign: "quick@19a".to_owned(),
        name: "rack1".to_owned(),
        labels: [("model".to_owned(), "=R650".to_owned())].into(),
        repeat: 1,
    };
    let metric = plan().conditions[0].workload.traffic.kind.primary_metric().key;
    let made = Made { toml: TOML, plan: plan(), kernel: "6.18", boots: 5, runs: 3, metric, pair: Some(pair) };
    made.record(&mut store, |condition, boot, run| {
        if (condition, boot, run) == (1, 2, 3) { f64::NAN } else { level(condition, boot, run) / 3.0 }
    });
    drop(store);
    expect(&bench.run(&["db", "export", "--format", "csv", "-o", "runs.csv"]), 0);
    expect(&bench.run(&["db", "export", "--format", "parquet", "-o", "runs.parquet"]), 0);
    let read = python(&["-c", SCRIPT]);
    expect(&read, 0);
    assert_eq!(stdout(&read), "60 runs are equal\n");
    let printed = bench.run(&["db", "export", "--format", "parquet"]);
    assert_eq!(printed.stdout, std::fs::read(bench.path("runs.parquet")).unwrap());
}
