//! The description of a host: everything that may explain different results.

mod build;
mod cpu;
mod disturbances;
mod firewall;
mod hardware;
mod sysctls;

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

pub(crate) use cpu::hypervisor;
pub use cpu::{CpuEnvironment, IdleState};
pub use disturbances::Disturbances;
pub use firewall::Firewall;
pub use hardware::Hardware;
pub use sysctls::visible_sysctls;

use crate::kernel::files::{Files, field};
use crate::link::device::{DeviceSettings, is_chosen};
use crate::link::ethtool::Ethtool;
use crate::link::features::Features;
use crate::link::interface::Link;
use crate::link::links::Links;
use crate::link::programs::Programs;

/// The description of a host, read at the start and the end of a boot. Unknown parts are `None` (or
/// missing from a list), never an error.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Environment {
    /// The version of netassay, and which build of it.
    pub netassay: String,
    /// The kernel.
    pub kernel: KernelEnvironment,
    /// The CPUs.
    pub cpu: CpuEnvironment,
    /// The machine and what lies below it.
    pub machine: MachineEnvironment,
    /// Each requested interface, by name; `None` if it does not exist.
    #[serde(deserialize_with = "words::names::interfaces")]
    pub interfaces: BTreeMap<String, Option<InterfaceEnvironment>>,
    /// The network settings, by sysctl name (`net.core.rmem_max`); those that this kernel or
    /// network namespace lacks are missing.
    #[serde(deserialize_with = "words::names::sysctls")]
    pub sysctls: BTreeMap<String, String>,
    /// The load of the machine.
    pub load: LoadEnvironment,
}

/// The kernel of a host.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KernelEnvironment {
    /// The release, for example `6.12.9-amd64`.
    pub release: Option<String>,
    /// The build: number, options and date.
    pub version: Option<String>,
    /// Its command line.
    pub command_line: Option<String>,
    /// The random name of this boot of the machine.
    pub boot_id: Option<String>,
    /// The clock source in use.
    pub clock_source: Option<String>,
    /// The available clock sources.
    pub clock_sources: Option<String>,
    /// Its taints, as a number; 0 is none.
    pub tainted: Option<String>,
    /// Preemption model, where the kernel reports it (`/sys/kernel/debug/sched/preempt` needs
    /// root).
    pub preemption: Option<String>,
    /// Transparent huge pages, the choice in brackets.
    pub huge_pages: Option<String>,
}

/// The machine of a host, and its hypervisor.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MachineEnvironment {
    /// The manufacturer.
    pub vendor: Option<String>,
    /// Its name; for a virtual machine mostly the hypervisor's.
    pub product: Option<String>,
    /// Whether the CPU reports a hypervisor; `None` if unknown.
    pub hypervisor: Option<bool>,
    /// Memory that the kernel manages, in bytes.
    pub memory: Option<u64>,
}

/// An interface of a host.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InterfaceEnvironment {
    /// The interface itself.
    pub link: Link,
    /// The driver of the hardware.
    pub driver: Option<String>,
    /// The longest time that receive work may wait to merge more packets, in ns
    /// (`gro_flush_timeout`).
    pub gro_flush_timeout: Option<u64>,
    /// The number of times that a receive queue is polled again before its interrupt is enabled
    /// (`napi_defer_hard_irqs`).
    pub napi_defer_hard_irqs: Option<u64>,
    /// Its offload features; `None` if unknown.
    #[serde(deserialize_with = "words::names::features")]
    pub features: Option<Features>,
    /// The settings of its device: rings, queues, coalescing, pause frames. Numbers that the driver
    /// chooses by itself are missing, because they change all the time.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub device: DeviceSettings,
    /// Its hardware, as far as the kernel tells it.
    #[serde(default, skip_serializing_if = "Hardware::is_unknown")]
    pub hardware: Hardware,
    /// Programs and filters that see each of its packets beside the network stack.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub programs: Programs,
    /// The CPUs that each receive queue (`rx-0`) is steered to, as the kernel's mask. Missing if
    /// `/sys` shows another network namespace.
    pub receive_steering: BTreeMap<String, String>,
    /// The CPUs that use each transmit queue (`tx-0`), as the kernel's mask.
    pub transmit_steering: BTreeMap<String, String>,
}

/// The load of a host.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LoadEnvironment {
    /// Average number of runnable tasks over the last 1, 5 and 15 minutes.
    pub average: Option<[f64; 3]>,
    /// CPU time that the hypervisor gave to others since boot, in ns summed over the CPUs.
    pub stolen: Option<u64>,
    /// The stolen time in % of all CPU time since boot.
    pub stolen_percent: Option<f64>,
}

