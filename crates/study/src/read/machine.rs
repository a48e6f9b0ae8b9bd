//! `[machine]`.

use std::collections::BTreeMap;
use std::ops::Range;

use toml::de::DeValue;
use words::names::check_interface;
use words::suggest::quoted;
use words::{BySide, Placement, Shape, check_sysctl, feature, format_sysctls, parse_cpu_list, parse_sysctls};

use crate::model::tables::{MACHINE, PLACEMENT};
use crate::model::{MachineTuning, Machines, limit};
use crate::read::value::entries;
use crate::read::{Problem, Problems, Section, TomlEntry};

pub(crate) fn read(mut table: Section<'_>, problems: &mut Problems) -> Machines {
    let mut of_side =
        |key, name| Some(read_machine(Section::from_entry(name, &table.take(key)?, problems)?, problems));
    let transmitter = of_side("transmitter", "[machine.transmitter]").unwrap_or_default();
    let receiver = of_side("receiver", "[machine.receiver]").unwrap_or_default();
    Machines { own: BySide { transmitter, receiver }, both: read_machine(table, problems) }
}

const FEATURES: &str = "features = { \"eth0\" = { tso = false } }";

fn read_machine(mut table: Section<'_>, problems: &mut Problems) -> MachineTuning {
    const AFFINITY: &str = "irq_affinity = { \"eth0\" = [0] }";
    let machine = MachineTuning {
        sysctl: table.take("sysctl").map(|entry| sysctls(&entry, problems)).unwrap_or_default(),
        governor: table.take("governor").and_then(|entry| entry.identifier(problems)),
        cpu_latency: table.take("cpu_latency").and_then(|entry| entry.get(limit::CPU_LATENCY, problems)),
        placement: table.take("placement").and_then(|entry| placement(&entry, problems)),
        irq_affinity: by_interface(AFFINITY, table.take("irq_affinity"), problems, cpus),
        features: by_interface(FEATURES, table.take("features"), problems, features),
    };
    table.finish(&MACHINE.keys(), problems);
    machine
}

/// Two CPUs: a table, or in the one word that labels have.
pub(crate) fn placement(value: &TomlEntry<'_>, problems: &mut Problems) -> Option<Placement> {
    const NAME: &str = "placement = { irq = 0, traffic = 1 }";
    if let DeValue::String(text) = value.value.get_ref() {
        let read = text.parse();
        if let Err(why) = read {
            let message = format!("`{}` is not a placement: {why}", quoted(text));
            problems.report(value.span(), message, format!("write it as `{NAME}`"));
        }
        return read.ok();
    }
    let mut table = Section::from_entry(NAME, value, problems)?;
    let mut cpu = |key| table.require(key, NAME, problems)?.get(limit::CPU, problems);
    let (irq, traffic) = (cpu("irq"), cpu("traffic"));
    table.finish(&PLACEMENT.keys(), problems);
    Some(Placement { irq: irq?, traffic: traffic? })
}

/// Sysctls of a level: a table, or in the one line that labels have.
pub(crate) fn sysctl_level(value: &TomlEntry<'_>, problems: &mut Problems) -> Option<String> {
    let read = match value.value.get_ref() {
        DeValue::String(text) if text.len() > limit::SYSCTL || text.chars().any(char::is_control) => {
            Err("it is too long, or has a control character")
        }
        DeValue::String(text) => parse_sysctls(text),
        DeValue::Table(table) if table.is_empty() => Err("it names none"),
        _ => {
            let all = Some(sysctls(value, problems)).filter(|all| !all.is_empty())?;
            let one_line = parse_sysctls(&format_sysctls(&all));
            one_line.ok().filter(|read| read.keys().eq(all.keys())).ok_or("a value has `=` in it")
        }
    };
    if let Err(why) = read {
        let message = format!("`{}` does not list sysctls: {why}", quoted(value.key));
        problems.report(value.span(), message, "write it as `{ \"net.core.netdev_budget\" = 300 }`");
    }
    let all = read.ok()?;
    let is_changeable = all.keys().all(|name| check_changeable(name, value.span(), problems));
    is_changeable.then(|| format_sysctls(&all))
}

/// Whether the machine would change a sysctl; reports one that it would refuse.
fn check_changeable(name: &str, span: Range<usize>, problems: &mut Problems) -> bool {
    let checked = check_sysctl(name);
    if let Err(why) = &checked {
        let message = format!("a study cannot set `{}`: {why}", quoted(name));
        let help =
            "docs/studies.md lists what it can set; what you set yourself before is recorded with each boot";
        problems.report(span, message, help);
    }
    checked.is_ok()
}

