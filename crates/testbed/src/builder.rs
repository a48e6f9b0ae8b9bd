//! The inputs of every testbed: the place of its agents and their CPUs.

use std::cell::RefCell;
use std::rc::Rc;

use agent::{Interrupt, Isolation};
use study::{BySide, Side};

use crate::error::Error;
use crate::guest::Guest;
use crate::hosts::HostPlace;
use crate::launched_agent::LaunchedAgent;
use crate::options::Options;

/// The inputs of a testbed: its options, the signal to stop, and the virtual machine to build it
/// in.
#[derive(Debug)]
pub(crate) struct Builder<'a> {
    pub(crate) options: &'a Options,
    pub(crate) interrupt: &'a Interrupt,
    /// The virtual machine that the testbed is inside, if it is, and how many of its ports are
    /// used.
    pub(crate) inside: Option<(Rc<RefCell<Guest>>, usize)>,
    /// The machine of the user's that the testbed is on, in namespaces of its own.
    pub(crate) on: Option<&'a HostPlace>,
}

impl Builder<'_> {
    /// Launches an agent; the caller greets it.
    pub(crate) fn launch(
        &mut self,
        name: &str,
        isolation: Isolation,
        cpus: &[u32],
    ) -> Result<LaunchedAgent, Error> {
        let Options { program, .. } = self.options;
        match (&mut self.inside, self.on) {
            (Some((guest, taken)), _) => {
                let port = *taken;
                *taken += 1;
                LaunchedAgent::in_guest(guest, port, name, isolation, cpus, self.interrupt)
            }
            (None, Some(place)) => {
                LaunchedAgent::on_machine(place, program, name, isolation, cpus, self.interrupt)
            }
            (None, None) => LaunchedAgent::process(program, name, isolation, cpus, self.interrupt),
        }
    }

    /// An agent in a network namespace of its own.
    pub(crate) fn agent_in_namespace(&mut self, name: &str, cpus: &[u32]) -> Result<LaunchedAgent, Error> {
        let rootless = self.options.rootless;
        let isolation = if rootless { Isolation::UserAndNetwork } else { Isolation::Network };
        let mut agent = self.launch(name, isolation, cpus)?;
        agent.greet()?;
        Ok(agent)
    }

    /// An agent in the network namespace of another.
    pub(crate) fn agent_beside(
        &mut self,
        first: &LaunchedAgent,
        name: &str,
        cpus: &[u32],
    ) -> Result<LaunchedAgent, Error> {
        let pid = first.pid();
        let rootless = self.options.rootless;
        let isolation = if rootless { Isolation::UserAndNetworkOf(pid) } else { Isolation::NetworkOf(pid) };
        let mut agent = self.launch(name, isolation, cpus)?;
        agent.greet()?;
        Ok(agent)
    }

    /// Two agents, each in a network namespace of its own.
    pub(crate) fn two_agents(
        &mut self,
        names: BySide<&str>,
        cpus: BySide<&[u32]>,
    ) -> Result<BySide<LaunchedAgent>, Error> {
        if self.options.rootless {
            // The second namespace belongs to the first one's user namespace, so that its owner may
            // move the far end of a link into it.
            let transmitter = self.agent_in_namespace(names.transmitter, cpus.transmitter)?;
            let isolation = Isolation::NetworkInUserOf(transmitter.pid());
            let mut receiver = self.launch(names.receiver, isolation, cpus.receiver)?;
            receiver.greet()?;
            return Ok(BySide { transmitter, receiver });
        }
        // Both start in parallel.
        let mut hosts = BySide::try_from_fn(|side| self.launch(names[side], Isolation::Network, cpus[side]))?;
        hosts.each_mut().into_iter().try_for_each(|(_, host)| host.greet())?;
        Ok(hosts)
    }

    /// The CPUs that do a host's receive work; none where it is not steered.
    pub(crate) fn steered(&self, side: Side) -> Vec<u32> {
        let cpus = &self.options.cpus;
        if self.options.exact || cpus.is_shared() { Vec::new() } else { cpus[side].clone() }
    }
}
