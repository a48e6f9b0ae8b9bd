//! What a trace came to, as a document and as text.

use std::collections::BTreeSet;

use results::document::Block;
use results::{Table, TitledTable, beyond_rounding, counted, figure, listed, stages_by_end};
use serde::Serialize;
use study::Closure;
use trace::{
    At, Attachment, ChosenStage, JourneyPhase, Journeys, ProbeCost, StageTime, TraceAccount, TracePath,
};

use super::functions;
use super::place::OnMachine;
use crate::again;
use crate::commands::load::Asked;

#[derive(Debug, Serialize)]
pub(super) struct Document {
    netassay: &'static str,
    /// The command that traced.
    command: String,
    pub(super) path: String,
    pub(super) about: String,
    scenario: study::Scenario,
    inside_guest: bool,
    #[serde(flatten)]
    on: OnMachine,
    /// Times are instructions.
    exact: bool,
    family: study::Family,
    notes: Vec<String>,
    disturbed: Option<String>,
    /// The stages, by their place in `stages`, for which another function stood with another size:
    /// rows that begin or end there are not of the same code.
    unlike: Vec<usize>,
    /// One for each size of the message.
    pub(super) traces: Vec<OfSize>,
}

/// A stage, as an index of [`TraceAccount::stages`], and the function or tracepoint that stood for
/// it.
pub(super) type Place<'d> = (usize, &'d str);

/// The trace with one size of the message.
#[derive(Debug, Serialize)]
pub(super) struct OfSize {
    asked: load::Traffic,
    /// From stage to stage, of the way that most packets took.
    pub(super) rows: Vec<StageTime>,
    /// From the first stage to the last with the fewest probes, less what they cost, in ns for a
    /// packet.
    whole: Option<f64>,
    /// What the corrected stages add up to, as a share of `whole`.
    closure: Option<Closure>,
    /// Whether that is near enough to the whole to trust them one by one.
    closes: bool,
    /// What a probe of each kind costs, in ns.
    probes: Vec<(ProbeCost, f64)>,
    journeys: Journeys,
    /// The functions that take the CPU for a message, without probes; none if that was not asked
    /// for.
    pub(super) functions: Vec<host::perf::FunctionCost>,
    pub(super) account: TraceAccount,
}

impl OfSize {
    pub(super) fn new(asked: load::Traffic, account: TraceAccount, exact: bool) -> Self {
        let probes = account.one_more.iter().filter_map(|(kind, _)| Some((*kind, account.cost(*kind)?)));
        Self {
            asked,
            whole: account.time_of_way(),
            closure: account.closure(),
            closes: account.closure().is_some_and(|closure| closure.holds(exact)),
            probes: probes.collect(),
            rows: account.rows(),
            journeys: account.reading().journeys,
            functions: account.profile.iter().flat_map(host::perf::Profile::costs).collect(),
            account,
        }
    }

    fn sampled(&self) -> Option<functions::Sampled<'_>> {
        let profile = self.account.profile.as_ref()?;
        Some(functions::Sampled { message: self.asked.message, profile, costs: &self.functions })
    }

    /// The size of its message.
    pub(super) fn size(&self) -> String {
        counted(self.asked.message as usize, "byte")
    }

    fn sum(&self) -> f64 {
        self.rows.iter().filter(|row| !row.waits).map(|row| row.corrected).sum()
    }

    /// The part of the sum that a row takes; `None` while the packet waits.
    pub(super) fn part(&self, row: &StageTime) -> Option<f64> {
        (!row.waits).then(|| row.corrected / self.sum().max(1e-9))
    }

    /// What a row costs.
    fn cost(&self, row: &StageTime) -> String {
        figure(beyond_rounding(row.corrected, self.sum()))
    }

    fn share(&self, row: &StageTime) -> String {
        self.part(row).map_or_else(|| "waits".to_owned(), |part| figure(100.0 * beyond_rounding(part, 1.0)))
    }

    /// That the stages do not close, by how much, and the way out.
    pub(super) fn breach(&self, exact: bool) -> Option<String> {
        let way_out = if exact { "" } else { ", or count instructions (--exact)" };
        let breach = self.closure?.breach(exact)?;
        Some(format!("does not close: {breach}; more --rounds know the cost of probes better{way_out}"))
    }

    /// The row from one place to another.
    pub(super) fn row(&self, step: [Place<'_>; 2]) -> Option<&StageTime> {
        self.rows.iter().find(|row| self.ends(row) == step)
    }

    /// Where a row begins and ends.
    fn ends(&self, row: &StageTime) -> [Place<'_>; 2] {
        [row.from, row.to].map(|stage| self.place(stage))
    }

    pub(super) fn place(&self, stage: usize) -> Place<'_> {
        let seen = self.account.stages.get(stage).and_then(|stage| stage.seen.as_ref().ok());
        (stage, seen.map_or("", |seen| seen.name.as_str()))
    }

    /// Whether packets passed the stage.
    fn passes(&self, stage: usize) -> bool {
        self.rows.iter().any(|row| row.from == stage || row.to == stage)
    }
}

