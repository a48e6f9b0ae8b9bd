//! The examination: each property of a machine, or of a pair, that hinders or disturbs
//! measurements, with its remedy.

mod disturbance;
mod guest;
mod interface;
mod pair;
mod testbeds;
mod tracing;

use agent::Interrupt;
use results::{Examination, Finding, FindingStatus};
use study::BySide;
use testbed::{FoundMachine, PairCheck};
use trace::ProbeLadder;

use crate::failure::Failure;

/// `on`: an interface that is to carry traffic.
pub(crate) fn examine(on: Option<&str>, interrupt: &Interrupt) -> Result<Examination, Failure> {
    let privileges = host::Privileges::read();
    let mut findings = on.map(interface::findings).unwrap_or_default();
    findings.extend(testbeds::privileges(&privileges));
    findings.extend(testbeds::scenarios(&privileges, interrupt)?);
    findings.extend(guest::findings());
    let probes = ProbeLadder::read();
    findings.extend(tracing::findings(&probes));
    findings.push(tracing::profile());
    findings.extend(disturbance::findings());
    Ok(Examination { findings, probes, sides: Vec::new() })
}

pub(crate) fn of_pair(checks: Vec<PairCheck>, found: &BySide<FoundMachine>) -> Examination {
    let findings = checks.into_iter().flat_map(pair::findings).collect();
    Examination { findings, sides: pair::side_by_side(found), ..Examination::default() }
}

/// True if a scenario works, or two machines are a pair.
pub(crate) fn can_measure(found: &Examination) -> bool {
    let is_pair = !found.sides.is_empty();
    let area = if is_pair { pair::AREA } else { testbeds::SCENARIO };
    let mut deciding = found.findings.iter().filter(|finding| finding.area == area);
    let fails = |finding: &Finding| finding.status == FindingStatus::Fail;
    if is_pair { !deciding.any(fails) } else { deciding.any(|one| !fails(one)) }
}

#[cfg(test)]
mod tests {
    use report::document::terminal;
    use report::{Layout, views};

    use super::*;

    fn examination(status: FindingStatus) -> Examination {
        let finding = Finding::warn(testbeds::SCENARIO, "veth", "tried", "mend it");
        Examination { findings: vec![Finding { status, ..finding }], ..Examination::default() }
    }

    #[test]
    fn a_scenario_that_works_is_enough_to_measure() {
        assert!(can_measure(&examination(FindingStatus::Warn)));
        assert!(!can_measure(&examination(FindingStatus::Fail)));
        assert!(!can_measure(&Examination::default()));
    }

    #[test]
    fn nothing_on_this_machine_is_found_amiss_without_a_remedy() {
        let mut findings = testbeds::privileges(&host::Privileges::read());
        findings.extend(guest::findings());
        findings.extend(tracing::findings(&ProbeLadder::read()));
        findings.push(tracing::profile());
        findings.extend(disturbance::findings());
        assert!(!findings.is_empty());
        for finding in findings.iter().filter(|finding| finding.status != FindingStatus::Ok) {
            assert!(finding.fix.is_some(), "{finding:?}");
        }
    }

    #[test]
    fn that_of_another_machine_comes_as_json() {
        let mut there = examination(FindingStatus::Fail);
        there.findings.insert(0, Finding::ok(interface::AREA, "eth1", "up"));
        there.probes = ProbeLadder::read();
        let json = serde_json::to_string(&there).unwrap();
        let here: Examination = serde_json::from_str(&json).unwrap();
        let text = |one: &Examination| terminal(&views::doctor(one), Layout::PLAIN);
        assert_eq!(text(&here), text(&there));
        let expected = "interface\n  ok    eth1: up\n\nscenario\n  fail  veth: tried -> mend it\n\n1 ok, 0 warn, 1 fail\n";
        assert_eq!(text(&here), expected);
        assert!(!can_measure(&here));
    }
}
