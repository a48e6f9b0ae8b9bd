//! Two machines of the user's, and the network between them.

use std::net::IpAddr;
use std::time::Duration;

use agent::Interrupt;
use agent::message::{Answer, Request};
use host::{InterfaceEnvironment, LocatedInterface};
use record::CpuSplit;
use study::{BootState, BySide, Family, Scenario, Side};

use crate::builder::{Builder, TestbedOptions};
use crate::error::Error;
use crate::guests::RemoteGuest;
use crate::hosts::{HostPlace, Hosts};
use crate::launched_agent::{AGENT, AgentStart, LaunchedAgent, SESSION, ask};
use crate::path::node::{Node, TAPS};
use crate::path::{
    Addresses, TRAFFIC, UNDERLAY, await_running, create_tunnel, free_number, numbered, pairs, reachable,
};
use crate::settings::apply_settings;
use crate::testbed::Testbed;

pub(crate) struct ConnectedMachine {
    pub(crate) agent: LaunchedAgent,
    pub(crate) located: LocatedInterface,
}

/// A machine and its interface, as its agent found them.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the names of its fields say it")]
pub struct FoundMachine {
    pub located: LocatedInterface,
    pub environment: host::HostEnvironment,
    /// The session that measures there now.
    pub measured_by: Option<String>,
}

impl FoundMachine {
    /// The interface, described.
    pub fn about(&self) -> Option<&InterfaceEnvironment> {
        self.environment.interfaces.get(&self.located.interface)?.as_ref()
    }
}

impl Hosts {
    /// Looks up the interfaces, and keeps them for all boots. Nothing is changed.
    ///
    /// # Errors
    /// When an agent cannot be started, no route leads to the other machine, or an unnamed
    /// interface carries the controller's connection.
    pub fn locate(&mut self) -> Result<BySide<FoundMachine>, Error> {
        let mut machines = machines(self)?;
        let found = BySide::try_from_fn(|side| {
            let ConnectedMachine { agent, located } = &mut machines[side];
            let interfaces = vec![located.interface.clone()];
            let environment =
                ask!(agent, &Request::Environment { interfaces }, Answer::Environment(about) => *about);
            let measured_by = holder_of_turn(agent)?;
            // This was a look: sessions that look at the same time are in nobody's way.
            agent.order(&Request::LeaveTurn)?;
            Ok::<_, Error>(FoundMachine { located: located.clone(), environment, measured_by })
        })?;
        for (side, place) in self.places.each_mut() {
            place.interface = Some(found[side].located.interface.clone());
        }
        // Network namespaces of one machine may be its two ends.
        let [one, other] = [&found.transmitter, &found.receiver].map(|one| &one.environment.kernel.boot_id);
        self.places.receiver.shares_machine = one.is_some() && one == other;
        Ok(found)
    }

    /// Refuses a condition with packets of a family of which a machine can have no address.
    ///
    /// # Errors
    /// [`Error::Unfit`].
    pub fn check_addresses(
        &self,
        found: &BySide<FoundMachine>,
        state: &BootState,
        family: Family,
    ) -> Result<(), Error> {
        // On the machines' interfaces, and on tunnels that are made there.
        let (crosses, inside) = match state.scenario {
            Scenario::Ssh => (family, None),
            Scenario::SshVxlan => (state.underlay_family, Some(family)),
            scenario if scenario.has_tunnel() => (state.underlay_family, None),
            _ => return Ok(()),
        };
        let there = pairs(&found.each_ref().map(|_, found| found.located.addresses.as_slice()));
        for (side, FoundMachine { located, .. }) in found.each_ref() {
            let require = |family: Family, has_ipv6: bool, interface: &str| match (family, has_ipv6) {
                (Family::Ipv6, false) => Err(Error::Unfit(format!(
                    "IPv6 is off on the {}'s machine: turn it on there (sysctl net/ipv6/conf/{interface}/disable_ipv6=0), or measure IPv4 only (--set family=ipv4)",
                    self.end(side)
                ))),
                _ => Ok(()),
            };
            if self.own_addresses {
                require(crosses, located.has_ipv6, &located.interface)?;
            } else {
                reachable(there[side].in_family(crosses), crosses, self.end(side))?;
            }
            inside.map_or(Ok(()), |family| require(family, located.default_has_ipv6, "default"))?;
        }
        Ok(())
    }
}

