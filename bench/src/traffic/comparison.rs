//! What the turns of netassay and of each peer showed, and what that is worth against the best of
//! them.

use serde::Serialize;

use crate::figures::{Ratios, Summary, summary};
use crate::goal::{Bound, Goal};
use crate::report::Report;
use crate::traffic::cell::Cell;
use crate::traffic::mode::Mode;
use crate::traffic::part::{Measure, Part};
use crate::traffic::turn::Turn;

/// One peer's turns, of as many of the first rounds as it could do.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Beside {
    pub(crate) peer: &'static str,
    pub(crate) version: String,
    pub(crate) turns: Vec<Turn>,
}

/// netassay beside its peers, on one path, with one kind of traffic.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Comparison {
    #[serde(flatten)]
    pub(crate) cell: Cell,
    /// netassay's turns in each of the cell's modes.
    pub(crate) own: Vec<Vec<Turn>>,
    pub(crate) beside: Vec<Beside>,
}

/// One figure of one mode beside one peer, over their rounds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct Figure {
    name: &'static str,
    #[serde(skip)]
    scale: f64,
    #[serde(skip)]
    goal: Option<Bound>,
    mode: Mode,
    peer: &'static str,
    netassay: Summary,
    peers: Summary,
    /// netassay's by the peer's, round by round.
    ratio: Ratios,
}

pub(crate) const HEADING: [&str; 9] =
    ["traffic", "sender, reader", "peer", "figure", "netassay", "peer's", "ratio", "low", "high"];

/// A program's own word, by the kernel's count, may be off by this part of it before it is worth a
/// note: it covers start and end, where the kernel's window does not.
const TOLERANCE: f64 = 0.15;

impl Comparison {
    /// Every figure of every mode beside every peer; a figure's peers stand together.
    pub(crate) fn figures(&self) -> Vec<Figure> {
        let mut figures = Vec::new();
        for (mode, own) in self.cell.modes.iter().zip(&self.own) {
            for measure in self.cell.part.measures(self.cell.task.kind) {
                figures.extend(self.beside.iter().filter_map(|beside| beside.figure(*mode, own, &measure)));
            }
        }
        figures
    }

    /// Puts the comparison into the report's table, goals and notes.
    pub(crate) fn tell(&self, report: &mut Report) {
        let figures = self.figures();
        for figure in &figures {
            let Figure { mode, peer, name, .. } = figure;
            let words = [self.cell.name(), mode.name(), (*peer).to_owned(), (*name).to_owned()];
            report.row(words.into_iter().chain(figure.cells()));
        }
        for together in figures.chunk_by(|one, next| (one.mode, one.name) == (next.mode, next.name)) {
            report.goals.extend(best(together).and_then(|best| best.judged(&self.cell)));
        }
        for (mode, own) in self.cell.modes.iter().zip(&self.own) {
            self.check_words(&format!("netassay ({})", mode.name()), own, report);
        }
        for beside in &self.beside {
            self.check_words(beside.peer, &beside.turns, report);
        }
    }

    /// Notes where a program's own word of its rate is not what was counted.
    fn check_words(&self, who: &str, turns: &[Turn], report: &mut Report) {
        let words = turns.iter().filter_map(|turn| Some(turn.said.rate? / turn.flow.received));
        let Some(word) = summary(words) else { return };
        // One pair says more of its moment than of the program.
        if word.n > 1 && (word.median - 1.0).abs() > TOLERANCE {
            report.note(format!(
                "{}: {who}'s own word of its rate is {:.2} of what the kernel counted in the window",
                self.cell.name(),
                word.median
            ));
        }
    }
}

impl Beside {
    /// None if a turn lacks the figure.
    fn figure(&self, mode: Mode, own: &[Turn], measure: &Measure) -> Option<Figure> {
        let both = own.iter().zip(&self.turns).map(|(own, peer)| (measure.of)(own).zip((measure.of)(peer)));
        let (ours, theirs): (Vec<f64>, Vec<f64>) = both.collect::<Option<Vec<_>>>()?.into_iter().unzip();
        Some(Figure {
            name: measure.name,
            scale: measure.scale,
            goal: measure.goal,
            mode,
            peer: self.peer,
            ratio: Ratios::of(&ours, &theirs)?,
            netassay: summary(ours)?,
            peers: summary(theirs)?,
        })
    }
}

