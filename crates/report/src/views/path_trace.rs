//! The view of a path's trace: its stages, and the functions that take the CPU.

use std::collections::BTreeSet;

use host::perf::{FunctionCost, Profile};
use results::{PathTraceReport, Place, SizedTrace, beyond_rounding, counted, figure, listed, stages_by_end};
use trace::{Journeys, StageTime};

use crate::cells;
use crate::document::{Block, Cell, Table};

/// The stages of a path, how they were found, and the functions that take the CPU.
pub fn path_trace(found: &PathTraceReport) -> Vec<Block<'static>> {
    let mut blocks = vec![
        Block::Text(format!("{}: {}", found.path, found.about)),
        Block::Table(stages(found).titled(found.traffic())),
        Block::List(sentences(found)),
    ];
    let sampled: Vec<(&SizedTrace, &Profile)> =
        found.traces.iter().filter_map(|traced| Some((traced, traced.account.profile.as_ref()?))).collect();
    if !sampled.is_empty() {
        let ends = found.at_ends();
        let title = format!("functions; {} of CPU for a message {ends}, without probes", found.unit());
        blocks.push(Block::Table(functions(&sampled, found.exact).titled(title)));
        blocks.push(Block::List(profile_sentences(&sampled, found.unit())));
    }
    blocks
}

fn short_unit(exact: bool) -> &'static str {
    if exact { "instr." } else { "ns" }
}

fn cost(traced: &SizedTrace, row: &StageTime) -> Cell {
    beyond_rounding(row.corrected, traced.sum()).into()
}

fn share(traced: &SizedTrace, row: &StageTime) -> Cell {
    traced.part(row).map_or_else(|| "waits".into(), |part| (100.0 * beyond_rounding(part, 1.0)).into())
}

fn stages(found: &PathTraceReport) -> Table {
    let unit = short_unit(found.exact);
    let steps = found.steps();
    let names: Vec<[String; 2]> = steps.iter().map(|step| step.map(|place| found.name(place))).collect();
    let stages = stages_by_end(names.iter().map(|[from, to]| (from.as_str(), to.as_str())));
    match found.traces.as_slice() {
        [one] => alone(one, &stages, unit),
        several => beside_each_other(several, steps.into_iter().zip(stages), unit),
    }
}

/// The table of one trace, whose rows are called so.
fn alone(traced: &SizedTrace, stages: &[String], unit: &str) -> Table {
    let rows = stages.iter().zip(&traced.rows).map(|(stage, row)| {
        let [p50, p99] = [row.quantiles[0], row.quantiles[2]].map(|time| time as f64);
        cells![stage, cost(traced, row), share(traced, row), p50, p99, row.outside]
    });
    Table::with_rows(["up to", unit, "share %", "p50", "p99", "aside"], rows).uncut(&[0, 1])
}

