//! The examination: one finding a line, each with its remedy.

mod disturbance;
mod finding;
mod guest;
mod interface;
mod pair;
mod testbeds;
mod tracing;

use agent::Interrupt;
use report::document::Block;
use serde::{Deserialize, Serialize};
use study::BySide;
use testbed::{FoundMachine, PairCheck};
use trace::ProbeLadder;

use crate::failure::Failure;
use finding::{Finding, Status};
use pair::Property;
pub(crate) use tracing::{Rung, rungs};

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
        findings.extend(testbeds::privileges(&privileges));
        findings.extend(testbeds::scenarios(&privileges, interrupt)?);
        findings.extend(testbeds::features(&privileges, interrupt)?);
        findings.extend(guest::findings());
        let ladder = ProbeLadder::read();
        findings.extend(tracing::findings(&ladder));
        findings.push(tracing::profile());
        findings.extend(disturbance::findings());
        Ok(Self { findings, probes: rungs(&ladder), sides: Vec::new() })
    }

    /// The examination of two machines and of how they fit together.
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

    /// True if a scenario works, or two machines are a pair.
    pub(crate) fn can_measure(&self) -> bool {
        let area = if self.sides.is_empty() { testbeds::SCENARIO } else { pair::AREA };
        let decides = |finding: &&Finding| finding.area == area;
        let mut deciding = self.findings.iter().filter(decides);
        let fails = |finding: &Finding| finding.status == Status::Fail;
        if self.sides.is_empty() { deciding.any(|one| !fails(one)) } else { !deciding.any(fails) }
    }

    pub(crate) fn blocks(&self) -> Vec<Block<'static>> {
        let areas = self.findings.chunk_by(|one, other| one.area == other.area);
        let list = |area: &[Finding]| Block::List(area.iter().map(Finding::sentence).collect());
        let areas = areas.map(|area| Block::Fold(area[0].area.to_string(), vec![list(area)]));
        let count = |status| self.findings.iter().filter(|finding| finding.status == status).count();
        let counts =
            format!("{} ok, {} warn, {} fail", count(Status::Ok), count(Status::Warn), count(Status::Fail));
        areas.chain(pair::table(&self.sides)).chain([Block::Text(counts)]).collect()
    }
}

#[cfg(test)]
mod tests {
    use report::Layout;
    use report::document::terminal;

    use super::*;

    fn examination(status: Status) -> Examination {
        let finding = Finding::warn(testbeds::SCENARIO, "veth", "tried", "mend it");
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
        let mut findings = testbeds::privileges(&host::Privileges::read());
        findings.extend(guest::findings());
        findings.extend(tracing::findings(&ProbeLadder::read()));
        findings.push(tracing::profile());
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
        let text = |one: &Examination| terminal(&one.blocks(), Layout::PLAIN);
        assert_eq!(text(&here), text(&there));
        here.add_pair(Err("no network".to_owned()), "root@b:eth1");
        let expected = "interface\n  ok    eth1: up\n\npair\n  warn  this machine: no network -> netassay doctor \
                        --transmitter HOST:INTERFACE --receiver root@b:eth1 checks it with another machine\n\n\
                        scenario\n  fail  veth: tried -> mend it\n\n1 ok, 1 warn, 1 fail\n";
        assert_eq!(text(&here), expected);
        assert!(!here.can_measure());
    }
}