impl Figure {
    fn cells(&self) -> [String; 5] {
        let least = self.netassay.median.min(self.peers.median) / self.scale;
        let decimals = if least < 1000.0 { 1 } else { 0 };
        let shown = |figures: Summary| format!("{:.decimals$}", figures.median / self.scale);
        let edge = |edge: Option<f64>| edge.map_or("-".to_owned(), |edge| format!("{edge:.3}"));
        let (low, high) = self.ratio.interval.unzip();
        let ratio = Some(self.ratio.all.median);
        [shown(self.netassay), shown(self.peers), edge(ratio), edge(low), edge(high)]
    }

    /// The goal of the figure, which is the best peer's.
    fn judged(&self, cell: &Cell) -> Option<Goal> {
        let ratio = self.ratio.all.median;
        let what = format!("{}, {}: {} beside {}", cell.name(), self.mode.name(), self.name, self.peer);
        let judged = match (cell.part, self.goal?) {
            (Part::Grid, Bound::AtLeast(limit)) => Goal::ratio(what, ratio, limit),
            (_, bound) => Goal::new(what, ratio, bound, ""),
        };
        Some(judged.within(self.ratio.interval))
    }
}

/// The figure beside the peer that is best by its own median.
fn best(figures: &[Figure]) -> Option<&Figure> {
    figures.iter().max_by(|one, other| {
        let order = one.peers.median.total_cmp(&other.peers.median);
        if matches!(one.goal, Some(Bound::AtLeast(_))) { order } else { order.reverse() }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::peers::Said;
    use crate::traffic::counted::Flow;
    use crate::traffic::part::Task;
    use load::Kind;
    use study::{Family, Scenario};

    /// Seven turns with this rate and CPU time.
    fn turns(received: f64, cpu: f64) -> Vec<Turn> {
        let turn = |wobble: f64| Turn {
            flow: Flow { seconds: 1.0, received: received * wobble, sent: 0.0, cpu: Some([cpu / 2.0; 2]) },
            said: Said::default(),
        };
        [0.9, 0.95, 1.0, 1.0, 1.05, 1.1, 1.2].map(turn).to_vec()
    }

    fn turns_beside(peer: &'static str, received: f64, cpu: f64) -> Beside {
        Beside { peer, version: String::new(), turns: turns(received, cpu) }
    }

    fn comparison(part: Part, beside: Vec<Beside>) -> Comparison {
        let (kind, name) = (Kind::TcpStream, String::new());
        let task = Task { name, kind, message: 16_384, flows: 1, polls: false };
        let (scenario, family) = (Scenario::Veth, Family::Ipv4);
        let (congestion_control, modes, peers) = (None, vec![Mode::PLAIN], Vec::new());
        let cell = Cell { part, scenario, family, task, congestion_control, modes, peers };
        Comparison { cell, own: vec![turns(1e9, 10.0)], beside }
    }

    #[test]
    fn the_verdict_is_against_the_best_peer_of_each_figure() {
        let peers = || vec![turns_beside("fast", 2e9, 9.0), turns_beside("frugal", 0.5e9, 5.0)];
        let close = vec![turns_beside("slow", 0.5e9, 9.0), turns_beside("fast", 1.004e9, 9.0)];
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
        let peers = vec![turns_beside("fast", 2e9, 9.0), turns_beside("frugal", 0.5e9, 5.0)];
        let mut comparison = comparison(Part::Tcp, peers);
        comparison.beside[0].turns[3].flow.cpu = None;
        let names: Vec<_> = comparison.figures().iter().map(|figure| (figure.name, figure.peer)).collect();
        let rate = "received Mbit/s";
        assert_eq!(names[..3], [(rate, "fast"), (rate, "frugal"), ("CPU ns/kB", "frugal")]);
        assert_eq!(names.len(), 5);
    }
}
