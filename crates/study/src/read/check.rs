//! Errors of a whole file, each part of which is valid by itself.

use std::collections::BTreeSet;
use std::ops::Range;

use words::metric::Metric;
use words::{MOST_IN_TURNS, MOST_TURNS, Scenario, Side, format_duration};

use crate::model::{Alternate, Order, Study, combinations, limit};
use crate::plan::comparison::resolve;
use crate::plan::{Condition, Draft, Flows, Unresolved, draft, turns};
use crate::read::{ParsedComparison, ParsedFactor, ParsedWorkload, Problems, Stale, comparison};

/// The first of these reasons, if nothing is without one.
fn of_all<R>(reasons: impl Iterator<Item = Option<R>>) -> Option<R> {
    reasons.collect::<Option<Vec<R>>>()?.into_iter().next()
}

/// Reports traffic that no scenario of the study can carry.
pub(crate) fn scenarios(scenarios: &[Scenario], workloads: &[ParsedWorkload], problems: &mut Problems) {
    for read in workloads {
        let kind = read.workload.traffic.kind;
        // If some scenario can, the plan leaves out the others.
        if let Some((message, help)) = of_all(scenarios.iter().map(|one| draft::uncarried(kind, *one))) {
            problems.report(read.place_of("kind"), message, help);
        }
    }
}

/// Reports settings of workloads that exact mode does not support, and levels that no workload of
/// the study, or none in exact mode, can have.
pub(crate) fn settings(
    workloads: &[ParsedWorkload],
    factors: &[ParsedFactor],
    exact: bool,
    problems: &mut Problems,
) {
    for read in workloads.iter().filter(|_| exact) {
        for misfit in read.workload.traffic.exact_misfits() {
            problems.report(read.place_of(misfit.key), misfit.why, misfit.help);
        }
    }
    let kinds = || workloads.iter().map(|read| read.workload.traffic.kind);
    for read in factors {
        let Some(key) = read.factor.subject.key() else { continue };
        for (index, place) in read.levels.iter().enumerate() {
            let value = &read.factor.values[index];
            let able = kinds().filter(|kind| key.misfit(value, *kind).is_none());
            let in_exact_mode = of_all(able.map(|kind| key.exact_misfit(value, kind))).filter(|_| exact);
            // If some workload can, the plan leaves out the others.
            if let Some(misfit) = of_all(kinds().map(|kind| key.misfit(value, kind))).or(in_exact_mode) {
                problems.report(place.clone(), misfit.why, misfit.help);
            }
        }
    }
}

/// Problems that only show when all levels are combined. Returns the combined levels.
pub(crate) fn plan(
    study: &Study,
    workloads: &[ParsedWorkload],
    factors: &[ParsedFactor],
    (exclusions, comparisons): (&[Range<usize>], &[ParsedComparison]),
    stop: Option<Range<usize>>,
    problems: &mut Problems,
) -> Option<Draft> {
    let size = combinations::size(&study.factors[..study.undesigned()], study.rows.len());
    if size.is_none_or(|size| size > limit::CONDITIONS) {
        let size =
            size.map_or("too many conditions to count".to_owned(), |size| format!("{size} conditions"));
        let message = format!("the factors combine to {size}: at most {} are allowed", limit::CONDITIONS);
        problems.report(place_of(study, "[factors]"), message, "use fewer factors or levels");
        return None;
    }
    let mut left: Vec<combinations::LevelIndexes> = study.cells().collect();
    for ((selection, _), place) in study.exclusions.iter().zip(exclusions) {
        let before = left.len();
        left.retain(|cell| !combinations::chooses(selection, cell));
        if left.len() == before {
            let message = "this excludes nothing: earlier exclusions exclude the same conditions";
            problems.report(place.clone(), message, "remove it");
        }
    }
    let draft = Draft::from_study(study);
    if draft.conditions.is_empty() {
        let reasons: BTreeSet<&str> = draft.excluded.iter().map(|dropped| dropped.why.as_str()).collect();
        let reasons = reasons.into_iter().collect::<Vec<_>>().join("; ");
        let message = "no condition is left to measure";
        problems.report(place_of(study, "[factors]"), message, format!("all are excluded: {reasons}"));
        return None;
    }
    sizes(study, &draft, workloads, factors, problems);
    if draft.conditions.windows(2).any(|pair| pair[0].boot != pair[1].boot) {
        let message =
            "`stop` needs boots that measure every condition, and here each boot measures only some of them";
        let help = "remove `stop`, or the factors that need a fresh boot to change (scenario, kernel, command_line, vcpus, nic, copies, underlay.family)";
        problems.report(stop, message, help);
    }
    let planned = draft.planned();
    for (place, read) in comparisons.iter().enumerate() {
        if let Err(why) = resolve(&read.request, &planned, study.exact) {
            let has_baseline = read.baseline.is_some() && why != Unresolved::NothingToCompare;
            let path = if has_baseline { vec!["baseline".to_owned()] } else { Vec::new() };
            problems.stale.push(Stale { table: ("comparison", place), path, level: None });
            problems.push(comparison::explain(read, why));
        }
    }
    Some(draft)
}

fn sizes(
    study: &Study,
    draft: &Draft,
    workloads: &[ParsedWorkload],
    factors: &[ParsedFactor],
    problems: &mut Problems,
) {
    let protocol = &study.protocol;
    let runs = protocol.total_runs(draft.conditions.len());
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
            let value = key.get(&workload);
            factor.levels.get(factor.factor.values.iter().position(|level| *level == value)?).cloned()
        });
        let place = level.unwrap_or_else(|| read.place_of(misfit.key));
        problems.report(place, misfit.why, misfit.help);
    }
}

