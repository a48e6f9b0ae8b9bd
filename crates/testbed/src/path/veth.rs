//! A veth pair between two hosts.

use agent::CallError;
use agent::message::Request;
use study::BySide;

use crate::error::Error;
use crate::launched::Launched;

/// The interfaces of a pair.
pub(crate) const VETH: BySide<&str> = BySide { transmitter: "transmit0", receiver: "receive0" };

/// What the ends of a pair have.
#[derive(Debug, Clone, Default)]
pub(crate) struct VethEnd {
    /// Addresses with their prefixes' lengths.
    pub(crate) addresses: Vec<(std::net::IpAddr, u8)>,
    /// The CPUs that do its receive work; none where it is not steered.
    pub(crate) steered: Vec<u32>,
}

/// Puts a veth pair between two agents' namespaces. Both ends are up, though not yet noticed to be
/// running.
pub(crate) fn create_veth(hosts: &mut BySide<&mut Launched>, ends: BySide<VethEnd>) -> Result<(), Error> {
    // An ordinary user may steer what is not there yet, but not what is.
    steer_new(hosts, &ends)?;
    let peer_pid = hosts.receiver.pid();
    hosts.transmitter.order(&Request::CreateVeth {
        name: VETH.transmitter.to_owned(),
        peer: VETH.receiver.to_owned(),
        peer_pid,
    })?;
    // Nothing that comes later, such as a tunnel over this pair, shall be steered a second time.
    steer_new(hosts, &BySide::default())?;
    for (side, end) in ends {
        let interface = VETH[side].to_owned();
        hosts[side].order(&Request::Configure { interface, addresses: end.addresses })?;
    }
    Ok(())
}

/// Where the kernel refuses, steering the interfaces themselves tells what is missing. Silence is
/// no refusal: the answer may still come, and would be taken for that to the next request.
fn steer_new(hosts: &mut BySide<&mut Launched>, ends: &BySide<VethEnd>) -> Result<(), Error> {
    for (side, host) in hosts.each_mut() {
        match host.order(&Request::SteerNew { cpus: ends[side].steered.clone() }) {
            Err(Error::Call(CallError::Refused { .. })) => {}
            answer => answer?,
        }
    }
    Ok(())
}

/// Waits until an interface of this agent's host sends what it is given.
pub(crate) fn await_running(agent: &mut Launched, interface: &str) -> Result<(), Error> {
    agent.order(&Request::AwaitRunning { interface: interface.to_owned() })
}
