//! The inputs of every testbed: its options, and the place of its agents and their CPUs.

use std::cell::RefCell;
use std::path::PathBuf;
use std::rc::Rc;

use agent::{Interrupt, Isolation};
use host::DiscardDevice;
use record::{CpuSplit, NamedMachine};
use study::{BootState, BySide, Family, Scenario};

use crate::cpus::{oversubscription, split_cpus};
use crate::error::Error;
use crate::guest::{GuestOrder, RunningGuest};
use crate::guests::IMPAIRING;
use crate::hosts::{HostPlace, Hosts, MachineSideSettings};
use crate::launched_agent::{AGENT, AgentStart, LaunchedAgent};
use crate::path::node::{Node, NodeGuest};
use crate::scenario::compose;
use crate::testbed::Testbed;

/// The options of a testbed.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the names of its fields say it")]
pub struct TestbedOptions {
    pub program: PathBuf,
    pub cpus: CpuSplit,
    /// Use a user namespace even with privileges.
    pub rootless: bool,
    /// (discard) the device that discards the packets; `None`: the first that this kernel has.
    pub discard_device: Option<DiscardDevice>,
    /// The families of the traffic: interfaces get no address of another one.
    pub families: Vec<Family>,
    pub state: BootState,
    pub inside_guest: bool,
    /// (inside a virtual machine) count instructions instead of time.
    pub exact: bool,
    pub hosts: Option<Hosts>,
    /// Measure on the user's machines also while other sessions measure there.
    pub beside: bool,
    pub machine: BySide<MachineSideSettings>,
}

impl TestbedOptions {
    /// The default options.
    pub fn new(
        state: impl Into<BootState>,
        program: impl Into<PathBuf>,
        cpus: CpuSplit,
        rootless: bool,
    ) -> Self {
        Self {
            program: program.into(),
            cpus,
            rootless,
            discard_device: None,
            families: Family::ALL.to_vec(),
            state: state.into(),
            inside_guest: false,
            exact: false,
            hosts: None,
            beside: false,
            machine: BySide::default(),
        }
    }

    pub(crate) fn tunnel(&self) -> Option<Family> {
        self.state.scenario.has_tunnel().then_some(self.state.underlay_family)
    }
}

#[derive(Debug)]
pub(crate) struct Builder<'a> {
    pub(crate) options: &'a TestbedOptions,
    pub(crate) interrupt: &'a Interrupt,
    /// The virtual machine around the testbed, and the number of its ports in use.
    pub(crate) inside: Option<(Rc<RefCell<RunningGuest>>, usize)>,
    /// The machine of the user's that the testbed is on, in namespaces of its own.
    pub(crate) on: Option<&'a HostPlace>,
}

impl Testbed {
    /// Builds the testbed: namespaces, agents, links, addresses, CPU sets, steering.
    ///
    /// # Errors
    /// When a namespace is not allowed, an interface cannot be made, or the user interrupts;
    /// everything built until then is removed.
    pub fn build(options: &TestbedOptions, interrupt: &Interrupt) -> Result<Self, Error> {
        let mut builder = Builder { options, interrupt, inside: None, on: None };
        match &options.hosts {
            _ if options.inside_guest => inside_guest(&builder),
            Some(hosts) if options.state.scenario.is_of_namespaces() => remote_namespaces(&builder, hosts),
            _ => compose(&mut builder),
        }
    }
}

