//! What is wrong with a file although each of its parts is right.

use std::ops::Range;

use crate::diagnostic::Problem;
use crate::exact;
use crate::factor::{Level, Subject};
use crate::family::Family;
use crate::grid;
use crate::plan::Draft;
use crate::read::problems::Problems;
use crate::read::{comparison, factor, limit, workload};
use crate::scenario::Scenario;
use crate::setting::Setting;
use crate::study::Study;
use crate::word::Word;
use crate::workload::Workload;

/// Reports messages that no datagram of a family in the study can carry.
pub(crate) fn datagrams(workloads: &[workload::Read], factors: &[factor::Read], problems: &mut Problems) {
    let family = factors.iter().find(|read| *read.factor.subject() == Subject::Family);
    let ipv4 = family.is_none_or(|read| read.factor.levels().any(|level| level == "ipv4"));
    let family = if ipv4 { Family::Ipv4 } else { Family::Ipv6 };
    let most = family.most_udp_payload();
    let mut check = |name: &str, bytes: u32, place: Range<usize>| {
        if bytes > most {
            let (version, kind) = (if ipv4 { "IPv4" } else { "IPv6" }, "a UDP datagram");
            let message =
                format!("`{name}` is {bytes} bytes, and {kind} over {version} carries at most {most}");
            problems.push(Problem::new(place, message));
        }
    };
    let mut any_udp = false;
    for read in workloads.iter().filter(|read| read.workload.kind.is_udp()) {
        any_udp = true;
        check("message", read.workload.message, read.place_of("message"));
        check("response", read.workload.response, read.place_of("response"));
    }
    for read in factors.iter().filter(|read| any_udp && *read.factor.subject() == Subject::Message) {
        for (index, place) in read.levels.iter().enumerate() {
            if let Level::Number(Some(bytes)) = read.factor.level(index) {
                check("message", *bytes, place.clone());
            }
        }
    }
}

/// Reports traffic that a scenario cannot carry: `discard` has nobody to receive, and elsewhere somebody does.
pub(crate) fn scenario(scenario: Option<Scenario>, workloads: &[workload::Read], problems: &mut Problems) {
    let Some(scenario) = scenario else { return };
    for read in workloads {
        let kind = read.workload.kind;
        let (message, help) = match (scenario, kind.is_received()) {
            (Scenario::Discard, true) => (
                format!("nobody receives a `{kind}` on `discard`, which throws everything away"),
                "take `pps`, or the scenario `veth` or `loopback`",
            ),
            (Scenario::Loopback | Scenario::Veth, false) => (
                format!("`{kind}` needs an interface that throws everything away, and `{scenario}` has none"),
                "take the scenario `discard`, or `udp_stream`",
            ),
            _ => continue,
        };
        problems.push(Problem::new(read.kind.clone(), message).help(help));
    }
}

/// Reports levels that no workload of the study can have. What only some cannot have is left out of the plan.
pub(crate) fn settings(workloads: &[workload::Read], factors: &[factor::Read], problems: &mut Problems) {
    for read in factors {
        for (index, place) in read.levels.iter().enumerate() {
            let Level::Setting(setting) = read.factor.level(index) else { continue };
            let misfits: Option<Vec<_>> =
                workloads.iter().map(|read| setting.misfit(read.workload.kind)).collect();
            if let Some(first) = misfits.and_then(|misfits| misfits.into_iter().next()) {
                problems.push(Problem::new(place.clone(), first.why).help(first.help));
            }
        }
    }
}

/// Reports what exact mode does not have. Of levels those that no workload of the study can have there; what only some cannot have
/// is left out of the plan.
pub(crate) fn exact(workloads: &[workload::Read], factors: &[factor::Read], problems: &mut Problems) {
    let mut found = Vec::new();
    for read in workloads {
        let Workload { kind, flows, ref traffic, .. } = read.workload;
        found.push((read.kind.clone(), exact::of_kind(kind)));
        found.push((read.place_of("flows"), exact::of_flows(flows)));
        let place = |setting: &Setting| read.place_of(setting.parameter().word());
        let settings = traffic.settings();
        found.extend(settings.iter().map(|setting| (place(setting), exact::of_setting(setting, kind))));
    }
    for read in factors {
        for (index, place) in read.levels.iter().enumerate() {
            let misfit = match (read.factor.subject(), read.factor.level(index)) {
                (Subject::Flows, Level::Number(Some(flows))) => exact::of_flows(*flows),
                (_, Level::Setting(setting)) => {
                    let kinds = workloads.iter().map(|read| read.workload.kind);
                    let misfits = kinds
                        .filter(|kind| setting.misfit(*kind).is_none())
                        .map(|kind| exact::of_setting(setting, kind));
                    misfits.collect::<Option<Vec<_>>>().and_then(|misfits| misfits.into_iter().next())
                }
                _ => None,
            };
            found.push((place.clone(), misfit));
        }
    }
    for (place, misfit) in found.into_iter().filter_map(|(place, misfit)| Some((place, misfit?))) {
        problems.push(Problem::new(place, misfit.why).help(misfit.help));
    }
}

/// Where a file says what is checked when all levels are combined.
pub(crate) struct Places<'r> {
    pub(crate) exclusions: &'r [Range<usize>],
    pub(crate) comparisons: &'r [comparison::Read],
    pub(crate) stop: Option<Range<usize>>,
}

