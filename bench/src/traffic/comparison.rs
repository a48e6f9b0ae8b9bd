//! What pairs of runs showed, of netassay and of each peer, and what that is worth against the best
//! of them.

use load::Kind;
use serde::Serialize;
use study::{Family, Scenario};

use crate::peers::Polling;
use crate::report::{Bound, Goal, Report};
use crate::spread::{Spread, median_interval};
use crate::traffic::measure::Measure;
use crate::traffic::part::Part;
use crate::traffic::task::Way;
use crate::traffic::turn::Turn;

/// A peer's turn, and netassay's around it, in the order of its ways.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Pair {
    pub(crate) netassay: Vec<Turn>,
    pub(crate) peer: Turn,
}

/// One peer's pairs.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Beside {
    pub(crate) peer: &'static str,
    pub(crate) version: String,
    pub(crate) pairs: Vec<Pair>,
}

/// netassay beside its peers, on one path, with one kind of traffic.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Comparison {
    pub(crate) part: Part,
    pub(crate) scenario: Scenario,
    pub(crate) workload: Kind,
    pub(crate) family: Family,
    /// Bytes per message, request and answer.
    pub(crate) message: u32,
    pub(crate) flows: u32,
    /// `None`: the machine's own, or the traffic has none.
    pub(crate) congestion_control: Option<String>,
    pub(crate) polling: Polling,
    pub(crate) ways: Vec<Way>,
    pub(crate) beside: Vec<Beside>,
}

/// One figure of one way beside one peer, over their pairs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct Figure {
    name: &'static str,
    #[serde(skip)]
    scale: f64,
    #[serde(skip)]
    goal: Option<(Bound, f64)>,
    way: Way,
    peer: &'static str,
    netassay: Spread,
    peers: Spread,
    /// netassay's by the peer's, pair by pair.
    ratio: Spread,
    /// Where the median ratio lies with at least 95 %; none for few pairs.
    interval: Option<(f64, f64)>,
}

/// A program's own word, by the kernel's count, may be off by this part of it before it is worth a
/// note: it covers start and end, where the kernel's window does not.
const TOLERANCE: f64 = 0.15;

impl Comparison {
    /// Where and what, for a line.
    fn place(&self, way: Way) -> String {
        let Self { workload, message, family, scenario, .. } = self;
        format!("{workload} {message} B {family} {scenario}, {}", way.words())
    }

    /// Every figure of every way beside every peer; a figure's peers stand together.
    pub(crate) fn figures(&self) -> Vec<Figure> {
        let mut figures = Vec::new();
        for (number, way) in self.ways.iter().enumerate() {
            for measure in self.part.measures(self.workload) {
                figures.extend(self.beside.iter().filter_map(|beside| beside.figure(number, *way, measure)));
            }
        }
        figures
    }

    /// Puts the comparison into the report's table, goals and notes.
    pub(crate) fn tell(&self, report: &mut Report) {
        let figures = self.figures();
        for figure in &figures {
            let mut row = vec![
                self.workload.to_string(),
                self.family.to_string(),
                self.scenario.to_string(),
                self.message.to_string(),
                figure.way.words(),
                figure.peer.to_owned(),
                figure.name.to_owned(),
            ];
            row.extend(figure.cells());
            report.table.row(row);
        }
        for together in figures.chunk_by(|one, next| (one.way, one.name) == (next.way, next.name)) {
            if let Some(goal) = best(together).and_then(|best| best.goal(&self.place(best.way))) {
                report.goals.push(goal);
            }
        }
        for beside in &self.beside {
            self.check_words(beside, report);
        }
    }

    /// Adds a comparison of one figure and one way to the grid's table: netassay beside the best
    /// peer.
    pub(crate) fn tell_in_grid(&self, cell: String, report: &mut Report) {
        let figures = self.figures();
        let Some((best, goal)) = best(&figures).and_then(|best| Some((best, best.goal_of_grid()?))) else {
            return;
        };
        let control = self.congestion_control.as_deref().unwrap_or("-");
        let mut row: Vec<String> = [&cell, &self.scenario.to_string(), control, best.name, best.peer]
            .map(|word| (*word).to_owned())
            .to_vec();
        row.extend(best.cells());
        row.push(if goal.is_met() { "met" } else { "missed" }.to_owned());
        report.table.row(row);
    }

    /// Whether the first figure is as good as the best peer's; `None` without a figure.
    pub(crate) fn is_met(&self) -> Option<bool> {
        Some(best(&self.figures())?.goal_of_grid()?.is_met())
    }

    /// Notes where a program's own word of its rate is not what was counted.
    fn check_words(&self, beside: &Beside, report: &mut Report) {
        let mut check = |who: &str, way: Way, turns: Vec<&Turn>| {
            let words = turns.iter().filter_map(|turn| Some(turn.said.rate? / turn.received));
            let Some(word) = Spread::of(words) else { return };
            // One pair says more of its moment than of the program.
            if word.count > 1 && (word.median - 1.0).abs() > TOLERANCE {
                report.note(format!(
                    "{}: {who}'s own word of its rate is {:.2} of what the kernel counted in the window",
                    self.place(way),
                    word.median
                ));
            }
        };
        for (number, way) in self.ways.iter().enumerate() {
            let turns = beside.pairs.iter().filter_map(|pair| pair.netassay.get(number));
            check("netassay", *way, turns.collect());
        }
        if let Some(way) = self.ways.first() {
            check(beside.peer, *way, beside.pairs.iter().map(|pair| &pair.peer).collect());
        }
    }
}

