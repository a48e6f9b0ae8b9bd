//! In the place of `server.rs` in a build without PostgreSQL, which has no server.

use std::path::{Path, PathBuf};

use words::metric::Metric;

use crate::address::without_password;
use crate::error::{Result, StoreError};
use crate::records::{StudyId, StudyRow};
use crate::store::{Store, TransactionFailure};
use crate::tables::Tables;

#[derive(Debug)]
pub(crate) enum Server {}

pub(crate) enum Part<'m> {
    Plan,
    #[expect(dead_code, reason = "only a server reads them")]
    Values(&'m [Metric]),
    All,
}

pub(crate) fn open(address: &Path) -> Result<Store> {
    Err(no_postgres(address))
}

/// Makes or updates the tables on a server. Returns the versions of the schema before and after.
///
/// # Errors
/// [`StoreError::NoPostgres`]: this build does not speak to servers.
pub fn migrate(address: &Path) -> Result<(i32, i32)> {
    Err(no_postgres(address))
}

fn no_postgres(address: &Path) -> StoreError {
    StoreError::NoPostgres { path: PathBuf::from(without_password(&address.to_string_lossy()).as_ref()) }
}

impl Server {
    pub(crate) fn list(&self, _: &Store) -> Result<()> {
        match *self {}
    }

    pub(crate) fn fetch(&self, _: &Store, _: StudyId, _: Part<'_>) -> Result<()> {
        match *self {}
    }

    pub(crate) fn count(&self, _: &mut [StudyRow]) -> Result<()> {
        match *self {}
    }

    pub(crate) fn transaction<T>(
        &self,
        _: impl FnMut(&mut dyn Tables) -> Result<T, TransactionFailure>,
    ) -> Result<T> {
        match *self {}
    }
}
