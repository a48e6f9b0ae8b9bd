//! Kernels of machines: each boot has its own, and the default one is there at the end.

use netassay_runner::Event;
use store::StudyStatus;
use testbed::reach::HostBoot;

use crate::simulator::Fault;
use crate::world::{World, parsed, study};

const DEFAULT: &str = "6.1.0-47-amd64";
pub(crate) const OTHER: &str = "6.1.0-50-amd64";

/// A world of machines that run their default kernel.
pub(crate) fn world() -> World {
    let mut world = World::new();
    let text = study().text.replace("\"veth\"", "\"ssh\"");
    let text = text.replace("boots = 2", "boots = { how = \"reboot\", count = 2 }");
    let text = text.replace("[factors]", &format!("[factors]\n        kernel = [\"running\", {OTHER:?}]"));
    world.study = parsed(&text);
    let boot = HostBoot { id: "boot 0".to_owned(), release: DEFAULT.to_owned(), default: DEFAULT.to_owned() };
    world.lab.machines = Some(boot);
    world
}

/// The kernel of each restart.
fn restarts(world: &World) -> Vec<&str> {
    world.lab.restarts.iter().map(|kernel| kernel.as_deref().unwrap_or("default")).collect()
}

#[test]
fn each_boot_runs_its_kernel_and_the_machines_end_with_their_default() {
    let mut world = world();
    let summary = world.session(None).unwrap();
    assert_eq!((summary.ending, summary.kernel_stays.as_ref()), (StudyStatus::Complete, None));
    let stored = world.store.load(summary.study).unwrap();
    let mut boots: Vec<(&str, u32)> = Vec::new();
    for boot in &stored.boots {
        let mut of_boot = stored.runs.iter().filter(|run| run.boot == boot.number);
        let planned = |run: &store::StoredRun| stored.plan.conditions[run.condition].boot.kernel.clone();
        let release = boot.environment.transmitter.kernel.release.as_deref().unwrap();
        assert!(of_boot.all(|run| planned(run).as_deref().unwrap_or(DEFAULT) == release));
        boots.push((release, boot.number));
    }
    boots.sort_unstable();
    assert_eq!(
        boots.iter().map(|(release, _)| *release).collect::<Vec<_>>(),
        [DEFAULT, DEFAULT, OTHER, OTHER]
    );
    // The machines restart between the boots, before a first one with the other kernel, and to
    // their default after a last one with it.
    let begins = usize::from(boots.contains(&(OTHER, 1)));
    let ends = boots.contains(&(OTHER, 4));
    assert_eq!(world.lab.restarts.len(), 3 + begins + usize::from(ends), "{:?}", restarts(&world));
    let told = |event: &Event| matches!(event, Event::DefaultKernels);
    assert_eq!(world.events.iter().any(told), ends);
    assert_eq!(world.lab.machines.unwrap().release, DEFAULT);
}

#[test]
fn a_session_that_was_stopped_says_which_kernel_stays_and_the_next_one_ends_with_the_default() {
    let mut world = world();
    // Each boot has 3 conditions x (1 + 2) runs.
    for at in (4..40).step_by(9) {
        world.lab.faults.insert(at, Fault::Interrupt);
    }
    let mut resume = None;
    let mut stays = Vec::new();
    let ending = loop {
        let summary = world.session(resume).unwrap();
        resume = Some(summary.study);
        let faults = std::mem::take(&mut world.lab.faults);
        world.calm();
        world.lab.faults = faults;
        if summary.ending == StudyStatus::Complete {
            break summary.kernel_stays;
        }
        let runs = world.lab.machines.as_ref().unwrap().release.clone();
        assert_eq!(summary.kernel_stays.is_some(), runs != DEFAULT, "{:?}", summary.kernel_stays);
        stays.extend(summary.kernel_stays);
    };
    assert!(!stays.is_empty());
    assert!(stays.iter().all(|stays| *stays == (OTHER.to_owned(), String::new())), "{stays:?}");
    assert_eq!((ending, world.lab.machines.unwrap().release.as_str()), (None, DEFAULT));
}

#[test]
fn what_runs_by_default_is_measured_with_it_also_after_another_study_was_killed() {
    let mut world = world();
    // Another study chose it, and was killed.
    world.lab.machines.as_mut().unwrap().release = OTHER.to_owned();
    let text = world.study.text.replace(&format!("\n        kernel = [\"running\", {OTHER:?}]"), "");
    world.study = parsed(&text);
    world.session(None).unwrap();
    assert_eq!(restarts(&world), ["default", "default"]);
}
