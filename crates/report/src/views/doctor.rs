//! The examination of a machine or of a pair.

use results::{Examination, Finding, FindingStatus};

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

fn sentence(finding: &Finding) -> String {
    let status = match finding.status {
        FindingStatus::Ok => "ok",
        FindingStatus::Warn => "warn",
        FindingStatus::Fail => "fail",
    };
    let fix = finding.fix.as_ref().map_or_else(String::new, |fix| format!(" -> {fix}"));
    format!("{status:<4}  {}: {}{fix}", finding.name, finding.what)
}
