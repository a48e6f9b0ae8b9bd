//! A study whose conditions take turns.

use crate::common::Bench;

pub(crate) const STUDY: &str = r#"
name = "turns"
question = "Does TSO pay?"
scenario = "veth"
[[workload]]
kind = "tcp_stream"
duration = "640ms"
ramp = "100ms"
[factors]
tso = ["on", "off"]
[protocol]
boots = 2
warmup = 0
runs = 1
alternate = "100ms"
"#;

/// Runs that count, and how many of them were made of turns.
pub(crate) fn runs(bench: &Bench) -> (u32, u32) {
    let query = "SELECT count(*), count(json_extract(detail, '$.turns')) FROM run WHERE warmup = 0 AND status <> 'failed'";
    bench.database().query_row(query, [], |row| Ok((row.get(0)?, row.get(1)?))).unwrap()
}
