//! Reports that tests write, kept for `cargo xtask test browser`.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::common::{Bench, expect};

/// Keeps the report of a study that was measured to its end, and what is stored of it.
pub(crate) fn keep_report(bench: &Bench, name: &str) {
    let kept = Path::new(env!("CARGO_TARGET_TMPDIR")).join("reports");
    fs::create_dir_all(&kept).unwrap();
    let (csv, json) = (["db", "export", name, "--format", "csv"], ["show", name, "--format", "json"]);
    for (kind, command) in [("csv", &csv[..]), ("json", &json)] {
        let output = bench.run(command);
        expect(&output, 0);
        fs::write(kept.join(format!("{name}.{kind}")), output.stdout).unwrap();
    }
    let stored: Value =
        serde_json::from_slice(&fs::read(kept.join(format!("{name}.json"))).unwrap()).unwrap();
    assert_eq!(stored["study"]["status"], "complete", "{name}");
    let written = bench.path(&format!("{name}-{}.html", stored["study"]["id"]));
    fs::copy(&written, kept.join(format!("{name}.html"))).unwrap();
}
