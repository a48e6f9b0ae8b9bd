//! A veth pair between two hosts.

use agent::CallError;
use agent::message::Request;
use study::BySide;

use crate::error::Error;
use crate::launched_agent::LaunchedAgent;

pub(crate) const VETH: BySide<&str> = BySide { transmitter: "transmit0", receiver: "receive0" };

#[derive(Debug, Clone, Default)]
pub(crate) struct VethEnd {
    pub(crate) addresses: Vec<(std::net::IpAddr, u8)>,
    /// The CPUs of its receive work; empty where that is not steered.
    pub(crate) steered: Vec<u32>,
}

/// Makes a veth pair between two agents' namespaces. Both ends are up, but may not be running yet.
pub(crate) fn create_veth(
    hosts: &mut BySide<&mut LaunchedAgent>,
    ends: BySide<VethEnd>,
) -> Result<(), Error> {
    // An ordinary user may steer future interfaces only.
    steer_new(hosts, &ends)?;
    let peer_pid = hosts.receiver.pid();
    hosts.transmitter.order(&Request::CreateVeth {
        name: VETH.transmitter.to_owned(),
        peer: VETH.receiver.to_owned(),
        peer_pid,
    })?;
    // Later interfaces, such as a tunnel over this pair, must not be steered again.
    steer_new(hosts, &BySide::default())?;
    for (side, end) in ends {
        let interface = VETH[side].to_owned();
        hosts[side].order(&Request::Configure { interface, addresses: end.addresses })?;
    }
    Ok(())
}

/// A refusal is ignored: steering the interfaces themselves tells what is missing. Silence is an
/// error: the late answer would be mistaken for that to the next request.
fn steer_new(hosts: &mut BySide<&mut LaunchedAgent>, ends: &BySide<VethEnd>) -> Result<(), Error> {
    for (side, host) in hosts.each_mut() {
        match host.order(&Request::SteerNew { cpus: ends[side].steered.clone() }) {
            Err(Error::Call(CallError::Refused { .. })) => {}
            answer => answer?,
        }
    }
    Ok(())
}

/// Waits until an interface forwards packets.
pub(crate) fn await_running(agent: &mut LaunchedAgent, interface: &str) -> Result<(), Error> {
    agent.order(&Request::AwaitRunning { interface: interface.to_owned() })
}
