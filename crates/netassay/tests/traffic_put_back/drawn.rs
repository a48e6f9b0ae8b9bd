//! Studies drawn from the product's own tables: every factor of an interface by the schema of
//! studies, every key of `[machine]`, every sysctl that may be changed.

use std::collections::BTreeSet;

use proptest::prelude::*;
use proptest::sample::{Index, select, subsequence};
use serde_json::Value;
use words::feature::{FeatureGroup, GROUPS};
use words::{DeviceSetting, TuningKey, Word as _};

use crate::machines::Machine;

/// A key of a study with the values that it may have, as TOML.
#[derive(Clone, Debug)]
struct Setting {
    table: String,
    key: String,
    values: Vec<String>,
    /// What it is a setting of: a study has one of them.
    subject: String,
    sort: Sort,
}

/// Sorts of settings, so that few are not lost among many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sort {
    Sysctl,
    Switch,
    Device,
    Mtu,
    Other,
}

/// What can be drawn: what these machines have, and what they do not have.
#[derive(Debug)]
pub(crate) struct Settings {
    present: Vec<Setting>,
    absent: Vec<Setting>,
}

const INTERFACE: &str = "data0";

impl Settings {
    /// All that a study may change of machines like this one.
    /// No more than `least` settings would be a fault of this test.
    pub(crate) fn of(machine: &Machine, least: usize) -> Self {
        let schema: Value = serde_json::from_str(&study::schema()).unwrap();
        let has = Has::ask(machine);
        let mut all = Self { present: Vec::new(), absent: Vec::new() };
        all.add_factors(&schema, "Factors", "factors", &has);
        all.add_factors(&schema, "OfSide", "factors.transmitter", &has);
        all.add_factors(&schema, "OfSide", "factors.receiver", &has);
        all.add_machine(&schema, "Machine", "machine", &has);
        assert!(all.present.len() > least, "{}", all.present.len());
        assert!(all.present.iter().any(|one| one.sort == Sort::Device), "{all:?}");
        all
    }

    fn add(
        &mut self,
        is_present: bool,
        sort: Sort,
        table: &str,
        [key, subject]: [&str; 2],
        values: Vec<String>,
    ) {
        let list = if is_present { &mut self.present } else { &mut self.absent };
        let subject = format!("{table} {subject}");
        list.push(Setting { table: table.to_owned(), key: key.to_owned(), values, subject, sort });
    }

    /// The factors of interfaces in a table of the schema. The others are of the traffic, or of
    /// guests.
    fn add_factors(&mut self, schema: &Value, of: &str, table: &str, has: &Has) {
        for (name, levels) in schema["$defs"][of]["properties"].as_object().unwrap() {
            let kind = levels["$ref"].as_str().unwrap_or_default().trim_start_matches("#/$defs/");
            let key = format!("{name:?}");
            let switches = || texts(&["\"on\"", "\"off\""]);
            let mut subject = name.as_str();
            let (is_present, sort, values) = match kind {
                "SwitchLevels" => {
                    subject = members(name)[0];
                    (has.feature(name), Sort::Switch, switches())
                }
                "OffloadsLevels" => (true, Sort::Other, texts(&["\"none\"", "\"default\""])),
                "DeviceSwitchLevels" => (has.device(name), Sort::Device, switches()),
                "DeviceLevels" => (has.device(name), Sort::Device, texts(&["1", "2", "64"])),
                "MtuLevels" => {
                    let sizes = ["68", "576", "1000", "1279", "1280", "1400", "1500", "9000"];
                    (true, Sort::Mtu, texts(&sizes))
                }
                "FamilyLevels" => (true, Sort::Other, texts(&["\"ipv4\"", "\"ipv6\""])),
                "DeviceFieldsLevels" => (has.device(name), Sort::Device, texts(&["\"sd\"", "\"sdfn\""])),
                "Machine.placement" => {
                    (has.cpus > 1, Sort::Other, texts(&["\"irq0-traffic1\"", "\"irq1-traffic0\""]))
                }
                "Machine.sysctl" => {
                    for (sysctl, values) in &has.sysctls {
                        let level = |value: &String| format!("{{ {sysctl:?} = {value} }}");
                        let values = values.iter().map(level).collect();
                        self.add(true, Sort::Sysctl, table, [&key, subject], values);
                    }
                    continue;
                }
                // Of the machine of the tests: as it is, or refused.
                "Machine.governor" => {
                    (has.governor.is_some(), Sort::Other, vec![format!("{:?}", has.governor())])
                }
                "Machine.cpu_latency" => (has.idles, Sort::Other, texts(&["1000"])),
                "Machine.irq_affinity" => (false, Sort::Other, texts(&["\"0\""])),
                // The traffic's, and those of guests and scenarios.
                "" | "ScenarioLevels" | "TwinLevels" => continue,
                of if of.starts_with("Guest.") || of.contains("OfSide") || of.contains("OfUnderlay") => {
                    continue;
                }
                new => panic!("{name} has levels of a new kind, {new}, which are not drawn yet"),
            };
            self.add(is_present, sort, table, [&key, subject], values);
        }
    }

