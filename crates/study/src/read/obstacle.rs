//! Why the conditions of a study have runs of their own.

use std::time::Duration;

use words::metric::Metric;
use words::{Doubt, KEYS, MOST_IN_TURNS, MOST_TURNS, Side, format_duration, suggest};

use crate::model::limit;
use crate::model::protocol::{Alternate, Order};
use crate::model::selection::ComparisonRequest;
use crate::model::study::Study;
use crate::plan::condition::Condition;
use crate::plan::draft::Draft;
use crate::plan::flows::Flows;
use crate::plan::turns;

/// Why conditions cannot, or should not, take turns in one flow.
pub(crate) struct Obstacle {
    pub(crate) why: String,
    /// The remedy.
    pub(crate) way: String,
    /// Whether nothing that the study varies can be switched in flight.
    pub(crate) nothing_shared: bool,
}

impl Obstacle {
    fn new(why: impl Into<String>, way: impl Into<String>) -> Self {
        Self { why: why.into(), way: way.into(), nothing_shared: false }
    }

    /// Why they cannot.
    pub(crate) fn find(study: &Study, draft: &Draft, alternate: Alternate) -> Option<Self> {
        let flows = Flows::among(&draft.conditions);
        let most = flows.shared().map(<[usize]>::len).max().unwrap_or(0);
        if most < 2 {
            let why = "no two conditions can take turns in one flow";
            return Some(Self { nothing_shared: true, ..Self::new(why, in_flight()) });
        }
        let window = |flow: &[usize]| draft.conditions[flow[0]].workload.duration;
        let turns = flows.shared().map(|flow| turns::length(flow.len(), alternate, window(flow)));
        let turns = turns.max().unwrap_or(0);
        let held = |flow: &[usize]| draft.conditions[flow[0]].workload.traffic.held_by_path();
        let held = flows.shared().map(held).max().unwrap_or_default();
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
        } else if held > alternate.settle {
            Self::held(held, alternate.settle)
        } else {
            return None;
        })
    }

    /// Data that one turn sends may arrive in the counted part of the next one.
    fn held(held: Duration, settle: Duration) -> Self {
        let (held_for, settled) = (format_duration(held), format_duration(settle));
        let why = format!(
            "the path holds packets for up to {held_for} there and back, and only {settled} of a turn are not counted"
        );
        let way = if held <= limit::LONGEST_SETTLE {
            format!("write `alternate = \"{}\"` and `settle = \"{held_for}\"`", format_duration(held * 2))
        } else {
            "use a shorter `path_delay`".to_owned()
        };
        Self::new(why, way)
    }

    /// Why conditions should not take turns: turns would lack half of their results or be no better
    /// than runs, or nobody has compared them with runs (docs/studies.md, "Conditions that take
    /// turns").
    pub(crate) fn doubted(draft: &Draft) -> Option<Self> {
        let asked = || "write `alternate = \"100ms\"`";
        Flows::among(&draft.conditions).shared().find_map(|flow| {
            let own = |index: &usize| &draft.conditions[*index];
            let (first, traffic) = (own(&flow[0]), &own(&flow[0]).workload.traffic);
            if traffic.kind.is_rr() {
                let why = "turns of requests would have no latencies, which are counted for whole flows";
                return Some(Self::new(why, asked()));
            }
            if traffic.has_growing_buffers() {
                let why = "turns of a TCP stream would share the buffers that TCP sizes";
                return Some(Self::new(why, format!("set a `socket_buffer`, or {}", asked())));
            }
            if let Some(Doubt { key, why }) = flow.iter().find_map(|other| doubt(first, own(other))) {
                return Some(Self::new(format!("conditions differ in `{key}`: {why}"), asked()));
            }
            if traffic.pacing.is_some() {
                let why = "with `pacing`, turns take longer than runs and narrow no interval";
                return Some(Self::new(why, asked()));
            }
            traffic.has_large_buffers().then(|| {
                let why = "what waits in a large `socket_buffer` arrives in the turns of others";
                Self::new(why, format!("use one of 4194304 bytes or less, or {}", asked()))
            })
        })
    }
}

/// A difference of two conditions of a flow that may last beyond a turn.
fn doubt(one: &Condition, other: &Condition) -> Option<Doubt> {
    let of_machine = |side| one.side(side).tuning.doubt(&other.side(side).tuning);
    one.workload.doubt(&other.workload).or_else(|| Side::BOTH.into_iter().find_map(of_machine))
}

/// Whether a comparison is about a metric that is not counted by turn.
fn compares_whole_flows(study: &Study) -> bool {
    let scenarios = study.scenarios();
    let of_flows = |metric: &Metric| scenarios.iter().any(|one| metric.is_of_whole_run(*one));
    study.requests.iter().any(|request: &ComparisonRequest| request.metric.is_some_and(of_flows))
}

/// The remedy: vary a key that can be switched in flight.
fn in_flight() -> String {
    let keys = KEYS.iter().filter(|key| !key.in_turns.is_empty());
    let keys = suggest::list(&keys.map(|key| key.name).collect::<Vec<_>>());
    format!(
        "vary what can be switched in flight: features of the interfaces (`offloads`, `tso`, `gro` …), `twin`, settings of \
         machines, or from one written value to another {keys}; all else changes between runs only"
    )
}