impl Beside {
    /// None if a turn lacks the figure.
    fn figure(&self, number: usize, way: Way, measure: Measure) -> Option<Figure> {
        let both: Option<Vec<(f64, f64)>> = self
            .pairs
            .iter()
            .map(|pair| (measure.of)(pair.netassay.get(number)?).zip((measure.of)(&pair.peer)))
            .collect();
        let both = both?;
        let ratios: Vec<f64> = both.iter().map(|(ours, theirs)| ours / theirs).collect();
        Some(Figure {
            name: measure.name,
            scale: measure.scale,
            goal: measure.goal,
            way,
            peer: self.peer,
            netassay: Spread::of(both.iter().map(|(ours, _)| *ours))?,
            peers: Spread::of(both.iter().map(|(_, theirs)| *theirs))?,
            interval: median_interval(&ratios),
            ratio: Spread::of(ratios)?,
        })
    }
}

impl Figure {
    fn cells(&self) -> Vec<String> {
        let least = self.netassay.median.min(self.peers.median) / self.scale;
        let decimals = if least < 1000.0 { 1 } else { 0 };
        let shown = |figures: Spread| format!("{:.decimals$}", figures.median / self.scale);
        let edge = |edge: Option<f64>| edge.map_or("-".to_owned(), |edge| format!("{edge:.3}"));
        vec![
            shown(self.netassay),
            shown(self.peers),
            format!("{:.3}", self.ratio.median),
            edge(self.interval.map(|(low, _)| low)),
            edge(self.interval.map(|(_, high)| high)),
        ]
    }

    fn goal_of_grid(&self) -> Option<Goal> {
        let (_, limit) = self.goal?;
        Some(Goal::ratio(self.name, self.ratio.median, limit))
    }

    fn goal(&self, place: &str) -> Option<Goal> {
        let what = format!("{place}: {} beside {}", self.name, self.peer);
        Some(Goal::new(what, self.ratio.median, self.goal?, "").within(self.interval))
    }
}

/// The figure beside the peer that is best by its own median.
fn best(figures: &[Figure]) -> Option<&Figure> {
    figures.iter().max_by(|one, other| {
        let order = one.peers.median.total_cmp(&other.peers.median);
        if one.goal.is_some_and(|(bound, _)| bound == Bound::AtLeast) { order } else { order.reverse() }
    })
}

/// Counts the cells that meet their goal.
pub(crate) fn sum_up(comparisons: &[Comparison], report: &mut Report) {
    let met: Vec<bool> = comparisons.iter().filter_map(Comparison::is_met).collect();
    let count = met.iter().filter(|met| **met).count();
    report.note(format!("netassay is at least 1.00 of the best peer in {count} of {} cells", met.len()));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Table;
    use crate::traffic::turn::tests::turn;

    fn beside(peer: &'static str, ours: f64, theirs: f64, cpu: f64) -> Beside {
        let pair = |wobble: f64| Pair {
            netassay: vec![turn(ours * wobble, 10.0)],
            peer: turn(theirs * wobble, cpu),
        };
        let pairs = [0.9, 0.95, 1.0, 1.0, 1.05, 1.1, 1.2].map(pair).to_vec();
        Beside { peer, version: String::new(), pairs }
    }

    fn comparison() -> Comparison {
        Comparison {
            part: Part::Tcp,
            scenario: Scenario::Veth,
            workload: Kind::TcpStream,
            family: Family::Ipv4,
            message: 16_384,
            flows: 1,
            congestion_control: None,
            polling: Polling::None,
            ways: vec![Way { sender: load::Sender::Send, reader: load::Reader::Recv }],
            beside: vec![beside("fast", 1e9, 2e9, 9.0), beside("frugal", 1e9, 0.5e9, 5.0)],
        }
    }

    #[test]
    fn the_verdict_is_against_the_best_peer_of_each_figure() {
        let mut report = Report::begin("load", Table::new(1, [""]));
        comparison().tell(&mut report);
        let goals: Vec<String> = report.goals.iter().map(Goal::to_string).collect();
        assert_eq!(goals.len(), 2);
        assert_eq!(
            goals[0],
            "goal MISSED  tcp_stream 16384 B ipv4 veth, send, recv: received Mbit/s beside fast: 0.500 (at least 1; \
             95 %: 0.500 to 0.500)"
        );
        assert!(
            goals[1].contains("MISSED") && goals[1].contains("CPU ns/kB beside frugal: 2.000 (at most 1")
        );
    }

    #[test]
    fn a_cell_of_the_grid_is_a_row_beside_its_best_peer() {
        let mut report = Report::begin("load", Table::new(1, [""]));
        let comparison = Comparison {
            part: Part::Grid,
            congestion_control: Some("cubic".to_owned()),
            beside: vec![beside("slow", 1e9, 0.5e9, 9.0), beside("fast", 1e9, 1.004e9, 9.0)],
            ..comparison()
        };
        comparison.tell_in_grid("tcp:16384".to_owned(), &mut report);
        let table = report.table.to_string();
        let words: Vec<&str> = table.split_whitespace().collect();
        let row = "tcp:16384 veth cubic received Mbit/s fast 1000 1004 0.996 0.996 0.996 met";
        assert_eq!(words, row.split_whitespace().collect::<Vec<_>>());
        assert_eq!(comparison.is_met(), Some(true));
    }

    #[test]
    fn a_figure_that_a_turn_lacks_is_left_out() {
        let mut comparison = comparison();
        comparison.beside[0].pairs[3].peer.cpu = None;
        let names: Vec<_> = comparison.figures().iter().map(|figure| (figure.name, figure.peer)).collect();
        assert_eq!(
            names[..3],
            [("received Mbit/s", "fast"), ("received Mbit/s", "frugal"), ("CPU ns/kB", "frugal")]
        );
        assert_eq!(names.len(), 5);
    }
}
