//! `[machine]`.

use std::collections::BTreeMap;
use std::ops::Range;

use toml::de::DeValue;
use words::names::check_interface;
use words::suggest::quoted;
use words::{BySide, Placement, Shape, check_sysctl, feature, format_sysctls, parse_cpu_list, parse_sysctls};

use crate::model::tables::{MACHINE, PLACEMENT};
use crate::model::{Machine, Machines, limit};
use crate::read::value::entries;
use crate::read::{Entry, Problem, Problems, Table};

pub(crate) fn read(mut table: Table<'_>, problems: &mut Problems) -> Machines {
    let mut of_side =
        |key, name| Some(read_machine(Table::from_entry(name, &table.take(key)?, problems)?, problems));
    let transmitter = of_side("transmitter", "[machine.transmitter]").unwrap_or_default();
    let receiver = of_side("receiver", "[machine.receiver]").unwrap_or_default();
    Machines { own: BySide { transmitter, receiver }, both: read_machine(table, problems) }
}

const FEATURES: &str = "features = { \"eth0\" = { tso = false } }";

fn read_machine(mut table: Table<'_>, problems: &mut Problems) -> Machine {
    const AFFINITY: &str = "irq_affinity = { \"eth0\" = [0] }";
    let mut take = |key: &str| table.take(key);
    let machine = Machine {
        sysctl: take("sysctl").map(|entry| sysctls(&entry, problems)).unwrap_or_default(),
        governor: take("governor").and_then(|entry| entry.identifier(problems)),
        cpu_latency: take("cpu_latency").and_then(|entry| entry.get(limit::CPU_LATENCY, problems)),
        placement: take("placement").and_then(|entry| placement(&entry, problems)),
        irq_affinity: by_interface(AFFINITY, take("irq_affinity"), problems, cpus),
        features: by_interface(FEATURES, take("features"), problems, features),
    };
    table.finish(&MACHINE.keys(), problems);
    machine
}

/// Two CPUs: a table, or in the one word that labels have.
pub(crate) fn placement(value: &Entry<'_>, problems: &mut Problems) -> Option<Placement> {
    const NAME: &str = "placement = { irq = 0, traffic = 1 }";
    if let DeValue::String(text) = value.value.get_ref() {
        let read = text.parse();
        if let Err(why) = read {
            let message = format!("`{}` is not a placement: {why}", quoted(text));
            problems.report(value.span(), message, format!("write it as `{NAME}`"));
        }
        return read.ok();
    }
    let mut table = Table::from_entry(NAME, value, problems)?;
    let mut cpu = |key| table.require(key, NAME, problems)?.get(limit::CPU, problems);
    let (irq, traffic) = (cpu("irq"), cpu("traffic"));
    table.finish(&PLACEMENT.keys(), problems);
    Some(Placement { irq: irq?, traffic: traffic? })
}

