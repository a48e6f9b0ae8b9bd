//! The tables of a study file: each key once, with its values and its help. The reader, `--set` and
//! the JSON schema use them. The keys of traffic are declared in `words`, and factors by their
//! subjects.

use words::{
    Acceleration, Copies, Family, KernelPath, Kind, Nic, Scenario, Shape, Vocabulary, Waiting, Word,
};

use crate::model::{BootKind, Bounds, DesignKind, Offloads, Order, WhetherTurns, limit};

pub(crate) struct KeyTable {
    pub(crate) name: &'static str,
    pub(crate) help: &'static str,
    pub(crate) rows: &'static [KeyRow],
}

pub(crate) struct KeyRow {
    pub(crate) name: &'static str,
    pub(crate) is_required: bool,
    pub(crate) is_factor: bool,
    pub(crate) part: KeyPart,
    pub(crate) help: &'static str,
}

pub(crate) enum KeyPart {
    Name,
    Sentence,
    /// Fields of a packet whose hash selects a queue, as letters, or `default`.
    Fields,
    /// A metric: its full key, or for one of a side the bare one.
    Metric,
    Kernel,
    CommandLine,
    Memory,
    /// A value as a key of traffic has it, with its name in the schema, or `default`.
    OrDefault(&'static str, Shape),
    /// A value as a key of traffic has it, with its name in the schema.
    Shaped(&'static str, Shape),
    /// A value as a key of traffic has it, or a word.
    OrWord(&'static str, Shape, Vocabulary),
    Words(Vocabulary),
    Table(&'static KeyTable),
    /// A value with its name in the schema, or a table that has it as `count`.
    Counted(&'static str, Shape, &'static KeyTable),
    Tables(&'static KeyTable, usize),
    Workloads,
    Factors,
    Exclusions,
    Levels,
    /// Names of features, with the scope before them.
    Offloads,
    Sysctls,
    Cpus,
    Interfaces(&'static KeyPart),
    /// Two CPUs, as a table or in one word.
    Placement(&'static KeyTable),
    Features,
}

words::vocabulary! {
    /// Where a whole testbed can stand.
    pub(crate) enum TestbedPlace: "a place for a testbed" {
        /// In one virtual machine.
        Guest = "guest";
    }
}

impl KeyTable {
    pub(crate) fn keys(&self) -> Vec<&'static str> {
        self.rows.iter().map(|row| row.name).collect()
    }

    pub(crate) fn row(&self, key: &str) -> Option<&'static KeyRow> {
        self.rows.iter().find(|row| row.name == key)
    }

    pub(crate) fn factors(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.rows.iter().filter(|row| row.is_factor).map(|row| row.name)
    }

    pub(crate) fn factor(&self, name: &str) -> Option<&'static str> {
        self.factors().find(|known| *known == name)
    }
}

const fn may(name: &'static str, part: KeyPart, help: &'static str) -> KeyRow {
    KeyRow { name, is_required: false, is_factor: false, part, help }
}

const fn must(name: &'static str, part: KeyPart, help: &'static str) -> KeyRow {
    KeyRow { name, is_required: true, is_factor: false, part, help }
}

const fn vary(name: &'static str, part: KeyPart, help: &'static str) -> KeyRow {
    KeyRow { name, is_required: false, is_factor: true, part, help }
}

const fn word(vocabulary: Vocabulary) -> KeyPart {
    KeyPart::Shaped(vocabulary.name, Shape::Word(vocabulary))
}

pub(crate) const MTU: KeyPart = KeyPart::OrDefault("Mtu", limit::MTU);
pub(crate) const AMOUNT: KeyPart = KeyPart::OrDefault("DeviceAmount", limit::DEVICE_AMOUNT);
pub(crate) const SWITCH: KeyPart = KeyPart::Shaped("Switch", Shape::Switch);
pub(crate) const SHARE: KeyPart = KeyPart::Shaped("Share", Shape::Share);
pub(crate) const SCENARIO: KeyPart = word(Scenario::VOCABULARY);
pub(crate) const FAMILY: KeyPart = word(Family::VOCABULARY);
pub(crate) const KIND: KeyPart = word(Kind::VOCABULARY);
pub(crate) const OFFLOADS: KeyPart = word(Offloads::VOCABULARY);

/// Declares a table: its name in the schema, its help, and its keys. Of each key: whether a file
/// `must` or `may` have it, or may `vary` it as a factor too; its values; its help.
macro_rules! table {
    ($table:ident $name:literal: $help:literal $($need:ident $key:ident: $part:expr, $of_key:expr;)+) => {
        pub(crate) const $table: KeyTable =
            KeyTable { name: $name, help: $help, rows: &[$($need(stringify!($key), $part, $of_key)),+] };
    };
}

table! { STUDY "netassay study": "A netassay study: a question, a testbed, traffic, what is varied, how often it is measured, and what is compared."
    must name: KeyPart::Name, "The name, of letters, digits, `-`, `_` and `.`.";
    must question: KeyPart::Sentence, "The question the study asks, in one line.";
    may scenario: SCENARIO, "The kind of testbed. Required, unless it is a factor.";
    may inside: word(TestbedPlace::VOCABULARY),
        "`guest`: the whole testbed stands inside one virtual machine.";
    may exact: SWITCH,
        "Whether instructions are counted instead of time: one emulated virtual machine, the same figures everywhere. Default: off.";
    may guest: KeyPart::Table(&GUEST), "The virtual machines.";
    may underlay: KeyPart::Table(&UNDERLAY), "What carries the tunnel.";
    must workload: KeyPart::Workloads, "The traffic. Several become the factor `workload`.";
    may factors: KeyPart::Factors, "What is varied, and the levels it takes. The last factor varies fastest.";
    may design: KeyPart::Table(&DESIGN), DESIGN.help;
    may exclude: KeyPart::Exclusions, "Combinations that are not measured.";
    may machine: KeyPart::Table(&MACHINE), "Settings of the machine itself.";
    may trace: KeyPart::Table(&TRACE), TRACE.help;
    may protocol: KeyPart::Table(&PROTOCOL), PROTOCOL.help;
    may comparison: KeyPart::Tables(&COMPARISON, limit::BLOCKS),
        "What is compared. Left out: every condition with the first, in the workload's main metric.";
}

table! { GUEST "Guest": "The virtual machines; all are alike."
    vary kernel: KeyPart::Kernel,
        "A path to an image, a directory with `boot/` and `lib/modules/`, the name of a package of `netassay kernel fetch`, or `running`. Between machines a factor only: the release of a kernel that is installed there, or `running` for the one that they boot by default. Default: running.";
    vary command_line: KeyPart::CommandLine, "What is added to the kernel's command line. Default: nothing.";
    vary vcpus: KeyPart::Shaped("Vcpus", limit::VCPUS), "Its CPUs. Default: 1.";
    may memory: KeyPart::Memory, "Its memory: `\"512MiB\"`, `\"2GiB\"`. Default: 512MiB.";
    vary nic: word(Nic::VOCABULARY), "Its network interface. Default: virtio-net.";
    may acceleration: word(Acceleration::VOCABULARY),
        "How its instructions are executed. Default: auto.";
    may pin: SWITCH, "Whether its CPUs stay on the CPUs of its side. Default: on.";
    vary copies: word(Copies::VOCABULARY),
        "Exact mode: whether its kernel copies and clears memory by eight bytes, or by string instructions, which count one instruction per byte. Default: words.";
}

table! { UNDERLAY "Underlay": "The interfaces under the tunnel."
    vary family: FAMILY, "The version of IP that carries the tunnel. Default: ipv4.";
    vary mtu: MTU, "Their MTU in bytes. Default: as the scenario makes them.";
}

table! { DESIGN "Design": "Offloads that go on and off, and in which combinations."
    must kind: word(DesignKind::VOCABULARY), "Which combinations.";
    must offloads: KeyPart::Offloads,
        "The features, with `transmitter.`, `receiver.` and `underlay.` before them as in `[factors]`; for a ladder in the order in which they go off.";
    may most: KeyPart::Shaped("Most", limit::MOST), "(fractional) the most combinations. Default: 32.";
}

table! { PROTOCOL "Protocol": "How often and in which order the conditions are measured."
    may boots: KeyPart::Counted("Boots", limit::BOOTS, &BOOTS),
        "Fresh starts of every host: the unit of replication. Default: 3. Between machines a table says what a start is: `{ how = \"reboot\", count = 3 }`.";
    may warmup: KeyPart::Shaped("Warmup", limit::WARMUP),
        "Warm-up runs of each condition in each boot. Default: 1.";
    may runs: KeyPart::Shaped("Runs", limit::RECORDED),
        "Recorded runs of each condition in each boot. Default: 10.";
    may order: word(Order::VOCABULARY), "The order of the runs inside a boot. Default: interleaved.";
    may seed: KeyPart::Shaped("Seed", limit::SEED), "The seed of the random order. Default: 1.";
    may stop: KeyPart::Table(&STOP), "When it may stop before the last boot. Default: never.";
    may alternate: KeyPart::OrWord("Turn", limit::TURN, WhetherTurns::VOCABULARY),
        "The length of a turn: conditions that differ only in what can be switched while traffic flows (features of the interfaces, settings of machines, and keys of traffic that say so) share one flow and take turns in it, in random order. `off`: each condition has runs of its own. `auto`: turns of 100 ms if any conditions can take turns, nothing is lost that is counted for whole flows, and turns are known to find what runs find; otherwise as `off`. Default: auto.";
    may settle: KeyPart::Shaped("Settle", limit::SETTLE),
        "The first part of each turn, which is not counted; at most half of a turn. More is left out where a switch is seen to act longer. Default: a fifth of a turn.";
    may apart: SWITCH,
        "Whether conditions take turns in every second block of a boot only, and have runs of their own in the others: so that both ways can be compared. Default: off.";
}

table! { BOOTS "BootsOfAKind": "How many boots, and what each of them starts afresh."
    may count: KeyPart::Shaped("Boots", limit::BOOTS), "How many. Default: 3.";
    may how: word(BootKind::VOCABULARY),
        "What a boot between machines (scenarios `ssh` and `ssh-vxlan`) starts afresh. Elsewhere each boot rebuilds the network namespaces or restarts the virtual machines, which is `reset`. Default: reset.";
}

table! { STOP "Stop": "Planned looks at the data; the study stops when every comparison is decided."
    may bounds: word(Bounds::VOCABULARY),
        "How the error rate is spent over the looks. Default: obrien-fleming.";
    must detect: SHARE, "The smallest difference of interest, in % of the baseline.";
    may looks: KeyPart::Shaped("Looks", limit::LOOKS),
        "How many looks, the one after the last boot included. Default: 5.";
}

table! { TRACE "Trace": "Paths of packets through the kernel that are traced behind each recorded run, with the same switches."
    must paths: KeyPart::Words(KernelPath::VOCABULARY), "The paths. Each workload has those of its protocol.";
    may readers: KeyPart::Words(Waiting::VOCABULARY),
        "What readers do until a packet is there; each path is traced with each of these. Default: awake.";
    may batch: KeyPart::Shaped("Batch", limit::BATCH), "Messages of a batch. Default: 4096.";
    may rounds: KeyPart::Shaped("Rounds", limit::ROUNDS),
        "Batches without probes, with some, and with all. Default: 5.";
    may profile: SWITCH,
        "Whether the functions that take the CPU are sampled too, without probes. Default: false.";
}

table! { COMPARISON "Comparison": "What is compared."
    may baseline: KeyPart::Levels,
        "The condition compared with: the level of every factor that varies. Default: the first condition.";
    may equivalent: SHARE,
        "Differences up to this share of the baseline do not matter: the verdict may be `equivalent`.";
    may metric: KeyPart::Metric,
        "The metric. Default: the workload's main one, in exact mode the kernel's instructions. A bare metric of a side (`cpu`) is the transmitter's.";
    may only: KeyPart::Levels, "The conditions that take part. Default: all.";
}

/// Declares the settings of a machine: those that every such table has, and more.
macro_rules! machine_table {
    ($table:ident $name:literal: $help:literal $($more:tt)*) => {
        table! { $table $name: $help
            vary sysctl: KeyPart::Sysctls,
                "Sysctls by name: `\"net.core.rmem_max\" = 8388608`. Dotted names may also be written without quotes. As a factor each level has a value for each of them: `[{ \"net.core.netdev_budget\" = 300 }, { \"net.core.netdev_budget\" = 600 }]`.";
            vary governor: KeyPart::Name, "The frequency governor of every CPU: `\"performance\"`.";
            vary cpu_latency: KeyPart::Shaped("CpuLatency", limit::CPU_LATENCY),
                "How long a CPU may take to wake up, in µs: idle states that take longer are not entered. 0: it does not sleep.";
            vary placement: KeyPart::Placement(&PLACEMENT),
                "Where the work of its end of the traffic runs: `{ irq = 0, traffic = 1 }`. In `[machine]` only between machines.";
            vary irq_affinity: KeyPart::Interfaces(&KeyPart::Cpus),
                "The CPUs that handle all interrupts of an interface: `\"eth0\" = [0]`. As a factor those of the traffic's interface: `[\"0\", \"0-3\"]`.";
            may features: KeyPart::Features, "Features of an interface: `\"eth0\" = { tso = false }`.";
            $($more)*
        }
    };
}

machine_table! { MACHINE "Machine": "Settings of the machine itself, or of both machines that a study runs between: changed if the command line has `--change-machine`, and undone at the end."
    may transmitter: KeyPart::Table(&MACHINE_OF_SIDE), "The same of the transmitter's machine only.";
    may receiver: KeyPart::Table(&MACHINE_OF_SIDE), "The same of the receiver's machine only.";
}

machine_table! { MACHINE_OF_SIDE "MachineOfSide": "Settings of the machine of one side, which win over those of both." }

table! { PLACEMENT "Placement": "One queue with its interrupt on one CPU, and the traffic on another."
    must irq: KeyPart::Shaped("Cpu", limit::CPU),
        "The CPU that handles the interrupts of the interface, or receives for one without interrupts.";
    must traffic: KeyPart::Shaped("Cpu", limit::CPU), "The CPU of the threads that send and receive.";
}
