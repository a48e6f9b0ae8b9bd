//! What some pairs of runs showed.

use load::Kind;
use serde::Serialize;
use study::{Family, Scenario};

use crate::report::{Goal, Report};
use crate::spread::Spread;
use crate::traffic::turn::Turn;

/// netassay's turn and the peer's that followed it.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Pair {
    pub(crate) netassay: Turn,
    pub(crate) peer: Turn,
}

/// One peer beside netassay, on one path, with one kind of traffic.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Comparison {
    pub(crate) scenario: Scenario,
    pub(crate) workload: Kind,
    pub(crate) family: Family,
    /// Bytes per message, request and answer.
    pub(crate) message: u32,
    pub(crate) peer: String,
    pub(crate) version: String,
    pub(crate) pairs: Vec<Pair>,
}

/// One figure of a comparison, over its pairs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct Figure {
    name: &'static str,
    /// What one unit of the figure as shown is worth.
    #[serde(skip)]
    scale: f64,
    netassay: Spread,
    peer: Spread,
    /// netassay's by the peer's, pair by pair.
    ratio: Spread,
    /// Is more better, and is netassay to have as much?
    #[serde(skip)]
    judged: bool,
}

/// netassay's rate by the peer's: at least as fast. A goal that noise makes us miss by a hair is missed by a hair, and stays.
const GOAL: f64 = 1.0;
/// A program's own word, by the kernel's count, may be off by this part of it before it is worth a note: it covers
/// start and end, where the kernel's window does not.
const TOLERANCE: f64 = 0.15;

impl Comparison {
    /// Where and what, for a line.
    pub(crate) fn place(&self) -> String {
        format!("{} {} {} beside {}", self.workload, self.family, self.scenario, self.peer)
    }

    /// The figures that mean something for this kind of traffic.
    pub(crate) fn figures(&self) -> Vec<Figure> {
        let figure = |name, scale, judged, of: &dyn Fn(&Turn) -> Option<f64>| {
            let both: Option<Vec<(f64, f64)>> =
                self.pairs.iter().map(|pair| of(&pair.netassay).zip(of(&pair.peer))).collect();
            let both = both?;
            Some(Figure {
                name,
                scale,
                judged,
                netassay: Spread::of(both.iter().map(|(ours, _)| *ours))?,
                peer: Spread::of(both.iter().map(|(_, theirs)| *theirs))?,
                ratio: Spread::of(both.iter().map(|(ours, theirs)| ours / theirs))?,
            })
        };
        let sent = |turn: &Turn| (turn.sent_datagrams > 0.0).then_some(turn.sent_datagrams);
        let received = |turn: &Turn| Some(turn.received);
        match self.workload {
            Kind::TcpStream => vec![figure("received Mbit/s", 1e6, true, &received)],
            Kind::UdpStream => vec![
                figure("received Mbit/s", 1e6, true, &received),
                figure("sent 1000/s", 1e3, false, &sent),
            ],
            Kind::TcpRr | Kind::UdpRr | Kind::TcpCrr | Kind::Pps => vec![
                figure("transactions/s", 1.0, true, &received),
                figure("latency p50 us", 1.0, false, &|turn| turn.said.p50_us),
                figure("latency p99 us", 1.0, false, &|turn| turn.said.p99_us),
            ],
        }
        .into_iter()
        .flatten()
        .collect()
    }

    /// Puts the comparison into the report's table, goals and notes.
    pub(crate) fn tell(&self, report: &mut Report) {
        for figure in self.figures() {
            let decimals = if figure.netassay.median / figure.scale < 1000.0 { 1 } else { 0 };
            let shown = |figures: Spread| format!("{:.decimals$}", figures.median / figure.scale);
            let [median, min, max] = figure.ratio.cells(2);
            report.table.row([
                self.workload.to_string(),
                self.family.to_string(),
                self.scenario.to_string(),
                self.message.to_string(),
                self.peer.clone(),
                figure.name.to_owned(),
                shown(figure.netassay),
                shown(figure.peer),
                median,
                min,
                max,
            ]);
            if figure.judged {
                report.goals.push(Goal::ratio(self.place(), figure.ratio.median, GOAL));
            }
        }
        for (name, turn) in
            [("netassay", Pair::netassay as fn(&Pair) -> &Turn), (self.peer.as_str(), Pair::peer)]
        {
            let words = self.pairs.iter().map(turn).filter_map(|turn| Some(turn.said.rate? / turn.received));
            let Some(word) = Spread::of(words) else { continue };
            if (word.median - 1.0).abs() > TOLERANCE {
                report.note(format!(
                    "{}: {name}'s own word of its rate is {:.2} of what the kernel counted in the window",
                    self.place(),
                    word.median
                ));
            }
        }
    }
}

impl Pair {
    fn netassay(&self) -> &Turn {
        &self.netassay
    }

    fn peer(&self) -> &Turn {
        &self.peer
    }
}
