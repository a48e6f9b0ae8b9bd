//! hyperfine's `--export-json`: `{"results": [{"command": …, "times": […]}]}`, each command a
//! condition.

use std::collections::HashMap;
use std::io::Read;

use serde::Deserialize;

use super::{Found, json, no_such_metric, require_no_boot};
use crate::error::Fault;
use crate::options::Options;
use crate::series::{Collector, Key};

#[derive(Deserialize)]
struct Document {
    results: Vec<Benchmark>,
}

#[derive(Deserialize)]
struct Benchmark {
    command: String,
    /// Wall-clock times of the runs, in s.
    times: Vec<f64>,
    /// Largest resident sets of the runs, in bytes; absent in older versions.
    #[serde(default)]
    memory_usage_byte: Vec<f64>,
}

pub(crate) fn read(input: impl Read, options: &Options) -> Result<Found, Fault> {
    require_no_boot("hyperfine", options)?;
    let (metric, unit) = match options.metric.as_deref() {
        None | Some("all" | "time") => ("time", "s"),
        Some("memory") => ("memory", "bytes"),
        Some(other) => {
            let known = ["time".to_owned(), "memory".to_owned()];
            return Err(no_such_metric(other, &known));
        }
    };
    let mut seen = HashMap::new();
    let mut collector = Collector::default();
    json::each(input, |document: Document, place| {
        for benchmark in &document.results {
            let values = if metric == "time" { &benchmark.times } else { &benchmark.memory_usage_byte };
            if values.is_empty() {
                return Err(Fault::new(
                    place,
                    format!("no {metric} of single runs for {:?}", benchmark.command),
                    "export with a newer hyperfine",
                ));
            }
            // A repeated command is a second condition: an A/A comparison.
            let times = seen.entry(benchmark.command.clone()).or_insert(0_u64);
            *times += 1;
            let again = if *times > 1 { format!(" ({times})") } else { String::new() };
            let condition = Some(format!("{}{again}", benchmark.command));
            let key = Key { condition, ..Key::of(metric, unit) };
            for value in values {
                collector.push(&key, None, *value, place)?;
            }
        }
        Ok(())
    })?;
    Ok(Found::new(collector, Vec::new()))
}
