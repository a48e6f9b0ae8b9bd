//! What a trace came to, as a document and as text.

use std::collections::BTreeSet;

use report::{Layout, Table, counted, figure};
use serde::Serialize;
use study::Closure;
use trace::{Account, At, Chosen, Cost, Journeys, Mean, Path, Phase, Row};

use super::functions;
use super::place::OnHost;
use crate::commands::load::Asked;

#[derive(Debug, Serialize)]
pub(super) struct Document {
    netassay: &'static str,
    pub(super) path: String,
    pub(super) about: String,
    scenario: study::Scenario,
    inside_guest: bool,
    /// The machine, if it is not this one.
    #[serde(flatten)]
    on: Option<OnHost>,
    /// Times are instructions.
    exact: bool,
    family: study::Family,
    notes: Vec<String>,
    disturbed: Option<String>,
    /// One for each size of the message.
    pub(super) traces: Vec<OfSize>,
}

/// The trace with one size of the message.
#[derive(Debug, Serialize)]
pub(super) struct OfSize {
    asked: load::Traffic,
    /// From stage to stage, of the way that most packets took.
    pub(super) rows: Vec<Row>,
    /// From the first stage to the last with the fewest probes, less what they cost, in ns for a
    /// packet.
    whole: Option<f64>,
    /// What the corrected stages add up to, as a share of `whole`.
    closure: Option<Closure>,
    /// Whether that is near enough to the whole to trust them one by one.
    closes: bool,
    /// What a probe of each kind costs, in ns.
    probes: Vec<(Cost, f64)>,
    journeys: Journeys,
    /// The functions that take the CPU for a message, without probes; none if that was not asked
    /// for.
    pub(super) functions: Vec<host::perf::Cost>,
    pub(super) account: Account,
}

impl OfSize {
    pub(super) fn new(asked: load::Traffic, account: Account, exact: bool) -> Self {
        let probes = account.one_more.iter().filter_map(|(kind, _)| Some((*kind, account.cost(*kind)?)));
        Self {
            asked,
            whole: account.whole(),
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
    pub(super) fn part(&self, row: &Row) -> Option<f64> {
        (!row.waits).then(|| row.corrected / self.sum().max(1e-9))
    }

    fn share(&self, row: &Row) -> String {
        self.part(row).map_or_else(|| "waits".to_owned(), |part| figure(100.0 * part))
    }

    /// That the stages do not close, by how much, and the way out.
    pub(super) fn breach(&self, exact: bool) -> Option<String> {
        let way_out = if exact { "" } else { ", or count instructions (--exact)" };
        let breach = self.closure?.breach(exact)?;
        Some(format!("does not close: {breach}; more --rounds know the cost of probes better{way_out}"))
    }

    /// The row from one stage to another.
    pub(super) fn row(&self, step: (usize, usize)) -> Option<&Row> {
        self.rows.iter().find(|row| (row.from, row.to) == step)
    }

    /// A stage, as it is named.
    pub(super) fn stage(&self, index: usize) -> String {
        self.account.stages.get(index).map(Chosen::name).unwrap_or_default()
    }
}

impl Document {
    pub(super) fn new(
        name: &str,
        path: &Path,
        (asked, exact, on): (&Asked, bool, Option<OnHost>),
        traces: Vec<OfSize>,
        notes: Vec<String>,
        disturbed: Option<String>,
    ) -> Self {
        Self {
            netassay: env!("CARGO_PKG_VERSION"),
            path: name.to_owned(),
            about: path.about.clone(),
            scenario: asked.scenario,
            inside_guest: asked.inside_guest,
            on,
            exact,
            family: asked.order.family,
            notes,
            disturbed,
            traces,
        }
    }

    pub(super) fn text(&self, layout: Layout) -> String {
        let mut text = layout.hang(&format!("{}: {}\n", self.path, self.about), 2);
        let say =
            |text: &mut String, sentence: &str| text.push_str(&layout.hang(&format!("{sentence}\n"), 2));
        say(&mut text, &self.traffic());
        text.push('\n');
        text.push_str(&self.table().fit(layout));
        text.push('\n');
        for sentence in self.sentences() {
            say(&mut text, &sentence);
        }
        let sampled: Vec<functions::Sampled<'_>> = self.traces.iter().filter_map(OfSize::sampled).collect();
        if let Some((table, sentences)) = functions::of(&sampled, self.unit(), self.whose()) {
            text.push('\n');
            text.push_str(&table.fit(layout));
            text.push('\n');
            sentences.iter().for_each(|sentence| say(&mut text, sentence));
        }
        text
    }

    /// Whose CPU time a message's is.
    pub(super) fn whose(&self) -> &'static str {
        if self.scenario.is_of_namespaces() { "at both ends" } else { "at the transmitter" }
    }

    /// What was sent, and where.
    pub(super) fn traffic(&self) -> String {
        let place = match &self.on {
            Some(on) => format!(" on {on}"),
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

    /// From which stage to which packets went, in the order of the path.
    pub(super) fn steps(&self) -> Vec<(usize, usize)> {
        let rows = self.traces.iter().flat_map(|traced| &traced.rows);
        let steps: BTreeSet<(usize, usize)> = rows.map(|row| (row.to, row.from)).collect();
        steps.into_iter().map(|(to, from)| (from, to)).collect()
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
        match self.traces.as_slice() {
            [one] => alone(one, unit),
            several => beside_each_other(several, &self.steps(), unit),
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
        said.extend(self.disturbed.iter().map(|cause| format!("disturbed: {cause}")));
        said.extend(self.notes.iter().map(|note| format!("note: {note}")));
        said
    }
}

/// What figures are in.
fn unit(exact: bool) -> &'static str {
    if exact { "instructions" } else { "ns" }
}

/// The table of one trace.
fn alone(traced: &OfSize, unit: &str) -> Table {
    let mut table = Table::new(&["from", "to", unit, "share %", "p50", "p99", "aside"]);
    for row in &traced.rows {
        let [p50, _, p99] = row.quantiles;
        let cells = [
            traced.stage(row.from),
            traced.stage(row.to),
            figure(row.corrected),
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
fn beside_each_other(traces: &[OfSize], steps: &[(usize, usize)], unit: &str) -> Table {
    let mut heads = vec!["from".to_owned(), "to".to_owned()];
    for traced in traces {
        heads.extend([unit, "%"].map(|what| format!("{} B, {what}", traced.asked.message)));
    }
    let mut table = Table::new(&heads.iter().map(String::as_str).collect::<Vec<_>>());
    for step in steps {
        let stage = |index: usize| traces.first().map(|traced| traced.stage(index)).unwrap_or_default();
        let mut cells = vec![stage(step.0), stage(step.1)];
        for traced in traces {
            let row = traced.row(*step);
            let shown = row.map(|row| [figure(row.corrected), traced.share(row)]);
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
fn means(kind: Cost) -> String {
    let means = match (kind.mean, kind.at) {
        (Mean::Trampoline, At::Entry) => "fentry",
        (Mean::Trampoline, At::Return) => "fexit",
        (Mean::Kprobe, At::Entry) => "kprobe",
        (Mean::Kprobe, At::Return) => "kretprobe",
        (Mean::Tracepoint, _) => "tracepoint",
    };
    let whose = match kind.phase {
        Phase::Out => "",
        Phase::Leading => " before the packet",
        Phase::Arriving => " before the reader",
        Phase::Reading => " of the reader",
    };
    let listed = if kind.listed { ", packet in a list" } else { "" };
    format!("{means}{whose}{listed}")
}