/// Makes a tunnel, and a guest on each, where the scenario has them.
pub(crate) fn between_machines(builder: &Builder<'_>) -> Result<Testbed, Error> {
    let options = builder.options;
    let (scenario, tunnel) = (options.state.scenario, options.tunnel());
    let hosts = options.hosts.as_ref().ok_or_else(|| Error::no_hosts(scenario))?;
    let mut machines = machines(hosts)?;
    take_turns(&mut machines, options.beside, builder.interrupt)?;
    let is_bridged = scenario.has_guests() && tunnel.is_none();
    for (side, machine) in machines.each_ref() {
        if is_bridged && machine.located.carries {
            let (host, interface) = (&hosts.places[side], &machine.located.interface);
            return Err(Error::Failed(format!(
                "{host}: the interface {interface} carries this connection, and in the scenario \"vm\" it becomes a port of a bridge, which would cut netassay off: name another interface (USER@HOST:INTERFACE)"
            )));
        }
    }
    let guests = scenario.has_guests().then(|| RemoteGuest::open(builder, hosts, &machines)).transpose()?;
    let (own, families) = match tunnel {
        Some(family) => (Some(UNDERLAY), vec![family]),
        None if is_bridged => (None, Vec::new()),
        None => (Some(TRAFFIC), options.families.clone()),
    };
    let addresses = prepare(&mut machines, own.filter(|_| hosts.own_addresses), &families)?;
    let set = apply_settings(&options.machine, hosts, &mut machines)?;
    let located = machines.each_ref().map(|_, machine| machine.located.clone());
    let mut agents = machines.map(|_, machine| machine.agent);
    let number = free_number(&located.each_ref());
    let [vxlan, bridge] = numbered(number);
    if guests.is_some() {
        for (_, agent) in agents.each_mut() {
            agent.order(&Request::CreateBridge { name: bridge.clone() })?;
        }
    }
    if let Some(family) = tunnel {
        let under = BySide::try_from_fn(|side| {
            let address = reachable(addresses[side].in_family(family), family, hosts.end(side))?;
            Ok::<_, Error>((located[side].interface.as_str(), address))
        })?;
        let (inside, bridge) = match &guests {
            Some(_) => (&[][..], Some(bridge.as_str())),
            None => (options.families.as_slice(), None),
        };
        create_tunnel(&mut agents.each_mut(), (&vxlan, number), under, inside, bridge)?;
    }
    let cpus = set.each_ref().map(|_, (cpus, _)| cpus.clone());
    let mut testbed = if let Some(guests) = guests {
        let nodes = agents.try_map(|side, agent| {
            let mut node = Node { bridge: bridge.clone(), ..Node::without_bridge(agent) };
            let LocatedInterface { interface, mtu, .. } = &located[side];
            if tunnel.is_some() {
                node.ports.push(vxlan.clone());
                node.underlay = Some(interface.clone());
            } else {
                node.add_wire(interface, *mtu)?;
            }
            node.add_tap(TAPS[side])?;
            Ok::<_, Error>(node)
        })?;
        RemoteGuest::between(guests, options, nodes, cpus)?
    } else {
        let interfaces = located.each_ref().map(|_, located| located.interface.as_str());
        let tunnel = tunnel.map(|_| vxlan.as_str());
        Testbed::between(&with_cpus(options, cpus), agents, interfaces, addresses, tunnel)
    };
    testbed.named = Some(set.map(|_, (_, named)| named));
    Ok(testbed)
}

