//! The privileges of this process, and the testbeds that can be built: each is built and removed.

use std::time::Instant;

use agent::Interrupt;
use host::Privileges;
use record::Note;
use results::Finding;
use study::{Family, Scenario};
use testbed::{Testbed, TestbedOptions};

use crate::failure::Failure;
use crate::machine;

pub(super) fn privileges(held: &Privileges) -> Vec<Finding> {
    const USER: &str = "user namespaces";
    let root = if held.privileged() {
        "can be created directly (CAP_SYS_ADMIN and CAP_NET_ADMIN)"
    } else {
        "inside a user namespace only: netassay runs rootless"
    };
    let user = match (held.obstacle(), held.privileged()) {
        (None, _) => Finding::ok("privileges", USER, "allowed by the machine's settings"),
        (Some(obstacle), true) => {
            Finding::warn("privileges", USER, "not allowed for ordinary users", obstacle)
        }
        (Some(obstacle), false) => {
            Finding::fail("privileges", USER, "not allowed here, and this is not root", obstacle)
        }
    };
    vec![Finding::ok("privileges", "network namespaces", root), user]
}

pub(super) const SCENARIO: &str = "scenario";

const AS_ROOT: &str = "run netassay as root, if you are allowed to";
const NO_REMEDY: &str =
    "nothing to repair: this scenario works that way; use the scenario veth if it matters";

pub(super) fn scenarios(privileges: &Privileges, interrupt: &Interrupt) -> Result<Vec<Finding>, Failure> {
    let here = machine::testbed_options(Scenario::Veth, true, interrupt)?;
    let mut findings = Vec::new();
    let mut notes: Vec<Finding> = Vec::new();
    for scenario in [Scenario::Veth, Scenario::Vxlan, Scenario::Loopback, Scenario::Discard] {
        // Root can do both; an ordinary user only the second.
        for rootless in [false, true].into_iter().filter(|rootless| *rootless || privileges.privileged()) {
            let begun = Instant::now();
            let name = format!("{scenario}, {}", if rootless { "rootless" } else { "as root" });
            // A machine without IPv6 can measure.
            let families = vec![Family::Ipv4];
            let options = TestbedOptions { state: scenario.into(), rootless, families, ..here.clone() };
            match Testbed::build(&options, interrupt) {
                Ok(testbed) => {
                    let built = begun.elapsed();
                    let is_namespaces = matches!(scenario, Scenario::Veth | Scenario::Vxlan);
                    let remedy = if is_namespaces && rootless { AS_ROOT } else { NO_REMEDY };
                    let mut how = String::new();
                    if scenario == Scenario::Discard {
                        // The device influences the figures, but is no limit.
                        how = testbed.notes.iter().map(|note| format!("; {note}")).collect();
                    } else {
                        let limit = |note: &Note| Finding::warn("limit", &name, note.to_string(), remedy);
                        notes.extend(testbed.notes.iter().map(limit));
                    }
                    let what = format!("works: built in {:.0} ms{how}", built.as_secs_f64() * 1e3);
                    findings.push(Finding::ok(SCENARIO, &name, what));
                }
                Err(error) if error.is_interrupt() => return Err(error.into()),
                Err(error) => findings.push(Finding::fail(SCENARIO, &name, error.to_string(), AS_ROOT)),
            }
        }
    }
    findings.extend(notes);
    Ok(findings)
}
