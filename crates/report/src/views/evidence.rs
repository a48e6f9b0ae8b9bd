//! The evidence that each condition's switches acted: the state that reads back, and the kernel's
//! counters.

use results::{ConditionResult, Results, TURN_PARTS, in_turns, percent};
use study::Name;
use study::metric;

use super::means_table::{LOSS, MetricColumn, column, means};
use crate::cells;
use crate::document::{Block, Cell, Table};

// The largest number of notes below a table: there may be one for each condition.
const NOTES: usize = 8;

const COUNTERS: [MetricColumn; 9] = [
    column("wire packets", "tx, 1/run", &[metric::WIRE_PACKETS.transmitter]),
    column("bytes per", "wire packet", &[metric::BYTES_PER_WIRE_PACKET.transmitter]),
    column("segments per", "wire packet", &[metric::SEGMENTS_PER_WIRE_PACKET.transmitter]),
    column("segments", "1/run", &[metric::SEGMENTS.transmitter]),
    column("retransmits", "1/run", &[metric::RETRANSMITS.transmitter]),
    column("drops tx", "1/run", &[metric::DROPS.transmitter]),
    column("drops rx", "1/run", &[metric::DROPS.receiver]),
    column("switches tx", "1/run", &[metric::CONTEXT_SWITCHES.transmitter]),
    column("switches rx", "1/run", &[metric::CONTEXT_SWITCHES.receiver]),
];

const LOSSES: [MetricColumn; 8] = [
    column("offered", "1/run", &[metric::OFFERED]),
    column("received", "1/run", &[metric::RECEIVED]),
    column("lost", "1/run", &[metric::LOST]),
    LOSS,
    column("queue", "1/run", &[metric::LOST_QUEUE]),
    column("device", "1/run", &[metric::LOST_DEVICE]),
    column("socket", "1/run", &[metric::LOST_SOCKET]),
    column("unaccounted", "1/run", &[metric::LOST_UNACCOUNTED]),
];

/// The state of each condition's switches, and the conditions that were not measured for that;
/// `None` if nothing was read back.
pub fn switch_states(results: &Results) -> Option<Block<'static>> {
    let states = results.switches();
    let head = ["condition", "switches", "not applied, or changed by the kernel"];
    let row =
        |(label, state): &(&str, Vec<String>)| cells![&Name::from(*label), &state[0], state[1..].join("; ")];
    let table = Table::with_rows(head, states.iter().map(row)).compact();
    let base = results.stored.plan.effective.first();
    let who = if base.is_some_and(|base| base.receiver.is_none()) { "the one end" } else { "both ends" };
    let title = format!("Switches as {who} read them back, against the first condition");
    titled(&title, table, results.not_measured())
}

/// The kernel's counters, the offloads that acted, the places where messages were lost, the
/// settling of turns, and sends without copying; empty without a run.
pub fn evidence(results: &Results) -> Vec<Block<'static>> {
    if !results.has_measurements() {
        return Vec::new();
    }
    let counters = "Proof, from the kernel's counters in the window (means of boot means; tx: transmitter, rx: receiver)";
    let blocks = [
        titled(counters, means(results.conditions.iter(), COUNTERS.iter().collect()), Vec::new()),
        acted(results),
        losses(results),
        turns(results),
        zerocopy(results),
    ];
    blocks.into_iter().flatten().collect()
}

fn titled(title: &str, table: Table, mut notes: Vec<String>) -> Option<Block<'static>> {
    let more = notes.len().saturating_sub(NOTES);
    if more > 1 {
        notes.truncate(NOTES);
        notes.push(format!("{more} more rows have a note like these."));
    }
    Some(Block::Table(table.filled()?.titled(title).noted(notes)))
}

fn acted(results: &Results) -> Option<Block<'static>> {
    let head = ["condition", "segments per", "segments per", "packets per", "checksums"];
    let under = ["", "buffer, tx", "underlay packet", "batch, rx", "computed by"];
    let rows = results.conditions.iter().map(|condition| {
        let acted = &condition.acted;
        let tunnel = acted.segments_per_underlay_packet.map_or(Cell::EMPTY, Cell::from);
        let label = condition.label.as_str();
        cells![label, acted.segments_per_buffer, tunnel, acted.packets_per_batch, acted.checksum]
    });
    let table = Table::with_rows(head, rows).units(under);
    let title = "Offloads that acted (buffers: passed to the transmitter's interface, split by TSO; batches: passed to TCP, merged by GRO)";
    let note = "No counter shows buffers that the stack splits before the interface (GSO), or where a checksum was computed: that column shows what the switches read back. Tracing shows both.";
    titled(title, table.compact(), vec![note.to_owned()])
}

fn losses(results: &Results) -> Option<Block<'static>> {
    let is_udp = |condition: &&ConditionResult| !condition.kind.is_tcp();
    let conditions = results.conditions.iter().filter(is_udp);
    let title = "Where messages were lost, over the whole run (lost = queue + device + socket + unaccounted)";
    titled(title, means(conditions, LOSSES.iter().collect()), Vec::new())
}

fn turns(results: &Results) -> Option<Block<'static>> {
    let parts = TURN_PARTS.map(|(name, _)| name);
    let mut table =
        Table::new([&["condition", "turns", "flows"], &parts[..], &["counted", "interval"]].concat());
    for one in in_turns(&results.stored) {
        let mut row = cells![&one.label, one.turns, one.flows];
        row.extend(one.parts.map(|share| Cell::from(share.map(Cell::percent))));
        row.extend([Cell::percent(one.carry_over), Cell::interval(one.interval, percent)]);
        table.row(row);
    }
    let title = "After-effects of turns: rate after another condition's turn, in % above the rate after its own, by part of the turn, and in the counted part (95 % intervals over boots)";
    titled(title, table, Vec::new())
}

fn zerocopy(results: &Results) -> Option<Block<'static>> {
    let stored = &results.stored;
    let mut table =
        Table::new(["condition", "sends", "copied", "share"]).units(["", "completed", "after all", "%"]);
    for (index, condition) in results.conditions.iter().enumerate() {
        let runs = stored.measurements_of(index);
        let sends = runs.flat_map(|run| run.detail.sides()).filter_map(|side| side.whole.outcome.zerocopy);
        let (completed, copied) = sends.fold((0_u64, 0_u64), |(completed, copied), sends| {
            (completed.saturating_add(sends.completed), copied.saturating_add(sends.copied))
        });
        if completed > 0 {
            let share = Cell::percent(copied as f64 * 100.0 / completed as f64);
            table.row(cells![condition.label.as_str(), completed, copied, share]);
        }
    }
    titled("Sends without copying, over all runs", table, Vec::new())
}
