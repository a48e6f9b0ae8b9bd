//! The tables of a server, inside a transaction.

use postgres::Transaction;
use postgres::types::ToSql;
use rusqlite::types::Value;
use serde_json::{Map, Value as Json};

use super::login::Login;
use crate::error::StoreError;
use crate::store::TransactionFailure;
use crate::tables::{NUMBERED, Rows, Tables};

// The rows of a statement: the accounts of that many runs are a few megabytes.
const ROWS: usize = 500;

pub(super) struct ServerTables<'t, 'c> {
    pub(super) transaction: &'t mut Transaction<'c>,
    pub(super) login: &'t Login,
}

impl Tables for ServerTables<'_, '_> {
    fn add(&mut self, table: &str, rows: Rows) -> Result<Vec<i64>, TransactionFailure> {
        let Rows { columns, values } = rows;
        let is_numbered = NUMBERED.contains(&table);
        let returning = if is_numbered { " RETURNING id" } else { "" };
        let listed = columns.join(", ");
        let mut numbers = Vec::new();
        for some in values.chunks(ROWS) {
            // As one text: a row by a statement would wait for the network each time.
            let objects: Vec<Map<String, Json>> = some.iter().map(|row| object(&columns, row)).collect();
            let text = serde_json::to_string(&objects).expect("values are JSON");
            let insert = format!(
                "INSERT INTO {table} ({listed})
                 SELECT {listed} FROM json_populate_recordset(NULL::{table}, $1::text::json){returning}"
            );
            let added =
                self.transaction.query(insert.as_str(), &[&text]).map_err(|error| self.failed(&error))?;
            for row in &added {
                numbers.push(row.try_get(0).map_err(|error| self.failed(&error))?);
            }
        }
        if is_numbered && numbers.len() != values.len() {
            return Err(StoreError::Server {
                path: self.login.shown.clone(),
                problem: format!("its table {table} did not take all rows"),
                remedy: "remove the rules and triggers that others made",
            }
            .into());
        }
        Ok(numbers)
    }

    fn ask(&mut self, query: &str, parameters: &[Value]) -> Result<Vec<Option<i64>>, TransactionFailure> {
        let owned = bound(parameters);
        let found = self.transaction.query(query, &borrowed(&owned));
        let found = found.and_then(|rows| rows.iter().map(|row| row.try_get(0)).collect());
        found.map_err(|error| self.failed(&error))
    }

    fn change(&mut self, statement: &str, parameters: &[Value]) -> Result<u64, TransactionFailure> {
        let owned = bound(parameters);
        let changed = self.transaction.execute(statement, &borrowed(&owned));
        changed.map_err(|error| self.failed(&error))
    }
}

impl ServerTables<'_, '_> {
    fn failed(&self, error: &postgres::Error) -> TransactionFailure {
        self.login.error(error).into()
    }
}

fn object(columns: &[String], row: &[Value]) -> Map<String, Json> {
    let json = |value: &Value| match value {
        Value::Integer(number) => Json::from(*number),
        Value::Real(number) => Json::from(*number),
        Value::Text(text) => Json::from(text.as_str()),
        // No table has bytes.
        Value::Null | Value::Blob(_) => Json::Null,
    };
    columns.iter().zip(row).map(|(column, value)| (column.clone(), json(value))).collect()
}

fn bound(parameters: &[Value]) -> Vec<Box<dyn ToSql + Sync>> {
    let bound = |value: &Value| -> Box<dyn ToSql + Sync> {
        match value {
            Value::Integer(number) => Box::new(*number),
            Value::Real(number) => Box::new(*number),
            Value::Text(text) => Box::new(text.clone()),
            Value::Null | Value::Blob(_) => Box::new(None::<String>),
        }
    };
    parameters.iter().map(bound).collect()
}

fn borrowed(owned: &[Box<dyn ToSql + Sync>]) -> Vec<&(dyn ToSql + Sync)> {
    owned.iter().map(|one| &**one).collect()
}
