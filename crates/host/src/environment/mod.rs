//! The description of a host: everything that may explain different results.

#![expect(missing_docs, reason = "most fields are clear by their names")]

mod cpu;
mod firewall;
mod interface;

use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::io::Read as _;

use serde::{Deserialize, Serialize};

pub(crate) use cpu::hypervisor;
pub use cpu::{CpuEnvironment, IdleState};
pub use firewall::Firewall;
pub use interface::{Hardware, InterfaceEnvironment};

use crate::cpu::times::{TICK, since_boot};
use crate::kernel::files::{Machine, field};

/// A host at the start or the end of a boot. Unknown parts are missing, no error.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostEnvironment {
    /// The version of netassay, and which build of it.
    pub netassay: String,
    pub kernel: KernelEnvironment,
    pub cpu: CpuEnvironment,
    pub machine: MachineEnvironment,
    /// Each requested interface, by name; `None` if it does not exist.
    #[serde(deserialize_with = "words::names::interfaces")]
    pub interfaces: BTreeMap<String, Option<InterfaceEnvironment>>,
    /// Sysctls that this kernel or network namespace lacks are missing.
    #[serde(deserialize_with = "words::names::sysctls")]
    pub sysctls: BTreeMap<String, String>,
    pub load: LoadEnvironment,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KernelEnvironment {
    /// The release, for example `6.12.9-amd64`.
    pub release: Option<String>,
    /// The build: number, options and date.
    pub version: Option<String>,
    pub command_line: Option<String>,
    pub boot_id: Option<String>,
    pub clock_source: Option<String>,
    pub clock_sources: Option<String>,
    /// Its taints, as a number; 0 is none.
    pub tainted: Option<String>,
    /// Where the kernel reports it (`/sys/kernel/debug/sched/preempt` needs root).
    pub preemption: Option<String>,
    /// Transparent huge pages, the choice in brackets.
    pub huge_pages: Option<String>,
}

/// The machine of a host, and its hypervisor.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MachineEnvironment {
    pub vendor: Option<String>,
    /// For a virtual machine mostly the hypervisor's.
    pub product: Option<String>,
    /// Whether the CPU reports a hypervisor; `None` if unknown.
    pub hypervisor: Option<bool>,
    /// As the kernel manages it, in bytes.
    pub memory: Option<u64>,
}

/// The load of a host.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LoadEnvironment {
    /// The number of runnable tasks over the last 1, 5 and 15 minutes.
    pub average: Option<[f64; 3]>,
    /// CPU time that the hypervisor gave to others since boot, in ns summed over the CPUs.
    pub stolen: Option<u64>,
    /// In % of all CPU time since boot.
    pub stolen_percent: Option<f64>,
}

impl HostEnvironment {
    /// Reads the environment, with the interfaces of these names in this network namespace.
    pub fn read<S: AsRef<str>>(interfaces: &[S], version: &str) -> Self {
        let files = Machine::system();
        let read = |name: &S| (name.as_ref().to_owned(), InterfaceEnvironment::read(&files, name.as_ref()));
        Self { interfaces: interfaces.iter().map(read).collect(), ..Self::of_machine(&files, version) }
    }

    /// Adds the machine's settings that its network namespace hides.
    pub fn with_hidden(mut self, machine: &BTreeMap<String, String>) -> Self {
        for (name, value) in machine {
            // A sysctl that the namespace shows is its own, and in force for its traffic.
            self.sysctls.entry(name.clone()).or_insert_with(|| value.clone());
        }
        self
    }

    /// Reads the environment, without interfaces.
    pub fn of_machine(files: &Machine, version: &str) -> Self {
        Self {
            netassay: build(files, version),
            kernel: KernelEnvironment::read(files),
            cpu: CpuEnvironment::read(files),
            machine: MachineEnvironment::read(files),
            interfaces: BTreeMap::new(),
            sysctls: visible_sysctls(files),
            load: LoadEnvironment::read(files),
        }
    }
}

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
    fn read(files: &Machine) -> Self {
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
    fn read(files: &Machine) -> Self {
        let cpuinfo = files.text("proc/cpuinfo").unwrap_or_default();
        Self {
            vendor: files.text("sys/class/dmi/id/sys_vendor"),
            // Boards without DMI, most of them Arm's, have a device tree.
            product: files
                .text("sys/class/dmi/id/product_name")
                .or_else(|| files.text("sys/firmware/devicetree/base/model")),
            hypervisor: hypervisor(&cpuinfo),
            memory: files.text("proc/meminfo").and_then(|text| memory(&text)),
        }
    }
}