pub(crate) fn machines(hosts: &Hosts) -> Result<BySide<ConnectedMachine>, Error> {
    let mut agents = BySide::try_from_fn(|side: Side| {
        let start = AgentStart::of_machine(side.word(), &hosts.program, &hosts.interrupt);
        LaunchedAgent::on_machine(&hosts.places[side], AGENT, start)
    })?;
    agents.each_mut().into_iter().try_for_each(|(_, agent)| agent.greet())?;
    // An interface that is named tells which one the other machine reaches it by.
    let is_named = |side: Side| hosts.places[side].interface.is_some();
    let first = if is_named(Side::Receiver) { Side::Receiver } else { Side::Transmitter };
    let mut find = |side: Side, beside: &[(IpAddr, u8)]| {
        // Where this machine is the other end, its own address is where the connection comes from.
        let places = [&hosts.places[side.other()], &hosts.places[side]].map(HostPlace::connection);
        let towards = places[0].map(|other| other.host).or(places[1].map(|own| own.controller));
        locate(&mut agents[side], &hosts.places[side], beside.to_vec(), towards)
    };
    let one = find(first, &[])?;
    let other = find(first.other(), &one.addresses)?;
    let located = |side: Side| if side == first { one.clone() } else { other.clone() };
    Ok(agents.map(|side, agent| ConnectedMachine { agent, located: located(side) }))
}

/// Waits until no other session measures on either machine, unless `beside`. The agents keep the
/// turns to their end.
fn take_turns(
    machines: &mut BySide<ConnectedMachine>,
    beside: bool,
    interrupt: &Interrupt,
) -> Result<(), Error> {
    // Not the same for all sessions: two that give way to each other must not retry in step.
    let retry = Duration::from_millis(200 + u64::from(std::process::id() % 100));
    loop {
        let mut is_taken = false;
        for (side, machine) in machines.each_mut() {
            if let Some(holder) = holder_of_turn(&mut machine.agent)? {
                tracing::info!(%side, holder, "waits for the turn to measure");
                is_taken = true;
            }
        }
        if !is_taken || beside {
            return Ok(());
        }
        // A session that kept one machine while it waits for the other could wait for ever: the
        // other session may wait for the first machine.
        for (_, machine) in machines.each_mut() {
            machine.agent.order(&Request::LeaveTurn)?;
        }
        if interrupt.trips_within(retry) {
            return Err(Error::Interrupted);
        }
    }
}

/// Takes the turn to measure there, unless another session has it.
fn holder_of_turn(agent: &mut LaunchedAgent) -> Result<Option<String>, Error> {
    let request = Request::TakeTurn { session: format!("{:x}", *SESSION) };
    Ok(ask!(agent, &request, Answer::Turn(holder) => holder))
}

/// An interface with the controller's connection must be named. `beside`: the peer's addresses.
fn locate(
    agent: &mut LaunchedAgent,
    place: &HostPlace,
    beside: Vec<(IpAddr, u8)>,
    towards: Option<IpAddr>,
) -> Result<LocatedInterface, Error> {
    let interface = place.interface.clone();
    let connection = place.connection().map(|own| (own.controller, own.host));
    let request = Request::Locate { interface, beside, towards, connection };
    let located = ask!(agent, &request, Answer::Located(located) => located);
    if located.carries && place.interface.is_none() {
        return Err(Error::Failed(format!(
            "{place}: the interface that leads to the other machine, {}, carries this connection too, so a change of it may cut netassay off: name another interface (USER@HOST:INTERFACE), or this one to accept that; what is changed is undone when the connection is lost",
            located.interface
        )));
    }
    if located.carries {
        // Traffic may hold the signs of life up that share its interface.
        agent.client.answers_within = Some(place.lease);
    }
    Ok(located)
}

