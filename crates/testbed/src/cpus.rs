//! The CPUs of each host, and of the controller.

use std::collections::BTreeSet;
use std::path::Path;

use agent::Interrupt;
use record::{CpuSplit, Note};
use study::BootState;

use crate::error::Error;
use crate::launched_agent::{AgentStart, LaunchedAgent};

/// The split of this machine's CPUs. Call it before the controller pins itself: an agent inherits
/// its CPUs.
///
/// # Errors
/// When no agent can be started.
pub fn cpu_split_of_this_machine(program: &Path, interrupt: &Interrupt) -> Result<CpuSplit, Error> {
    let agent = LaunchedAgent::process(AgentStart::plain("host", program, interrupt))?.greeted()?;
    Ok(split_cpus(&agent.cpus))
}

const CORES_TO_SPARE_ONE: usize = 5;

/// Gives each host half of the cores, and the controller one if there are enough. Threads of a core
/// stay together: a transmitter and a receiver on one core would slow each other down.
///
/// `cpus` holds each usable CPU with the number of its core.
pub fn split_cpus(cpus: &[(u32, u32)]) -> CpuSplit {
    let cores: BTreeSet<u32> = cpus.iter().map(|&(_, core)| core).collect();
    let cores = Vec::from_iter(cores);
    let cpus_of = |wanted: &[u32]| {
        let mut set: Vec<u32> =
            cpus.iter().filter(|(_, core)| wanted.contains(core)).map(|&(cpu, _)| cpu).collect();
        set.sort_unstable();
        set
    };
    if cores.len() < 2 {
        return CpuSplit { transmitter: cpus_of(&cores), receiver: cpus_of(&cores), controller: Vec::new() };
    }
    // The first core handles the machine's interrupts by default.
    let spared = usize::from(cores.len() >= CORES_TO_SPARE_ONE);
    let (controller, measured) = cores.split_at(spared);
    let (first, second) = measured.split_at(measured.len() / 2);
    CpuSplit { transmitter: cpus_of(first), receiver: cpus_of(second), controller: cpus_of(controller) }
}

/// The busy threads, if virtual machines have more than CPUs. `inside_guest`: all hosts are in one.
pub fn oversubscription(state: &BootState, inside_guest: bool, cpus: &CpuSplit) -> Option<Note> {
    let scenario = state.scenario;
    let guest = state.guest.as_ref()?;
    let (machines, owned) = match (scenario.has_guests(), inside_guest) {
        (true, _) => (2, cpus.clone()),
        (false, true) => (1, cpus.for_one_host()),
        (false, false) => return None,
    };
    let all: BTreeSet<u32> = owned.transmitter.into_iter().chain(owned.receiver).collect();
    let (vcpus, count) = (machines * guest.vcpus as usize, all.len());
    // A thread of QEMU moves what leaves its machine; it may also run on the controller's CPUs.
    let moving = if scenario.has_guests() { machines } else { 0 };
    if vcpus <= count && vcpus + moving <= count + cpus.controller.len() {
        return None;
    }
    Some(Note::Crowded { vcpus, moving, cpus: count })
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

#[cfg(test)]
mod oversubscription_tests {
    use study::{Guest, Scenario};

    use super::*;
    use crate::cpus::split_cpus;

    fn note_text(scenario: Scenario, inside: bool, vcpus: u32, cpus: u32) -> Option<String> {
        let state = BootState { guest: Some(Guest { vcpus, ..Guest::default() }), ..scenario.into() };
        let cpus: Vec<(u32, u32)> = (0..cpus).map(|cpu| (cpu, cpu)).collect();
        Some(oversubscription(&state, inside, &split_cpus(&cpus))?.to_string())
    }

    #[test]
    fn each_virtual_cpu_and_each_thread_that_moves_packets_needs_a_cpu() {
        const OF_TWO: &str = "2 virtual CPUs and the 2 threads of QEMU that move their packets share ";
        // One CPU of five is the controller's: the threads that move packets may run there, virtual
        // CPUs not.
        for (scenario, inside, vcpus, cpus, begins) in [
            (Scenario::Vm, false, 1, 2, Some(format!("{OF_TWO}2 CPUs of this machine"))),
            (Scenario::Vm, false, 1, 1, Some(format!("{OF_TWO}1 CPU of this machine"))),
            (Scenario::VmVxlan, false, 1, 3, Some(format!("{OF_TWO}3 CPUs of this machine"))),
            (Scenario::Vm, false, 1, 4, None),
            (Scenario::Vm, false, 3, 4, Some("6 virtual CPUs and".to_owned())),
            (Scenario::Vm, false, 2, 5, Some("4 virtual CPUs and".to_owned())),
            (Scenario::Vm, false, 2, 7, None),
            (Scenario::Veth, true, 2, 2, None),
            (Scenario::Veth, true, 3, 2, Some("3 virtual CPUs share 2 CPUs".to_owned())),
            (Scenario::Veth, true, 1, 1, None),
        ] {
            let said = note_text(scenario, inside, vcpus, cpus);
            assert_eq!(said.is_some(), begins.is_some(), "{said:?}");
            assert!(said.is_none_or(|said| said.starts_with(&begins.unwrap())), "{scenario} {vcpus} {cpus}");
        }
        let two = note_text(Scenario::Vm, false, 1, 2).unwrap();
        assert!(two.ends_with("on 4 CPUs or more none has to wait"), "{two}");
    }

    #[test]
    fn without_guests_nothing_is_crowded() {
        let cpus = split_cpus(&[(0, 0)]);
        assert_eq!(oversubscription(&BootState::default(), false, &cpus), None);
        let unused = BootState { guest: Some(Guest::default()), ..BootState::default() };
        assert_eq!(oversubscription(&unused, false, &cpus), None);
    }
}
