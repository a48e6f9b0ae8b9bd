//! A guest on another machine of the user's. This program runs on that machine, starts QEMU there,
//! and relays the lines between the controller and the guest's agent.

use agent::message::Answer;
use agent::{Interrupt, Relay, RelayEnd, ServeError};
use host::Capability::{self, DacOverride, Kill, NetAdmin, SetGid, SetPcap, SetUid, SysNice};

use crate::error::Error;
use crate::guest::order::GuestOrder;
use crate::guest::running_guest::Guest;
use crate::guest::tools::Tools;

/// Capabilities until the guest has booted. `DacOverride` reads files of a login that is not root;
/// `SetGid`, `SetUid` and `SetPcap` start QEMU as nobody without capabilities; `NetAdmin` opens its
/// tap; `SysNice` pins its threads; `Kill` ends a guest that fails.
const UNTIL_BOOTED: [Capability; 7] = [DacOverride, SetGid, SetUid, SetPcap, NetAdmin, SysNice, Kill];

/// Capabilities of a guest's relay once the guest runs: it may still end QEMU.
const WHILE_RUNNING: [Capability; 1] = [Kill];

/// Boots the guest that the controller orders on standard input, and relays its agent's
/// conversation. The guest ends with this process, and this process ends with its controller or its
/// lease. `version`: the program's.
///
/// # Errors
/// When the conversation fails, or the guest is gone. A boot that fails is no error here: the
/// controller gets the reason as an answer.
pub fn serve_remote_guest(version: &str) -> Result<(), Error> {
    let keep =
        |capabilities: &[Capability]| host::keep_capabilities(capabilities).map_err(ServeError::Privileges);
    // While this is the only thread: those that it starts inherit what is left.
    keep(&UNTIL_BOOTED)?;
    let tools = Tools::of_this_machine();
    let cannot = tools.qemu().err().map(|error| error.to_string());
    let Some(mut relay) = Relay::open(version, cannot)? else { return Ok(()) };
    let Some(order) = relay.receive::<GuestOrder>()? else { return Ok(()) };
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
        return Err(Error::Failed(format!("the {} has no port for its agent", order.name)));
    };
    keep(&WHILE_RUNNING)?;
    relay.answer(&Answer::Booted(Box::new(guest.booted(boot, first.as_ref()))))?;
    match relay.join(port)? {
        RelayEnd::Controller => Ok(()),
        RelayEnd::Agent => Err(guest
            .explain()
            .unwrap_or_else(|| Error::Failed(format!("the agent of the {} ended", order.name)))),
    }
}
