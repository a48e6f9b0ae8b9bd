//! The examination: one finding a line, each with its remedy.

mod disturbance;
mod feature;
mod finding;
mod guest;
mod interface;
mod pair;
mod privilege;
mod profile;
mod scenario;
mod tracing;

use agent::Interrupt;
use results::Layout;
use serde::{Deserialize, Serialize};
use study::BySide;
use testbed::{FoundMachine, PairCheck};
use trace::ProbeLadder;

use crate::failure::Failure;
use finding::{Finding, Status};
use pair::Property;
pub(crate) use tracing::{Rung, rungs};

/// All findings, in display order.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Examination {
    findings: Vec<Finding>,
    /// The kinds of probe that tracing has, best first.
    probes: Vec<Rung>,
    /// Two machines side by side.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    sides: Vec<Property>,
}

impl Examination {
    /// Examines this machine: reads, and tries what can be tried without changing the machine.
    /// `on`: an interface that is to carry traffic.
    pub(crate) fn make(on: Option<&str>, interrupt: &Interrupt) -> Result<Self, Failure> {
        let privileges = host::Privileges::read();
        let mut findings = on.map(interface::findings).unwrap_or_default();
        findings.extend(privilege::findings(&privileges));
        findings.extend(scenario::findings(&privileges, interrupt)?);
        findings.extend(feature::findings(&privileges, interrupt)?);
        findings.extend(guest::findings());
        let ladder = ProbeLadder::read();
        findings.extend(tracing::findings(&ladder));
        findings.extend(profile::findings());
        findings.extend(disturbance::findings());
        Ok(Self { findings, probes: rungs(&ladder), sides: Vec::new() })
    }

    /// What was found on two machines, and how they fit together.
    pub(crate) fn of_pair(checks: Vec<PairCheck>, found: &BySide<FoundMachine>) -> Self {
        let findings = checks.into_iter().flat_map(pair::findings).collect();
        Self { findings, probes: Vec::new(), sides: pair::side_by_side(found) }
    }

    /// Adds, behind its interface, whether another machine and this one are a pair. `other`: how it
    /// is named.
    pub(crate) fn add_pair(&mut self, checks: Result<Vec<PairCheck>, String>, other: &str) {
        let findings = match checks {
            Ok(checks) => checks.into_iter().flat_map(pair::findings).collect(),
            Err(why) => vec![pair::no_pair(why, other)],
        };
        let behind = self.findings.iter().take_while(|finding| finding.area == interface::AREA).count();
        self.findings.splice(behind..behind, findings);
    }

    /// Whether a scenario works, or two machines are a pair.
    pub(crate) fn can_measure(&self) -> bool {
        let area = if self.sides.is_empty() { scenario::AREA } else { pair::AREA };
        let decides = |finding: &&Finding| finding.area == area;
        let mut deciding = self.findings.iter().filter(decides);
        let fails = |finding: &Finding| finding.status == Status::Fail;
        if self.sides.is_empty() { deciding.any(|one| !fails(one)) } else { !deciding.any(fails) }
    }

    pub(crate) fn text(&self, layout: Layout) -> String {
        let areas = self.findings.chunk_by(|one, other| one.area == other.area);
        let text: String = areas.map(|area| format!("{}\n{}", area[0].area, listed(area, layout))).collect();
        let text = text + &pair::table(&self.sides, layout);
        let count = |status| self.findings.iter().filter(|finding| finding.status == status).count();
        format!(
            "{text}\n{} ok, {} warn, {} fail\n",
            count(Status::Ok),
            count(Status::Warn),
            count(Status::Fail)
        )
    }
}

fn listed(area: &[Finding], layout: Layout) -> String {
    let names = area.iter().map(|finding| finding.name.chars().count()).max().unwrap_or(0);
    let mut text = String::new();
    for finding in area {
        let start = format!("  {:<4}  {:<names$}  ", finding.status.word(), finding.name);
        let indent = start.chars().count();
        text.push_str(&layout.hang(&format!("{start}{}\n", finding.what), indent));
        if let Some(fix) = &finding.fix {
            text.push_str(&layout.hang(&format!("{:indent$}-> {fix}\n", ""), indent + 3));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn examination(status: Status) -> Examination {
        let finding = Finding::warn(scenario::AREA, "veth", "tried", "mend it");
        let findings = vec![Finding { status, ..finding }];
        Examination { findings, probes: Vec::new(), sides: Vec::new() }
    }

    #[test]
    fn a_scenario_that_works_is_enough_to_measure() {
        assert!(examination(Status::Warn).can_measure());
        assert!(!examination(Status::Fail).can_measure());
        let nothing = || Examination { findings: Vec::new(), probes: Vec::new(), sides: Vec::new() };
        assert!(!nothing().can_measure());
    }

    #[test]
    fn nothing_on_this_machine_is_found_amiss_without_a_remedy() {
        let mut findings = privilege::findings(&host::Privileges::read());
        findings.extend(guest::findings());
        findings.extend(tracing::findings(&ProbeLadder::read()));
        findings.extend(profile::findings());
        findings.extend(disturbance::findings());
        assert!(!findings.is_empty());
        for finding in findings.iter().filter(|finding| finding.status != Status::Ok) {
            assert!(finding.fix.is_some(), "{finding:?}");
        }
    }

    #[test]
    fn that_of_another_machine_goes_on_with_the_pair_behind_its_interface() {
        let mut there = examination(Status::Fail);
        there.findings.insert(0, Finding::ok(interface::AREA, "eth1", "up"));
        there.probes = rungs(&ProbeLadder::read());
        let json = serde_json::to_string(&there).unwrap();
        let mut here: Examination = serde_json::from_str(&json).unwrap();
        assert_eq!(here.text(Layout::PLAIN), there.text(Layout::PLAIN));
        here.add_pair(Err("no network".to_owned()), "root@b:eth1");
        let text = here.text(Layout { width: 200, ..Layout::PLAIN });
        let expected = "interface\n  ok    eth1  up\npair\n  warn  this machine  no network\n                      -> netassay doctor \
                        --transmitter HOST:INTERFACE --receiver root@b:eth1 checks it with another machine\nscenario\n";
        assert!(text.starts_with(expected) && !here.can_measure(), "{text}");
    }

    #[test]
    fn every_finding_shows_its_remedy_and_is_counted() {
        let text = examination(Status::Fail).text(Layout::PLAIN);
        assert_eq!(text, "scenario\n  fail  veth  tried\n              -> mend it\n\n0 ok, 0 warn, 1 fail\n");
    }
}
