//! Requirements of a study that this machine lacks, as far as they show before anything is built.

use host::Privileges;
use host::machine::{Machine, Target};
use study::{Side, Study};
use testbed::guest::{Kernel, Tools};

/// The requirements of a study that this machine lacks, each with its remedy.
pub(crate) fn refusals(study: &Study) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut add = |why: String| {
        if !found.contains(&why) {
            found.push(why);
        }
    };
    let plan = study.plan();
    let in_namespaces = plan.conditions.iter().filter(|one| one.boot.scenario.is_of_namespaces());
    let sides = in_namespaces.flat_map(|one| Side::BOTH.map(|side| one.side(side)));
    let sysctls = sides.flat_map(|side| side.tuning.sysctl.keys().cloned()).collect();
    Machine::shared_sysctls(&sysctls).into_iter().for_each(&mut add);
    let states = plan.states();
    let (mut is_here, mut has_guests) = (false, false);
    for state in states {
        is_here |= !state.scenario.has_machines();
        let Some(guest) = &state.guest else { continue };
        has_guests = true;
        if let Err(error) = Kernel::find(guest.kernel.as_deref()) {
            add(error.to_string());
        }
    }
    if has_guests && let Err(error) = Tools::of_this_machine().qemu() {
        add(error.to_string());
    }
    for name in study.machine.both.sysctl.keys().filter(|_| is_here) {
        let sysctl = Target::Sysctl { name: name.clone() };
        Machine::system().check_writable(&sysctl).unwrap_or_else(|error| add(error.to_string()));
    }
    let privileges = Privileges::read();
    if is_here && !privileges.privileged() {
        if let Some(obstacle) = privileges.user_namespaces.obstacle() {
            add(format!("the namespaces of the hosts cannot be made: {obstacle}"));
        }
        if !study.machine.is_empty() {
            add("the settings of `[machine]` need root: run netassay as root, or remove them".to_owned());
        }
    }
    found
}