impl LoadEnvironment {
    pub(crate) fn read(files: &Machine) -> Self {
        let times = files.text("proc/stat").map(|text| since_boot(&text, TICK));
        Self {
            average: files.text("proc/loadavg").and_then(|text| load_average(&text)),
            stolen: times.map(|times| times.steal),
            stolen_percent: times.and_then(|times| times.percentages()).map(|[.., steal, _]| steal),
        }
    }
}

pub(crate) fn memory(meminfo: &str) -> Option<u64> {
    // The kernel writes kB for 1024 bytes.
    let kibibytes: u64 = field(meminfo, "MemTotal")?.strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1024)
}

fn load_average(text: &str) -> Option<[f64; 3]> {
    // `inf` and `nan` parse too, and JSON cannot hold them.
    let mut words =
        text.split_whitespace().map(|word| word.parse::<f64>().ok().filter(|load| load.is_finite()));
    Some([words.next()??, words.next()??, words.next()??])
}

/// The network's sysctls, for [`HostEnvironment::with_hidden`]: a network namespace shows only its
/// own.
pub fn visible_sysctls(machine: &Machine) -> BTreeMap<String, String> {
    let read = |name: &str| {
        let text = machine.text(&format!("proc/sys/{}", name.replace('.', "/")))?;
        // The kernel separates the numbers of one sysctl by tabs.
        Some((name.to_owned(), text.split_whitespace().collect::<Vec<_>>().join(" ")))
    };
    // A list of ports has no bound.
    let changeable = words::sysctls().filter(|name| *name != "net.ipv4.ip_local_reserved_ports");
    changeable.chain(RECORDED.iter().copied()).filter_map(read).collect()
}

// Settings that influence speed or loss of packets, beside those that a study may change.
const RECORDED: &[&str] = &[
    "kernel.perf_event_paranoid",
    "kernel.randomize_va_space",
    "kernel.sched_rt_runtime_us",
    "kernel.unprivileged_bpf_disabled",
    "net.core.bpf_jit_enable",
    "net.core.bpf_jit_harden",
    "net.core.default_qdisc",
    "net.core.flow_limit_cpu_bitmap",
    "net.core.rps_default_mask",
    "net.core.rps_sock_flow_entries",
    "net.core.tstamp_allow_data",
    "net.core.warnings",
    "net.ipv4.conf.all.rp_filter",
    "net.ipv4.ip_forward",
    "net.ipv4.tcp_allowed_congestion_control",
    "net.ipv4.tcp_congestion_control",
    "net.ipv4.tcp_reflect_tos",
    "net.ipv6.conf.all.disable_ipv6",
    "net.ipv6.conf.all.forwarding",
];

// The notes of a program lie behind its headers, in its first page.
const BEGIN: u64 = 4096;
// The digits of the checksum that are shown: enough to tell builds apart.
const DIGITS: usize = 12;

/// The version, and the checksum that the linker made of the program (`ld --build-id`).
fn build(files: &Machine, version: &str) -> String {
    let mut begin = Vec::new();
    let program = File::open(files.path("proc/self/exe"));
    let read = program.and_then(|program| program.take(BEGIN).read_to_end(&mut begin));
    let build = read.ok().and_then(|_| build_id(&begin));
    build.map_or_else(|| version.to_owned(), |build| format!("{version}, build {build}"))
}

/// Reads a note: the lengths of its name and its contents, its kind, and both (`elf(5)`); here
/// `NT_GNU_BUILD_ID` of `GNU`.
fn build_id(program: &[u8]) -> Option<String> {
    let is_id = |head: &[u8]| head[..4] == [4, 0, 0, 0] && head[8..] == *b"\x03\0\0\0GNU\0";
    let place = program.windows(16).position(is_id)?;
    let bytes = program.get(place + 16..place + 16 + DIGITS / 2)?;
    Some(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests;
