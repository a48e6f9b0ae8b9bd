//! A guest on a machine of the user's: this program is there, starts QEMU, and is the pipe of the
//! guest's agent.

use agent::message::{Answer, Booted};
use agent::{Interrupt, Relay, RelayEnd, ServeError};
use host::Capability::{self, DacOverride, Kill, NetAdmin, SetGid, SetPcap, SetUid, SysNice};
use thiserror::Error as ThisError;

use crate::error::Error;
use crate::guest::Guest;
use crate::memory::Memory;
use crate::order::Order;
use crate::tools::Tools;

/// What the start of QEMU needs: files that a login brought which is not root, QEMU's user in place
/// of root and no capability for it, its tap, the CPUs of its threads, and an end of a failed one.
const TO_START: [Capability; 7] = [DacOverride, SetGid, SetUid, SetPcap, NetAdmin, SysNice, Kill];

/// What is left once the guest runs: the right to end it.
const TO_END: [Capability; 1] = [Kill];

/// Why a guest does not run here any more.
#[derive(Debug, ThisError)]
pub enum LodgeError {
    /// The conversation with the controller failed.
    #[error(transparent)]
    Serve(#[from] ServeError),
    /// The guest is gone.
    #[error(transparent)]
    Gone(#[from] Error),
}

/// Boots a guest as ordered on standard input, and passes the conversation with its agent on. The
/// guest ends with this process, which ends with its controller or its lease. `version`: the
/// program's.
///
/// # Errors
/// [`LodgeError`]. What the controller was told is none.
pub fn lodge(version: &str) -> Result<(), LodgeError> {
    let keep =
        |capabilities: &[Capability]| host::keep_capabilities(capabilities).map_err(ServeError::Privileges);
    // While this is the only thread: those that it starts inherit what is left.
    keep(&TO_START)?;
    let mut tools = Tools::here();
    let cannot = tools.qemu().err().map(|error| error.to_string());
    let Some(mut relay) = Relay::open(version, cannot)? else { return Ok(()) };
    let Some(order) = relay.receive::<Order>()? else { return Ok(()) };
    // A trial of KVM is kept beside the kernel, and goes with the connection: nothing stays here.
    tools.memory = order.kernel.image.parent().map_or_else(Memory::none, Memory::at);
    // The end of the controller ends this process, whatever it does.
    let interrupt = Interrupt::new().map_err(ServeError::from)?;
    let alive = Guest::start_with(&order, &tools).and_then(|guest| guest.alive(&order, &tools, &interrupt));
    let (mut guest, boot, first) = match alive {
        Ok(alive) => alive,
        Err(error) => {
            return Ok(relay.answer(&Answer::Failed { why: error.to_string(), broken: true })?);
        }
    };
    let Some(port) = guest.port(0) else {
        return Err(Error::from(format!("the {} has no port for its agent", order.name)).into());
    };
    keep(&TO_END)?;
    let booted = Booted { kvm_tried: None, ..guest.booted(boot, first.as_ref()) };
    relay.answer(&Answer::Booted(Box::new(booted)))?;
    match relay.join(port)? {
        RelayEnd::Controller => Ok(()),
        RelayEnd::Agent => match guest.explain() {
            Some(why) => Err(why.into()),
            None => Err(Error::from(format!("the agent of the {} ended", order.name)).into()),
        },
    }
}
