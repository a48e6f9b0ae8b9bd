//! Scenarios of namespaces inside one virtual machine.

use std::rc::Rc;

use agent::Isolation;

use crate::builder::Builder;
use crate::cpus::split_cpus;
use crate::error::Error;
use crate::guest::GuestOrder;
use crate::launched_agent::LaunchedAgent;
use crate::options::Options;
use crate::path::node::{Node, NodeGuest};
use crate::scenario::{GuestNeeds, compose, composition};
use crate::testbed::Testbed;
use crate::virtual_machines::IMPAIRING;

/// Modules that scenarios may need in a guest's kernel.
const MODULES: [&str; 6] = ["veth", "vxlan", "bridge", "dummy", IMPAIRING[0], IMPAIRING[1]];

pub(crate) fn inside_guest(builder: &Builder<'_>) -> Result<Testbed, Error> {
    let options = builder.options;
    let scenario = options.state.scenario;
    let Some(GuestNeeds { agents, modules }) = composition(scenario).inside else {
        return Err(Error::Nested(scenario));
    };
    let own = options.cpus.for_one_host().transmitter;
    // One more agent reports the CPUs.
    let ports = 1 + agents;
    // Exact mode has no impaired path; a constant set of modules keeps the layout of the kernel's
    // memory.
    let may_need = if options.exact { &MODULES[..4] } else { &MODULES };
    let order = GuestOrder { ports, modules: may_need, needed: modules, ..builder.order("guest", &own)? };
    let (mut machine, guest) = builder.boot(order)?;
    let mut first = LaunchedAgent::in_guest(&guest, 0, "guest", Isolation::None, &[], builder.interrupt)?;
    first.greet()?;
    // A guest has no users to protect from each other.
    let within = Options { cpus: split_cpus(first.cpus()), rootless: false, ..options.clone() };
    machine.agent = Some(first);
    let place = Some((Rc::clone(&guest), 1));
    let mut testbed =
        compose(&mut Builder { options: &within, interrupt: builder.interrupt, inside: place, on: None })?;
    let process = machine.booted.process;
    testbed.add_machines(vec![machine]);
    // Exact mode has no windows, and its counts do not depend on waits.
    if !options.exact {
        testbed.note_oversubscription(options);
        let controller = &options.cpus.controller;
        let agent =
            LaunchedAgent::on_this_machine(&options.program, Isolation::None, controller, builder.interrupt)?;
        testbed.watcher = Some(Node::watching(agent, NodeGuest { side: None, process, cpus: own }));
    }
    Ok(testbed)
}
