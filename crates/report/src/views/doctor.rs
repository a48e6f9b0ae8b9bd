//! The examination of a machine or of a pair.

use results::{Examination, ExaminedPair, Finding, FindingStatus};

use crate::cells;
use crate::document::{Block, Table};

/// The findings by area, two machines side by side, and the number of findings of each kind.
pub fn doctor(found: &Examination) -> Vec<Block<'static>> {
    let areas = found.findings.chunk_by(|one, other| one.area == other.area);
    let areas =
        areas.filter_map(|area| Block::titled_list(&area[0].area, area.iter().map(sentence).collect()));
    let rows = found.sides.iter().map(|one| cells![&one.property, &one.transmitter, &one.receiver]);
    let sides = Table::with_rows(["property", "transmitter", "receiver"], rows).titled("both machines");
    let count = |status| found.findings.iter().filter(|finding| finding.status == status).count();
    let [ok, warn, fail] = [FindingStatus::Ok, FindingStatus::Warn, FindingStatus::Fail].map(count);
    let counts = Block::Text(format!("{ok} ok, {warn} warn, {fail} fail"));
    areas.chain(sides.filled().map(Block::Table)).chain([counts]).collect()
}

/// A line for each pair of a fleet.
pub fn doctor_of_pairs(pairs: &[ExaminedPair]) -> Vec<Block<'static>> {
    let rows = pairs.iter().map(|pair| {
        let findings = || pair.examination.iter().flat_map(|one| &one.findings);
        let disturbs = |finding: &&Finding| finding.status == FindingStatus::Warn;
        let first = findings().find(disturbs).map(|finding| format!("{}: {}", finding.name, finding.what));
        let (state, why) = match pair.hindrance() {
            Some(why) => ("fail", Some(why.to_owned())),
            None if first.is_some() => ("warn", first),
            None => ("ok", None),
        };
        cells![&pair.name, state, findings().filter(disturbs).count(), why.unwrap_or_default()]
    });
    let table = Table::with_rows(["pair", "state", "warnings", "first finding"], rows);
    let fails = pairs.iter().filter(|pair| pair.hindrance().is_some()).count();
    let words = match fails {
        0 => "every pair can measure".to_owned(),
        fails => format!("{fails} of {} pairs cannot measure", pairs.len()),
    };
    vec![Block::Table(table), Block::Text(words)]
}

fn sentence(finding: &Finding) -> String {
    let fix = finding.fix.as_ref().map_or_else(String::new, |fix| format!(" -> {fix}"));
    format!("{:<4}  {}: {}{fix}", finding.status, finding.name, finding.what)
}
