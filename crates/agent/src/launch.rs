//! How an agent is launched where there is no command line: at a port of a guest.

use serde::{Deserialize, Serialize};

use crate::frame::encode;
use crate::options::{AgentOptions, Isolation};

/// The first line at a guest's port: what an agent on this kernel is told by its command line. Process numbers are the guest's
/// own, as its agents tell them in their greeting. The first request may follow at once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Launch {
    /// Where the agent puts itself, inside the guest.
    pub isolation: Isolation,
    /// The CPUs of its host, of those the guest has; empty for all.
    pub cpus: Vec<u32>,
}

impl Launch {
    /// The line, with its end.
    ///
    /// # Errors
    /// None: there is nothing in it that JSON cannot hold.
    pub fn line(&self) -> Result<Vec<u8>, serde_json::Error> {
        encode(self)
    }

    /// The same for [`serve`](crate::serve). A guest's agent needs no parent to die with: the guest dies with the controller.
    pub(crate) fn options(self, version: &'static str) -> AgentOptions {
        AgentOptions { isolation: self.isolation, cpus: self.cpus, parent: None, version }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::frame::decode;

    #[test]
    fn the_line_is_what_people_can_write_too() {
        let launch = Launch { isolation: Isolation::NetworkOf(71), cpus: vec![0] };
        assert_eq!(launch.line().unwrap(), b"{\"isolation\":{\"network_of\":71},\"cpus\":[0]}\n");
        let launch: Launch = decode(b"{\"isolation\":\"none\",\"cpus\":[]}").unwrap();
        assert_eq!(launch.isolation, Isolation::None);
    }

    proptest! {
        #[test]
        fn a_launch_survives_the_wire(pid: u32, cpus in prop::collection::vec(0u32..8192, 0..5), kind in 0usize..6) {
            let isolation = [
                Isolation::None,
                Isolation::Network,
                Isolation::UserAndNetwork,
                Isolation::NetworkInUserOf(pid),
                Isolation::NetworkOf(pid),
                Isolation::UserAndNetworkOf(pid),
            ][kind];
            let launch = Launch { isolation, cpus };
            prop_assert_eq!(decode::<Launch>(launch.line().unwrap().trim_ascii_end()).unwrap(), launch);
        }

        #[test]
        fn any_line_is_a_launch_or_refused(line in "\\PC{0,80}") {
            let _ = decode::<Launch>(line.as_bytes());
        }
    }
}
