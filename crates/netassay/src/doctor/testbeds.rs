//! The privileges of this process, the testbeds that can be built (each is built and removed), and
//! the features that can be switched on a veth pair (each is switched and read back).

use std::collections::BTreeMap;
use std::time::Instant;

use agent::Interrupt;
use host::Privileges;
use record::Note;
use study::{BySide, Family, Scenario, feature};
use testbed::{InterfaceSwitches, Options, Switches, Testbed};

use super::finding::Finding;
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
                    findings.push(Finding::ok(SCENARIO, name, what));
                }
                Err(error) if error.is_interrupt() => return Err(error.into()),
                Err(error) => findings.push(Finding::fail(SCENARIO, name, error.to_string(), AS_ROOT)),
            }
        }
    }
    findings.extend(notes);
    Ok(findings)
}

/// The usual words. `rx` and `lro` are included because people ask, though few virtual devices have
/// them.
const WORDS: [&str; 8] = ["tso", "gso", "gro", "lro", "tx", "rx", "sg", "tx-udp_tnl-segmentation"];

pub(super) fn features(privileges: &Privileges, interrupt: &Interrupt) -> Result<Vec<Finding>, Failure> {
    let options = machine::testbed_options(Scenario::Veth, !privileges.privileged(), interrupt)?;
    let options = testbed::Options { families: vec![Family::Ipv4], ..options };
    // The scenario's finding reports that it cannot be built.
    let Ok(mut testbed) = Testbed::build(&options, interrupt) else { return Ok(Vec::new()) };
    let mut findings = Vec::new();
    for word in WORDS {
        let names = feature::expand(word).unwrap_or_default();
        let usual = state(&mut testbed, &names, None)?;
        let off = state(&mut testbed, &names, Some(false))?;
        let on = state(&mut testbed, &names, Some(true))?;
        let usually = if usual.is_empty() { "off" } else { "on" };
        let name = format!("{word} (veth)");
        let what = match (off.is_empty(), on.is_empty()) {
            (true, false) => {
                findings.push(Finding::ok("feature", name, format!("{usually} by default, can be switched")));
                continue;
            }
            (true, true) => "off, cannot be switched on: conditions with it on merge with off".to_owned(),
            (false, _) => {
                let off = off.join(" ");
                format!("on, cannot be switched off ({off}): conditions with it off merge with on")
            }
        };
        let fix = "the veth driver does not allow it: leave it out of studies on veth";
        findings.push(Finding::warn("feature", name, what, fix));
    }
    Ok(findings)
}

/// Which of these features are on at the transmitter after both ends were set to this state.
fn state(
    testbed: &mut Testbed,
    names: &[&'static str],
    on: Option<bool>,
) -> Result<Vec<&'static str>, Failure> {
    let features: BTreeMap<String, bool> =
        on.map(|on| names.iter().map(|name| ((*name).to_owned(), on)).collect()).unwrap_or_default();
    let features = BySide::from_fn(|_| features.clone());
    let own = InterfaceSwitches { features, ..InterfaceSwitches::default() };
    let switches = Switches { own, ..Switches::default() };
    let effective = testbed.settle(&switches)?;
    let active = &effective.transmitter.active;
    Ok(names.iter().copied().filter(|name| active.get(*name).copied().unwrap_or(false)).collect())
}