/// `own`: adds these addresses, else takes those that the interface has.
fn prepare(
    machines: &mut BySide<ConnectedMachine>,
    own: Option<BySide<Addresses>>,
    families: &[Family],
) -> Result<BySide<Addresses>, Error> {
    for (side, machine) in machines.each_mut() {
        let interface = machine.located.interface.clone();
        let addresses = own.as_ref().map(|own| own[side].with_prefixes(families)).unwrap_or_default();
        machine.agent.order(&Request::Configure { interface, addresses })?;
    }
    for (_, ConnectedMachine { agent, located }) in machines.each_mut() {
        await_running(agent, &located.interface)?;
    }
    let there = machines.each_ref().map(|_, machine| machine.located.addresses.as_slice());
    Ok(own.unwrap_or_else(|| pairs(&there)))
}

/// Of the agent's CPUs those near the interface; all of them where none is near.
pub(crate) fn cpus(agent: &LaunchedAgent, located: &LocatedInterface) -> Vec<u32> {
    let all = agent.cpu_numbers();
    let near: Vec<u32> = all.iter().copied().filter(|cpu| located.near.contains(cpu)).collect();
    if near.is_empty() { all } else { near }
}

pub(crate) fn with_cpus(options: &TestbedOptions, cpus: BySide<Vec<u32>>) -> TestbedOptions {
    let BySide { transmitter, receiver } = cpus;
    TestbedOptions { cpus: CpuSplit { transmitter, receiver, controller: Vec::new() }, ..options.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_condition_needs_the_family_that_crosses_the_network_and_that_of_its_tunnel() {
        let environment = host::HostEnvironment::read(&["lo"], "1");
        let lacks =
            |(own_addresses, has_ipv6, default_has_ipv6), scenario: Scenario, family, underlay_family| {
                let located = LocatedInterface {
                    interface: "data0".to_owned(),
                    mtu: 1500,
                    addresses: vec![(IpAddr::from([10, 1, 0, 1]), 24)],
                    near: Vec::new(),
                    carries: false,
                    has_ipv6,
                    default_has_ipv6,
                    taken: Vec::new(),
                };
                let found = BySide::from_fn(|_| FoundMachine {
                    located: located.clone(),
                    environment: environment.clone(),
                    measured_by: None,
                });
                let places = BySide::from_fn(|_| HostPlace::new(None, None, Duration::ZERO));
                let state = BootState { underlay_family, ..scenario.into() };
                let (program, interrupt) = ("netassay".into(), Interrupt::new().unwrap());
                let hosts = Hosts { places, own_addresses, program, interrupt };
                let checked = hosts.check_addresses(&found, &state, family);
                checked.err().map(|error| error.to_string()).unwrap_or_default()
            };
        use Family::{Ipv4, Ipv6};
        use Scenario::{Ssh, SshVxlan, Vm, VmVxlan};
        let (there, off, none_new) = ((false, true, true), (true, false, true), (true, true, false));
        for (of, scenario, family, underlay, expected) in [
            (there, Ssh, Ipv4, Ipv6, ""),
            (there, Ssh, Ipv6, Ipv4, "interface has no ipv6 address"),
            (there, SshVxlan, Ipv6, Ipv4, ""),
            (there, SshVxlan, Ipv4, Ipv6, "(--addresses own)"),
            (there, VmVxlan, Ipv6, Ipv4, ""),
            (there, Vm, Ipv6, Ipv6, ""),
            (off, Ssh, Ipv4, Ipv4, ""),
            (off, Ssh, Ipv6, Ipv4, "conf/data0/disable_ipv6=0"),
            (off, SshVxlan, Ipv6, Ipv4, ""),
            (off, VmVxlan, Ipv4, Ipv6, "conf/data0/disable_ipv6=0"),
            (none_new, SshVxlan, Ipv6, Ipv4, "conf/default/disable_ipv6=0"),
            (none_new, SshVxlan, Ipv4, Ipv6, ""),
        ] {
            let why = lacks(of, scenario, family, underlay);
            let is_so = if expected.is_empty() { why.is_empty() } else { why.contains(expected) };
            assert!(is_so, "{of:?} {scenario} {family} over {underlay}: {why:?}");
        }
    }
}