/// Sysctls, by quoted names or by the tables that dotted ones make.
fn sysctls(entry: &TomlEntry<'_>, problems: &mut Problems) -> BTreeMap<String, String> {
    let mut sysctls = BTreeMap::new();
    let table = Section::from_entry("sysctl = { \"net.core.rmem_max\" = 8388608 }", entry, problems);
    let rest = table.map(Section::rest).unwrap_or_default();
    let mut open: Vec<(String, TomlEntry<'_>)> =
        rest.into_iter().map(|entry| (entry.key.to_owned(), entry)).collect();
    while let Some((name, entry)) = open.pop() {
        if let DeValue::Table(inner) = entry.value.get_ref() {
            let below = entries(inner).into_iter();
            open.extend(below.map(|entry| (format!("{name}.{}", entry.key), entry)));
        } else if let Some(value) = sysctl_value(&entry, problems)
            && check_changeable(&name, entry.key_span.clone(), problems)
        {
            sysctls.insert(name, value);
        }
    }
    sysctls
}

fn sysctl_value(entry: &TomlEntry<'_>, problems: &mut Problems) -> Option<String> {
    match entry.value.get_ref() {
        DeValue::Integer(_) => entry.decimal(),
        DeValue::String(text) if text.len() > limit::SYSCTL || text.chars().any(char::is_control) => {
            let message =
                format!("`{}` must be one line of at most {} bytes", quoted(entry.key), limit::SYSCTL);
            Problem::new(entry.span(), message).reject(problems)
        }
        // Some lists may be empty.
        DeValue::String(text) => Some(text.trim().to_owned()),
        _ => entry.wrong_type("a whole number or a string", problems),
    }
}

fn by_interface<T>(
    name: &'static str,
    entry: Option<TomlEntry<'_>>,
    problems: &mut Problems,
    read: impl Fn(&TomlEntry<'_>, &mut Problems) -> Option<T>,
) -> BTreeMap<String, T> {
    let mut map = BTreeMap::new();
    let table = entry.and_then(|entry| Section::from_entry(name, &entry, problems));
    for entry in table.map(Section::rest).unwrap_or_default() {
        if let Err(error) = check_interface(entry.key) {
            problems.report(entry.key_span.clone(), error.to_string(), format!("write it as `{name}`"));
        } else if let Some(value) = read(&entry, problems) {
            map.insert(entry.key.to_owned(), value);
        }
    }
    map
}

pub(crate) fn cpus(value: &TomlEntry<'_>, problems: &mut Problems) -> Option<Vec<u32>> {
    let mut cpus = match value.value.get_ref() {
        DeValue::Array(array) => {
            let one = |one| TomlEntry::item(value.key, one).get(limit::CPU, problems);
            array.iter().map(one).collect::<Option<Vec<u32>>>()?
        }
        DeValue::Integer(_) => vec![value.get(limit::CPU, problems)?],
        DeValue::String(text) => match parse_cpu_list(text) {
            Ok(cpus) => cpus,
            Err(why) => {
                let message = format!("`{}` does not list CPUs: {why}", quoted(value.key));
                let help = "write it as `[0, 1]` or \"0-1\"";
                return Problem::new(value.span(), message).help(help).reject(problems);
            }
        },
        _ => return value.wrong_type("a list of CPUs such as [0]", problems),
    };
    if !(1..=limit::LEVELS).contains(&cpus.len()) {
        let message = format!("`{}` must list 1 to {} CPUs", quoted(value.key), limit::LEVELS);
        return Problem::new(value.span(), message).reject(problems);
    }
    cpus.sort_unstable();
    cpus.dedup();
    Some(cpus)
}

fn features(entry: &TomlEntry<'_>, problems: &mut Problems) -> Option<BTreeMap<String, bool>> {
    let table = Section::from_entry(FEATURES, entry, problems)?;
    let mut features = BTreeMap::new();
    for entry in table.rest() {
        let on = entry.get(Shape::Switch, problems);
        if feature::expand(entry.key).is_none() {
            let message = format!("`{}` is not a feature", quoted(entry.key));
            let help = problems.help(entry.key, feature::names());
            problems.push(Problem::new(entry.key_span.clone(), message).maybe_help(help));
        } else if let Some(on) = on {
            features.insert(entry.key.to_owned(), on);
        }
    }
    Some(features)
}

#[cfg(test)]
mod tests;