fn beside_each_other<'d>(
    traces: &[SizedTrace],
    steps: impl Iterator<Item = ([Place<'d>; 2], String)>,
    unit: &str,
) -> Table {
    let (mut sizes, mut units) = (vec!["up to".to_owned()], vec![""]);
    for traced in traces {
        sizes.extend(vec![format!("{} B", traced.asked.message); 2]);
        units.extend([unit, "%"]);
    }
    let (costs, shares): (Vec<usize>, Vec<usize>) = (1..sizes.len()).partition(|column| column % 2 == 1);
    let mut table = Table::new(&sizes).units(&units).optional(&shares).uncut(&[&[0], &costs[..]].concat());
    for (step, stage) in steps {
        let mut cells = cells![stage];
        for traced in traces {
            let shown = traced.row(step).map(|row| [cost(traced, row), share(traced, row)]);
            cells.extend(shown.unwrap_or([Cell::Missing, Cell::Missing]));
        }
        table.row(cells);
    }
    table
}

fn sentences(found: &PathTraceReport) -> Vec<String> {
    let is_alone = found.traces.len() == 1;
    let aside = "; p50 and p99 as measured; aside: interrupts, soft interrupts and other tasks in between";
    let more = if is_alone { aside } else { "" };
    let mut sentences = vec![format!("{} for a packet, less the cost of probes{more}", found.unit())];
    if found.traces.iter().flat_map(|traced| &traced.rows).any(|row| row.waits) {
        let waits =
            "waits: the packet lies in its socket until a reader takes it; in neither the shares nor the sum";
        sentences.push(waits.to_owned());
    }
    sentences.extend(stand_ins(found));
    for traced in &found.traces {
        let of = if is_alone { String::new() } else { format!("{}: ", traced.size()) };
        let own = size_sentences(traced, found);
        sentences.extend(own.into_iter().map(|sentence| format!("{of}{sentence}")));
    }
    let unseen = found.traces.iter().flat_map(|traced| trace::unseen(traced.account.stages.iter()));
    sentences.extend(results::distinct(unseen).iter().map(|reason| format!("not seen: {reason}")));
    sentences.extend(found.origin());
    sentences.extend(found.disturbed.iter().map(|cause| format!("disturbed: {cause}")));
    sentences.extend(found.notes.iter().map(|note| format!("note: {note}")));
    sentences
}

/// The stages for which different functions stood with different sizes.
fn stand_ins(found: &PathTraceReport) -> Vec<String> {
    let sentence = |stage: &usize| {
        let seen = found.traces.iter().filter(|traced| traced.passes(*stage));
        let at = |traced: &SizedTrace| format!("at {} with {}", traced.place(*stage).1, traced.size());
        let seen: Vec<String> = seen.map(at).collect();
        let name = found.traces[0].account.stages[*stage].name();
        format!("{name} is seen {}: unlike places are not compared", listed(&seen))
    };
    found.unlike.iter().map(sentence).collect()
}

fn size_sentences(traced: &SizedTrace, found: &PathTraceReport) -> Vec<String> {
    let unit = found.unit();
    let mut sentences = Vec::new();
    if let (Some(whole), Some(closure)) = (traced.whole, traced.closure) {
        let (share, whole) = (closure.share() * 100.0, figure(whole));
        sentences.push(format!(
            "closure {share:.1} %: the stages add up to that share of the whole, which takes {whole} {unit} with the fewest probes"
        ));
        sentences.extend(traced.breach(found.exact));
    }
    if let Some(costs) = traced.account.a_message() {
        let [without, with] = costs.map(figure);
        sentences.push(format!("a message takes {without} {unit} without probes, {with} with all of them"));
    }
    sentences.push(packets(traced));
    sentences
}

fn packets(traced: &SizedTrace) -> String {
    let Journeys { arrived, lost, stray, repeated, crowded, unread, .. } = traced.journeys;
    let others = [
        (lost, "lost on the way"),
        (repeated, "became several or passed a stage twice"),
        (crowded, "took rare ways"),
        (unread, "came in and were not read (dropped, merged into another, acknowledgements, or for others)"),
        (
            stray,
            "stages passed without a beginning: the kernel left out a probe, because a program of it was interrupted",
        ),
    ];
    let mut packets = format!("packets: {arrived} followed{}", each_count(", ", &others));
    let account = &traced.account;
    let reading = account.reading();
    let all: u64 = reading.ways.iter().map(|way| way.whole.count).sum();
    if let Some(main) = reading.most_used(account.avoiding)
        && main.whole.count < all
    {
        let of = if account.avoiding.is_some() { ", and found their reader asleep" } else { "" };
        packets.push_str(&format!(
            "; the table is of the {} % that passed all of its stages{of}",
            figure(100.0 * main.whole.count as f64 / all as f64)
        ));
    }
    packets
}

/// The counts above zero with their nouns, each after `gap`.
fn each_count(gap: &str, counts: &[(u64, &str)]) -> String {
    let shown = counts.iter().filter(|(count, _)| *count > 0);
    shown.map(|(count, noun)| format!("{gap}{count} {noun}")).collect()
}

// The most functions that are shown; the rest is one row.
const MOST_FUNCTIONS: usize = 15;

fn functions(sampled: &[(&SizedTrace, &Profile)], exact: bool) -> Table {
    let is_alone = sampled.len() == 1;
    let mut heads = vec!["function".to_owned()];
    for (traced, _) in sampled {
        let of = if is_alone { String::new() } else { format!("{} B, ", traced.asked.message) };
        heads.extend([short_unit(exact), "±", "%"].map(|what| format!("{of}{what}")));
    }
    let shares: Vec<usize> = (1..=sampled.len()).map(|trace| 3 * trace).collect();
    let mut table = Table::new(heads).optional(&shares).uncut(&[0, 1]);
    let names = dearest(sampled);
    let (shown, rest) = names.split_at(names.len().min(MOST_FUNCTIONS));
    for name in shown {
        let mut cells = cells![*name];
        for (traced, _) in sampled {
            let cost = traced.functions.iter().find(|cost| cost.name == **name);
            let numbers = cost.map_or([0.0; 3], |cost| [cost.cost, cost.error, 100.0 * cost.share]);
            cells.extend(numbers.map(Cell::from));
        }
        table.row(cells);
    }
    if rest.is_empty() {
        return table;
    }
    let mut cells = cells![format!("{} more", rest.len())];
    for (traced, profile) in sampled {
        let costs = traced.functions.iter().filter(|cost| shown.contains(&cost.name.as_str()));
        let rest = (profile.message - costs.map(|cost| cost.cost).sum::<f64>()).max(0.0);
        let rest = beyond_rounding(rest, profile.message);
        cells.extend(cells![rest, "", 100.0 * rest / profile.message.max(1e-9)]);
    }
    table.row(cells);
    table
}

fn dearest<'d>(sampled: &[(&'d SizedTrace, &Profile)]) -> Vec<&'d str> {
    let mut costs: Vec<&FunctionCost> = sampled.iter().flat_map(|(traced, _)| &traced.functions).collect();
    costs.sort_by(|one, other| other.cost.total_cmp(&one.cost));
    let mut known = BTreeSet::new();
    costs.into_iter().map(|cost| cost.name.as_str()).filter(|name| known.insert(*name)).collect()
}