impl Document {
    pub(super) fn new(
        name: &str,
        path: &TracePath,
        (asked, exact, on): (&Asked, bool, OnMachine),
        traces: Vec<OfSize>,
        notes: Vec<String>,
        disturbed: Option<String>,
    ) -> Self {
        Self {
            netassay: env!("CARGO_PKG_VERSION"),
            command: again::command(),
            path: name.to_owned(),
            about: path.about.clone(),
            scenario: asked.scenario,
            inside_guest: asked.inside_guest,
            on,
            exact,
            family: asked.order.family,
            notes,
            disturbed,
            unlike: unlike(&traces),
            traces,
        }
    }

    /// The stages, and the functions below them.
    pub(super) fn blocks(&self) -> Vec<Block<'static>> {
        let mut blocks = vec![
            Block::Text(format!("{}: {}", self.path, self.about)),
            Block::Table(TitledTable { title: self.traffic(), table: self.table(), notes: Vec::new() }),
            Block::List(self.sentences()),
        ];
        let sampled: Vec<functions::Sampled<'_>> = self.traces.iter().filter_map(OfSize::sampled).collect();
        if !sampled.is_empty() {
            blocks.extend(functions::blocks(&sampled, self.unit(), self.whose()));
        }
        blocks
    }

    /// Whose CPU time a message's is.
    pub(super) fn whose(&self) -> &'static str {
        if self.scenario.is_of_namespaces() { "at both ends" } else { "at the transmitter" }
    }

    /// What was sent, and where.
    pub(super) fn traffic(&self) -> String {
        let place = match self.on.named() {
            Some(named) => format!(" on {named}"),
            None if self.inside_guest => " inside a virtual machine".to_owned(),
            None => String::new(),
        };
        let kind = self.traces.first().map_or_else(String::new, |traced| traced.asked.kind.to_string());
        let sizes: Vec<String> = self.traces.iter().map(OfSize::size).collect();
        let apart = if self.scenario.is_of_namespaces() {
            ""
        } else {
            ", in the kernel of the transmitter; the receiver answers"
        };
        format!("{kind}, {}, {}, over {}{place}{apart}", sizes.join(" and "), self.family, self.scenario)
    }

    /// The kernel that was traced, and the command and the version that did it.
    pub(super) fn origin(&self) -> [String; 2] {
        [self.on.described.clone(), format!("netassay {}: `{}`", self.netassay, self.command)]
    }

    /// From which place to which packets went, in the order of the path.
    pub(super) fn steps(&self) -> Vec<[Place<'_>; 2]> {
        let of_sizes = self.traces.iter();
        let mut steps: Vec<[Place<'_>; 2]> =
            of_sizes.flat_map(|traced| traced.rows.iter().map(|row| traced.ends(row))).collect();
        steps.sort_by_key(|[from, to]| (*to, *from));
        steps.dedup();
        steps
    }

    /// A place, as it is named: as its stage; by its function where another one stood for that with
    /// another size.
    pub(super) fn name(&self, (stage, function): Place<'_>) -> String {
        let stages = self.traces.first().map_or(&[][..], |traced| &traced.account.stages);
        let Some(chosen) = stages.get(stage) else { return String::new() };
        match self.unlike.contains(&stage) {
            true => ChosenStage { label: function.to_owned(), ..chosen.clone() }.name(),
            false => chosen.name(),
        }
    }

    /// Which functions stood for stages that are not called as these.
    fn seen(&self) -> Vec<String> {
        let Some(first) = self.traces.first() else { return Vec::new() };
        let (mut named, mut said): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
        for (stage, chosen) in first.account.stages.iter().enumerate() {
            let Some(traced) = self.traces.iter().find(|traced| traced.passes(stage)) else { continue };
            if self.unlike.contains(&stage) {
                let at = |traced: &OfSize| format!("at {} with {}", traced.place(stage).1, traced.size());
                let seen = self.traces.iter().filter(|traced| traced.passes(stage)).map(at);
                said.push(format!(
                    "{} is seen {}: unlike places are not compared",
                    chosen.name(),
                    listed(&seen.collect::<Vec<_>>())
                ));
            } else if traced.place(stage).1 != chosen.label {
                let seen = format!("{} at {}", chosen.label, traced.place(stage).1);
                named.extend((!named.contains(&seen)).then_some(seen));
            }
        }
        if !named.is_empty() {
            said.insert(0, format!("seen: {}, others at places of their names", named.join(", ")));
        }
        said
    }

    /// Whether instructions were counted.
    pub(super) fn is_exact(&self) -> bool {
        self.exact
    }

    pub(super) fn unit(&self) -> &'static str {
        unit(self.exact)
    }

    fn table(&self) -> Table {
        let unit = if self.exact { "instr." } else { "ns" };
        let steps = self.steps();
        let names: Vec<[String; 2]> = steps.iter().map(|step| step.map(|place| self.name(place))).collect();
        let stages = stages_by_end(names.iter().map(|[from, to]| (from.as_str(), to.as_str())));
        match self.traces.as_slice() {
            [one] => alone(one, &stages, unit),
            several => beside_each_other(several, steps.into_iter().zip(stages), unit),
        }
    }

    fn sentences(&self) -> Vec<String> {
        let unit = self.unit();
        let alone = self.traces.len() == 1;
        let more = if alone {
            "; p50 and p99 as measured; aside: interrupts, soft interrupts and other tasks in between"
        } else {
            ""
        };
        let mut said = vec![format!("{unit} for a packet, less the cost of probes{more}")];
        if self.traces.iter().flat_map(|traced| &traced.rows).any(|row| row.waits) {
            let waits = "waits: the packet lies in its socket until a reader takes it; in neither the shares nor the sum";
            said.push(waits.to_owned());
        }
        said.extend(self.seen());
        for traced in &self.traces {
            let of = if alone { String::new() } else { format!("{}: ", traced.size()) };
            said.extend(traced.sentences(self.exact).into_iter().map(|sentence| format!("{of}{sentence}")));
        }
        for reason in self.traces.iter().flat_map(|traced| trace::unseen(traced.account.stages.iter())) {
            let sentence = format!("not seen: {reason}");
            if !said.contains(&sentence) {
                said.push(sentence);
            }
        }
        said.extend(self.origin());
        said.extend(self.disturbed.iter().map(|cause| format!("disturbed: {cause}")));
        said.extend(self.notes.iter().map(|note| format!("note: {note}")));
        said
    }
}

