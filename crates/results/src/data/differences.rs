//! Differences between the machines and testbeds of two studies.

use std::collections::{BTreeMap, BTreeSet};

use record::Environment;
use serde::Serialize;
use store::Outline;
use study::metric::{self, Metric};
use study::{BootKind, Plan};

use crate::data::leaves::{differing, leaves, visit_leaves};
use crate::words::number::counted;

/// Something that two studies do not share, with every value of each; none if not recorded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StudyDifference {
    /// The setting: `kernel release (transmitter)`.
    pub what: String,
    /// Every value in the baseline.
    pub baseline: Vec<String>,
    /// Every value in the study.
    pub study: Vec<String>,
}

impl StudyDifference {
    pub(crate) fn new(what: String, baseline: Option<&str>, study: Option<&str>) -> Self {
        let values = |value: Option<&str>| value.map(str::to_owned).into_iter().collect();
        Self { what, baseline: values(baseline), study: values(study) }
    }

    /// The values of the baseline and those of the study, as text; a dash for none.
    pub fn values(&self) -> [String; 2] {
        [&self.baseline, &self.study].map(|all| if all.is_empty() { "-".to_owned() } else { all.join(" / ") })
    }
}

// Paths that each boot of a machine has anew, or that only name it: they explain no difference.
const PASSING: [&str; 8] =
    ["boot_id", "load", "index", "address", "counters", "boot_ms", "failed_first", "notes"];

// Named first, by the beginning of the path in a host's description, or a part after a dot.
const FIRST: [&str; 12] = [
    "netassay",
    "kernel.release",
    ".programs",
    "kernel.command_line",
    "cpu.model",
    "machine.product",
    "guests.",
    "kernel.",
    "cpu.",
    "machine.",
    "sysctls.",
    "interfaces.",
];

// The two hosts, as the beginnings of paths.
const HOSTS: [&str; 2] = ["transmitter", "receiver"];

// The differences that are named last: other kernels list others of them.
const LAST: &str = "cpu.vulnerabilities.";

/// The values that the hosts of a study have recorded.
pub(crate) type ValuesByPath = BTreeMap<String, BTreeSet<String>>;

pub(crate) fn boot_kind_difference(baseline: &Plan, study: &Plan) -> Option<StudyDifference> {
    let [before, after] = [baseline, study].map(|plan| plan.how_of_boots().map(BootKind::sentence));
    (before != after).then(|| StudyDifference::new("each boot".to_owned(), before, after))
}

// The largest number of builds that are named.
const TOLD: usize = 3;

/// `None` if one build made the traffic, or its work is no part of the metric.
pub(crate) fn of_builds<'e>(
    environments: impl IntoIterator<Item = &'e Environment>,
    metric: Metric,
) -> Option<String> {
    let hosts = environments.into_iter().flat_map(|both| both.receiver.iter().chain([&both.transmitter]));
    let builds: BTreeSet<&str> = hosts.map(|host| host.netassay.as_str()).collect();
    let named: Vec<&str> = builds.iter().copied().take(TOLD).collect();
    let more = builds.len() - named.len();
    let more = if more > 0 { format!("; {more} more") } else { String::new() };
    let counts = [
        metric::INSTRUCTIONS_BYTE,
        metric::INSTRUCTIONS_PACKET,
        metric::INSTRUCTIONS_TRANSACTION,
        metric::INSTRUCTIONS_CALL,
    ];
    let count = counts.iter().find(|count| count.all == metric);
    let remedy = count.map_or_else(String::new, |count| format!(", {} does not", count.kernel));
    (builds.len() > 1 && metric.includes_programs()).then(|| {
        format!(
            "different builds of netassay made the traffic ({}{more}): {metric} includes the work of its own loops{remedy}",
            named.join("; ")
        )
    })
}

/// The differences between the environments of two studies, the weightiest first.
pub(crate) fn of_environments(baseline: &Outline, study: &Outline) -> Vec<StudyDifference> {
    between_values(&values(baseline), &values(study))
}

