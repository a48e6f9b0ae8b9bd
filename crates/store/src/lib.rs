//! One database with every study, environment, boot, run and metric: an SQLite file, or on a
//! PostgreSQL server.
//!
//! [`Store`] writes and reads it, [`StoredStudy`] is one study as read back, [`export`] converts it
//! to other programs' formats. A run is synced to disk when [`Store::record_run`] returns: `kill
//! -9` or a power cut loses no recorded run. Several processes may read while one records; only one
//! may record.
//!
//! The plan (`study::Plan`) and the types of the crate `record`, for boots and runs, are stored as
//! JSON.

mod address;
mod boot_means;
mod campaign_lock;
mod crashes;
mod error;
pub mod export;
mod fleet;
mod metrics;
mod open;
mod pack;
mod read;
mod read_budget;
mod records;
mod remove;
mod runs;
mod sanitised;
mod schema;
#[cfg(feature = "postgres")]
mod server;
#[cfg(not(feature = "postgres"))]
#[path = "no_server.rs"]
mod server;
mod store;
mod tables;
mod tags;

pub use address::{is_server, without_password};
pub use error::StoreError;
pub use metrics::Metrics;
pub use pack::{KnownStudy, Moved};
pub use read::Outline;
pub use records::{
    BootId, BootRow, FleetPair, NewRun, NewStudy, Outcome, PairRow, RunId, RunKey, RunStatus, StoredRun,
    StoredSeries, StoredStudy, StudyId, StudyRow, StudyStatus,
};
pub use remove::Contents;
pub use schema::{APPLICATION_ID, SCHEMA_VERSION};
pub use server::migrate;
pub use store::{Store, now_unix_ms};
pub use tags::{Tag, TagError};
