//! The CPUs of each host, and of the controller.

use std::path::Path;

use agent::Interrupt;
use record::CpuSplit;

use crate::error::Error;
use crate::launched_agent::{AgentStart, LaunchedAgent};

/// The split of this machine's CPUs, as an agent on it reports them. Call it before the controller
/// pins itself: an agent inherits the controller's CPUs. `program`: the netassay binary.
///
/// # Errors
/// When no agent can be started.
pub fn cpu_split_of_this_machine(program: &Path, interrupt: &Interrupt) -> Result<CpuSplit, Error> {
    let agent = LaunchedAgent::on_this_machine(AgentStart::plain("host", program, interrupt))?;
    Ok(split_cpus(&agent.cpus))
}

/// The fewest cores that leave one for the controller and the rest of the machine.
const CORES_TO_SPARE_ONE: usize = 5;

/// Gives each host half of the cores, and the controller one if there are enough. Hardware threads
/// of a core stay together: a transmitter and a receiver on one core would slow each other down, as
/// two machines do not. With a single core both hosts share it.
///
/// `cpus` holds each usable CPU with the number of its core.
#[must_use]
pub fn split_cpus(cpus: &[(u32, u32)]) -> CpuSplit {
    let mut cores: Vec<u32> = cpus.iter().map(|&(_, core)| core).collect();
    cores.sort_unstable();
    cores.dedup();
    let of = |wanted: &[u32]| {
        let mut set: Vec<u32> =
            cpus.iter().filter(|(_, core)| wanted.contains(core)).map(|&(cpu, _)| cpu).collect();
        set.sort_unstable();
        set
    };
    if cores.len() < 2 {
        return CpuSplit { transmitter: of(&cores), receiver: of(&cores), controller: Vec::new() };
    }
    // The first core handles the machine's interrupts by default.
    let spared = usize::from(cores.len() >= CORES_TO_SPARE_ONE);
    let (controller, measured) = cores.split_at(spared);
    let (first, second) = measured.split_at(measured.len() / 2);
    CpuSplit { transmitter: of(first), receiver: of(second), controller: of(controller) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn cores_are_shared_out_whole() {
        let plain = |count| (0..count).map(|cpu| (cpu, cpu)).collect::<Vec<_>>();
        let check =
            |cpus: &[(u32, u32)], [transmitter, receiver, controller]: [&[u32]; 3], one: [&[u32]; 2]| {
                let (halves, is_shared) = (split_cpus(cpus), transmitter == receiver);
                let [transmitter, receiver, controller] =
                    [transmitter, receiver, controller].map(<[u32]>::to_vec);
                assert_eq!(halves, CpuSplit { transmitter, receiver, controller });
                assert_eq!(halves.is_shared(), is_shared);
                let [transmitter, controller] = one.map(<[u32]>::to_vec);
                assert_eq!(halves.for_one_host(), CpuSplit { transmitter, receiver: vec![], controller });
            };
        // Two CPUs make two hosts; one host has the CPUs of both.
        check(&plain(2), [&[0], &[1], &[]], [&[0, 1], &[]]);
        // Siblings stay together.
        check(&[(0, 0), (1, 1), (2, 0), (3, 1)], [&[0, 2], &[1, 3], &[]], [&[0, 1, 2, 3], &[]]);
        // Many cores spare one for the controller.
        check(&plain(5), [&[1, 2], &[3, 4], &[0]], [&[1, 2, 3, 4], &[0]]);
        // One core is shared, and its CPUs are not counted twice.
        check(&[(0, 0), (1, 0)], [&[0, 1], &[0, 1], &[]], [&[0, 1], &[]]);
        check(&plain(1), [&[0], &[0], &[]], [&[0], &[]]);
    }

    proptest! {
        #[test]
        fn every_cpu_has_a_host_and_only_one(cores in proptest::collection::vec(0u32..6, 1..24)) {
            let cpus: Vec<(u32, u32)> = (0u32..).zip(cores).collect();
            let halves = split_cpus(&cpus);
            let mut all = [halves.transmitter.clone(), halves.controller.clone()].concat();
            if !halves.is_shared() {
                all.extend(&halves.receiver);
            }
            all.sort_unstable();
            prop_assert_eq!(all, cpus.iter().map(|&(cpu, _)| cpu).collect::<Vec<_>>());
            prop_assert!(!halves.transmitter.is_empty() && !halves.receiver.is_empty());
        }
    }
}
