//! Why the conditions of a study have runs of their own.

use words::metric::Metric;
use words::{KEYS, Kind, MOST_IN_TURNS, MOST_TURNS, suggest};

use crate::model::protocol::{Alternate, Order};
use crate::model::selection::Request;
use crate::model::study::Study;
use crate::plan::draft::Draft;
use crate::plan::flows::Flows;
use crate::plan::turns;

/// Why conditions cannot, or had better not, take turns in one flow.
pub(crate) struct Obstacle {
    pub(crate) why: String,
    /// What to do for turns.
    pub(crate) way: String,
    /// Whether nothing that the study varies can be switched in flight.
    pub(crate) nothing_shared: bool,
}

impl Obstacle {
    fn new(why: impl Into<String>, way: impl Into<String>) -> Self {
        Self { why: why.into(), way: way.into(), nothing_shared: false }
    }

    /// Why they cannot.
    pub(crate) fn of(study: &Study, draft: &Draft, alternate: Alternate) -> Option<Self> {
        let flows = Flows::among(&draft.conditions);
        let most = flows.shared().map(<[usize]>::len).max().unwrap_or(0);
        if most < 2 {
            let why = "no two conditions can take turns in one flow";
            return Some(Self { nothing_shared: true, ..Self::new(why, in_flight()) });
        }
        let window = |flow: &[usize]| draft.conditions[flow[0]].workload.duration;
        let turns = flows.shared().map(|flow| turns::length(flow.len(), alternate, window(flow)));
        let turns = turns.max().unwrap_or(0);
        Some(if study.exact() {
            Self::new("conditions take turns in time, and exact mode counts instructions", "remove `exact`")
        } else if study.tracing().is_some() {
            let why =
                "a trace is made behind a run of one condition, and conditions that take turns have none";
            Self::new(why, "remove `[trace]`")
        } else if study.protocol().order == Order::Sequential {
            let why = "conditions that take turns are not measured one after the other";
            Self::new(why, "write `order = \"interleaved\"`")
        } else if compares_whole_flows(study) {
            Self::new("what a comparison is about is counted for whole flows", "compare another metric")
        } else if most > MOST_IN_TURNS {
            let why = format!("{most} conditions would take turns in one flow: at most {MOST_IN_TURNS} can");
            Self::new(why, "use fewer levels, or `[[exclude]]`")
        } else if turns > MOST_TURNS {
            let why = format!("a flow would have {turns} turns: at most {MOST_TURNS} are allowed");
            Self::new(why, "write a longer `alternate`, or a shorter `duration` of the workload")
        } else {
            return None;
        })
    }

    /// Why they had better not: turns would lack half of their results, or in experiments such
    /// conditions differed by something else in turns than in runs, or turns took longer
    /// (docs/studies.md, "Conditions that take turns").
    pub(crate) fn doubted(draft: &Draft) -> Option<Self> {
        let traffic = |index: &usize| &draft.conditions[*index].workload.traffic;
        Flows::among(&draft.conditions).shared().find_map(|flow| {
            let first = traffic(&flow[0]);
            if first.kind.is_rr() {
                let why = "turns of requests would have no latencies, which are counted for whole flows";
                return Some(Self::new(why, "write `alternate = \"100ms\"`"));
            }
            if first.has_growing_buffers() {
                let why = "turns of a TCP stream would share the buffers that TCP sizes";
                return Some(Self::new(why, "set a `socket_buffer`, or write `alternate = \"100ms\"`"));
            }
            let differ = flow.iter().any(|other| traffic(other).sender != first.sender);
            (first.kind == Kind::UdpStream && differ).then(|| {
                let why = "a UDP sender may flood the receiver, and so disturb the turns of the others";
                Self::new(why, "write `alternate = \"100ms\"`")
            })
        })
    }
}

/// Whether a comparison is about what is not counted by turn.
fn compares_whole_flows(study: &Study) -> bool {
    let scenarios = study.scenarios();
    let of_flows = |metric: &Metric| scenarios.iter().any(|one| metric.is_of_whole_run(*one));
    study.requests.iter().any(|request: &Request| request.metric.is_some_and(of_flows))
}

/// What to vary.
fn in_flight() -> String {
    let keys = KEYS.iter().filter(|key| !key.in_turns.is_empty());
    let keys = suggest::list(&keys.map(|key| key.name).collect::<Vec<_>>());
    format!(
        "vary what can be switched in flight: features of the interfaces (`offloads`, `tso`, `gro` …), `twin`, settings of \
         machines, or from one written value to another {keys}; all else changes between runs only"
    )
}