/// The line that begins a table, or the start of the file if it has none.
fn place_of(study: &Study, header: &str) -> Range<usize> {
    let found = study.text.lines().map(str::trim_start).find(|line| line.starts_with(header));
    let start = found.map_or(0, |line| line.as_ptr() as usize - study.text.as_ptr() as usize);
    start..start + found.map_or(0, |_| header.len())
}

/// Why conditions do not take turns, and the way out.
pub(crate) type Obstacle = (String, String);

fn obstacle(why: impl Into<String>, way: impl Into<String>) -> Obstacle {
    (why.into(), way.into())
}

/// The first obstacle to turns; the first of all is that no two conditions share a flow.
pub(crate) fn obstacle_of_turns(study: &Study, draft: &Draft, alternate: Alternate) -> Option<Obstacle> {
    let flows = Flows::among(&draft.conditions);
    let most = flows.shared().map(<[usize]>::len).max().unwrap_or(0);
    if most < 2 {
        let why = "no two conditions can take turns in one flow";
        let way = "vary what can be switched in flight (docs/studies.md, \"Conditions that take turns\")";
        return Some(obstacle(why, way));
    }
    let window = |flow: &[usize]| draft.conditions[flow[0]].workload.duration;
    let turns = flows.shared().map(|flow| turns::length(flow.len(), alternate, window(flow)));
    let turns = turns.max().unwrap_or(0);
    let held = |flow: &[usize]| draft.conditions[flow[0]].workload.traffic.held_by_path();
    let held = flows.shared().map(held).max().unwrap_or_default();
    let scenarios = study.scenarios();
    let of_whole_flows = |metric: Metric| scenarios.iter().any(|one| metric.is_of_whole_run(*one));
    Some(if study.exact {
        obstacle("conditions take turns in time, and exact mode counts instructions", "remove `exact`")
    } else if study.tracing.is_some() {
        let why = "a trace is made behind a run of one condition, and conditions that take turns have none";
        obstacle(why, "remove `[trace]`")
    } else if study.protocol.order == Order::Sequential {
        let why = "conditions that take turns are not measured one after the other";
        obstacle(why, "write `order = \"interleaved\"`")
    } else if study.requests.iter().any(|request| request.metric.is_some_and(of_whole_flows)) {
        obstacle("what a comparison is about is counted for whole flows", "compare another metric")
    } else if most > MOST_IN_TURNS {
        let why = format!("{most} conditions would take turns in one flow: at most {MOST_IN_TURNS} can");
        obstacle(why, "use fewer levels, or `[[exclude]]`")
    } else if turns > MOST_TURNS {
        let why = format!("a flow would have {turns} turns: at most {MOST_TURNS} are allowed");
        obstacle(why, "write a longer `alternate`, or a shorter `duration` of the workload")
    } else if held > alternate.settle {
        // Data that one turn sends may arrive in the counted part of the next one.
        let (held_for, settled) = (format_duration(held), format_duration(alternate.settle));
        let why = format!(
            "the path holds packets for up to {held_for} there and back, and only {settled} of a turn are not counted"
        );
        let longer = format_duration(held.saturating_mul(2));
        let way = format!("write `alternate = \"{longer}\"` and `settle = \"{held_for}\"`");
        let is_possible = held <= limit::LONGEST_SETTLE;
        obstacle(why, if is_possible { way } else { "use a shorter `path_delay`".to_owned() })
    } else {
        return None;
    })
}

/// Why `alternate = "auto"` leaves turns out, although they are possible.
pub(crate) fn doubt_of_turns(draft: &Draft) -> Option<Obstacle> {
    // Turns would lack half of their results or be no better than runs, or nobody has compared them
    // with runs (docs/studies.md, "Conditions that take turns").
    const ASKED: &str = "write `alternate = \"100ms\"`";
    Flows::among(&draft.conditions).shared().find_map(|flow| {
        let condition = |index: &usize| &draft.conditions[*index];
        let (first, traffic) = (condition(&flow[0]), &condition(&flow[0]).workload.traffic);
        if traffic.kind.is_rr() {
            let why = "turns of requests would have no latencies, which are counted for whole flows";
            return Some(obstacle(why, ASKED));
        }
        if traffic.has_growing_buffers() {
            let why = "turns of a TCP stream would share the buffers that TCP sizes";
            return Some(obstacle(why, format!("set a `socket_buffer`, or {ASKED}")));
        }
        if let Some(key) = flow.iter().find_map(|other| doubted_key(first, condition(other))) {
            let why = format!(
                "conditions differ in `{key}`, whose turns are not known to find what runs find (docs/studies.md)"
            );
            return Some(obstacle(why, ASKED));
        }
        if traffic.pacing.is_some() {
            let why = "with `pacing`, turns take longer than runs and narrow no interval";
            return Some(obstacle(why, ASKED));
        }
        traffic.has_large_buffers().then(|| {
            let why = "what waits in a large `socket_buffer` arrives in the turns of others";
            obstacle(why, format!("use one of 4194304 bytes or less, or {ASKED}"))
        })
    })
}

fn doubted_key(one: &Condition, other: &Condition) -> Option<&'static str> {
    let of_machine = |side| one.side(side).tuning.doubted_key(&other.side(side).tuning);
    let of_machines = || Side::BOTH.into_iter().find_map(of_machine).map(words::TuningKey::word);
    one.workload.doubted_key(&other.workload).or_else(of_machines)
}