impl<'a> Builder<'a> {
    pub(crate) fn start<'n>(&self, name: &'n str) -> AgentStart<'n>
    where
        'a: 'n,
    {
        AgentStart::plain(name, &self.options.program, self.interrupt)
    }

    fn launch(&mut self, name: &str, isolation: Isolation, cpus: &[u32]) -> Result<LaunchedAgent, Error> {
        let start = AgentStart { isolation, cpus, ..self.start(name) };
        match (&mut self.inside, self.on) {
            (Some((guest, taken)), _) => {
                let port = *taken;
                *taken += 1;
                LaunchedAgent::in_guest(guest, port, start)
            }
            (None, Some(place)) => LaunchedAgent::on_machine(place, AGENT, start),
            (None, None) => LaunchedAgent::process(start),
        }
    }

    pub(crate) fn agent_in_namespace(
        &mut self,
        of: Option<&LaunchedAgent>,
        name: &str,
        cpus: &[u32],
    ) -> Result<LaunchedAgent, Error> {
        let isolation = match (of.map(|agent| agent.pid), self.options.rootless) {
            (None, true) => Isolation::UserAndNetwork,
            (None, false) => Isolation::Network,
            (Some(pid), true) => Isolation::UserAndNetworkOf(pid),
            (Some(pid), false) => Isolation::NetworkOf(pid),
        };
        self.launch(name, isolation, cpus)?.greeted()
    }

    pub(crate) fn two_agents(
        &mut self,
        names: BySide<&str>,
        cpus: BySide<&[u32]>,
    ) -> Result<BySide<LaunchedAgent>, Error> {
        if self.options.rootless {
            // The owner of the first one's user namespace may move the far end of a link into it.
            let transmitter = self.agent_in_namespace(None, names.transmitter, cpus.transmitter)?;
            let isolation = Isolation::NetworkInUserOf(transmitter.pid);
            let receiver = self.launch(names.receiver, isolation, cpus.receiver)?.greeted()?;
            return Ok(BySide { transmitter, receiver });
        }
        let mut hosts = BySide::try_from_fn(|side| self.launch(names[side], Isolation::Network, cpus[side]))?;
        hosts.each_mut().into_iter().try_for_each(|(_, host)| host.greet())?;
        Ok(hosts)
    }
}

const MODULES: [&str; 6] = ["veth", "vxlan", "bridge", "dummy", IMPAIRING[0], IMPAIRING[1]];

fn inside_guest(builder: &Builder<'_>) -> Result<Testbed, Error> {
    let options = builder.options;
    let scenario = options.state.scenario;
    if !scenario.is_of_namespaces() {
        return Err(Error::Failed(format!(
            "scenario \"{scenario}\" already has virtual machines: remove `inside`, or use scenario \"veth\""
        )));
    }
    let own = options.cpus.for_one_host().transmitter;
    // Its own agent's, and those of the hosts: discarded packets have no receiver.
    let ports = if scenario == Scenario::Discard { 2 } else { 3 };
    // Exact mode has no impaired path; a constant set of modules keeps the layout of the kernel's
    // memory.
    let may_need = if options.exact { &MODULES[..4] } else { &MODULES };
    let order = GuestOrder { ports, modules: may_need, ..builder.order("guest", &own)? };
    let (mut machine, guest) = builder.await_boot(RunningGuest::start(&order)?, order)?;
    let first = LaunchedAgent::in_guest(&guest, 0, builder.start("guest"))?.greeted()?;
    // A guest has no users to protect from each other.
    let within = TestbedOptions { cpus: split_cpus(&first.cpus), rootless: false, ..options.clone() };
    machine.agent = Some(first);
    let place = Some((Rc::clone(&guest), 1));
    let mut testbed =
        compose(&mut Builder { options: &within, interrupt: builder.interrupt, inside: place, on: None })?;
    let process = machine.booted.process;
    testbed.add_machines(vec![machine]);
    // Exact mode has no windows, and its counts do not depend on waits.
    if !options.exact {
        testbed.notes.extend(oversubscription(&options.state, true, &options.cpus));
        let watcher = AgentStart { cpus: &options.cpus.controller, ..builder.start("host") };
        let agent = LaunchedAgent::process(watcher)?.greeted()?;
        let guests = vec![NodeGuest { side: None, process, cpus: own }];
        testbed.watcher = Some(Node { guests, ..Node::without_bridge(agent) });
    }
    Ok(testbed)
}

fn remote_namespaces(builder: &Builder<'_>, hosts: &Hosts) -> Result<Testbed, Error> {
    let Builder { options, interrupt, .. } = *builder;
    let place = &hosts.places.transmitter;
    // It reports the CPUs, of which each host gets a part.
    let first = LaunchedAgent::on_machine(place, AGENT, builder.start("transmitter"))?.greeted()?;
    let within = TestbedOptions { cpus: split_cpus(&first.cpus), ..options.clone() };
    let mut testbed = compose(&mut Builder { options: &within, interrupt, inside: None, on: Some(place) })?;
    let interface = testbed.transmitter.interface.clone();
    let named = NamedMachine { host: place.to_string(), interface, changed: Vec::new() };
    testbed.named = Some(BySide::from_fn(|_| named.clone()));
    Ok(testbed)
}
