//! Where results live: one SQLite file with every study, environment, boot, run and metric.
//!
//! [`Store`] writes and reads it, [`StoredStudy`] is one study as read back, [`export`] turns it
//! into other programs' formats. A run is on disk, synced, when [`Store::record_run`] returns;
//! `kill -9` or a power cut at any instant loses nothing that had been recorded. Several processes
//! may read while one records; two that record exclude each other.
//!
//! What is recorded are the plan (`study::Plan`) and, of boots and runs, the types of the crate
//! `record`, all as JSON.

mod bounds;
mod campaign;
mod document;
mod error;
pub mod export;
mod field;
mod open;
mod read;
mod record;
mod schema;
mod series;
mod shown;
mod store;
mod stored;

pub use self::record::{
    BootId, NewRun, NewStudy, Outcome, RunId, RunKey, RunStatus, Series, StudyId, StudyStatus,
};
pub use error::StoreError;
pub use schema::{APPLICATION_ID, SCHEMA_VERSION};
pub use store::Store;
pub use stored::{BootRow, StoredRun, StoredSeries, StoredStudy, StudyRow};
