//! Which testbeds can be built: each is built and removed.

use record::Note;
use std::time::Instant;

use agent::Interrupt;
use host::Privileges;
use study::{Family, Scenario};
use testbed::{Options, Testbed};

use super::finding::Finding;
use crate::failure::Failure;
use crate::here;

pub(super) const AREA: &str = "scenario";

const AS_ROOT: &str = "run netassay as root, if you are allowed to";
const NO_REMEDY: &str =
    "nothing to repair: this scenario works that way; use the scenario veth if it matters";

pub(super) fn findings(privileges: &Privileges, interrupt: &Interrupt) -> Result<Vec<Finding>, Failure> {
    let here = here::options(Scenario::Veth, true, interrupt)?;
    let mut findings = Vec::new();
    let mut notes: Vec<Finding> = Vec::new();
    for scenario in [Scenario::Veth, Scenario::Vxlan, Scenario::Loopback, Scenario::Discard] {
        // Root can do both; an ordinary user only the second.
        for rootless in [false, true].into_iter().filter(|rootless| *rootless || privileges.privileged()) {
            let begun = Instant::now();
            let name = format!("{scenario}, {}", if rootless { "rootless" } else { "as root" });
            // A machine without IPv6 can measure.
            let families = vec![Family::Ipv4];
            let options = Options { state: scenario.into(), rootless, families, ..here.clone() };
            match Testbed::build(&options, interrupt) {
                Ok(testbed) => {
                    let built = begun.elapsed();
                    let remedy = if matches!(scenario, Scenario::Veth | Scenario::Vxlan) && rootless {
                        AS_ROOT
                    } else {
                        NO_REMEDY
                    };
                    let mut how = String::new();
                    if scenario == Scenario::Discard {
                        // The device influences the figures, but is no limit.
                        how = testbed.notes.iter().map(|note| format!("; {note}")).collect();
                    } else {
                        let limit = |note: &Note| Finding::warn("limit", &name, note.to_string(), remedy);
                        notes.extend(testbed.notes.iter().map(limit));
                    }
                    drop(testbed);
                    let what = format!(
                        "works: built in {:.0} ms, taken down in {:.0} ms{how}",
                        built.as_secs_f64() * 1e3,
                        (begun.elapsed() - built).as_secs_f64() * 1e3
                    );
                    findings.push(Finding::ok(AREA, name, what));
                }
                Err(error) if error.is_interrupt() => return Err(error.into()),
                Err(error) => findings.push(Finding::fail(AREA, name, error.to_string(), AS_ROOT)),
            }
        }
    }
    findings.extend(notes);
    Ok(findings)
}