impl Environment {
    /// Reads the environment, with the interfaces of these names, or alternative names, in this
    /// network namespace.
    pub fn read<S: AsRef<str>>(interfaces: &[S], version: &str) -> Self {
        let files = Files::system();
        let interfaces = interfaces.iter().map(AsRef::as_ref);
        let interfaces =
            interfaces.map(|name| (name.to_owned(), InterfaceEnvironment::read(&files, name))).collect();
        Self { interfaces, ..Self::of_machine(&files, version) }
    }

    /// Adds the machine's settings that its network namespace hides.
    #[must_use]
    pub fn with_hidden(mut self, machine: &BTreeMap<String, String>) -> Self {
        for (name, value) in machine {
            self.sysctls.entry(name.clone()).or_insert_with(|| value.clone());
        }
        self
    }

    /// The part that does not depend on the interfaces.
    fn of_machine(files: &Files, version: &str) -> Self {
        Self {
            netassay: build::read(files, version),
            kernel: KernelEnvironment::read(files),
            cpu: CpuEnvironment::read(files),
            machine: MachineEnvironment::read(files),
            interfaces: BTreeMap::new(),
            sysctls: sysctls::read(files),
            load: LoadEnvironment::read(files),
        }
    }
}

/// The kernel as a clause: its release, its build, and its command line.
impl fmt::Display for KernelEnvironment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.release.as_deref().unwrap_or("of unknown release"))?;
        if let Some(version) = &self.version {
            write!(f, " ({version})")?;
        }
        self.command_line.as_ref().map_or(Ok(()), |line| write!(f, ", command line `{line}`"))
    }
}

impl KernelEnvironment {
    fn read(files: &Files) -> Self {
        let clock = |file| files.text(&format!("sys/devices/system/clocksource/clocksource0/{file}"));
        Self {
            release: files.text("proc/sys/kernel/osrelease"),
            version: files.text("proc/sys/kernel/version"),
            command_line: files.text("proc/cmdline"),
            boot_id: files.text("proc/sys/kernel/random/boot_id"),
            clock_source: clock("current_clocksource"),
            clock_sources: clock("available_clocksource"),
            tainted: files.text("proc/sys/kernel/tainted"),
            preemption: files.text("sys/kernel/debug/sched/preempt"),
            huge_pages: files.text("sys/kernel/mm/transparent_hugepage/enabled"),
        }
    }
}

impl MachineEnvironment {
    fn read(files: &Files) -> Self {
        let cpuinfo = files.text("proc/cpuinfo").unwrap_or_default();
        Self {
            vendor: files.text("sys/class/dmi/id/sys_vendor"),
            product: files
                .text("sys/class/dmi/id/product_name")
                .or_else(|| files.text("sys/firmware/devicetree/base/model")),
            hypervisor: hypervisor(&cpuinfo),
            memory: files.text("proc/meminfo").and_then(|text| memory(&text, "MemTotal")),
        }
    }
}

impl InterfaceEnvironment {
    fn read(files: &Files, name: &str) -> Option<Self> {
        let mut links = Links::open().ok()?;
        let link = links.find(name).ok()?;
        let name = link.name.as_str();
        let mut ethtool = Ethtool::open().ok();
        let features = ethtool.as_mut().and_then(|ethtool| ethtool.features(name).ok());
        let device = ethtool.as_mut().and_then(|ethtool| ethtool.device(name).ok()).unwrap_or_default();
        let device = device.iter().filter(|(setting, _)| !is_chosen(**setting, &device));
        let sysfs = link.sysfs(files);
        let file = |name: &str| files.text(&format!("{}/{name}", sysfs.as_ref()?));
        let number = |name: &str| file(name)?.parse().ok();
        let masks = |prefix: &str, mask: &str| -> BTreeMap<String, String> {
            let queues = sysfs.as_ref().map(|directory| files.names(&format!("{directory}/queues"), prefix));
            let read = |queue: String| Some((queue.clone(), file(&format!("queues/{queue}/{mask}"))?));
            queues.unwrap_or_default().into_iter().filter_map(read).collect()
        };
        Some(Self {
            gro_flush_timeout: number("gro_flush_timeout"),
            napi_defer_hard_irqs: number("napi_defer_hard_irqs"),
            receive_steering: masks("rx-", "rps_cpus"),
            transmit_steering: masks("tx-", "xps_cpus"),
            driver: file("device/uevent").and_then(|text| driver(&text)),
            features,
            device: device.map(|(setting, value)| (*setting, *value)).collect(),
            hardware: Hardware::read(files, sysfs.as_deref(), name),
            programs: links.programs(&link),
            link,
        })
    }
}

