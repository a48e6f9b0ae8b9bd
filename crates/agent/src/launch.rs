//! The launch of an agent, the same in every place: the first line of its standard input.

use std::ops::RangeInclusive;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// The first line of an agent's input. Process numbers are those of the agent's kernel.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "the names of its fields say it")]
pub struct Launch {
    pub isolation: Isolation,
    /// The CPUs of its host; empty for all.
    pub cpus: Vec<u32>,
    /// The controller's process, with which the agent dies; `None` on another kernel.
    pub parent: Option<u32>,
    /// In ms: without a byte from the controller for this long the agent ends and undoes its
    /// changes, see [`crate::Client::keep_alive_every`]. `None`: only when its input ends.
    #[serde(default)]
    pub lease_ms: Option<u64>,
    /// (an agent of [`Isolation::Machine`]) Only agents of one session change a machine at a time.
    #[serde(default)]
    pub session: u64,
    /// (an agent of [`Isolation::Machine`]) Another agent sets what belongs to the whole machine.
    #[serde(default)]
    pub shares_machine: bool,
}

impl Launch {
    /// The lease of an agent on another machine, unless a user chooses another.
    pub const LEASE: Duration = Duration::from_secs(15);

    /// From a few signs of life to the longest time that a change may cut a machine off.
    pub const LEASES: RangeInclusive<Duration> = Duration::from_secs(2)..=Duration::from_secs(30);
}

/// The namespaces that an agent enters before it serves.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Isolation {
    /// None: it serves the host as it is.
    #[default]
    None,
    /// None, and it may change the machine ([`crate::message::Request::ChangeMachine`]), by the
    /// undo journal on it ([`host::journal`]), until the agent's end.
    Machine,
    /// A new network namespace.
    Network,
    /// A new user namespace and a new network namespace that belongs to it: needs no privilege.
    UserAndNetwork,
    /// The user namespace of another process, and a new network namespace in it.
    NetworkInUserOf(u32),
    /// The network namespace of another process.
    NetworkOf(u32),
    /// The user namespace of another process, and its network namespace.
    UserAndNetworkOf(u32),
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::frame::{decode, encode};

    #[test]
    fn the_line_is_what_people_can_write_too() {
        let launch = Launch {
            isolation: Isolation::NetworkOf(71),
            cpus: vec![0],
            parent: Some(7),
            session: 3,
            ..Launch::default()
        };
        let line = b"{\"isolation\":{\"network_of\":71},\"cpus\":[0],\"parent\":7,\"lease_ms\":null,\"session\":3,\"shares_machine\":false}\n";
        assert_eq!(encode(&launch).unwrap(), line);
        let launch: Launch = decode(b"{\"isolation\":\"none\",\"cpus\":[],\"parent\":null}").unwrap();
        assert_eq!(launch.isolation, Isolation::None);
    }

    proptest! {
        #[test]
        fn a_launch_survives_the_wire(
            pid: u32,
            parent: Option<u32>,
            lease_ms: Option<u64>,
            session: u64,
            shares_machine: bool,
            cpus in prop::collection::vec(0u32..8192, 0..5),
            kind in 0usize..7,
        ) {
            let isolation = [
                Isolation::None,
                Isolation::Machine,
                Isolation::Network,
                Isolation::UserAndNetwork,
                Isolation::NetworkInUserOf(pid),
                Isolation::NetworkOf(pid),
                Isolation::UserAndNetworkOf(pid),
            ][kind];
            let lease_ms = lease_ms.map(|ms| ms % (1 << 20));
            let launch = Launch { isolation, cpus, parent, lease_ms, session, shares_machine };
            prop_assert_eq!(decode::<Launch>(encode(&launch).unwrap().trim_ascii_end()).unwrap(), launch);
        }

        #[test]
        fn any_line_is_a_launch_or_refused(line in "\\PC{0,80}") {
            let _ = decode::<Launch>(line.as_bytes());
        }
    }
}
