//! What pairs of runs showed, of netassay and of each peer, and what that is worth against the best
//! of them.

use serde::Serialize;
use stats::Summary;

use crate::figures::{median_interval, summary};
use crate::report::{Bound, Goal, Report};
use crate::traffic::cell::Cell;
use crate::traffic::part::{Measure, Part};
use crate::traffic::task::Mode;
use crate::traffic::turn::Turn;

/// A peer's turn, and netassay's around it, in the order of its modes.
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
    #[serde(flatten)]
    pub(crate) cell: Cell,
    pub(crate) beside: Vec<Beside>,
}

/// One figure of one mode beside one peer, over their pairs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct Figure {
    name: &'static str,
    #[serde(skip)]
    scale: f64,
    #[serde(skip)]
    goal: Option<(Bound, f64)>,
    mode: Mode,
    peer: &'static str,
    netassay: Summary,
    peers: Summary,
    /// netassay's by the peer's, pair by pair.
    ratio: Summary,
    /// Where the median ratio lies with at least 95 %; none for few pairs.
    interval: Option<(f64, f64)>,
}

/// The heading of the table.
pub(crate) const HEADING: [&str; 9] =
    ["traffic", "sender, reader", "peer", "figure", "netassay", "peer's", "ratio", "low", "high"];

/// A program's own word, by the kernel's count, may be off by this part of it before it is worth a
/// note: it covers start and end, where the kernel's window does not.
const TOLERANCE: f64 = 0.15;

impl Comparison {
    /// Every figure of every mode beside every peer; a figure's peers stand together.
    pub(crate) fn figures(&self) -> Vec<Figure> {
        let measures = self.cell.part.measures(self.cell.task.kind);
        let modes = self.cell.modes.iter().enumerate();
        modes
            .flat_map(|mode| measures.iter().map(move |measure| (mode, measure)))
            .flat_map(|(mode, measure)| {
                self.beside.iter().filter_map(move |beside| beside.figure(mode, measure))
            })
            .collect()
    }

    /// Puts the comparison into the report's table, goals and notes.
    pub(crate) fn tell(&self, report: &mut Report) {
        let figures = self.figures();
        for figure in &figures {
            let Figure { mode, peer, name, .. } = figure;
            let words = [self.cell.name(), mode.words(), (*peer).to_owned(), (*name).to_owned()];
            report.row(words.into_iter().chain(figure.cells()));
        }
        for together in figures.chunk_by(|one, next| (one.mode, one.name) == (next.mode, next.name)) {
            report.goals.extend(best(together).and_then(|best| best.judged(&self.cell)));
        }
        for beside in &self.beside {
            self.check_words(beside, report);
        }
    }

    /// Notes where a program's own word of its rate is not what was counted.
    fn check_words(&self, beside: &Beside, report: &mut Report) {
        let mut check = |who: &str, turns: &mut dyn Iterator<Item = &Turn>| {
            let words = turns.filter_map(|turn| Some(turn.said.rate? / turn.flow.received));
            let Some(word) = summary(words) else { return };
            // One pair says more of its moment than of the program.
            if word.n > 1 && (word.median - 1.0).abs() > TOLERANCE {
                report.note(format!(
                    "{}: {who}'s own word of its rate is {:.2} of what the kernel counted in the window",
                    self.cell.name(),
                    word.median
                ));
            }
        };
        for (number, mode) in self.cell.modes.iter().enumerate() {
            let own = &mut beside.pairs.iter().filter_map(|pair| pair.netassay.get(number));
            check(&format!("netassay ({})", mode.words()), own);
        }
        check(beside.peer, &mut beside.pairs.iter().map(|pair| &pair.peer));
    }
}

impl Beside {
    /// None if a turn lacks the figure.
    fn figure(&self, (number, mode): (usize, &Mode), measure: &Measure) -> Option<Figure> {
        let both = |pair: &Pair| (measure.of)(pair.netassay.get(number)?).zip((measure.of)(&pair.peer));
        let both: Vec<(f64, f64)> = self.pairs.iter().map(both).collect::<Option<_>>()?;
        let ratios: Vec<f64> = both.iter().map(|(ours, theirs)| ours / theirs).collect();
        Some(Figure {
            name: measure.name,
            scale: measure.scale,
            goal: measure.goal,
            mode: *mode,
            peer: self.peer,
            netassay: summary(both.iter().map(|(ours, _)| *ours))?,
            peers: summary(both.iter().map(|(_, theirs)| *theirs))?,
            interval: median_interval(&ratios),
            ratio: summary(ratios)?,
        })
    }
}

