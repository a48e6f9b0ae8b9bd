//! Errors of a whole file, each part of which is valid by itself.

use std::ops::Range;
use std::time::Duration;

use words::metric::Metric;
use words::{Doubt, KEYS, MOST_IN_TURNS, MOST_TURNS, Scenario, Side, format_duration, suggest};

use crate::model::{Alternate, ComparisonRequest, Order, Study, combinations, limit};
use crate::plan::comparison::resolve;
use crate::plan::{Condition, Draft, Flows, draft, turns};
use crate::read::{Problems, comparison, factor, workload};

/// Reports traffic that no scenario of the study can carry. If some can, the plan leaves out the
/// others.
pub(crate) fn scenarios(scenarios: &[Scenario], workloads: &[workload::Read], problems: &mut Problems) {
    for read in workloads {
        let kind = read.workload.traffic.kind;
        let misfits: Option<Vec<_>> =
            scenarios.iter().map(|scenario| draft::uncarried(kind, *scenario)).collect();
        if let Some((message, help)) = misfits.and_then(|misfits| misfits.into_iter().next()) {
            problems.report(read.kind.clone(), message, help);
        }
    }
}

/// Reports levels that no workload of the study can have. If some can, the plan leaves out the
/// others.
pub(crate) fn settings(workloads: &[workload::Read], factors: &[factor::Read], problems: &mut Problems) {
    for read in factors {
        for (index, place) in read.levels.iter().enumerate() {
            let Some(key) = read.factor.subject.key() else { continue };
            let value = read.factor.level(index);
            let misfits: Option<Vec<_>> =
                workloads.iter().map(|read| key.misfit(value, read.workload.traffic.kind)).collect();
            if let Some(first) = misfits.and_then(|misfits| misfits.into_iter().next()) {
                problems.report(place.clone(), first.why, first.help);
            }
        }
    }
}

/// Reports settings that exact mode does not support. Of levels, those that no workload can have
/// there; if some can, the plan leaves out the others.
pub(crate) fn exact(workloads: &[workload::Read], factors: &[factor::Read], problems: &mut Problems) {
    let mut found = Vec::new();
    for read in workloads {
        let place = |key| if key == "kind" { read.kind.clone() } else { read.place_of(key) };
        let misfits = read.workload.traffic.exact_misfits();
        found.extend(misfits.into_iter().map(|misfit| (place(misfit.key), Some(misfit))));
    }
    for read in factors {
        let Some(key) = read.factor.subject.key() else { continue };
        for (index, place) in read.levels.iter().enumerate() {
            let value = read.factor.level(index);
            let kinds = workloads.iter().map(|read| read.workload.traffic.kind);
            let misfits = kinds
                .filter(|kind| key.misfit(value, *kind).is_none())
                .map(|kind| key.exact_misfit(value, kind));
            let of_all = misfits.collect::<Option<Vec<_>>>();
            found.push((place.clone(), of_all.and_then(|misfits| misfits.into_iter().next())));
        }
    }
    for (place, misfit) in found.into_iter().filter_map(|(place, misfit)| Some((place, misfit?))) {
        problems.report(place, misfit.why, misfit.help);
    }
}

/// The places in the file of settings that are checked when all levels are combined.
pub(crate) struct Places<'r> {
    pub(crate) exclusions: &'r [Range<usize>],
    pub(crate) comparisons: &'r [comparison::Read],
    pub(crate) stop: Option<Range<usize>>,
    /// The key that asks for turns; none where conditions take them only if they can.
    pub(crate) turns: Option<(&'static str, Range<usize>)>,
}