/// The differences between two studies, the weightiest first.
pub(crate) fn between_values(one: &ValuesByPath, other: &ValuesByPath) -> Vec<StudyDifference> {
    let none = BTreeSet::new();
    let found: BTreeMap<&str, [&BTreeSet<String>; 2]> = differing([one, other])
        .map(|(path, both)| (path, both.map(|values| values.unwrap_or(&none))))
        .collect();
    let mut differences: Vec<(usize, StudyDifference)> = Vec::new();
    for (path, both) in &found {
        let of_host = path.split_once('.').filter(|(host, _)| HOSTS.contains(host));
        let (host, own) = of_host.map_or((None, *path), |(host, own)| (Some(host), own));
        let is_same = |host: &str| found.get(format!("{host}.{own}").as_str()) == Some(both);
        let is_of_both = host.is_some() && HOSTS.into_iter().all(is_same);
        // Told once, without the name of a host.
        if is_of_both && host == Some("receiver") {
            continue;
        }
        let whose = host.filter(|_| !is_of_both).map_or_else(String::new, |host| format!(" ({host})"));
        let is_of =
            |first: &&str| own.starts_with(*first) || (first.starts_with('.') && own.contains(*first));
        let rank = FIRST.iter().position(is_of).filter(|_| !own.starts_with(LAST)).unwrap_or(FIRST.len());
        let list = |values: &BTreeSet<String>| values.iter().cloned().collect();
        let what = format!("{}{whose}", setting_name(own));
        let [baseline, study] = both.map(list);
        differences.push((rank, StudyDifference { what, baseline, study }));
    }
    differences.sort_by_key(|(rank, _)| *rank);
    differences.into_iter().map(|(_, difference)| difference).collect()
}

pub(crate) fn of_read_back(
    baseline: &Outline,
    study: &Outline,
    pairs: &[(usize, usize)],
) -> Vec<StudyDifference> {
    let mut found: BTreeMap<(String, [Option<String>; 2]), usize> = BTreeMap::new();
    for (before, after) in pairs {
        let both = baseline.plan.effective.get(*before).zip(study.plan.effective.get(*after));
        let Some((one, other)) = both.map(|(one, other)| (leaves(one), leaves(other))) else { continue };
        let is_read_back =
            |path: &str| path.contains(".active.") || path.contains(".device.") || path.ends_with(".mtu");
        for (path, values) in differing([&one, &other]).filter(|(path, _)| is_read_back(path)) {
            let path = path.replace(".active.", " ").replace(".device.", " ");
            *found.entry((path, values.map(|value| value.cloned()))).or_default() += 1;
        }
    }
    let difference = |((path, [before, after]), count): ((String, [Option<String>; 2]), usize)| {
        let what = format!("{} read back in {}", path.replace('.', " "), counted(count, "condition"));
        StudyDifference::new(what, before.as_deref(), after.as_deref())
    };
    found.into_iter().map(difference).collect()
}

/// The values that the hosts of a study have recorded under a name: `qdisc`, `kernel release`;
/// those of one side: `transmitter qdisc`.
pub(crate) fn recorded(outline: &Outline, name: &str) -> Vec<String> {
    let name = name.replace(' ', ".");
    let of_side = name.split_once('.').filter(|(side, _)| HOSTS.contains(side));
    let (side, name) = of_side.map_or(("", name.as_str()), |(side, own)| (side, own));
    let ending = format!(".{name}");
    let is_it = |path: &str| path.starts_with(side) && path.ends_with(&ending);
    let own = values(outline).into_iter().filter(|(path, _)| is_it(path));
    own.flat_map(|(_, values)| values).collect::<BTreeSet<String>>().into_iter().collect()
}

/// The names of recorded settings, as [`recorded`] reads them, each also of one side.
pub(crate) fn setting_names(outline: &Outline) -> Vec<String> {
    let paths = values(outline).into_keys();
    let names = paths.flat_map(|path| {
        let of_host = path.split_once('.').filter(|(side, _)| HOSTS.contains(side));
        let (side, own) = of_host.map_or(("", path.as_str()), |(side, own)| (side, own));
        // An interface has the name that its host gives it.
        let own = match own.strip_prefix("interfaces.") {
            Some(own) => own.split_once('.').map_or(own, |(_, own)| own),
            None => own,
        };
        let own = own.replace('.', " ");
        [format!("{side} {own}").trim_start().to_owned(), own]
    });
    names.collect()
}

pub(crate) fn values(outline: &Outline) -> ValuesByPath {
    let mut values = ValuesByPath::new();
    let lasts = |name: &str| !name.split('.').any(|part| PASSING.contains(&part));
    for environment in &outline.environments {
        visit_leaves(environment, &lasts, &mut |path, value| {
            // Nearly every boot has the same values as the one before.
            let Some(known) = values.get_mut(path) else {
                values.insert(path.to_owned(), BTreeSet::from([value.to_owned()]));
                return;
            };
            if !known.contains(value) {
                known.insert(value.to_owned());
            }
        });
    }
    values
}

fn setting_name(path: &str) -> String {
    match path.strip_prefix("sysctls.") {
        Some(sysctl) => sysctl.to_owned(),
        None => path.strip_prefix("interfaces.").unwrap_or(path).replace(['.', '_'], " "),
    }
}
