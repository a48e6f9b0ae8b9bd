//! A run's counters over time, as they are stored: one JSON object of equally long arrays for each
//! side.

use rusqlite::{Connection, Result, params};
use serde_json::{Map, Value};

use crate::record::Series;

/// The name under which the moments stand beside the counters.
pub(crate) const AT: &str = "at_ns";

/// What keeps a series from being a table, if anything does.
pub(crate) fn misshapen(series: &Series) -> Option<String> {
    let rows = series.at_ns.len();
    series.counters.iter().find_map(|(name, values)| {
        if name == AT {
            return Some(format!("no counter may be called {AT}"));
        }
        let found = values.len();
        (found != rows).then(|| format!("{name} has {found} values for {rows} moments"))
    })
}

/// Adds one side's series to a run. Call inside a transaction.
pub(crate) fn insert(connection: &Connection, run: i64, series: &Series) -> Result<()> {
    let columns: Map<String, Value> = series
        .counters
        .iter()
        .map(|(name, values)| (name.clone(), Value::from(values.clone())))
        .chain([(AT.to_owned(), Value::from(series.at_ns.clone()))])
        .collect();
    connection
        .prepare_cached("INSERT INTO series (run, side, columns) VALUES (?1, ?2, ?3)")?
        .execute(params![run, series.side, Value::Object(columns).to_string()])?;
    Ok(())
}
