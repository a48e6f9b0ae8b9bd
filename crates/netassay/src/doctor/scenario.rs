//! Which testbeds can be built: each is, and is taken down again.

use std::time::Instant;

use agent::Interrupt;
use host::Privileges;
use study::Scenario;
use testbed::{Options, Testbed};

use super::{Finding, Status};
use crate::failure::Failure;

pub(super) const AREA: &str = "scenario";

pub(super) fn findings(privileges: &Privileges, interrupt: &Interrupt) -> Result<Vec<Finding>, Failure> {
    let mut findings = Vec::new();
    let mut notes: Vec<String> = Vec::new();
    for scenario in [Scenario::Veth, Scenario::Loopback] {
        // Root can do both; an ordinary user only the second.
        for rootless in [false, true].into_iter().filter(|rootless| *rootless || privileges.privileged()) {
            let begun = Instant::now();
            let name = format!("{scenario}, {}", if rootless { "rootless" } else { "as root" });
            match Testbed::build(&options(scenario, rootless), interrupt) {
                Ok(testbed) => {
                    let built = begun.elapsed();
                    notes.extend(testbed.notes().iter().map(|note| format!("{name}: {note}")));
                    drop(testbed);
                    let what = format!(
                        "works: built in {:.0} ms, taken down in {:.0} ms",
                        built.as_secs_f64() * 1e3,
                        (begun.elapsed() - built).as_secs_f64() * 1e3
                    );
                    findings.push(Finding::new(AREA, name, Status::Ok, what));
                }
                Err(error) if error.is_interrupt() => return Err(error.into()),
                Err(error) => findings.push(Finding::new(AREA, name, Status::Fail, error.to_string())),
            }
        }
    }
    findings.extend(notes.into_iter().map(|note| Finding::new("testbed", "limit", Status::Warn, note)));
    Ok(findings)
}

pub(super) fn options(scenario: Scenario, rootless: bool) -> Options {
    Options { scenario, program: "/proc/self/exe".into(), cpus: testbed::split(&testbed::usable()), rootless }
}
