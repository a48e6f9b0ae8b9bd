//! The grid: cells of traffic. In each of them netassay must be as fast as the best of its peers.

use std::fs;

use load::Kind;

use crate::report::Report;
use crate::traffic::task::Task;

/// Cells that differ in the size of their messages, or in the number of their flows.
struct Row {
    name: &'static str,
    kind: Kind,
    messages: &'static [u32],
    flows: &'static [u32],
}

/// The largest datagram of IPv4: 65,535 bytes less the headers of IP and UDP.
const LARGEST: u32 = 65_535 - 20 - 8;
const SIZES: [u32; 7] = [64, 1 << 10, 4 << 10, 16 << 10, 64 << 10, 128 << 10, 1 << 20];
const ROWS: [Row; 5] = [
    Row { name: "tcp", kind: Kind::TcpStream, messages: &SIZES, flows: &[1] },
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

/// Every cell, by name: the row's, and the size or the number of flows.
fn cells() -> impl Iterator<Item = (String, Task)> {
    ROWS.iter().flat_map(|Row { name, kind, messages, flows }| {
        let tasks = messages.iter().flat_map(|message| flows.iter().map(move |flows| (*message, *flows)));
        tasks.map(move |(message, flows)| {
            let number = if messages.len() > 1 { message } else { flows };
            (format!("{name}:{number}"), Task { kind: *kind, message, flows, polls: false })
        })
    })
}

/// The task of each cell.
pub(crate) fn tasks() -> Vec<Task> {
    cells().map(|(_, task)| task).collect()
}

/// Is the cell with this task asked for, by its name or by that of its row?
pub(crate) fn is_asked(task: Task, asked: &[String]) -> bool {
    asked.is_empty()
        || cells().any(|(name, other)| other == task && asked.iter().any(|asked| fits(&name, asked)))
}

fn fits(name: &str, asked: &str) -> bool {
    asked == name || name.split(':').next() == Some(asked)
}

/// The name of a cell or a row, for the command line.
pub(crate) fn cell(text: &str) -> Result<String, String> {
    if cells().any(|(name, _)| fits(&name, text)) {
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
    if !has(&PACED) {
        report.note(format!(
            "without {PACED}: this kernel does not allow it as a namespace's default; load it with `modprobe tcp_{PACED}`, then add it \
             to the sysctl net.ipv4.tcp_allowed_congestion_control"
        ));
    }
    UNPACED.into_iter().find(has).into_iter().chain(Some(PACED).filter(has)).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn a_cell_has_a_name_of_its_own_and_is_chosen_by_it_or_by_that_of_its_row() {
        let names: BTreeSet<String> = cells().map(|(name, _)| name).collect();
        assert_eq!((names.len(), tasks().len()), (25, 25));
        assert_eq!(cell("tcp:64"), Ok("tcp:64".to_owned()));
        assert_eq!(cell("udp_rr"), Ok("udp_rr".to_owned()));
        assert!(cell("tcp:63").unwrap_err().contains("tcp:64, tcp:1024"));
        for (asked, count) in [(&[][..], 25), (&["tcp"], 7), (&["tcp:64", "tcp_rr"], 5)] {
            let asked: Vec<String> = asked.iter().map(|name| (*name).to_owned()).collect();
            assert_eq!(
                tasks().into_iter().filter(|task| is_asked(*task, &asked)).count(),
                count,
                "{asked:?}"
            );
        }
    }
}
