//! What every local scenario begins with: agents in network namespaces of their own, and a wire between two of them.

use std::cell::RefCell;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::rc::Rc;

use agent::message::Request;
use agent::{Interrupt, Isolation};
use guest::Guest;

use crate::error::Error;
use crate::launched::Launched;
use crate::options::Options;

/// Addresses from the ranges reserved for benchmarking (RFC 2544 appendix C.2.2 and RFC 5180 section 8).
pub(crate) const IPV4: [IpAddr; 2] =
    [IpAddr::V4(Ipv4Addr::new(198, 18, 0, 1)), IpAddr::V4(Ipv4Addr::new(198, 18, 0, 2))];
pub(crate) const IPV6: [IpAddr; 2] = [
    IpAddr::V6(Ipv6Addr::new(0x2001, 2, 0, 0, 0, 0, 0, 1)),
    IpAddr::V6(Ipv6Addr::new(0x2001, 2, 0, 0, 0, 0, 0, 2)),
];

/// Their prefixes' lengths.
pub(crate) const PREFIXES: [u8; 2] = [24, 64];

/// The two ends of a wire: names of the interfaces, the addresses of each with their prefixes' lengths, and the CPUs that do the
/// receive work of each, where it is steered.
pub(crate) struct Wire<'a> {
    pub(crate) interfaces: [&'a str; 2],
    pub(crate) addresses: [Vec<(IpAddr, u8)>; 2],
    pub(crate) steered: [Vec<u32>; 2],
}

/// What building a testbed needs: its options, the signal to stop, and the virtual machine to build it in.
#[derive(Debug)]
pub(crate) struct Builder<'a> {
    pub(crate) options: &'a Options,
    pub(crate) interrupt: &'a Interrupt,
    /// The virtual machine in which everything is built, where one is, and how many of its ports are in use.
    pub(crate) inside: Option<(Rc<RefCell<Guest>>, usize)>,
}

impl Builder<'_> {
    /// Starts an agent.
    pub(crate) fn launch(
        &mut self,
        name: &str,
        isolation: Isolation,
        cpus: &[u32],
    ) -> Result<Launched, Error> {
        match &mut self.inside {
            Some((guest, taken)) => {
                let port = *taken;
                *taken += 1;
                Launched::in_guest(guest, port, name, isolation, cpus, self.interrupt)
            }
            None => Launched::process(&self.options.program, name, isolation, cpus, self.interrupt),
        }
    }

    /// The isolation of a first host.
    pub(crate) fn first(&self) -> Isolation {
        if self.options.rootless { Isolation::UserAndNetwork } else { Isolation::Network }
    }

    /// The CPUs that do each host's receive work; none where it is not steered.
    pub(crate) fn steered(&self) -> [Vec<u32>; 2] {
        let cpus = &self.options.cpus;
        if self.options.exact || cpus.is_shared() {
            return Default::default();
        }
        [cpus.transmitter.clone(), cpus.receiver.clone()]
    }

    /// Two agents, each in a network namespace of its own.
    pub(crate) fn pair(&mut self, names: [&str; 2], cpus: [&[u32]; 2]) -> Result<[Launched; 2], Error> {
        let mut one = self.launch(names[0], self.first(), cpus[0])?;
        let mut other;
        if self.options.rootless {
            // The second namespace belongs to the first one's user namespace, so that its owner may put the far
            // end of the wire there.
            one.greet()?;
            other = self.launch(names[1], Isolation::NetworkInUserOf(one.pid()), cpus[1])?;
        } else {
            other = self.launch(names[1], Isolation::Network, cpus[1])?;
            one.greet()?;
        }
        other.greet()?;
        Ok([one, other])
    }
}

impl Wire<'_> {
    /// Puts a veth pair between two agents' namespaces. Both ends are up, though not yet noticed to be running.
    pub(crate) fn bring_up(&self, [one, other]: [&mut Launched; 2]) -> Result<(), Error> {
        // An ordinary user may steer what is not there yet, but not what is.
        steer_new([&mut *one, &mut *other], &self.steered);
        one.order(&Request::CreateVeth {
            name: self.interfaces[0].to_owned(),
            peer: self.interfaces[1].to_owned(),
            peer_pid: other.pid(),
        })?;
        // Nothing that comes later, such as a tunnel over this wire, shall be steered a second time.
        steer_new([&mut *one, &mut *other], &Default::default());
        for (index, agent) in [one, other].into_iter().enumerate() {
            let (interface, addresses) = (self.interfaces[index].to_owned(), self.addresses[index].clone());
            agent.order(&Request::Configure { interface, addresses })?;
        }
        Ok(())
    }
}

/// Where the kernel has no such thing, steering the interfaces themselves tells what is missing.
fn steer_new(hosts: [&mut Launched; 2], cpus: &[Vec<u32>; 2]) {
    for (host, cpus) in hosts.into_iter().zip(cpus) {
        let _ = host.order(&Request::SteerNew { cpus: cpus.clone() });
    }
}

/// Waits until an interface of this agent's host sends what it is given.
pub(crate) fn await_running(agent: &mut Launched, interface: &str) -> Result<(), Error> {
    agent.order(&Request::AwaitRunning { interface: interface.to_owned() })
}