    fn add_machine(&mut self, schema: &Value, of: &str, table: &str, has: &Has) {
        for (name, about) in schema["$defs"][of]["properties"].as_object().unwrap() {
            let mut add = |is_present: bool, key: &str, values: Vec<String>| {
                let sort = if name == "sysctl" { Sort::Sysctl } else { Sort::Other };
                self.add(is_present, sort, table, [key, key], values);
            };
            match name.as_str() {
                "sysctl" => {
                    for (sysctl, values) in &has.sysctls {
                        add(true, &format!("sysctl.{sysctl:?}"), values.clone());
                    }
                }
                "placement" => {
                    let values = ["{ irq = 0, traffic = 1 }", "{ irq = 1, traffic = 0 }"];
                    add(has.cpus > 1, name, texts(&values));
                }
                "features" => {
                    let groups = GROUPS.iter().filter(|group| has.feature(group.short));
                    let switch = |group: &FeatureGroup| {
                        let value = |on| format!("{{ {INTERFACE} = {{ {:?} = {on} }} }}", group.short);
                        [value(true), value(false)]
                    };
                    add(true, name, groups.flat_map(switch).collect());
                }
                // The CPUs of the machine of the tests: as they are, or refused.
                "governor" => add(has.governor.is_some(), name, vec![format!("{:?}", has.governor())]),
                "cpu_latency" => add(has.idles, name, vec!["1000".to_owned()]),
                "irq_affinity" => add(false, name, vec![format!("{{ {INTERFACE} = [0] }}")]),
                side @ ("transmitter" | "receiver") => {
                    let of_side = about["$ref"].as_str().unwrap().trim_start_matches("#/$defs/");
                    self.add_machine(schema, of_side, &format!("{table}.{side}"), has);
                }
                new => panic!("`[machine]` has a key {new} that is not drawn yet"),
            }
        }
    }

    /// Studies of some settings of each sort, of which few have two levels.
    pub(crate) fn study(&self) -> impl Strategy<Value = String> + use<> {
        let of = |sort: Sort| {
            let all = of_sort(&self.present, sort);
            let most = all.len().min(3);
            subsequence(all, 0..=most)
        };
        let sorts = (
            of(Sort::Sysctl),
            of(Sort::Switch),
            of(Sort::Device),
            of(Sort::Other),
            // It takes IPv6 with it.
            prop::option::weighted(0.3, select(of_sort(&self.present, Sort::Mtu))),
            prop::option::weighted(0.1, select(self.absent.clone())),
        );
        let scenario = prop_oneof![3 => Just("ssh"), 1 => Just("ssh-vxlan")];
        let kind = select(vec!["tcp_stream", "udp_stream", "tcp_rr"]);
        let values = prop::collection::vec(any::<Index>(), 14);
        (sorts, scenario, kind, values, 0..3usize).prop_map(
            |((sysctls, switches, devices, others, mtu, absent), scenario, kind, values, doubles)| {
                let mut settings = [sysctls, switches, devices, others].concat();
                settings.extend(mtu.into_iter().chain(absent));
                let mut subjects = BTreeSet::new();
                settings.retain(|one| subjects.insert(one.subject.clone()));
                if scenario == "ssh-vxlan" {
                    settings.iter_mut().for_each(Setting::move_under_tunnel);
                }
                written(&settings, scenario, kind, &values, doubles)
            },
        )
    }
}

fn of_sort(settings: &[Setting], sort: Sort) -> Vec<Setting> {
    settings.iter().filter(|one| one.sort == sort).cloned().collect()
}

impl Setting {
    /// The interface of the machine is under the tunnel then.
    fn move_under_tunnel(&mut self) {
        let is_of_machine = TuningKey::from_word(self.key.trim_matches('"')).is_some();
        if self.table.starts_with("factors") && self.key != "\"family\"" && !is_of_machine {
            self.table.push_str(".underlay");
        }
    }
}

fn texts(values: &[&str]) -> Vec<String> {
    values.iter().map(|value| (*value).to_owned()).collect()
}

/// The kernel's names of a feature.
fn members(name: &str) -> &[&str] {
    let group = GROUPS.iter().find(|group| [group.short, group.long].contains(&name));
    match group {
        Some(group) => &group.members,
        None => {
            let own = |all: &'static Vec<&'static str>| {
                all.iter().position(|one| *one == name).map(|at| &all[at..=at])
            };
            own(&words::feature::OFFLOADS).or_else(|| own(&words::feature::OTHERS)).unwrap()
        }
    }
}

