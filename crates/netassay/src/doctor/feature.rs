//! Which offload features can be switched on a veth pair: each is switched and read back.

use std::collections::BTreeMap;

use agent::Interrupt;
use host::Privileges;
use study::{BySide, Family, Scenario, feature};
use testbed::{InterfaceSwitches, Switches, Testbed};

use super::finding::Finding;
use crate::failure::Failure;
use crate::here;

const AREA: &str = "feature";

/// The usual words. `rx` and `lro` are included because people ask, though few virtual devices have
/// them.
const WORDS: [&str; 8] = ["tso", "gso", "gro", "lro", "tx", "rx", "sg", "tx-udp_tnl-segmentation"];

pub(super) fn findings(privileges: &Privileges, interrupt: &Interrupt) -> Result<Vec<Finding>, Failure> {
    let options = here::options(Scenario::Veth, !privileges.privileged(), interrupt)?;
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
                findings.push(Finding::ok(AREA, name, format!("{usually} by default, can be switched")));
                continue;
            }
            (true, true) => "off, cannot be switched on: conditions with it on merge with off".to_owned(),
            (false, _) => {
                let off = off.join(" ");
                format!("on, cannot be switched off ({off}): conditions with it off merge with on")
            }
        };
        let fix = "the veth driver does not allow it: leave it out of studies on veth";
        findings.push(Finding::warn(AREA, name, what, fix));
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
