//! `[factors]`.

use std::ops::Range;

use toml::Spanned;
use toml::de::DeValue;
use words::suggest::quoted;
use words::{DEFAULT, DeviceSetting, Scenario, Side, TuningKey, Value as Level, parse_sysctls, suggest};

use crate::model::{Factor, Scope, Varied, limit};
use crate::read::value::{entries, kind};
use crate::read::{Problem, Problems, Section, TomlEntry, part};

#[derive(Debug)]
pub(crate) struct ParsedFactor {
    pub(crate) factor: Factor,
    pub(crate) name: Range<usize>,
    pub(crate) levels: Vec<Range<usize>>,
}

/// A key of `[factors]`, or of a selection, without its scope.
#[derive(Debug, Clone)]
pub(crate) struct Named<'t> {
    pub(crate) scope: Scope,
    pub(crate) name: &'t str,
    pub(crate) path: Vec<&'t str>,
    pub(crate) place: Range<usize>,
    pub(crate) value: &'t Spanned<DeValue<'t>>,
}

impl Named<'_> {
    pub(crate) fn full(&self) -> String {
        format!("{}{}", self.scope, self.name)
    }

    pub(crate) fn subject(&self) -> Option<Varied> {
        Varied::named(self.scope, self.name)
    }
}

/// Flattens scopes (`transmitter.tso = …`, `"underlay.tso" = …`), in file order.
pub(crate) fn flatten<'t>(rest: Vec<TomlEntry<'t>>, problems: &mut Problems) -> Vec<Named<'t>> {
    let mut flat = Vec::new();
    rest.into_iter().for_each(|entry| lay_flat(entry, Scope::default(), &[], &mut flat, problems));
    flat.sort_by_key(|named| named.place.start);
    flat
}

fn lay_flat<'t>(
    entry: TomlEntry<'t>,
    outer: Scope,
    path: &[&'t str],
    flat: &mut Vec<Named<'t>>,
    problems: &mut Problems,
) {
    let TomlEntry { key, key_span: place, value } = entry;
    let path = [path, &[key]].concat();
    if let Some(scope) = outer.within(key) {
        match value.get_ref() {
            // Scopes nest at most twice, which bounds the recursion.
            DeValue::Table(table) => {
                entries(table).into_iter().for_each(|entry| lay_flat(entry, scope, &path, flat, problems));
            }
            other => {
                let message = format!("`{key}` has factors of its own, and cannot be {}", kind(other));
                let help = format!("name what varies there: `{scope}tso`, `{scope}offloads`");
                problems.report(place, message, help);
            }
        }
        return;
    }
    // A quoted key may have a scope too.
    let full = format!("{outer}{key}");
    let (scope, rest) = Scope::split(&full);
    let name = &key[key.len() - rest.len()..];
    flat.push(Named { scope, name, path, place, value });
}

pub(crate) fn read(table: Section<'_>, problems: &mut Problems) -> (Vec<ParsedFactor>, bool) {
    let mut factors: Vec<ParsedFactor> = Vec::new();
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
        let (values, places) = levels(&named, &subject, problems);
        whole &= problems.count() == found;
        if !values.is_empty() {
            let factor = Factor { name: named.full(), subject, values };
            factors.push(ParsedFactor { factor, name: named.place, levels: places });
        }
    }
    (factors, whole)
}

pub(crate) fn subject(named: &Named<'_>, problems: &mut Problems) -> Option<Varied> {
    if let Some(subject) = named.subject() {
        return Some(subject);
    }
    let (name, scope) = (quoted(named.name), named.scope);
    let both = Scope { side: None, ..scope };
    let of_sides = scope.side.filter(|_| Varied::named(both, named.name).is_some());
    let (message, help) = if let Some(side) = of_sides {
        (
            format!("`{both}{name}` cannot differ between the two sides"),
            format!(
                "write `{both}{name}` without `{side}`; features, settings of devices and of machines, and `offloads` have sides"
            ),
        )
    } else {
        let all = || {
            format!(
                "factors are {}, `offloads`, settings of a device ({}) or of a machine ({}) and the features of `ethtool -k`, after `transmitter.`, `receiver.` or `underlay.` where they have these; several `[[workload]]` become the factor `workload`",
                suggest::list(&Varied::whole_names().collect::<Vec<_>>()),
                suggest::list(&DeviceSetting::ALL.map(DeviceSetting::word)),
                suggest::list(&TuningKey::ALL.map(TuningKey::word))
            )
        };
        let near = suggest::nearest(named.name, Varied::names()).filter(|near| *near != named.name);
        let help = near.map_or_else(all, |near| format!("did you mean `{near}`?"));
        (format!("`{}` is not a factor", quoted(&named.full())), help)
    };
    Problem::new(named.place.clone(), message).help(help).reject(problems)
}

