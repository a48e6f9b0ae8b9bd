//! A guest on another machine of the user's. This program runs on that machine, starts QEMU there,
//! and relays the lines between the controller and the guest's agent.

use agent::message::{Answer, Booted};
use agent::{Interrupt, Relay, RelayEnd, ServeError};
use host::Capability::{self, DacOverride, Kill, NetAdmin, SetGid, SetPcap, SetUid, SysNice};
use thiserror::Error as ThisError;

use crate::guest::error::Error;
use crate::guest::order::GuestOrder;
use crate::guest::running_guest::Guest;
use crate::guest::tools::Tools;
use crate::guest::trial_cache::TrialCache;

/// Capabilities until the guest has booted. `DacOverride` reads files of a login that is not root;
/// `SetGid`, `SetUid` and `SetPcap` start QEMU as nobody without capabilities; `NetAdmin` opens its
/// tap; `SysNice` pins its threads; `Kill` ends a guest that fails.
const UNTIL_BOOTED: [Capability; 7] = [DacOverride, SetGid, SetUid, SetPcap, NetAdmin, SysNice, Kill];

/// Capabilities of a guest's relay once the guest runs: it may still end QEMU.
const WHILE_RUNNING: [Capability; 1] = [Kill];

/// The reason why a remote guest no longer runs.
#[derive(Debug, ThisError)]
pub enum RemoteGuestError {
    /// The conversation with the controller failed.
    #[error(transparent)]
    Serve(#[from] ServeError),
    /// The guest is gone.
    #[error(transparent)]
    Gone(#[from] Error),
}

/// Boots the guest that the controller orders on standard input, and relays its agent's
/// conversation. The guest ends with this process, and this process ends with its controller or its
/// lease. `version`: the program's.
///
/// # Errors
/// [`RemoteGuestError`]. A boot that fails is no error here: the controller gets the reason as an
/// answer.
pub fn serve_remote_guest(version: &str) -> Result<(), RemoteGuestError> {
    let keep =
        |capabilities: &[Capability]| host::keep_capabilities(capabilities).map_err(ServeError::Privileges);
    // While this is the only thread: those that it starts inherit what is left.
    keep(&UNTIL_BOOTED)?;
    let mut tools = Tools::of_this_machine();
    let cannot = tools.qemu().err().map(|error| error.to_string());
    let Some(mut relay) = Relay::open(version, cannot)? else { return Ok(()) };
    let Some(order) = relay.receive::<GuestOrder>()? else { return Ok(()) };
    // A trial of KVM is kept beside the kernel, and goes with the connection: nothing stays here.
    tools.memory = order.kernel.image.parent().map_or_else(TrialCache::none, TrialCache::in_directory);
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
    keep(&WHILE_RUNNING)?;
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
