//! A scenario of one machine, in namespaces on a machine of the user's. Nothing of that machine is
//! changed.

use agent::Isolation;
use record::NamedMachine;
use study::BySide;

use crate::builder::Builder;
use crate::cpus::split_cpus;
use crate::error::Error;
use crate::hosts::Hosts;
use crate::launched_agent::LaunchedAgent;
use crate::options::Options;
use crate::scenario::compose;
use crate::testbed::Testbed;

/// Builds the testbed on the transmitter's machine.
pub(crate) fn remote_namespaces(builder: &Builder<'_>, hosts: &Hosts) -> Result<Testbed, Error> {
    let Builder { options, interrupt, .. } = *builder;
    let place = &hosts.places.transmitter;
    // It reports the CPUs, of which each host gets a part.
    let mut first =
        LaunchedAgent::on_machine(place, &options.program, "transmitter", Isolation::None, &[], interrupt)?;
    first.greet()?;
    let within = Options { cpus: split_cpus(first.cpus()), ..options.clone() };
    let mut testbed = compose(&mut Builder { options: &within, interrupt, inside: None, on: Some(place) })?;
    let interface = testbed.transmitter.interface.clone();
    testbed.named = Some(BySide::from_fn(|_| NamedMachine {
        host: place.to_string(),
        interface: interface.clone(),
        changed: Vec::new(),
    }));
    Ok(testbed)
}
