//! The grid: cells of traffic. In each of them netassay must be as fast as the best of its peers.

use std::fs;

use load::Kind;

use crate::report::Report;
use crate::table::Table;
use crate::traffic::task::Task;

/// Cells that differ in the size of their messages, or in the number of their flows.
struct Row {
    name: &'static str,
    kind: Kind,
    messages: &'static [u32],
    flows: &'static [u32],
}

impl Row {
    /// The name of one of its cells: the row's, and the size or the number of flows.
    fn cell(&self, message: u32, flows: u32) -> String {
        format!("{}:{}", self.name, if self.messages.len() > 1 { message } else { flows })
    }
}

/// The largest datagram of IPv4: 65,535 bytes less the headers of IP and UDP.
const LARGEST: u32 = 65_535 - 20 - 8;
const ROWS: [Row; 5] = [
    Row {
        name: "tcp",
        kind: Kind::TcpStream,
        messages: &[64, 1 << 10, 4 << 10, 16 << 10, 64 << 10, 128 << 10, 1 << 20],
        flows: &[1],
    },
    // One flow of it is tcp:16384.
    Row { name: "tcp_flows", kind: Kind::TcpStream, messages: &[16 << 10], flows: &[4, 16, 64] },
    Row { name: "tcp_rr", kind: Kind::TcpRr, messages: &[1], flows: &[1, 4, 16, 64] },
    Row {
        name: "udp",
        kind: Kind::UdpStream,
        messages: &[1, 64, 512, 1472, 4 << 10, 32 << 10, LARGEST],
        flows: &[1],
    },
    Row { name: "udp_rr", kind: Kind::UdpRr, messages: &[1], flows: &[1, 4, 16, 64] },
];

/// Congestion controls that do not pace; the first that is allowed is used.
const UNPACED: [&str; 2] = ["cubic", "reno"];
/// A congestion control that paces.
pub(crate) const PACED: &str = "bbr";

/// Every cell, by name.
fn cells() -> impl Iterator<Item = (String, Task)> {
    ROWS.iter().flat_map(|row| {
        row.messages.iter().flat_map(move |message| {
            row.flows.iter().map(move |flows| {
                let task = Task { kind: row.kind, message: *message, flows: *flows, polls: false };
                (row.cell(*message, *flows), task)
            })
        })
    })
}

/// The task of each cell.
pub(crate) fn tasks() -> Vec<Task> {
    cells().map(|(_, task)| task).collect()
}

/// The name of the cell with this task; empty for one of another part.
pub(crate) fn name(task: Task) -> String {
    cells().find(|(_, other)| *other == task).map(|(name, _)| name).unwrap_or_default()
}

/// Is a cell of this name asked for, by it or by that of its row?
pub(crate) fn is_asked(name: &str, asked: &[String]) -> bool {
    let row = name.split(':').next();
    asked.is_empty() || asked.iter().any(|asked| asked == name || Some(asked.as_str()) == row)
}

/// The name of a cell or a row, for the command line.
pub(crate) fn cell(text: &str) -> Result<String, String> {
    let asked = [text.to_owned()];
    if cells().any(|(name, _)| is_asked(&name, &asked)) {
        return Ok(text.to_owned());
    }
    let names: Vec<String> = cells().map(|(name, _)| name).collect();
    Err(format!(
        "there is no such cell; give one of {}, or the word before the colon for a whole row",
        names.join(", ")
    ))
}

/// The congestion controls of TCP's cells, of those that this kernel allows as a network
/// namespace's default.
pub(crate) fn congestion_controls(report: &mut Report) -> Vec<String> {
    let there = fs::read_to_string("/proc/sys/net/ipv4/tcp_allowed_congestion_control").unwrap_or_default();
    let has = |name: &&str| there.split_whitespace().any(|one| one == *name);
    let mut all: Vec<String> = UNPACED.into_iter().find(has).map(str::to_owned).into_iter().collect();
    if has(&PACED) {
        all.push(PACED.to_owned());
    } else {
        report.note(format!(
            "without {PACED}: this kernel does not allow it as a namespace's default; load it with `modprobe tcp_{PACED}`, then add it \
             to the sysctl net.ipv4.tcp_allowed_congestion_control"
        ));
    }
    all
}

/// The grid's table, without a row.
pub(crate) fn table() -> Table {
    let heading = [
        "cell",
        "scenario",
        "congestion control",
        "unit",
        "best peer",
        "netassay",
        "peer's",
        "ratio",
        "low",
        "high",
        "goal 1.00",
    ];
    Table::new(5, heading)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_cell_has_a_name_of_its_own() {
        let names: BTreeSet<String> = cells().map(|(name, _)| name).collect();
        assert_eq!((names.len(), cells().count()), (25, 25));
        for (cell, task) in cells() {
            assert_eq!(name(task), cell);
        }
    }

    #[test]
    fn a_cell_is_chosen_by_its_name_or_by_that_of_its_row() {
        assert_eq!(cell("tcp:64"), Ok("tcp:64".to_owned()));
        assert_eq!(cell("udp_rr"), Ok("udp_rr".to_owned()));
        assert!(cell("tcp:63").unwrap_err().contains("tcp:64, tcp:1024"));
        let asked = |names: &[&str]| {
            let asked: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
            cells().filter(|(name, _)| is_asked(name, &asked)).count()
        };
        assert_eq!((asked(&[]), asked(&["tcp"]), asked(&["tcp:64", "tcp_rr"])), (25, 7, 5));
    }
}
