//! The binary that is measured.

use std::env;
use std::path::{Path, PathBuf};

use agent::Interrupt;
use study::Scenario;
use testbed::{CpuSplit, End, Options, Testbed};

use crate::failure::Failure;

/// The netassay binary.
#[derive(Debug, Clone)]
pub(crate) struct Netassay {
    pub(crate) program: PathBuf,
}

impl Netassay {
    /// The one named, or the one beside this program.
    pub(crate) fn find(named: Option<&Path>) -> Result<Self, Failure> {
        let program = match named {
            Some(path) => path.to_owned(),
            None => env::current_exe()
                .map_err(Failure::io("cannot find this program"))?
                .with_file_name("netassay"),
        };
        if program.is_file() {
            return Ok(Self { program });
        }
        Err(Failure::Environment(format!(
            "there is no netassay at {}: build it (`cargo xtask bench` does), or name it with --netassay",
            program.display()
        )))
    }

    /// Builds a testbed from it.
    pub(crate) fn testbed(
        &self,
        scenario: Scenario,
        cpus: &CpuSplit,
        rootless: bool,
        interrupt: &Interrupt,
    ) -> Result<Testbed, Failure> {
        let options = Options::new(scenario, &self.program, cpus.clone(), rootless);
        Ok(Testbed::build(&options, interrupt)?)
    }
}

/// The receiving end of a testbed with a wire.
pub(crate) fn receiver(testbed: &Testbed) -> Result<&End, Failure> {
    testbed.receiver.as_ref().ok_or_else(|| Failure::Internal("this testbed has no receiver".to_owned()))
}

/// Why testbeds with root's privileges cannot be had; `None` if they can.
pub(crate) fn no_root() -> Option<&'static str> {
    (!host::Privileges::read().privileged())
        .then_some("it needs CAP_NET_ADMIN and CAP_SYS_ADMIN: run it as root")
}