fn profile_sentences(sampled: &[(&SizedTrace, &Profile)], unit: &str) -> Vec<String> {
    let mut sentences = vec![
        "the cost of a function is its own, with what the compiler copied into it; ±: standard error, by how far the parts \
         of the profile differ; [return to user]: the kernel's way out of system calls, which interrupts meet behind it"
            .to_owned(),
    ];
    for (traced, profile) in sampled {
        let of = if sampled.len() == 1 { String::new() } else { format!("{}: ", traced.size()) };
        let samples = counted(profile.samples as usize, "sample");
        let others = [
            (profile.elsewhere, "of other threads and of idle CPUs left out"),
            (profile.lost, "lost: the kernel had no room for them"),
        ];
        sentences.push(format!(
            "{of}a message takes {} {unit} of CPU; {samples} of {}, one each {} {unit}{}",
            figure(profile.message),
            profile.means,
            figure(profile.period as f64),
            each_count("; ", &others)
        ));
    }
    sentences
}

#[cfg(test)]
mod tests {
    use results::{TracedMachine, mixed_stages};
    use trace::{
        At, Attachment, ChosenStage, JourneyPhase, Layer, ProbeCounts, Round, Segment, StagePoint,
        TraceAccount, Way,
    };

    use super::*;
    use crate::document::{Layout, terminal};

