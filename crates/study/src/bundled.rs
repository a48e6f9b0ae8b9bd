//! The studies that come with netassay.

use crate::model::Study;

/// A study embedded in the binary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bundled {
    /// Its name: that of its file without `.toml`.
    pub name: &'static str,
    /// Its file, comments included.
    pub text: &'static str,
}

impl Bundled {
    /// The study.
    ///
    /// # Panics
    /// Never: a test reads every bundled file.
    pub fn study(&self) -> Study {
        Study::parse(&format!("{}.toml", self.name), self.text)
            .unwrap_or_else(|diagnostics| unreachable!("a bundled study is wrong: {diagnostics}"))
    }
}

macro_rules! bundled {
    ($($name:literal),* $(,)?) => {
        &[$(Bundled { name: $name, text: include_str!(concat!("../../../studies/", $name, ".toml")) }),*]
    };
}

/// All bundled studies, the main job first.
pub fn list() -> &'static [Bundled] {
    bundled![
        "quick",
        "kernel-ab-exact",
        "tunnel-cost",
        "kernel-ab",
        "rr-latency",
        "mtu",
        "path-checksum",
        "path-offload",
        "path-kernel",
        "sender-ladder",
        "offload-gain-vm-vxlan",
        "tcp-offload",
        "offload-gain-veth",
        "offload-gain-vxlan",
        "udp-loopback",
        "offload-gain-vm",
        "udp-path",
        "offload-gain",
        "udp-send-discard",
    ]
}

/// The bundled study of a name.
pub fn find(name: &str) -> Option<&'static Bundled> {
    list().iter().find(|study| study.name == name)
}

#[cfg(test)]
mod tests;
