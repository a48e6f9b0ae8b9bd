//! Errors of a whole file, each part of which is valid by itself.

use std::ops::Range;

use words::Scenario;

use crate::model::grid;
use crate::model::limit;
use crate::model::study::Study;
use crate::plan::comparison::resolve;
use crate::plan::condition::Condition;
use crate::plan::draft::Draft;
use crate::plan::rule;
use crate::read::obstacle::Obstacle;
use crate::read::problems::Problems;
use crate::read::{comparison, factor, workload};

/// Reports traffic that no scenario of the study can carry. If some can, the plan leaves out the
/// others.
pub(crate) fn scenarios(scenarios: &[Scenario], workloads: &[workload::Read], problems: &mut Problems) {
    for read in workloads {
        let kind = read.workload.traffic.kind;
        let misfits: Option<Vec<_>> =
            scenarios.iter().map(|scenario| rule::uncarried(kind, *scenario)).collect();
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
            let Some(key) = read.factor.subject().key() else { continue };
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
        let Some(key) = read.factor.subject().key() else { continue };
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
    let size = grid::size(&study.factors()[..study.undesigned()], study.rows.len());
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
    let obstacle = study.protocol().alternate.and_then(|alternate| {
        let doubt = || places.turns.is_none().then(|| Obstacle::doubted(&draft)).flatten();
        Obstacle::find(study, &draft, alternate).or_else(doubt)
    });
    if let (Some((key, place)), Some(Obstacle { why, way, .. })) = (&places.turns, &obstacle) {
        let without = if *key == "apart" { "remove `apart`" } else { "write `alternate = \"off\"`" };
        problems.report(place.clone(), why.clone(), format!("{without}, or {way}"));
    }
    let planned = draft.planned();
    for (place, read) in places.comparisons.iter().enumerate() {
        if let Err(why) = resolve(&read.request, &planned, study.exact()) {
            problems.void_comparisons.push((place, why.clone()));
            problems.push(comparison::explain(read, why));
        }
    }
    obstacle
}

/// Reports exclusions without an effect.
fn exclusions_act(study: &Study, places: &[Range<usize>], problems: &mut Problems) {
    let mut left: Vec<grid::Cell> = study.cells().collect();
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
    let protocol = study.protocol();
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
            let key = factor.factor.subject().key().filter(|key| key.name == misfit.key)?;
            factor.levels.get(factor.factor.position(&key.get(&workload))?).cloned()
        });
        let place = level.unwrap_or_else(|| read.place_of(misfit.key));
        problems.report(place, misfit.why, misfit.help);
    }
}

/// The line that begins a table, or the start of the file if it has none.
fn place_of(study: &Study, header: &str) -> Range<usize> {
    let found = study.source_text().lines().find(|line| line.trim_start().starts_with(header));
    let start = found.map_or(0, |line| line.as_ptr() as usize - study.source_text().as_ptr() as usize);
    let indent = found.map_or(0, |line| line.len() - line.trim_start().len());
    start + indent..start + indent + found.map_or(0, |_| header.len())
}