/// Reports what only shows when all levels are combined.
pub(crate) fn plan(
    study: &Study,
    workloads: &[workload::Read],
    places: &Places<'_>,
    problems: &mut Problems,
) {
    let size = grid::size(&study.factors()[..study.undesigned()], study.rows.len());
    if size.is_none_or(|size| size > limit::CONDITIONS) {
        let size = size
            .map_or("more conditions than can be counted".to_owned(), |size| format!("{size} conditions"));
        let message = format!("the factors combine to {size}, and {} is the most", limit::CONDITIONS);
        problems
            .push(Problem::new(place_of(study, "[factors]"), message).help("take fewer factors or levels"));
        return;
    }
    exclusions_act(study, places.exclusions, problems);
    let draft = Draft::of(study);
    if draft.conditions.is_empty() {
        let mut reasons: Vec<&str> = draft.excluded.iter().map(|dropped| dropped.why.as_str()).collect();
        reasons.sort_unstable();
        reasons.dedup();
        let problem = Problem::new(place_of(study, "[factors]"), "no condition is left to measure")
            .help(format!("all are excluded: {}", reasons.join("; ")));
        problems.push(problem);
        return;
    }
    sizes(study, &draft, workloads, problems);
    states(&draft, places.stop.clone(), problems);
    let planned = draft.planned();
    for read in places.comparisons {
        if let Err(why) = read.request.resolve(&planned, study.exact()) {
            problems.push(comparison::explain(read, why));
        }
    }
}

/// Reports exclusions that exclude nothing that is still there.
fn exclusions_act(study: &Study, places: &[Range<usize>], problems: &mut Problems) {
    let mut left: Vec<grid::Cell> = study.cells().collect();
    for (exclusion, place) in study.exclusions.iter().zip(places) {
        let before = left.len();
        left.retain(|cell| !exclusion.selection.chooses(cell));
        if left.len() == before {
            let problem =
                Problem::new(place.clone(), "this excludes nothing: those before it exclude it all")
                    .help("remove it");
            problems.push(problem);
        }
    }
}

/// Reports a study that may stop early, but whose boots differ in what they measure.
fn states(draft: &Draft, stop: Option<Range<usize>>, problems: &mut Problems) {
    let Some(place) = stop else { return };
    let differ = draft.conditions.windows(2).any(|pair| pair[0].boot != pair[1].boot);
    if differ {
        let message = "a study that may stop early looks after whole boots, and here each boot measures a part of the conditions";
        let help = "remove `stop`, or what takes a fresh boot to change (kernel, command_line, vcpus, nic, copies, underlay.family)";
        problems.push(Problem::new(place, message).help(help));
    }
}

/// Connections that one listener of the load engine takes.
const LISTENER: u32 = 4_000;

/// Reports what the sizes of a plan multiply to.
fn sizes(study: &Study, draft: &Draft, workloads: &[workload::Read], problems: &mut Problems) {
    let protocol = study.protocol();
    let runs = (u64::from(protocol.warmup) + u64::from(protocol.runs)) * u64::from(protocol.boots);
    let runs = runs.saturating_mul(draft.conditions.len() as u64);
    if runs > limit::RUNS {
        let message = format!("the study has {runs} runs, and {} is the most", limit::RUNS);
        problems.push(
            Problem::new(place_of(study, "[protocol]"), message).help("take fewer boots, runs or conditions"),
        );
    }
    for read in workloads {
        let of_workload = draft.conditions.iter().map(|condition| &condition.workload);
        let of_workload = || of_workload.clone().filter(|workload| workload.name == read.workload.name);
        let heavy = of_workload().find(|workload| {
            u64::from(workload.buffers()) * (u64::from(workload.message) + u64::from(workload.response))
                > limit::MEMORY
        });
        if let Some(heavy) = heavy {
            let message = format!(
                "{} flows with messages of {} bytes take more than {} bytes of memory",
                heavy.flows,
                heavy.message,
                limit::MEMORY
            );
            problems.push(
                Problem::new(read.place_of("flows"), message).help("take fewer flows or smaller messages"),
            );
        }
        let last = |workload: &&Workload| {
            let ports = if workload.kind.is_udp() {
                workload.sockets()
            } else {
                workload.sockets().div_ceil(LISTENER)
            };
            workload.port.is_some_and(|port| u32::from(port) + ports - 1 > u32::from(u16::MAX))
        };
        if let Some(high) = of_workload().find(last) {
            let message = format!(
                "{} flows need more ports from this one on than there are, and 65535 is the last",
                high.flows
            );
            problems.push(
                Problem::new(read.place_of("port"), message)
                    .help("take a lower port, or leave it to the kernel"),
            );
        }
    }
}

/// The line that begins a table, or the start of the file if it has none.
fn place_of(study: &Study, header: &str) -> Range<usize> {
    let found = study.source_text().lines().find(|line| line.trim_start().starts_with(header));
    let start = found.map_or(0, |line| line.as_ptr() as usize - study.source_text().as_ptr() as usize);
    let indent = found.map_or(0, |line| line.len() - line.trim_start().len());
    start + indent..start + indent + found.map_or(0, |_| header.len())
}