/// What figures are in.
fn unit(exact: bool) -> &'static str {
    if exact { "instructions" } else { "ns" }
}

/// The stages for which another function stood with another size of the message.
fn unlike(traces: &[OfSize]) -> Vec<usize> {
    let stages = traces.first().map_or(0, |traced| traced.account.stages.len());
    let functions = |stage: usize| {
        let passed = traces.iter().filter(move |traced| traced.passes(stage));
        passed.map(|traced| traced.place(stage)).collect::<BTreeSet<_>>()
    };
    (0..stages).filter(|stage| functions(*stage).len() > 1).collect()
}

/// The table of one trace, whose rows are called so.
fn alone(traced: &OfSize, stages: &[String], unit: &str) -> Table {
    let mut table = Table::new(&["up to", unit, "share %", "p50", "p99", "aside"]).uncut(&[0, 1]);
    for (stage, row) in stages.iter().zip(&traced.rows) {
        let [p50, _, p99] = row.quantiles;
        let cells = [
            stage.clone(),
            traced.cost(row),
            traced.share(row),
            figure(p50 as f64),
            figure(p99 as f64),
            figure(row.outside),
        ];
        table.row(&cells.each_ref().map(String::as_str));
    }
    table
}

/// The table of several sizes of one path.
fn beside_each_other<'d>(
    traces: &[OfSize],
    steps: impl Iterator<Item = ([Place<'d>; 2], String)>,
    unit: &str,
) -> Table {
    let (mut sizes, mut units) = (vec!["up to".to_owned()], vec![""]);
    for traced in traces {
        sizes.extend(vec![format!("{} B", traced.asked.message); 2]);
        units.extend([unit, "%"]);
    }
    let (costs, shares): (Vec<usize>, Vec<usize>) = (1..sizes.len()).partition(|column| column % 2 == 1);
    let mut table = Table::new(&sizes.iter().map(String::as_str).collect::<Vec<_>>())
        .units(&units)
        .optional(&shares)
        .uncut(&[&[0], &costs[..]].concat());
    for (step, stage) in steps {
        let mut cells = vec![stage];
        for traced in traces {
            let row = traced.row(step);
            let shown = row.map(|row| [traced.cost(row), traced.share(row)]);
            cells.extend(shown.unwrap_or_else(|| ["-", "-"].map(str::to_owned)));
        }
        table.row(&cells.iter().map(String::as_str).collect::<Vec<_>>());
    }
    table
}

impl OfSize {
    fn sentences(&self, exact: bool) -> Vec<String> {
        let unit = unit(exact);
        let mut said = Vec::new();
        if let (Some(whole), Some(closure)) = (self.whole, self.closure) {
            said.push(format!(
                "closure {:.1} %: the stages add up to that share of the whole, which takes {} {unit} with the fewest probes",
                closure.share() * 100.0,
                figure(whole)
            ));
            said.extend(self.breach(exact));
        }
        let costs: Vec<String> = self
            .probes
            .iter()
            .map(|(kind, cost)| format!("{} {unit} ({})", figure(*cost), means(*kind)))
            .collect();
        if !costs.is_empty() {
            said.push(format!("a probe costs {}", costs.join(", ")));
        }
        if let Some([without, with]) = self.account.a_message() {
            said.push(format!(
                "a message takes {} {unit} without probes, {} with all of them",
                figure(without),
                figure(with)
            ));
        }
        said.push(self.packets());
        said
    }

    fn packets(&self) -> String {
        let Journeys { arrived, lost, stray, repeated, crowded, unread, .. } = self.journeys;
        let mut packets = format!("packets: {arrived} followed");
        for (count, what) in [
            (lost, "lost on the way"),
            (repeated, "became several or passed a stage twice"),
            (crowded, "took rare ways"),
            (
                unread,
                "came in and were not read (dropped, merged into another, acknowledgements, or for others)",
            ),
            (
                stray,
                "stages passed without a beginning: the kernel left out a probe, because a program of it was interrupted",
            ),
        ] {
            if count > 0 {
                packets.push_str(&format!(", {count} {what}"));
            }
        }
        let reading = self.account.reading();
        let all: u64 = reading.ways.iter().map(|way| way.whole.count).sum();
        if let Some(main) = reading.most_used(self.account.avoiding)
            && main.whole.count < all
        {
            let of = if self.account.avoiding.is_some() { ", and found their reader asleep" } else { "" };
            packets.push_str(&format!(
                "; the table is of the {} % that passed all of its stages{of}",
                figure(100.0 * main.whole.count as f64 / all as f64)
            ));
        }
        packets
    }
}

/// A kind of probe.
fn means(kind: ProbeCost) -> String {
    let means = match (kind.mean, kind.at) {
        (Attachment::Trampoline, At::Entry) => "fentry",
        (Attachment::Trampoline, At::Return) => "fexit",
        (Attachment::Kprobe, At::Entry) => "kprobe",
        (Attachment::Kprobe, At::Return) => "kretprobe",
        (Attachment::Tracepoint, _) => "tracepoint",
    };
    let whose = match kind.phase {
        JourneyPhase::Out => "",
        JourneyPhase::Leading => " before the packet",
        JourneyPhase::Arriving => " before the reader",
        JourneyPhase::Reading => " of the reader",
    };
    let listed = if kind.listed { ", packet in a list" } else { "" };
    format!("{means}{whose}{listed}")
}

#[cfg(test)]
mod tests {
    use results::Layout;
    use results::document::terminal;
    use trace::{Layer, ProbeCounts, Round, Segment, StagePoint, Way};

    use super::*;

    /// A trace of stages, each with the function that stood for it and what it takes from there.
    fn traced(message: u32, stages: &[(&str, &str, u64)]) -> OfSize {
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
        let asked = load::Traffic { message, ..load::Traffic::new(load::Kind::TcpRr) };
        OfSize::new(asked, account, true)
    }

    fn document(traces: Vec<OfSize>) -> Document {
        Document {
            netassay: "0.1.0",
            command: "netassay trace tcp-rx --exact".to_owned(),
            path: "tcp-rx".to_owned(),
            about: "a TCP segment".to_owned(),
            scenario: study::Scenario::Veth,
            inside_guest: true,
            on: OnMachine::described("kernel 6.1.0, command line `quiet`"),
            exact: true,
            family: study::Family::Ipv4,
            notes: Vec::new(),
            disturbed: None,
            unlike: unlike(&traces),
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
        insta::assert_snapshot!("unlike_functions", terminal(&found.blocks(), Layout::PLAIN));
        assert_eq!(serde_json::to_value(&found).unwrap()["unlike"], serde_json::json!([1]));
        // By the same functions they are.
        let same = document(vec![traced(1, &small), traced(1400, &small)]);
        let text = terminal(&same.blocks(), Layout::PLAIN);
        assert!(!text.contains("unlike") && same.unlike.is_empty(), "{text}");
        assert!(
            text.contains("seen: tcp_data_queue at tcp_queue_rcv, copy at skb_copy_datagram_iter"),
            "{text}"
        );
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
                let text = found.table().fit(Layout { width, ..Layout::PLAIN });
                assert!(
                    !text.contains('…') && text.lines().all(|line| line.chars().count() <= width),
                    "{text}"
                );
                assert!(text.contains("__skb_recv_datagram") && text.contains("4000"), "{text}");
            }
        }
    }
}
