//! Why a guest has no agent.

use thiserror::Error;

use super::settings::SETTINGS;

#[derive(Debug, Error)]
pub(crate) enum InitError {
    #[error("{step}: {source}")]
    System { step: String, source: std::io::Error },
    #[error("/{SETTINGS}: {0}")]
    Settings(String),
    #[error(
        "port {name} did not appear within {seconds} s: this kernel has no virtio_console or no virtio_pci, neither built in nor \
         as modules; `netassay kernel fetch linux-image-cloud-amd64` brings one that has"
    )]
    NoPort { name: String, seconds: u64 },
}

impl InitError {
    pub(super) fn in_step(step: impl Into<String>) -> impl FnOnce(std::io::Error) -> Self {
        let step = step.into();
        move |source| Self::System { step, source }
    }
}