impl LoadEnvironment {
    pub(crate) fn read(files: &Files) -> Self {
        // Only the share matters, so the unit of the numbers is arbitrary; Linux has 100 a second
        // on every current architecture.
        const TICK: u64 = 10_000_000;
        let times = files.text("proc/stat").map(|text| crate::cpu::times::since_boot(&text, TICK));
        Self {
            average: files.text("proc/loadavg").and_then(|text| load_average(&text)),
            stolen: times.map(|times| times.steal),
            stolen_percent: times.and_then(|times| times.usage()).map(|usage| usage.steal),
        }
    }
}

/// A field of `/proc/meminfo`, in bytes.
pub(crate) fn memory(meminfo: &str, name: &str) -> Option<u64> {
    let kibibytes: u64 = field(meminfo, name)?.strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1024)
}

fn load_average(text: &str) -> Option<[f64; 3]> {
    let mut words =
        text.split_whitespace().map(|word| word.parse::<f64>().ok().filter(|load| load.is_finite()));
    Some([words.next()??, words.next()??, words.next()??])
}

fn driver(uevent: &str) -> Option<String> {
    uevent.lines().find_map(|line| line.strip_prefix("DRIVER=")).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::files::fixture::files;

    #[test]
    fn a_machine_without_any_file_gives_an_environment_without_content() {
        let (_keep, files) = files(&[]);
        let environment = Environment::of_machine(&files, "0.1.0");
        assert_eq!(environment.netassay, "0.1.0");
        assert_eq!(environment.kernel.release, None);
        assert_eq!(
            environment.machine,
            MachineEnvironment { vendor: None, product: None, hypervisor: None, memory: None }
        );
        assert_eq!(environment.load, LoadEnvironment { average: None, stolen: None, stolen_percent: None });
        assert!(environment.sysctls.is_empty());
    }

    #[test]
    fn a_machine_is_read() {
        let (_keep, files) = files(&[
            ("proc/sys/kernel/osrelease", "6.12.9\n"),
            ("proc/cmdline", "quiet mitigations=off\n"),
            ("proc/meminfo", "MemTotal:       16318480 kB\nMemFree: 1 kB\n"),
            ("proc/loadavg", "0.51 0.40 0.30 1/123 4567\n"),
            ("proc/stat", "cpu  0 0 0 0\ncpu0 50 0 25 20 0 0 0 5 0 0\n"),
            ("sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n"),
            ("sys/firmware/devicetree/base/model", "Some Board\0"),
            ("proc/sys/net/core/rmem_max", "212992\n"),
            ("proc/sys/net/ipv4/tcp_rmem", "4096\t131072\t6291456\n"),
        ]);
        let environment = Environment::of_machine(&files, "0.1.0");
        assert_eq!(environment.kernel.release.as_deref(), Some("6.12.9"));
        assert_eq!(environment.kernel.clock_source.as_deref(), Some("tsc"));
        assert_eq!(environment.machine.memory, Some(16_318_480 * 1024));
        assert_eq!(environment.load.average, Some([0.51, 0.40, 0.30]));
        assert_eq!(environment.load.stolen, Some(50_000_000));
        assert_eq!(environment.load.stolen_percent, Some(5.0));
        assert_eq!(environment.sysctls["net.core.rmem_max"], "212992");
        assert_eq!(environment.sysctls["net.ipv4.tcp_rmem"], "4096 131072 6291456");
    }

    #[test]
    fn what_a_namespace_hides_is_added_and_what_it_shows_is_its_own() {
        let (_keep, files) = files(&[("proc/sys/net/ipv4/tcp_ecn", "1\n")]);
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let machine = [pair("net.core.netdev_max_backlog", "5000"), pair("net.ipv4.tcp_ecn", "2")]
            .into_iter()
            .collect();
        let environment = Environment::of_machine(&files, "0.1.0").with_hidden(&machine);
        assert_eq!(environment.sysctls["net.core.netdev_max_backlog"], "5000");
        assert_eq!(environment.sysctls["net.ipv4.tcp_ecn"], "1");
    }

    #[test]
    fn this_machine_is_read_and_the_reading_survives_the_journey() {
        let environment = Environment::read(&["lo", "no-such-thing"], "0.1.0");
        assert!(environment.kernel.release.is_some() && environment.kernel.boot_id.is_some());
        assert!(environment.cpu.online > 0);
        let lo = environment.interfaces["lo"].as_ref().unwrap();
        assert_eq!(lo.link.name, "lo");
        assert!(lo.features.as_ref().is_some_and(|features| features.contains_key("tx-tcp-segmentation")));
        assert_eq!(environment.interfaces["no-such-thing"], None);
        assert!(environment.sysctls.contains_key("net.ipv4.tcp_congestion_control"));
        let json = serde_json::to_string(&environment).unwrap();
        let back: Environment = serde_json::from_str(&json).unwrap();
        // Fractions may lose their last bit in JSON.
        assert_eq!(Environment { load: environment.load.clone(), ..back }, environment);
    }
}
