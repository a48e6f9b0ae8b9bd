//! One SQLite file with every study, environment, boot, run and metric.
//!
//! [`Store`] writes and reads it, [`StoredStudy`] is one study as read back, [`export`] converts it
//! to other programs' formats. A run is synced to disk when [`Store::record_run`] returns: `kill
//! -9` or a power cut loses no recorded run. Several processes may read while one records; only one
//! may record.
//!
//! The plan (`study::Plan`) and the types of the crate `record`, for boots and runs, are stored as
//! JSON.

mod atomic_file;
mod campaign_lock;
mod document;
mod error;
pub mod export;
mod field;
mod metrics;
mod new_records;
mod open;
mod outline;
mod pack;
mod parser;
mod read;
mod read_budget;
mod remove;
mod runs;
mod sanitised;
mod schema;
mod store;
mod stored;
mod tags;
mod texts;

pub use self::new_records::{
    BootId, NewRun, NewStudy, Outcome, RunId, RunKey, RunStatus, StudyId, StudyStatus,
};
pub use error::StoreError;
pub use metrics::{Iter, Metrics};
pub use outline::Outline;
pub use pack::{Moved, Unpacked};
pub use remove::Contents;
pub use schema::{APPLICATION_ID, SCHEMA_VERSION};
pub use store::Store;
pub use stored::{BootRow, StoredRun, StoredSeries, StoredStudy, StudyRow};
pub use tags::{NotATag, Tag};
