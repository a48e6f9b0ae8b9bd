//! The terms that no other table of the program declares, each defined once, in sections for
//! people.

/// A term and its definition.
pub(super) struct Term {
    pub(super) name: &'static str,
    /// Other words for it, which `explain` finds too.
    pub(super) also: &'static [&'static str],
    /// What it is, in sentences.
    pub(super) meaning: &'static str,
}

/// Terms of one subject.
pub(super) struct Section {
    pub(super) title: &'static str,
    pub(super) terms: &'static [Term],
}

const fn term(name: &'static str, also: &'static [&'static str], meaning: &'static str) -> Term {
    Term { name, also, meaning }
}

pub(super) const STUDY: Section = Section {
    title: "Study",
    terms: &[
        term(
            "study",
            &[],
            "A TOML file that states a question, a testbed, the traffic, what is varied, how often it is measured and what is compared. Also the stored results of running that file.",
        ),
        term("factor", &[], "A setting that a study varies, such as `tso`, `mtu` or `family`."),
        term("level", &[], "One value of a factor, such as `off`."),
        term(
            "condition",
            &[],
            "One combination of a workload and one level of each factor. Every condition is measured.",
        ),
        term("exclusion", &["exclude"], "A rule of the study file that leaves combinations of levels out."),
        term(
            "baseline",
            &[],
            "The condition that the others are compared with. Percentages are percentages of its mean.",
        ),
        term("comparison", &[], "The baseline against one or more other conditions, by one metric."),
        term(
            "margin",
            &["equivalence margin"],
            "The largest difference that does not matter, in % of the baseline: `--margin`, or `equivalent` in a study file.",
        ),
        term(
            "protocol",
            &[],
            "How often and in which order a study measures: boots, warm-up runs, recorded runs, order, seed and stop rule.",
        ),
        term(
            "stop rule",
            &["stop"],
            "The condition under which a study may end before its last boot. Its looks are planned, so its error rate holds for all of them together.",
        ),
        term(
            "look",
            &["looks", "interim look"],
            "A planned moment, after a boot, at which the results so far are judged and the study may end.",
        ),
        term(
            "design",
            &[],
            "Which combinations of offloads a study measures to credit each with its share: `ladder`, `one-out`, `one-in`, `factorial` or `fractional`.",
        ),
        term(
            "credit",
            &["shapley share"],
            "What each offload of a design contributes to the difference between all off and all on.",
        ),
        term(
            "A/A test",
            &["aa", "a-a test"],
            "A condition is measured under two labels. Nothing differs, so each difference that a method reports is a false positive: the test shows the false-positive rate of each method on this machine. Command: `netassay aa`.",
        ),
        term(
            "exact mode",
            &["exact"],
            "The study runs in one emulated virtual machine whose clock counts instructions. The metrics are instructions, which do not depend on the speed or load of the machine.",
        ),
    ],
};

pub(super) const TESTBED: Section = Section {
    title: "Testbed",
    terms: &[
        term("testbed", &[], "The hosts of a scenario and the path between them."),
        term(
            "scenario",
            &[],
            "The kind of testbed: `loopback`, `veth`, `discard`, `vxlan`, `vm` or `vm-vxlan`.",
        ),
        term(
            "host",
            &[],
            "One end of the path: a network namespace or a virtual machine. In metrics named `host_…`: the machine that runs the virtual machines.",
        ),
        term(
            "agent",
            &[],
            "The netassay process in a host. It sets up interfaces, runs the traffic and reads the counters, as the controller requests.",
        ),
        term(
            "controller",
            &[],
            "The netassay process that a person starts. It starts the agents and stores the results.",
        ),
        term("transmitter", &["tx side"], "The host that sends the stream, or the requests."),
        term("receiver", &["rx side"], "The host that receives the stream, or answers the requests."),
        term("guest", &["virtual machine", "vm guest"], "A virtual machine that netassay boots in QEMU."),
        term(
            "vCPU",
            &["virtual cpu"],
            "A CPU of a guest. It runs as a thread of QEMU on the CPUs of the host.",
        ),
        term(
            "emulation",
            &["tcg"],
            "QEMU executes the guest in software, without KVM. Rates under emulation compare with each other, not with rates of hardware.",
        ),
        term("underlay", &[], "The interfaces and the network that carry the packets of a tunnel."),
        term(
            "tunnel",
            &["overlay"],
            "An interface that puts each packet into a packet of the underlay. netassay uses VXLAN.",
        ),
        term(
            "MTU",
            &["maximum transmission unit"],
            "The largest IP packet, in bytes, that an interface sends without fragmentation.",
        ),
        term("path", &[], "Everything between the two hosts: interfaces, links, bridges and tunnels."),
        term(
            "loopback",
            &["lo"],
            "Scenario: one host sends to itself over `lo`. Both ends share one interface and its features.",
        ),
        term(
            "discard",
            &[],
            "Scenario: one host sends into an interface that discards every packet. There is no receiver.",
        ),
        term(
            "veth",
            &[],
            "Scenario: two network namespaces, joined by a pair of virtual Ethernet interfaces.",
        ),
        term(
            "vxlan",
            &[],
            "Virtual Extensible LAN (RFC 7348): a tunnel that carries Ethernet frames in UDP. It adds 50 bytes to a packet over IPv4 and 70 over IPv6. Scenario: two network namespaces and a VXLAN tunnel over a pair of virtual Ethernet interfaces.",
        ),
        term("vm", &[], "Scenario: two virtual machines, joined by a bridge."),
        term(
            "vm-vxlan",
            &[],
            "Scenario: two virtual machines, each on its own bridge, and a VXLAN tunnel between the bridges.",
        ),
    ],
};

pub(super) const TRAFFIC: Section = Section {
    title: "Traffic",
    terms: &[
        term(
            "workload",
            &[],
            "The traffic of a run: a kind (`tcp_stream`, `udp_stream`, `tcp_rr`, `udp_rr`, `tcp_crr`, `pps`) and its keys. A study has one or more; each is measured by itself.",
        ),
        term(
            "flow",
            &[],
            "One connection (TCP) or one pair of sockets (UDP). With `direction = \"both\"` a flow has a socket for each direction.",
        ),
        term("tcp_stream", &[], "Kind of traffic: bulk data over TCP."),
        term("udp_stream", &[], "Kind of traffic: bulk datagrams over UDP."),
        term("tcp_rr", &[], "Kind of traffic: requests and responses over established TCP connections."),
        term("udp_rr", &[], "Kind of traffic: requests and responses over UDP."),
        term(
            "tcp_crr",
            &[],
            "Kind of traffic: each transaction opens a TCP connection, sends one request, receives its response and closes the connection.",
        ),
        term(
            "pps",
            &[],
            "Kind of traffic: UDP datagrams into an interface that discards them (scenario `discard`). The metric is packets per second.",
        ),
        term("transaction", &[], "One request and its response; for `tcp_crr` with its connection."),
        term("ipv4", &[], "Family: IP version 4 carries the traffic."),
        term("ipv6", &[], "Family: IP version 6 carries the traffic."),
        term("family", &["address family"], "The version of IP that carries the traffic: `ipv4` or `ipv6`."),
    ],
};

pub(super) const SENDERS: Section = Section {
    title: "Senders",
    terms: &[
        term("send", &[], "One `send` per write or datagram."),
        term("sendmmsg", &[], "Many datagrams per `sendmmsg` call (UDP)."),
        term(
            "gso",
            &[],
            "One `send` of a large buffer, which the kernel or the device splits into datagrams (`UDP_SEGMENT`).",
        ),
        term("gso+sendmmsg", &[], "Many such buffers per `sendmmsg` call (UDP)."),
        term(
            "zerocopy",
            &["msg_zerocopy"],
            "One `send` with `MSG_ZEROCOPY`: the kernel sends from the pages of the program and reports when it has finished with them.",
        ),
        term("io_uring", &[], "Sends are queued in an io_uring, many per system call."),
        term("io_uring-zerocopy", &[], "As `io_uring`, without copying (`IORING_OP_SEND_ZC`)."),
        term("sendfile", &[], "`sendfile` from a file in memory (TCP)."),
        term(
            "splice",
            &["vmsplice"],
            "Pages are mapped into a pipe (`vmsplice`) and moved from it to the socket (`splice`) (TCP).",
        ),
    ],
};

pub(super) const READERS: Section = Section {
    title: "Readers",
    terms: &[
        term("recv", &[], "One `recv` at a time. The thread sleeps while no data are there."),
        term("recvmmsg", &[], "Many datagrams per `recvmmsg` call (UDP)."),
        term("gro", &[], "Many datagrams of one flow per `recv`, merged into one buffer (`UDP_GRO`)."),
        term("io_uring", &[], "One multishot request to an io_uring receives until it is cancelled."),
        term(
            "trunc",
            &["msg_trunc"],
            "`recv` with `MSG_TRUNC`: the kernel discards the data instead of copying them (TCP).",
        ),
        term("spin", &[], "Non-blocking `recv` in a loop. The thread never sleeps."),
    ],
};

pub(super) const DIRECTIONS: Section = Section {
    title: "Directions",
    terms: &[
        term("forward", &[], "From the transmitter to the receiver."),
        term("reverse", &[], "From the receiver to the transmitter."),
        term("both", &[], "Both directions at once, each on its own sockets."),
    ],
};

pub(super) const MEASUREMENT: Section = Section {
    title: "Measurement",
    terms: &[
        term(
            "boot",
            &[],
            "A fresh start of every host: new namespaces or new virtual machines. The boot is the unit of replication: intervals come from the spread between boots.",
        ),
        term(
            "block",
            &[],
            "One run of each condition, in random order. Blocks spread drift over all conditions alike.",
        ),
        term(
            "run",
            &[],
            "One measurement of one condition in one boot: ramp, window, and the counters of both hosts.",
        ),
        term(
            "warm-up",
            &["warmup", "warm-up run"],
            "A run before the recorded ones of a boot. It is stored and never judged.",
        ),
        term(
            "window",
            &["measurement window"],
            "The time in which a run counts. Each host reads its counters at both edges on its own monotonic clock. Key: `duration`.",
        ),
        term(
            "monotonic clock",
            &["clock_monotonic"],
            "A clock that never steps back. netassay measures all durations with it.",
        ),
        term(
            "metric",
            &[],
            "A quantity that runs are judged by, with a unit and, where one exists, a better direction.",
        ),
        term(
            "service demand",
            &[],
            "CPU time per unit of work, in ns: per byte, per packet or per transaction.",
        ),
        term(
            "round trip",
            &["rtt", "latency"],
            "The time from a request to its response. With `rate` it counts from the time at which the request was due.",
        ),
        term(
            "retransmitted",
            &["retransmission"],
            "A TCP segment was sent again because the sender saw no acknowledgment. It is needless if the first copy had arrived.",
        ),
        term(
            "settings read back",
            &["applied", "effective state", "settled"],
            "What the kernel reports after netassay set a feature or an option. It may differ from what the study asks for; results show what was applied.",
        ),
        term(
            "disturbed",
            &["invalid", "disturbed run"],
            "Something outside the run changed its result: other processes, steal, another session, a clock, a changed setting or a late window. The run is stored as invalid, is left out of results and is repeated.",
        ),
        term("environment", &[], "Kernel, CPUs, settings and load of the machine, stored with each boot."),
        term(
            "evidence",
            &[],
            "The figures that support a statement: the counters behind a limit, or those that show that an offload acted.",
        ),
        term(
            "resume",
            &["--resume"],
            "Continue a stored study: only the missing runs are measured, on a new testbed.",
        ),
        term(
            "CPU steal",
            &["steal", "stolen time"],
            "Time in which a hypervisor ran something else on the CPU.",
        ),
        term(
            "soft interrupt",
            &["softirq", "software interrupt"],
            "Kernel work that is deferred from a hardware interrupt. Most receive work runs there.",
        ),
        term(
            "receive steering",
            &["rps", "steering"],
            "Which CPUs process the packets that an interface receives (`rps_cpus`).",
        ),
    ],
};

pub(super) const STATISTICS: Section = Section {
    title: "Statistics",
    terms: &[
        term(
            "difference",
            &["effect"],
            "The mean of a condition less the mean of its baseline, in the unit of the metric or in % of the baseline.",
        ),
        term(
            "interval",
            &["confidence interval"],
            "The range that holds the true value with the stated confidence, 95 % by default.",
        ),
        term(
            "confidence",
            &["confidence level"],
            "The share of studies whose intervals hold the true value.",
        ),
        term(
            "family of comparisons",
            &["family-wise", "correction"],
            "All comparisons that are judged together. Their intervals are widened, so that all of them hold together with the stated confidence.",
        ),
        term(
            "false-positive rate",
            &["false positive", "error rate", "type i error"],
            "How often a method reports a difference although nothing differs. 5 % at 95 % confidence.",
        ),
        term("power", &[], "The chance that a study proves a difference of a stated size."),
        term(
            "smallest detectable difference",
            &["detectable"],
            "The smallest difference that these data would prove with 80 % power.",
        ),
        term(
            "spread",
            &["standard deviation"],
            "How far values differ, as a standard deviation: between boots, between conditions inside boots (condition x boot), and between runs of a boot.",
        ),
        term(
            "crossed design",
            &["crossed"],
            "Every boot measures every condition. What a boot does to all conditions alike cancels.",
        ),
        term("nested design", &["nested"], "Each condition has its own boots."),
        term(
            "state of the testbed",
            &["state"],
            "Settings that need a boot to change, such as the kernel of a guest. A boot measures the conditions of one state.",
        ),
        term(
            "robust check",
            &["run_medians", "boot_ranks"],
            "The same comparison by medians or ranks. It is shown where it disagrees with the verdict.",
        ),
        term(
            "log scale",
            &["ratio"],
            "Differences of logarithms, which are ratios: `13 times, 2 to 84 (log scale)`. Used where the baseline is too uncertain for a percentage.",
        ),
        term(
            "median-unbiased estimate",
            &["adjusted difference"],
            "The difference corrected for the look at which the study stopped: it is above the true one as often as below.",
        ),
    ],
};

pub(super) const VERDICTS: Section = Section {
    title: "Verdicts",
    terms: &[
        term(
            "verdict",
            &[],
            "What a comparison concludes: `higher`, `lower`, `no difference proven`, `equivalent` or `inconclusive`.",
        ),
        term("higher", &[], "The interval of the difference lies above zero."),
        term("lower", &[], "The interval of the difference lies below zero."),
        term(
            "no difference proven",
            &[],
            "The interval holds zero. A difference may exist, but these data do not show it.",
        ),
        term("equivalent", &[], "The difference is proven to lie inside the stated margin."),
        term(
            "inconclusive",
            &[],
            "Fewer than two boots, so no interval; or a margin was stated and neither a difference nor equivalence is proven.",
        ),
    ],
};

pub(super) const LIMITS: Section = Section {
    title: "Limits",
    terms: &[
        term(
            "limited by",
            &["limit", "bottleneck"],
            "What held a run back, by its own counters. A label is evidence, not proof.",
        ),
        term("generator", &[], "The sending program used its CPU in its own code."),
        term("transmitter CPU", &[], "The CPUs of the transmitter were busy with this traffic."),
        term("receiver CPU", &[], "The CPUs of the receiver were busy with this traffic."),
        term("contended", &[], "Other processes, or the hypervisor, used the CPUs that the run needed."),
        term("host CPU", &[], "The guests have more busy threads than the host has CPUs."),
        term(
            "receiver socket",
            &[],
            "The buffer of the receiving UDP socket was full and datagrams were dropped.",
        ),
        term("device", &[], "A queue or an interface dropped packets."),
        term("link", &[], "The configured or negotiated rate of the link was used."),
        term("path", &[], "No other label fits: TCP windows, uncounted loss, or round-trip time."),
        term("pacing", &[], "The traffic reached the rate that was asked for (`pacing`, `rate`)."),
        term(
            "receive livelock",
            &[],
            "Interrupts take most of the receiver's CPU time, so its socket is not read and drops: the more is sent, the less is received.",
        ),
    ],
};

pub(super) const WARNINGS: Section = Section {
    title: "Data-quality warnings",
    terms: &[
        term(
            "data-quality warning",
            &["flag", "flags", "warning"],
            "Something in the data that a reader should know. Nothing is removed because of it. Each kind flags at most 1 % of clean studies.",
        ),
        term("drift", &[], "Values rise or fall over the study, or inside boots."),
        term(
            "serial correlation",
            &[],
            "A run resembles the run before it more, or less, than chance explains, so runs are not independent.",
        ),
        term("outlying boot", &["outlying boots"], "A boot lies far from the other boots."),
        term(
            "outlying run",
            &["outlying runs", "outlier"],
            "A run lies far from the other runs of its condition and boot.",
        ),
        term("several modes", &["bimodal"], "The values fall into two or more groups."),
        term(
            "first run",
            &[],
            "The first recorded run of a boot differs from the rest: the warm-up was too short.",
        ),
        term(
            "saturation",
            &["ceiling"],
            "Many values lie just below the largest one, so something limits them.",
        ),
        term("constant", &["all equal"], "All values are equal, so no spread can be estimated."),
    ],
};

/// What each group of `ethtool` does, by the short name that `words::feature::GROUPS` declares.
pub(super) const FEATURES: Section = Section {
    title: "Interface features",
    terms: &[
        term(
            "feature",
            &["features", "switch"],
            "A setting of an interface that can be on or off, as `ethtool -k` lists it.",
        ),
        term(
            "offload",
            &["offloads"],
            "A feature by which the interface does work of the network stack, or by which the stack handles many packets as one. `offloads = \"none\"` switches all of them off.",
        ),
        term("rx", &[], "Checksums of received packets are verified by the interface."),
        term("tx", &[], "Checksums of sent packets are computed by the interface."),
        term("sg", &[], "A packet may lie in several pieces of memory. Segmentation needs it."),
        term(
            "tso",
            &[],
            "The stack gives TCP segments of up to 64 KiB or more to the interface, which splits them into packets.",
        ),
        term(
            "ufo",
            &[],
            "The interface splits large UDP datagrams into IP fragments. Most kernels have removed it.",
        ),
        term(
            "gso",
            &[],
            "The stack carries large buffers down to the interface and splits them there in software, if the interface cannot.",
        ),
        term(
            "gro",
            &[],
            "The receiving stack merges packets of one flow into large ones before it processes them.",
        ),
        term(
            "lro",
            &[],
            "The interface merges received TCP packets. What it merges cannot be forwarded unchanged.",
        ),
        term("rxvlan", &[], "The interface removes the VLAN tag of received packets."),
        term("txvlan", &[], "The interface inserts the VLAN tag of sent packets."),
        term("ntuple", &[], "The interface steers received packets to queues by rules."),
        term("rxhash", &[], "The interface computes a hash of the flow of each received packet."),
    ],
};