impl Figure {
    fn cells(&self) -> [String; 5] {
        let least = self.netassay.median.min(self.peers.median) / self.scale;
        let decimals = if least < 1000.0 { 1 } else { 0 };
        let shown = |figures: Summary| format!("{:.decimals$}", figures.median / self.scale);
        let edge = |edge: Option<f64>| edge.map_or("-".to_owned(), |edge| format!("{edge:.3}"));
        let (low, high) = self.interval.unzip();
        let ratio = Some(self.ratio.median);
        [shown(self.netassay), shown(self.peers), edge(ratio), edge(low), edge(high)]
    }

    /// The goal of the figure, which is the best peer's.
    fn judged(&self, cell: &Cell) -> Option<Goal> {
        let (goal, ratio) = (self.goal?, self.ratio.median);
        let what = format!("{}, {}: {} beside {}", cell.name(), self.mode.words(), self.name, self.peer);
        let judged = match cell.part {
            Part::Grid => Goal::ratio(what, ratio, goal.1),
            _ => Goal::new(what, ratio, goal, ""),
        };
        Some(judged.within(self.interval))
    }
}

/// The figure beside the peer that is best by its own median.
fn best(figures: &[Figure]) -> Option<&Figure> {
    figures.iter().max_by(|one, other| {
        let order = one.peers.median.total_cmp(&other.peers.median);
        if one.goal.is_some_and(|(bound, _)| bound == Bound::AtLeast) { order } else { order.reverse() }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::peers::Said;
    use crate::traffic::counted::Flow;
    use crate::traffic::task::Task;
    use load::Kind;
    use study::{Family, Scenario};

    /// Seven pairs with this rate and CPU time on either side.
    fn beside(peer: &'static str, ours: f64, theirs: f64, cpu: f64) -> Beside {
        let turn = |received, cpu: f64| Turn {
            flow: Flow { seconds: 1.0, received, sent: 0.0, cpu: Some([cpu / 2.0, cpu / 2.0]) },
            said: Said::default(),
        };
        let pair = |wobble: f64| Pair {
            netassay: vec![turn(ours * wobble, 10.0)],
            peer: turn(theirs * wobble, cpu),
        };
        let pairs = [0.9, 0.95, 1.0, 1.0, 1.05, 1.1, 1.2].map(pair).to_vec();
        Beside { peer, version: String::new(), pairs }
    }

    fn comparison(part: Part, beside: Vec<Beside>) -> Comparison {
        let task = Task { kind: Kind::TcpStream, message: 16_384, flows: 1, polls: false };
        let (scenario, family) = (Scenario::Veth, Family::Ipv4);
        let (congestion_control, modes, peers) = (None, vec![Mode::PLAIN], Vec::new());
        Comparison { cell: Cell { part, scenario, family, task, congestion_control, modes, peers }, beside }
    }

    #[test]
    fn the_verdict_is_against_the_best_peer_of_each_figure() {
        let peers = || vec![beside("fast", 1e9, 2e9, 9.0), beside("frugal", 1e9, 0.5e9, 5.0)];
        let close = vec![beside("slow", 1e9, 0.5e9, 9.0), beside("fast", 1e9, 1.004e9, 9.0)];
        const RATE: &str = "MISSED  tcp_stream 16384 B ipv4 veth, send, recv: received Mbit/s beside fast: 0.500 \
            (at least 1; 95 %: 0.500 to 0.500)";
        const CPU: &str = "MISSED  tcp_stream 16384 B ipv4 veth, send, recv: CPU ns/kB beside frugal: 2.000 \
            (at most 1; 95 %: 2.000 to 2.000)";
        // Two decimals of the grid's ratios count.
        const GRID: &str = "met     tcp_stream 16384 B ipv4 veth, send, recv: received Mbit/s beside fast: 0.996 \
            (at least 1; 95 %: 0.996 to 0.996)";
        for (part, peers, expected) in [
            (Part::Tcp, peers(), &[RATE, CPU][..]),
            (Part::Grid, peers(), &[RATE]),
            (Part::Grid, close, &[GRID]),
        ] {
            let mut report = Report::begin("load", &HEADING);
            comparison(part, peers).tell(&mut report);
            let goals: Vec<String> = report.goals.iter().map(Goal::to_string).collect();
            assert_eq!(goals, expected.iter().map(|goal| format!("goal {goal}")).collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_figure_that_a_turn_lacks_is_left_out() {
        let peers = vec![beside("fast", 1e9, 2e9, 9.0), beside("frugal", 1e9, 0.5e9, 5.0)];
        let mut comparison = comparison(Part::Tcp, peers);
        comparison.beside[0].pairs[3].peer.flow.cpu = None;
        let names: Vec<_> = comparison.figures().iter().map(|figure| (figure.name, figure.peer)).collect();
        let rate = "received Mbit/s";
        assert_eq!(names[..3], [(rate, "fast"), (rate, "frugal"), ("CPU ns/kB", "frugal")]);
        assert_eq!(names.len(), 5);
    }
}
