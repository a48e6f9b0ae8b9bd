//! Building a testbed from its options.

use agent::Interrupt;

use crate::builder::Builder;
use crate::error::Error;
use crate::inside_guest::inside_guest;
use crate::options::Options;
use crate::remote_namespaces::remote_namespaces;
use crate::scenario::compose;
use crate::testbed::Testbed;

impl Testbed {
    /// Builds the testbed: namespaces, agents, links, addresses, CPU sets, steering.
    ///
    /// # Errors
    /// When a namespace is not allowed, an interface cannot be made, or the user interrupts;
    /// everything built until then is removed.
    pub fn build(options: &Options, interrupt: &Interrupt) -> Result<Self, Error> {
        let mut builder = Builder { options, interrupt, inside: None, on: None };
        match &options.hosts {
            _ if options.inside_guest => inside_guest(&builder),
            Some(hosts) if options.state.scenario.is_of_namespaces() => remote_namespaces(&builder, hosts),
            _ => compose(&mut builder),
        }
    }
}
