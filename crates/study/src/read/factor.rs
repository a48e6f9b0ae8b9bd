//! `[factors]`.

use std::ops::Range;

use toml::Spanned;
use toml::de::DeValue;
use words::suggest::quoted;
use words::{DEFAULT, DeviceSetting, Scenario, Side, TuningKey, Value as Level, parse_sysctls, suggest};

use crate::model::{Factor, Scope, Subject, limit};
use crate::read::value::{entries, kind};
use crate::read::{Entry, Problem, Problems, Table, part};

/// A factor with the places of its name and its levels.
#[derive(Debug)]
pub(crate) struct Read {
    pub(crate) factor: Factor,
    pub(crate) name: Range<usize>,
    pub(crate) levels: Vec<Range<usize>>,
}

/// A key of `[factors]`, or of a selection, without its scope.
#[derive(Debug, Clone)]
pub(crate) struct Named<'t> {
    pub(crate) scope: Scope,
    pub(crate) name: &'t str,
    /// The keys that lead to it, as written.
    pub(crate) path: Vec<&'t str>,
    pub(crate) place: Range<usize>,
    pub(crate) value: &'t Spanned<DeValue<'t>>,
}

impl Named<'_> {
    /// The name with the scope: `transmitter.underlay.tso`.
    pub(crate) fn full(&self) -> String {
        format!("{}{}", self.scope, self.name)
    }

    /// The factor that it names, if there is one.
    pub(crate) fn subject(&self) -> Option<Subject> {
        Subject::named(self.scope, self.name)
    }
}

/// The entries of a table whose scopes (`transmitter.tso = …`, `"underlay.tso" = …`) are flattened,
/// in file order.
pub(crate) fn flatten<'t>(rest: Vec<Entry<'t>>, problems: &mut Problems) -> Vec<Named<'t>> {
    let mut flat = Vec::new();
    for entry in rest {
        lay_flat(entry, Scope::default(), &[], &mut flat, problems);
    }
    flat.sort_by_key(|named| named.place.start);
    flat
}

/// Flattens an entry of a table of the scope `outer`.
fn lay_flat<'t>(
    entry: Entry<'t>,
    outer: Scope,
    path: &[&'t str],
    flat: &mut Vec<Named<'t>>,
    problems: &mut Problems,
) {
    let Entry { key, key_span: place, value } = entry;
    let path = [path, &[key]].concat();
    if let Some(scope) = outer.within(key) {
        match value.get_ref() {
            // Scopes nest at most twice, which bounds the recursion.
            DeValue::Table(table) => {
                entries(table).into_iter().for_each(|entry| lay_flat(entry, scope, &path, flat, problems));
            }
            other => {
                let what = if scope.underlay { "the interface under a tunnel" } else { "a side" };
                let message = format!("`{scope}` is {what}, not a factor, and cannot be {}", kind(other));
                let message = message.replacen(".`", "`", 1);
                let help = format!("name what varies there: `{scope}tso`, `{scope}offloads`");
                problems.report(place, message, help);
            }
        }
        return;
    }
    let (inner, name) = Scope::split(key);
    let (scope, name) = outer.then(inner).map_or((outer, key), |scope| (scope, name));
    flat.push(Named { scope, name, path, place, value });
}

/// The factors of a file, and whether all of them and all their levels could be read.
pub(crate) fn read(table: Table<'_>, problems: &mut Problems) -> (Vec<Read>, bool) {
    let mut factors: Vec<Read> = Vec::new();
    let mut whole = true;
    let place = table.span.clone();
    let written = flatten(table.rest(), problems);
    if written.len() > limit::FACTORS {
        let message = format!("there are {} factors: at most {} are allowed", written.len(), limit::FACTORS);
        problems.push(Problem::new(place, message));
        return (factors, false);
    }
    for named in written {
        let Some(subject) = subject(&named, problems) else {
            whole = false;
            continue;
        };
        if let Some(earlier) = factors.iter().find(|earlier| earlier.factor.subject == subject) {
            let message = format!("`{}` is the same factor as `{}`", named.full(), earlier.factor.name);
            problems.report(named.place, message, "keep one of the two");
            continue;
        }
        let found = problems.count();
        let (levels, places) = levels(&named, &subject, problems);
        whole &= problems.count() == found;
        if !levels.is_empty() {
            let factor = Factor::new(named.full(), subject, levels);
            factors.push(Read { factor, name: named.place, levels: places });
        }
    }
    (factors, whole)
}