    /// A trace of stages, each with the function that stood for it and what it takes from there.
    fn traced(message: u32, stages: &[(&str, &str, u64)]) -> SizedTrace {
        let stage = |(point, (label, function, _)): (u8, &(&str, &str, u64))| ChosenStage {
            label: (*label).to_owned(),
            lane: Layer::Protocol,
            at: At::Entry,
            optional: false,
            phase: JourneyPhase::Out,
            seen: Ok(StagePoint {
                point,
                name: (*function).to_owned(),
                mean: Attachment::Trampoline,
                packet: None,
            }),
        };
        let segment = |(point, (_, _, takes)): (u8, &(&str, &str, u64))| Segment {
            point,
            count: 1,
            sum: *takes,
            ..Segment::default()
        };
        let segments: Vec<Segment> = (1..).zip(stages).map(segment).take(stages.len() - 1).collect();
        let whole = Segment { count: 1, sum: segments.iter().map(|one| one.sum).sum(), ..Segment::default() };
        let reading = ProbeCounts { ways: vec![Way { whole, segments }], ..ProbeCounts::default() };
        let account = TraceAccount {
            batch: 1,
            stages: (0..).zip(stages).map(stage).collect(),
            avoiding: None,
            untraced: Vec::new(),
            ends: Vec::new(),
            one_more: Vec::new(),
            all: vec![Round { reading, ..Round::default() }],
            sampled: None,
            profile: None,
        };
        let asked = words::Traffic { message, ..words::Traffic::new(words::Kind::TcpRr) };
        SizedTrace::new(asked, account, true)
    }

    fn document(traces: Vec<SizedTrace>) -> PathTraceReport {
        PathTraceReport {
            netassay: "0.1.0",
            command: "netassay trace tcp-rx exact=true".to_owned(),
            path: "tcp-rx".to_owned(),
            about: "a TCP segment".to_owned(),
            scenario: study::Scenario::Veth,
            inside_guest: true,
            on: TracedMachine {
                described: "kernel 6.1.0, command line `quiet`".to_owned(),
                ..TracedMachine::default()
            },
            exact: true,
            family: study::Family::Ipv4,
            notes: Vec::new(),
            disturbed: None,
            unlike: mixed_stages(&traces),
            traces,
        }
    }

    #[test]
    fn stages_for_which_another_function_stood_are_not_beside_each_other() {
        let small = [
            ("tcp_rcv_established", "tcp_rcv_established", 90),
            ("tcp_data_queue", "tcp_queue_rcv", 1600),
            ("copy", "skb_copy_datagram_iter", 0),
        ];
        let large = [(small[0].0, small[0].1, 1540), ("tcp_data_queue", "tcp_data_queue", 150), small[2]];
        let found = document(vec![traced(1, &small), traced(1400, &large)]);
        let text = |found| Layout::PLAIN.wrap(&terminal(&path_trace(found), Layout::PLAIN));
        insta::assert_snapshot!("unlike_functions", text(&found));
        assert_eq!(serde_json::to_value(&found).unwrap()["unlike"], serde_json::json!([1]));
        // By the same functions they are.
        let same = document(vec![traced(1, &small), traced(1400, &small)]);
        let text = text(&same);
        assert!(!text.contains("unlike") && same.unlike.is_empty(), "{text}");
    }

    #[test]
    fn no_name_is_cut_at_any_width() {
        let stages = [
            ("sk_data_ready", "sock_def_readable", 100),
            ("wait_for_packet", "__skb_wait_for_more_packets", 2000),
            ("__skb_recv_datagram", "__skb_recv_udp", 4000),
            ("skb_free_datagram", "__skb_free_datagram_locked", 0),
        ];
        for traces in [vec![traced(1, &stages)], vec![traced(1, &stages), traced(1400, &stages)]] {
            let found = document(traces);
            for width in [40, 60, 80, 120] {
                let text = super::stages(&found).fit(Layout { width, ..Layout::PLAIN });
                assert!(
                    !text.contains('…') && text.lines().all(|line| line.chars().count() <= width),
                    "{text}"
                );
                assert!(text.contains("__skb_recv_datagram") && text.contains("4000"), "{text}");
            }
        }
    }
}