fn written(settings: &[Setting], scenario: &str, kind: &str, chosen: &[Index], doubles: usize) -> String {
    let mut text = format!(
        "name = \"put-back\"\nquestion = \"Is everything put back?\"\nscenario = {scenario:?}\n\
         [[workload]]\nkind = {kind:?}\nduration = \"150ms\"\nramp = \"50ms\"\nflows = 1\n\
         [protocol]\nboots = 1\nruns = 1\nwarmup = 0\n"
    );
    let mut doubles = doubles;
    let mut tables: Vec<&str> = settings.iter().map(|one| one.table.as_str()).collect();
    tables.sort_unstable();
    tables.dedup();
    for table in tables {
        text += &format!("[{table}]\n");
        for (setting, index) in settings.iter().zip(chosen).filter(|(one, _)| one.table == table) {
            let value = &setting.values[index.index(setting.values.len())];
            if table.starts_with("factors") && doubles > 0 && setting.values.len() > 1 {
                doubles -= 1;
                let other = setting.values.iter().find(|one| *one != value).unwrap();
                text += &format!("{} = [{value}, {other}]\n", setting.key);
            } else {
                text += &format!("{} = {value}\n", setting.key);
            }
        }
    }
    text
}

/// What a machine has.
struct Has {
    features: String,
    devices: String,
    sysctls: Vec<(String, Vec<String>)>,
    cpus: usize,
    governor: Option<String>,
    idles: bool,
}

/// For each sysctl of `$@` that can be written: its name and another value that it takes, and gives
/// up again.
const OTHERS: &str = r#"
for name in "$@"; do
  file=/proc/sys/$(echo $name | tr . /); [ -w $file ] && [ $(stat -c %a $file) != 444 ] || continue
  before=$(cat $file); last=${before##*[!0-9-]}; rest=${before%"$last"}
  if [ -z "$before" ]; then others=8080; else others="$rest$((last + 1))
$rest$((last - 1))"; fi
  echo "$others" | while read -r other; do
    { echo "$other" > $file; } 2>/dev/null || continue
    now=$(cat $file); echo "$before" > $file
    if [ "$now" = "$other" ] && [ "$(cat $file)" = "$before" ]; then printf '%s=%s\n' $name "$other"; break; fi
  done
done
"#;

impl Has {
    fn ask(machine: &Machine) -> Self {
        // Those of the kernel and its memory are of the machine of the tests.
        let names = words::sysctls().filter(|name| name.starts_with("net."));
        let words: Vec<&str> = ["sh", "-c", OTHERS, "sh"].into_iter().chain(names).collect();
        let said = machine.command(&words).output().unwrap();
        let said = String::from_utf8(said.stdout).unwrap();
        let sysctls: Vec<_> = said
            .lines()
            .map(|line| {
                let (name, value) = line.split_once('=').unwrap();
                (name.to_owned(), vec![format!("{:?}", value.replace('\t', " "))])
            })
            .collect();
        assert!(sysctls.len() > 50, "{sysctls:?}");
        let devices = DeviceSetting::ALL.map(|setting| {
            let option = setting.ethtool_option().to_lowercase();
            format!("ethtool {option} {INTERFACE} 2>/dev/null | sed 's/^/{option} /' || true")
        });
        let cpu = std::path::Path::new("/sys/devices/system/cpu");
        let driver = std::fs::read_to_string(cpu.join("cpuidle/current_driver")).unwrap_or_default();
        Self {
            features: machine.sh(&format!("ethtool -k {INTERFACE}")),
            devices: machine.sh(&devices.join("\n")).to_lowercase().replace('-', " "),
            sysctls,
            cpus: std::thread::available_parallelism().unwrap().get(),
            governor: std::fs::read_to_string(cpu.join("cpu0/cpufreq/scaling_governor")).ok(),
            idles: !["", "none"].contains(&driver.trim()),
        }
    }

    fn governor(&self) -> &str {
        self.governor.as_deref().unwrap_or("performance").trim()
    }

    /// Whether a feature can be changed, by any of its names.
    fn feature(&self, name: &str) -> bool {
        let mut names = members(name).to_vec();
        let groups = GROUPS.iter().filter(|group| group.members == members(name));
        names.extend(groups.map(|group| group.long));
        let changeable = self.features.lines().filter(|line| !line.contains("[fixed]"));
        let changeable = changeable.filter_map(|line| Some(line.split_once(':')?.0.trim()));
        changeable.into_iter().any(|changeable| names.contains(&changeable))
    }

    /// Whether `ethtool` shows a setting.
    fn device(&self, name: &str) -> bool {
        let setting = DeviceSetting::ALL.into_iter().find(|one| one.to_string() == name).unwrap();
        let begin = format!("{} {}", setting.ethtool_option(), setting.ethtool_parameter());
        let begin = begin.to_lowercase().replace('-', " ");
        let lines = self.devices.lines().filter_map(|line| line.strip_prefix(&begin)?.split_once(':'));
        lines.into_iter().any(|(_, value)| !value.trim().is_empty() && !value.contains("n/a"))
    }
}