/// The subject of a factor's name; reports unknown names.
pub(crate) fn subject(named: &Named<'_>, problems: &mut Problems) -> Option<Subject> {
    let subject = named.subject();
    if subject.is_some() {
        return subject;
    }
    let (name, scope) = (quoted(named.name), named.scope);
    let at = named.place.clone();
    let both = Scope { side: None, ..scope };
    let whole = Subject::named(both, named.name);
    let problem = match scope.side {
        Some(side) if whole.is_some() => {
            Problem::new(at, format!("`{both}{name}` cannot differ between the two sides"))
                .help(format!("write `{both}{name}` without `{side}`; features, settings of devices and of machines, and `offloads` have sides"))
        }
        None if scope.underlay && Subject::named(Scope::default(), named.name).is_some() => {
            Problem::new(at, format!("`{name}` is not a setting of the underlay")).help(format!(
                "write `{name}`; an underlay has `family`, `mtu`, `offloads`, settings of its device and the features of `ethtool -k`"
            ))
        }
        _ if named.name == "workload" => Problem::new(at, "workloads are not listed here".to_owned())
            .help("write several `[[workload]]`: they become the factor `workload` by themselves"),
        _ if scope.underlay && Scope::split(named.name).0 != Scope::default() => {
            let (inner, name) = Scope::split(named.name);
            Problem::new(at, format!("`{}` is not a factor", quoted(&named.full())))
                .help(format!("the side comes first: `{inner}underlay.{}`", quoted(name)))
        }
        _ => {
            let near = problems.nearest(named.name, Subject::names());
            let help = near.map_or_else(
                || {
                    let whole: Vec<&str> = Subject::whole_names().collect();
                    format!(
                        "factors are {}, `offloads`, settings of a device ({}) or of a machine ({}) and the features of `ethtool -k`",
                        suggest::list(&whole),
                        suggest::list(&DeviceSetting::ALL.map(DeviceSetting::word)),
                        suggest::list(&TuningKey::ALL.map(TuningKey::word))
                    )
                },
                |near| format!("did you mean `{near}`?"),
            );
            Problem::new(at, format!("`{name}` is not a factor")).help(help)
        }
    };
    problems.push(problem);
    None
}

/// The levels of a factor: a list, or a single value.
fn levels(named: &Named<'_>, subject: &Subject, problems: &mut Problems) -> (Vec<Level>, Vec<Range<usize>>) {
    let values = Entry::items(named.value);
    if values.is_empty() {
        let message = format!("`{}` has no level", named.full());
        problems.report(named.value.span(), message, "list at least one, or remove the factor");
    }
    if values.len() > limit::LEVELS {
        let message =
            format!("`{}` has {} levels: at most {} are allowed", named.full(), values.len(), limit::LEVELS);
        problems.push(Problem::new(named.place.clone(), message));
        return (Vec::new(), Vec::new());
    }
    let (mut levels, mut places): (Vec<Level>, Vec<Range<usize>>) = (Vec::new(), Vec::new());
    let mut seen = std::collections::HashSet::new();
    for value in values {
        let Some(level) = level(&Entry::item(named.name, value), subject, problems) else { continue };
        if !seen.insert(level.to_string()) {
            let message = format!("`{}` has the level `{level}` twice", named.full());
            problems.push(Problem::new(value.span(), message));
            continue;
        }
        levels.push(level);
        places.push(value.span());
    }
    (levels, places)
}

pub(crate) fn level(value: &Entry<'_>, subject: &Subject, problems: &mut Problems) -> Option<Level> {
    match subject {
        Subject::Tuning(_, key)
            if *key != TuningKey::Sysctl
                && matches!(value.value.get_ref(), DeValue::String(text) if text == DEFAULT) =>
        {
            Some(Level::Default)
        }
        Subject::Key(key) => value.of_key(key, problems),
        whole => part::read(value, whole.part()?, problems),
    }
}

/// The problem of a value that a factor of the same name overrides.
pub(crate) fn overridden(factor: &Read, place: Range<usize>) -> Problem {
    let message = format!("`{}` is a factor, so this value is never used", factor.factor.name);
    Problem::new(place, message).help("remove it here, or from `[factors]`")
}

