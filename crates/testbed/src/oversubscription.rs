//! Whether virtual machines have more busy threads than their host has CPUs.

use study::BootState;

use record::{CpuSplit, Note};

/// The busy threads, if the virtual machines of a testbed have more of them than CPUs; `None`
/// otherwise, or without virtual machines. `inside_guest`: the whole testbed is in one.
#[must_use]
pub fn oversubscription(state: &BootState, inside_guest: bool, cpus: &CpuSplit) -> Option<Note> {
    let scenario = state.scenario;
    let guest = state.guest.as_ref()?;
    let (machines, owned) = match (scenario.has_guests(), inside_guest) {
        (true, _) => (2, cpus.clone()),
        (false, true) => (1, cpus.for_one_host()),
        (false, false) => return None,
    };
    let mut all: Vec<u32> = owned.transmitter.iter().chain(&owned.receiver).copied().collect();
    all.sort_unstable();
    all.dedup();
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