/// Sysctls of a level: a table, or in the one line that labels have.
pub(crate) fn sysctl_level(value: &Entry<'_>, problems: &mut Problems) -> Option<String> {
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
    // Names of a table are checked where they are read.
    let is_changeable = |name: &String| {
        matches!(value.value.get_ref(), DeValue::Table(_)) || check_changeable(name, value.span(), problems)
    };
    all.keys().all(is_changeable).then(|| format_sysctls(&all))
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
fn sysctls(entry: &Entry<'_>, problems: &mut Problems) -> BTreeMap<String, String> {
    let mut sysctls = BTreeMap::new();
    let table = Table::from_entry("sysctl = { \"net.core.rmem_max\" = 8388608 }", entry, problems);
    let rest = table.map(Table::rest).unwrap_or_default();
    let mut open: Vec<(String, Entry<'_>)> =
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

fn sysctl_value(entry: &Entry<'_>, problems: &mut Problems) -> Option<String> {
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
    entry: Option<Entry<'_>>,
    problems: &mut Problems,
    read: impl Fn(&Entry<'_>, &mut Problems) -> Option<T>,
) -> BTreeMap<String, T> {
    let mut map = BTreeMap::new();
    let table = entry.and_then(|entry| Table::from_entry(name, &entry, problems));
    for entry in table.map(Table::rest).unwrap_or_default() {
        if let Err(message) = check_interface(entry.key) {
            problems.report(entry.key_span.clone(), message, format!("write it as `{name}`"));
        } else if let Some(value) = read(&entry, problems) {
            map.insert(entry.key.to_owned(), value);
        }
    }
    map
}

pub(crate) fn cpus(value: &Entry<'_>, problems: &mut Problems) -> Option<Vec<u32>> {
    let mut cpus = match value.value.get_ref() {
        DeValue::Array(array) => {
            let one = |one| Entry::item(value.key, one).get(limit::CPU, problems);
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

fn features(entry: &Entry<'_>, problems: &mut Problems) -> Option<BTreeMap<String, bool>> {
    let table = Table::from_entry(FEATURES, entry, problems)?;
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
mod tests {
    use words::{Placement, Side};

    use crate::Study;
    use crate::model::{Machine, Machines};

    const STUDY: &str =
        "name = \"x\"\nquestion = \"y\"\nscenario = \"veth\"\n[[workload]]\nkind = \"tcp_stream\"\n";

    fn read(table: &str) -> Result<Machines, String> {
        let study = Study::parse("x.toml", &format!("{STUDY}{table}"));
        study.map(|study| study.machine.clone()).map_err(|problems| problems.to_string())
    }

    #[test]
    fn a_study_without_the_table_wants_nothing() {
        assert!(read("").unwrap().is_empty());
    }

    #[test]
    fn everything_is_read() {
        let machine = read(
            "[machine]\nsysctl = { \"net.core.rmem_max\" = 8388608, \"net.ipv4.tcp_rmem\" = \"4096 131072 6291456\" }\n\
             governor = \"performance\"\nirq_affinity = { eth0 = [1, 0] }\nfeatures = { eth0 = { tso = false, gro = \"on\" } }\n",
        )
        .unwrap();
        assert_eq!(machine.both.sysctl["net.core.rmem_max"], "8388608");
        assert_eq!(machine.both.sysctl["net.ipv4.tcp_rmem"], "4096 131072 6291456");
        assert_eq!(machine.both.governor.as_deref(), Some("performance"));
        assert_eq!(machine.both.irq_affinity["eth0"], [0, 1]);
        let features = machine.both.kernel_features();
        assert_eq!(features[0], ("eth0", vec!["rx-gro"], true));
        assert!(features[1].1.contains(&"tx-tcp-segmentation") && !features[1].2);
    }

    #[test]
    fn the_machine_of_one_side_may_differ() {
        let machines = read(
            "[machine]\ngovernor = \"performance\"\ncpu_latency = 0\nplacement = { irq = 0, traffic = 1 }\n\
             sysctl = { \"net.core.rmem_max\" = 1, \"net.core.wmem_max\" = 1 }\nfeatures = { eth0 = { tso = false, gro = false } }\n\
             [machine.receiver]\ncpu_latency = 50\nsysctl.net.core.wmem_max = 2\nfeatures = { eth0 = { gro = true } }\n\
             placement = { irq = 2, traffic = 3 }\n",
        )
        .unwrap();
        assert_eq!(machines.of_side(Side::Transmitter), machines.both);
        let receiver = machines.of_side(Side::Receiver);
        assert_eq!((receiver.governor.as_deref(), receiver.cpu_latency), (Some("performance"), Some(50)));
        assert_eq!(receiver.placement, Some(Placement { irq: 2, traffic: 3 }));
        assert_eq!(
            (receiver.sysctl["net.core.rmem_max"].as_str(), receiver.sysctl["net.core.wmem_max"].as_str()),
            ("1", "2")
        );
        assert_eq!(receiver.features["eth0"], [("gro".to_owned(), true), ("tso".to_owned(), false)].into());
        assert_eq!(machines.of_two_machines(), ["[machine.receiver]", "placement"]);
        let one =
            Machines { both: Machine { cpu_latency: Some(0), ..Machine::default() }, ..Machines::default() };
        assert_eq!(one.of_two_machines(), [""; 0]);
        assert!(!one.is_empty());
    }

    #[test]
    fn a_sysctl_may_be_empty_or_long() {
        let long = "1024,".repeat(1000);
        let table = format!("[machine.sysctl]\nnet.ipv4.tcp_rmem = \"\"\nnet.ipv4.tcp_wmem = \"{long}\"\n");
        let machine = read(&table).unwrap();
        assert_eq!(
            (
                machine.both.sysctl["net.ipv4.tcp_rmem"].as_str(),
                machine.both.sysctl["net.ipv4.tcp_wmem"].as_str()
            ),
            ("", long.as_str())
        );
        let longer = format!("[machine.sysctl]\nnet.ipv4.tcp_rmem = \"{}\"\n", "1".repeat(70_000));
        assert!(read(&longer).unwrap_err().contains("at most 65536 bytes"));
    }

    #[test]
    fn dotted_names_of_sysctls_need_no_quotes() {
        let machine = read("[machine.sysctl]\nnet.core.rmem_max = 1\nnet.core.wmem_max = 0x10\n").unwrap();
        assert_eq!(machine.both.sysctl["net.core.rmem_max"], "1");
        assert_eq!(machine.both.sysctl["net.core.wmem_max"], "16");
    }

    #[test]
    fn what_is_wrong_is_reported_with_the_way_out() {
        for (table, words) in [
            ("[machine]\nsysctl = 1", "must be a table"),
            ("[machine]\nsysctl = { \"fs.file-max\" = 1 }", "it is not on the list of sysctls"),
            ("[machine]\nsysctl = { \"net..x\" = 1 }", "it is not on the list of sysctls"),
            (
                "[machine]\nsysctl = { \"net.ipv4.ip_forward\" = 1 }",
                "a study cannot set `net.ipv4.ip_forward`: it is not",
            ),
            (
                "[machine.receiver.sysctl]\nnet.core.default_qdisc = \"fq\"",
                "a study cannot set `net.core.default_qdisc`",
            ),
            (
                "[factors]\nsysctl = [{ \"net.ipv4.ip_forward\" = 1 }, \"net.core.none=1\"]",
                "a study cannot set `net.core.none`: it is not on the list",
            ),
            ("[machine]\nsysctl = { \"net.core.dev_weight\" = 1.5 }", "a whole number or a string"),
            ("[machine]\ngovernor = 1", "must be a string"),
            ("[machine]\nirq_affinity = { \"../x\" = [0] }", "cannot be the name of an interface"),
            ("[machine]\nirq_affinity = { eth0 = [] }", "must list 1 to"),
            ("[machine]\nirq_affinity = { eth0 = [-1] }", "must be 0 to"),
            ("[machine]\nfeatures = { eth0 = { tsoo = true } }", "did you mean"),
            ("[machine]\nfeatures = { eth0 = { tso = 1 } }", "on"),
            ("[machine]\nturbo = false", "unknown key `turbo`"),
            ("[machine]\ncpu_latency = -1", "must be 0 to 1000000"),
            ("[machine]\nplacement = { irq = 0 }", "`traffic`"),
            ("[machine]\nplacement = { irq = 0, traffic = 1, nic = 2 }", "unknown key `nic`"),
            ("[machine.sender]\ngovernor = \"performance\"", "unknown key `sender`"),
            ("[machine.receiver]\nturbo = false", "unknown key `turbo`"),
            ("[machine.receiver]\n[machine.receiver.receiver]\n", "unknown key `receiver`"),
        ] {
            let told = read(table).unwrap_err();
            assert!(told.contains(words), "{table}:\n{told}");
        }
    }
}