/// The problem of a setting of a device in a scenario that has none with it.
fn no_device(
    factor: &Factor,
    setting: DeviceSetting,
    scenario: Scenario,
    why: &str,
    place: Range<usize>,
) -> Problem {
    let message = format!("`{}` cannot be set on `{scenario}`, {why}", factor.name);
    let side = factor.subject.scope().side;
    let under = Scope { side, underlay: true };
    let help = if scenario.has_tunnel() && setting.absent(scenario, true).is_none() {
        format!("write `{under}{setting}`: the devices under the tunnel")
    } else {
        "remove it, or use a scenario with devices: `vm`, or `ssh` between machines".to_owned()
    };
    Problem::new(place, message).help(help)
}

/// Reports factors without an effect: on one side of `loopback`, which has one interface for both;
/// on the receiver of `discard`, which has none; settings of a device where there is none; on both
/// sides when each side has its own.
pub(crate) fn check(factors: &[Read], scenarios: &[Scenario], problems: &mut Problems) {
    for Read { factor, name, .. } in factors {
        let subject = &factor.subject;
        if let Subject::Device(scope, setting) = subject {
            let absent = |scenario: &Scenario| Some((*scenario, setting.absent(*scenario, scope.underlay)?));
            if let Some((scenario, why)) = scenarios.iter().find_map(absent) {
                problems.push(no_device(factor, *setting, scenario, why, name.clone()));
                continue;
            }
        }
        if let Subject::Tuning(_, key) = subject {
            let absent = |scenario: &Scenario| Some((*scenario, key.absent(*scenario)?));
            if let Some((scenario, why)) = scenarios.iter().find_map(absent) {
                let message = format!("`{}` cannot be a factor of `{scenario}`, {why}", factor.name);
                let able = Scenario::ALL.iter().filter(|one| key.absent(**one).is_none());
                let able: Vec<String> = able.map(|one| format!("`{one}`")).collect();
                let help = format!(
                    "it can be a factor of {}; one machine of `ssh` may be this one; for all conditions `[machine]` has it",
                    able.join(", ")
                );
                problems.report(name.clone(), message, help);
                continue;
            }
        }
        if let Subject::Tuning(_, TuningKey::Sysctl) = subject {
            let names = |level: String| parse_sysctls(&level).map(|all| all.into_keys().collect());
            let sets: Vec<Result<Vec<String>, _>> = factor.levels().map(names).collect();
            let of_machine = sets.iter().flatten().flatten().find(|sysctl| !sysctl.starts_with("net."));
            if let (Some(sysctl), true) = (of_machine, scenarios.iter().any(|one| !one.has_machines())) {
                let message = format!(
                    "`{sysctl}` belongs to the whole machine: its namespaces cannot have different values"
                );
                problems.report(
                    name.clone(),
                    message,
                    "use the scenario `ssh` between machines, or `[machine]`",
                );
            }
            if sets.windows(2).any(|two| two[0] != two[1]) {
                let message = format!("the levels of `{}` do not set the same sysctls", factor.name);
                problems.report(name.clone(), message, "give each sysctl a value in every level");
            }
        }
        if let Some(side) = subject.scope().side.filter(|_| scenarios.contains(&Scenario::Loopback)) {
            let message =
                format!("`{}` cannot be set on `loopback`: both ends are one interface", factor.name);
            let bare = factor.name.trim_start_matches(&format!("{side}."));
            problems.report(name.clone(), message, format!("write `{bare}`, or use `veth`"));
        }
        let discards = scenarios.contains(&Scenario::Discard);
        if discards && subject.scope().side == Some(Side::Receiver) {
            let message = format!("`{}` cannot be set on `discard`, which has no receiver", factor.name);
            let bare = factor.name.trim_start_matches("receiver.");
            let help = format!("write `transmitter.{bare}`, or use `veth`");
            problems.report(name.clone(), message, help);
        }
        let of_side = |side| factors.iter().any(|other| other.factor.subject == subject.on(Some(side)));
        let has_sides = matches!(
            subject,
            Subject::Offloads(_) | Subject::Device(..) | Subject::Tuning(..) | Subject::Feature(..)
        ) && subject.scope().side.is_none();
        let sides: &[Side] = if discards { &[Side::Transmitter] } else { &Side::BOTH };
        if has_sides && sides.iter().copied().all(of_side) {
            let message = format!("`{}` has no effect: each side has its own", factor.name);
            problems.report(name.clone(), message, "remove it, or one of the sides");
        }
    }
}
