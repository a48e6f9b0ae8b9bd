//! `[protocol]`.

use crate::protocol::Protocol;
use crate::read::limit;
use crate::read::problems::Problems;
use crate::read::table::Table;
use crate::read::value::Value;

/// The keys of `[protocol]`.
pub(crate) const KEYS: &[&str] = &["boots", "warmup", "runs", "order", "seed"];

/// The protocol, with defaults for what is not written.
pub(crate) fn read(mut table: Table<'_>, problems: &mut Problems) -> Protocol {
    let default = Protocol::default();
    let mut count = |table: &mut Table<'_>, key, range| {
        let entry = table.take(key)?;
        Value::of(&entry).small(range, problems)
    };
    let boots = count(&mut table, "boots", limit::BOOTS).unwrap_or(default.boots);
    let warmup = count(&mut table, "warmup", limit::WARMUP).unwrap_or(default.warmup);
    let runs = count(&mut table, "runs", limit::RECORDED).unwrap_or(default.runs);
    let order =
        table.take("order").and_then(|entry| Value::of(&entry).word(problems)).unwrap_or(default.order);
    let seed = table.take("seed").and_then(|entry| Value::of(&entry).number(limit::SEED, problems));
    table.finish(KEYS, problems);
    Protocol { boots, warmup, runs, order, seed: seed.unwrap_or(default.seed) }
}
