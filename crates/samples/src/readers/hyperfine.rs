//! hyperfine's `--export-json`, each command a condition, without failed runs (`exit_codes`).

use std::collections::HashMap;
use std::io::Read;

use serde::Deserialize;

use crate::error::{Fault, FilePosition};
use crate::options::Options;
use crate::readers::{ReadValues, chosen, json};
use crate::series::{Collector, SeriesKey};

#[derive(Deserialize)]
struct Document {
    results: Vec<Benchmark>,
}

#[derive(Deserialize)]
struct Benchmark {
    command: String,
    /// Wall-clock, in s.
    times: Vec<f64>,
    /// In bytes; absent in older versions.
    #[serde(default)]
    memory_usage_byte: Vec<f64>,
    /// Null after a signal; absent in older versions, which stop at a failure.
    #[serde(default)]
    exit_codes: Vec<Option<i64>>,
}

impl Benchmark {
    fn require_whole(&self, values: &[f64], metric: &str, place: FilePosition) -> Result<(), Fault> {
        let command = &self.command;
        if values.is_empty() {
            let what = format!("no {metric} of single runs for {command:?}");
            return Err(Fault::new(place, what, "export with a newer hyperfine"));
        }
        let codes = self.exit_codes.len();
        if codes != 0 && codes != values.len() {
            let what = format!("{} runs of {command:?}, but {codes} exit codes", values.len());
            return Err(Fault::new(place, what, "give the unchanged output of hyperfine"));
        }
        if codes != 0 && self.exit_codes.iter().all(|code| *code != Some(0)) {
            let what = format!("each run of {command:?} failed ({})", exit(self.exit_codes[0]));
            let way_out = "mend the command; if it is right so, let it exit with 0, such as by `|| true`";
            return Err(Fault::new(place, what, way_out));
        }
        Ok(())
    }
}

fn exit(code: Option<i64>) -> String {
    code.map_or_else(|| "ended by a signal".to_owned(), |code| format!("exit code {code}"))
}

pub(crate) fn read(input: impl Read, options: &Options) -> Result<ReadValues, Fault> {
    let metric = chosen("hyperfine", options, &["time", "memory"])?;
    let unit = if metric == "time" { "s" } else { "bytes" };
    let mut seen = HashMap::new();
    let mut collector = Collector::of_program();
    json::for_each_document(input, |document: Document, place| {
        for benchmark in &document.results {
            let values = if metric == "time" { &benchmark.times } else { &benchmark.memory_usage_byte };
            benchmark.require_whole(values, metric, place)?;
            // Times to the nanosecond repeat in no other result.
            let identity: Vec<u64> = benchmark.times.iter().map(|time| time.to_bits()).collect();
            if collector.found.repeats((&benchmark.command, identity), place) {
                collector.leave_out("benchmarks that the file holds already (by all their times)", place);
                continue;
            }
            // A repeated command is a second condition: an A/A comparison.
            let times = seen.entry(benchmark.command.clone()).or_insert(0_u64);
            *times += 1;
            let again = if *times > 1 { format!(" ({times})") } else { String::new() };
            let condition = Some(format!("{}{again}", benchmark.command));
            let key = SeriesKey { condition, ..SeriesKey::new(metric, unit) };
            for (index, value) in values.iter().enumerate() {
                match benchmark.exit_codes.get(index).copied().unwrap_or(Some(0)) {
                    Some(0) => collector.push(&key, None, *value, place)?,
                    code => {
                        let reason = format!("runs of {:?} that failed ({})", benchmark.command, exit(code));
                        collector.leave_out(&reason, place);
                    }
                }
            }
        }
        Ok(())
    })?;
    collector.finish()
}