fn levels(named: &Named<'_>, subject: &Varied, problems: &mut Problems) -> (Vec<Level>, Vec<Range<usize>>) {
    let values = TomlEntry::items(named.value);
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
        let Some(level) = level(&TomlEntry::item(named.name, value), subject, problems) else { continue };
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

pub(crate) fn level(value: &TomlEntry<'_>, subject: &Varied, problems: &mut Problems) -> Option<Level> {
    match subject {
        Varied::Tuning(_, key)
            if *key != TuningKey::Sysctl
                && matches!(value.value.get_ref(), DeValue::String(text) if text == DEFAULT) =>
        {
            Some(Level::Default)
        }
        Varied::Key(key) => value.of_shape(key.shape, key.has_default(), problems),
        whole => part::read(value, whole.part()?, problems),
    }
}

pub(crate) fn report_overridden(factor: &str, place: Range<usize>, problems: &mut Problems) {
    let message = format!("`{factor}` is a factor, so this value is never used");
    problems.report(place, message, "remove it here, or from `[factors]`");
}

/// Factors without an effect: a scenario does not have them, or each side has its own.
pub(crate) fn check(factors: &[ParsedFactor], scenarios: &[Scenario], problems: &mut Problems) {
    let discards = scenarios.contains(&Scenario::Discard);
    for ParsedFactor { factor, name: place, .. } in factors {
        let (subject, name) = (&factor.subject, &factor.name);
        let scope = subject.scope();
        let is_absent = |scenario: &Scenario| {
            let has_no_side = match scenario {
                Scenario::Loopback => scope.side.is_some(),
                Scenario::Discard => scope.side == Some(Side::Receiver),
                _ => false,
            };
            has_no_side
                || match subject {
                    Varied::Device(_, setting) => setting.is_absent(*scenario, scope.underlay),
                    Varied::Tuning(_, key) => key.is_absent(*scenario),
                    _ => false,
                }
        };
        if let Some(scenario) = scenarios.iter().find(|scenario| is_absent(scenario)) {
            let able = Scenario::ALL.into_iter().filter(|one| !is_absent(one));
            let able = suggest::list(&able.map(Scenario::word).collect::<Vec<_>>());
            let help = match subject {
                Varied::Device(..) if scenario.has_tunnel() => {
                    format!("write `{}{}`", Scope { underlay: true, ..scope }, Scope::split(name).1)
                }
                Varied::Tuning(..) => {
                    format!("use one of the scenarios {able}; for all conditions `[machine]` has it")
                }
                _ => scope.side.map_or(format!("use one of the scenarios {able}"), |side| {
                    format!("write it without `{side}.`, or use one of the scenarios {able}")
                }),
            };
            problems.report(place.clone(), format!("`{name}` cannot be set on `{scenario}`"), help);
            continue;
        }
        if let Varied::Tuning(_, TuningKey::Sysctl) = subject {
            let names = |level: String| parse_sysctls(&level).map(|all| all.into_keys().collect());
            let sets: Vec<Result<Vec<String>, _>> = factor.levels().map(names).collect();
            let of_machine = sets.iter().flatten().flatten().find(|sysctl| !sysctl.starts_with("net."));
            if let (Some(sysctl), true) = (of_machine, scenarios.iter().any(|one| !one.has_machines())) {
                let message = format!(
                    "`{sysctl}` belongs to the whole machine: its namespaces cannot have different values"
                );
                let help = "use the scenario `ssh` between machines, or `[machine]`";
                problems.report(place.clone(), message, help);
            }
            if sets.windows(2).any(|two| two[0] != two[1]) {
                let message = format!("the levels of `{name}` do not set the same sysctls");
                problems.report(place.clone(), message, "give each sysctl a value in every level");
            }
        }
        let sides: &[Side] = if discards { &[Side::Transmitter] } else { &Side::BOTH };
        let of_side = |side: &Side| {
            let own = Varied::named(Scope { side: Some(*side), ..scope }, Scope::split(name).1);
            own.is_some_and(|own| factors.iter().any(|other| other.factor.subject == own))
        };
        if scope.side.is_none() && sides.iter().all(of_side) {
            let message = format!("`{name}` has no effect: each side has its own");
            problems.report(place.clone(), message, "remove it, or one of the sides");
        }
    }
}