/// Reports problems that only show when all levels are combined. Returns why conditions cannot take
/// turns.
pub(crate) fn plan(
    study: &Study,
    workloads: &[workload::Read],
    factors: &[factor::Read],
    places: &Places<'_>,
    problems: &mut Problems,
) -> Option<Obstacle> {
    let size = combinations::size(&study.factors[..study.undesigned()], study.rows.len());
    if size.is_none_or(|size| size > limit::CONDITIONS) {
        let size =
            size.map_or("too many conditions to count".to_owned(), |size| format!("{size} conditions"));
        let message = format!("the factors combine to {size}: at most {} are allowed", limit::CONDITIONS);
        problems.report(place_of(study, "[factors]"), message, "use fewer factors or levels");
        return None;
    }
    exclusions_act(study, places.exclusions, problems);
    let draft = Draft::from_study(study);
    if draft.conditions.is_empty() {
        let mut reasons: Vec<&str> = draft.excluded.iter().map(|dropped| dropped.why.as_str()).collect();
        reasons.sort_unstable();
        reasons.dedup();
        problems.report(
            place_of(study, "[factors]"),
            "no condition is left to measure",
            format!("all are excluded: {}", reasons.join("; ")),
        );
        return None;
    }
    sizes(study, &draft, workloads, factors, problems);
    states(&draft, places.stop.clone(), problems);
    let obstacle = study.protocol.alternate.and_then(|alternate| {
        let doubt = || places.turns.is_none().then(|| Obstacle::doubted(&draft)).flatten();
        Obstacle::find(study, &draft, alternate).or_else(doubt)
    });
    if let (Some((key, place)), Some(Obstacle { why, way, .. })) = (&places.turns, &obstacle) {
        let without = if *key == "apart" { "remove `apart`" } else { "write `alternate = \"off\"`" };
        problems.report(place.clone(), why.clone(), format!("{without}, or {way}"));
    }
    let planned = draft.planned();
    for (place, read) in places.comparisons.iter().enumerate() {
        if let Err(why) = resolve(&read.request, &planned, study.exact) {
            problems.void_comparisons.push((place, why.clone()));
            problems.push(comparison::explain(read, why));
        }
    }
    obstacle
}

/// Reports exclusions without an effect.
fn exclusions_act(study: &Study, places: &[Range<usize>], problems: &mut Problems) {
    let mut left: Vec<combinations::Cell> = study.cells().collect();
    for (exclusion, place) in study.exclusions.iter().zip(places) {
        let before = left.len();
        left.retain(|cell| !exclusion.selection.chooses(cell));
        if left.len() == before {
            problems.report(
                place.clone(),
                "this excludes nothing: earlier exclusions exclude the same conditions",
                "remove it",
            );
        }
    }
}

/// Reports a study that may stop early, but whose boots measure different conditions.
fn states(draft: &Draft, stop: Option<Range<usize>>, problems: &mut Problems) {
    let Some(place) = stop else { return };
    let differ = draft.conditions.windows(2).any(|pair| pair[0].boot != pair[1].boot);
    if differ {
        let message =
            "`stop` needs boots that measure every condition, and here each boot measures only some of them";
        let help = "remove `stop`, or the factors that need a fresh boot to change (scenario, kernel, command_line, vcpus, nic, copies, underlay.family)";
        problems.report(place, message, help);
    }
}

/// Reports a plan that is too large.
fn sizes(
    study: &Study,
    draft: &Draft,
    workloads: &[workload::Read],
    factors: &[factor::Read],
    problems: &mut Problems,
) {
    let protocol = &study.protocol;
    let runs = (u64::from(protocol.warmup) + u64::from(protocol.runs)) * u64::from(protocol.boots);
    let runs = runs.saturating_mul(draft.conditions.len() as u64);
    if runs > limit::RUNS {
        let message = format!("the study has {runs} runs: at most {} are allowed", limit::RUNS);
        problems.report(place_of(study, "[protocol]"), message, "use fewer boots, runs or conditions");
    }
    for read in workloads {
        let of_workload =
            draft.conditions.iter().filter(|condition| condition.workload.name == read.workload.name);
        let excess = |condition: &Condition| {
            Some((condition.workload.clone(), condition.workload.traffic.excess(condition.family)?))
        };
        let Some((workload, misfit)) = of_workload.clone().find_map(excess) else { continue };
        let level = factors.iter().find_map(|factor| {
            let key = factor.factor.subject.key().filter(|key| key.name == misfit.key)?;
            factor.levels.get(factor.factor.position(&key.get(&workload))?).cloned()
        });
        let place = level.unwrap_or_else(|| read.place_of(misfit.key));
        problems.report(place, misfit.why, misfit.help);
    }
}

/// The line that begins a table, or the start of the file if it has none.
fn place_of(study: &Study, header: &str) -> Range<usize> {
    let found = study.text.lines().find(|line| line.trim_start().starts_with(header));
    let start = found.map_or(0, |line| line.as_ptr() as usize - study.text.as_ptr() as usize);
    let indent = found.map_or(0, |line| line.len() - line.trim_start().len());
    start + indent..start + indent + found.map_or(0, |_| header.len())
}

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
        Some(if study.exact {
            Self::new("conditions take turns in time, and exact mode counts instructions", "remove `exact`")
        } else if study.tracing.is_some() {
            let why =
                "a trace is made behind a run of one condition, and conditions that take turns have none";
            Self::new(why, "remove `[trace]`")
        } else if study.protocol.order == Order::Sequential {
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
    let of_flows = |metric: Metric| scenarios.iter().any(|one| metric.is_of_whole_run(*one));
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
