//! The bounds of each list, text and number of a message. A sender that exceeds them is hostile, or
//! speaks another protocol.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::time::Duration;

use crate::bounded::{Bounded, Excess};
use crate::init::Settings;
use crate::launch::Launch;
use crate::message::{Answer, Booted, ExactReceiver, Request, Undone};
use crate::series;
use crate::traffic::MOST_FLOWS;
use host::journal::{Change, Difference, Now};
use host::machine::{MachineRequest, Value};
use record::{Finished, Measured, Watched};
use trace::{ProbePoints, Round};
use words::{Accelerated, MOST_IN_TURNS, MOST_TURNS, Settled, Tuning};

/// CPUs, by count and by number: what the largest kernel is built for (`NR_CPUS`).
pub(crate) const CPUS: u32 = 8_192;
/// Bytes of an interface's name, without its final zero (`IFNAMSIZ` of linux/if.h).
pub(crate) const NAME: usize = 15;
/// Bytes of an interface's alternative name, without its final zero (`ALTIFNAMSIZ`).
const ALTERNATIVE_NAME: usize = 127;
/// Bytes of any other text, except [`Answer::Failed`]'s.
pub(crate) const TEXT: usize = 64 << 10;
/// Sockets of one end.
pub(crate) const SOCKETS: usize = 2 * load::MAX_FLOWS as usize;
/// Threads of one end.
pub(crate) const THREADS: usize = 2 * load::MAX_THREADS as usize;
/// Flows that one end accounts for: of more, neighbours are summed, separately for each way.
pub(crate) const FLOWS: usize = 2 * MOST_FLOWS;
/// Addresses of an interface, interfaces of a host, guests on it, notes: a handful of each is
/// needed.
pub(crate) const FEW: usize = 64;
/// Features of an interface: Linux 6 has some 60.
pub(crate) const FEATURES: usize = 512;
/// A ramp, and a window: far more than a study asks for.
pub(crate) const TIME: Duration = Duration::from_secs(7 * 24 * 3600);
/// An MTU in bytes: only the loopback interface exceeds 65,536, by its headers.
pub(crate) const MTU: u32 = 1 << 17;
/// Samples a second: the kernel's own limit.
const MOST_SAMPLED: u32 = 100_000;
/// Bytes of a setting of the machine: the longest that a kernel gives
/// (`net.ipv4.ip_local_reserved_ports` with every second port) has 190,000.
pub(crate) const VALUE: usize = 192 << 10;
/// The longest wait for packets that try a path, in ms.
const PROBE_MS: u16 = 5_000;
/// A VXLAN's network identifier has 24 bits (RFC 7348, section 5).
pub(crate) const VXLAN_ID: u32 = (1 << 24) - 1;

type Checked = Result<(), Excess>;

fn most(what: &'static str, found: impl TryInto<u64>, most: impl TryInto<u64>) -> Checked {
    let number = |value: Result<u64, _>| value.unwrap_or(u64::MAX);
    let (found, most) = (number(found.try_into().map_err(drop)), number(most.try_into().map_err(drop)));
    if found > most { Err(Excess { what, found, most }) } else { Ok(()) }
}

fn name(what: &'static str, name: &str) -> Checked {
    most(what, name.len(), NAME)
}

fn names<'a>(what: &'static str, mut names: impl Iterator<Item = &'a String>) -> Checked {
    names.try_for_each(|one| name(what, one))
}

/// Names or alternative names.
fn any_names<'a>(what: &'static str, mut names: impl Iterator<Item = &'a String>) -> Checked {
    names.try_for_each(|one| most(what, one.len(), ALTERNATIVE_NAME))
}

fn texts<'a>(what: &'static str, mut texts: impl Iterator<Item = &'a String>) -> Checked {
    texts.try_for_each(|one| most(what, one.len(), TEXT))
}

/// The longest value of a setting that the kernel gives: a list of ports, 190 KB.
const SETTING: usize = 200_000;

fn settings<'a>(mut values: impl Iterator<Item = &'a Value>) -> Checked {
    values.try_for_each(|one| most("value", one.bytes().len(), SETTING))
}

fn cpus(cpus: &[u32]) -> Checked {
    most("cpus", cpus.len(), CPUS)?;
    cpus.iter().try_for_each(|cpu| most("cpus", *cpu, CPUS - 1))
}

fn addresses(addresses: &[(IpAddr, u8)]) -> Checked {
    most("addresses", addresses.len(), FEW)?;
    addresses
        .iter()
        .try_for_each(|(ip, prefix)| most("addresses", *prefix, if ip.is_ipv4() { 32u8 } else { 128 }))
}

fn times(times: [(&'static str, u64); 2]) -> Checked {
    times.into_iter().try_for_each(|(what, ns)| most(what, ns, TIME.as_nanos()))
}

fn features<T>(what: &'static str, features: &BTreeMap<String, T>) -> Checked {
    most(what, features.len(), FEATURES)?;
    texts(what, features.keys())
}

/// [`load`] checks a workload's own numbers.
fn spec(spec: &load::Spec) -> Checked {
    cpus(&spec.cpus)?;
    names("interface", spec.interface.iter())?;
    name_of_congestion_control(&spec.traffic)
}

fn name_of_congestion_control(traffic: &load::Traffic) -> Checked {
    most("congestion_control", traffic.congestion_control.name().map_or(0, str::len), TEXT)
}

impl Bounded for Request {
    fn check(&self) -> Checked {
        match self {
            Self::Hello { .. }
            | Self::Start
            | Self::Quiet
            | Self::Finish
            | Self::Abandon
            | Self::MachineDifferences
            | Self::UndoMachine => Ok(()),
            Self::CreateVeth { name: one, peer, peer_pid: _ } => names("name", [one, peer].into_iter()),
            Self::CreateDiscard { name: one, device: _, addresses: given, behind } => {
                name("name", one)?;
                most("behind", behind.len(), FEW)?;
                addresses(given)
            }
            Self::CreateVxlan { name: one, vxlan, addresses: given, bridge } => {
                names("name", [one, &vxlan.underlay].into_iter().chain(bridge))?;
                most("id", vxlan.id, VXLAN_ID)?;
                addresses(given)
            }
            Self::CreateBridge { name: one } => name("name", one),
            Self::CreateTap { name: one, bridge } => names("name", [one, bridge].into_iter()),
            Self::AddPort { bridge, interface } => names("name", [bridge, interface].into_iter()),
            Self::Locate { interface, beside, towards: _, connection: _ } => {
                any_names("interface", interface.iter())?;
                addresses(beside)
            }
            Self::PairFacts { interface, addresses } => {
                name("interface", interface)?;
                most("addresses", addresses.len(), FEW)
            }
            Self::OpenProbe { interface, local: _, ports: _, listens: _ } => name("interface", interface),
            Self::ExchangeProbes { to: _, full, within_ms } => {
                full.iter().try_for_each(|bytes| most("full", *bytes, MTU))?;
                most("within_ms", *within_ms, PROBE_MS)
            }
            Self::FindInterface { address } => most("address", address.len(), TEXT),
            Self::Configure { interface, addresses: given } => {
                name("interface", interface)?;
                addresses(given)
            }
            Self::SetMtu { interface, mtu } => {
                name("interface", interface)?;
                most("mtu", *mtu, MTU)
            }
            Self::AwaitRunning { interface } => name("interface", interface),
            Self::Steer { interface, cpus: wanted } => {
                name("interface", interface)?;
                cpus(wanted)
            }
            Self::SteerNew { cpus: wanted } => cpus(wanted),
            // Each of a device's settings at most once.
            Self::Settle { interface, mtu, features: wanted, device: _, tuning } => {
                name("interface", interface)?;
                most("mtu", mtu.unwrap_or(0), MTU)?;
                tuning.as_ref().map_or(Ok(()), tuned)?;
                features("features", wanted)
            }
            Self::Apply { interface, mtu, features: wanted } => {
                name("interface", interface)?;
                most("mtu", mtu.unwrap_or(0), MTU)?;
                features("features", wanted)
            }
            Self::Environment { interfaces } => {
                most("interfaces", interfaces.len(), FEW)?;
                any_names("interfaces", interfaces.iter())
            }
            Self::Lacking { traffic, family: _ } => name_of_congestion_control(traffic),
            Self::Listen { spec: own, interface, underlay } => {
                names("interface", [interface].into_iter().chain(underlay))?;
                spec(own)
            }
            Self::Connect { spec: own, endpoints, interface, underlay } => {
                names("interface", [interface].into_iter().chain(underlay))?;
                most("endpoints", endpoints.len(), SOCKETS)?;
                spec(own)
            }
            Self::Attach { locals } => most("locals", locals.len(), SOCKETS),
            Self::Measure { ramp_ns, window_ns, step_ns: _ } => {
                times([("ramp_ns", *ramp_ns), ("window_ns", *window_ns)])
            }
            Self::Alternate { ramp_ns, turn_ns, settle_ns, states, turns } => {
                times([("ramp_ns", *ramp_ns), ("turn_ns", *turn_ns)])?;
                most("settle_ns", *settle_ns, *turn_ns / 2)?;
                most("states", states.len(), MOST_IN_TURNS)?;
                states.iter().try_for_each(|state| {
                    features("features", &state.features)?;
                    state.tuning.as_ref().map_or(Ok(()), tuned)?;
                    name_of_congestion_control(&state.traffic)
                })?;
                most("turns", turns.len(), MOST_TURNS)?;
                let last = states.len().saturating_sub(1);
                turns.iter().try_for_each(|turn| most("state", turn.state, last))
            }
            Self::Watch { processes, cpus: watched, underlay, ramp_ns, window_ns } => {
                most("processes", processes.len(), FEW)?;
                cpus(watched)?;
                names("underlay", underlay.iter())?;
                times([("ramp_ns", *ramp_ns), ("window_ns", *window_ns)])
            }
            Self::Stay { for_ms } => most("for_ms", *for_ms, TIME.as_millis()),
            Self::Exact { spec: own, receiver: there } => {
                spec(own)?;
                receiver(there)
            }
            Self::Trace { spec: own, receiver: there, wanted } => {
                spec(own)?;
                receiver(there)?;
                most("path", wanted.path.len(), trace::MOST_BYTES)?;
                most("batch", wanted.batch, words::MOST_MESSAGES)?;
                most("rounds", wanted.rounds, words::MOST_ROUNDS)?;
                most("profile", wanted.profile, MOST_SAMPLED)
            }
            Self::Survey { paths, functions: _ } => {
                most("paths", paths.len(), FEW)?;
                paths.iter().try_for_each(|path| most("paths", path.len(), trace::MOST_BYTES))
            }
            Self::ChangeMachine(wanted) | Self::PreviewMachine(wanted) => machine(wanted),
            Self::Keep { why } => most("why", why.len(), TEXT),
        }
    }
}

fn tuned(tuning: &Tuning) -> Checked {
    sysctls(&tuning.sysctl)?;
    texts("governor", tuning.governor.iter())?;
    tuning.irq_affinity.as_deref().map_or(Ok(()), cpus)
}

fn sysctls(by_name: &BTreeMap<String, String>) -> Checked {
    most("sysctls", by_name.len(), FEATURES)?;
    texts("sysctls", by_name.keys())?;
    by_name.values().try_for_each(|value| most("sysctls", value.len(), VALUE))
}

fn machine(wanted: &MachineRequest) -> Checked {
    let MachineRequest { sysctls: by_name, governor, cpu_latency: _, placement, irq_affinity, features } =
        wanted;
    sysctls(by_name)?;
    texts("governor", governor.iter())?;
    placement.iter().try_for_each(|placed| name("placement", &placed.interface))?;
    most("irq_affinity", irq_affinity.len(), FEW)?;
    any_names("irq_affinity", irq_affinity.keys())?;
    irq_affinity.values().try_for_each(|wanted| cpus(wanted))?;
    most("features", features.len(), FEATURES)?;
    features.iter().try_for_each(|wanted| {
        any_names("interface", [&wanted.interface].into_iter())?;
        most("features", wanted.features.len(), FEATURES)?;
        texts("features", wanted.features.iter())
    })
}

impl Bounded for Answer {
    fn check(&self) -> Checked {
        match self {
            // A reason is cut where it is shown.
            Self::Done | Self::Failed { .. } | Self::NoJournal { .. } => Ok(()),
            Self::Hello { protocol: _, version, pid: _, cpus: usable } => {
                most("version", version.len(), TEXT)?;
                most("cpus", usable.len(), CPUS)
            }
            Self::Discards(discard) => {
                most("lacking", discard.lacking.len(), FEW)?;
                texts("lacking", discard.lacking.iter())
            }
            Self::Settled(state) => settled(state),
            Self::Environment(about) => environment(about),
            Self::Told { what } => {
                // At most one for each CPU.
                most("what", what.len(), CPUS)?;
                texts("what", what.iter())
            }
            Self::MachineChanged { changes } => {
                most("changes", changes.len(), CPUS)?;
                let values = changes.iter().flat_map(|one| [Some(&one.before), one.after.as_ref()]);
                settings(values.flatten())?;
                texts("changes", changes.iter().map(Change::to_string).collect::<Vec<_>>().iter())
            }
            Self::MachineDiffers { differences } => {
                most("differences", differences.len(), CPUS)?;
                let now =
                    |one: &Difference| if let Now::Reads(now) = &one.now { Some(now.clone()) } else { None };
                settings(differences.iter().map(|one| &one.after))?;
                settings(differences.iter().filter_map(now).collect::<Vec<_>>().iter())?;
                texts("differences", differences.iter().map(Difference::to_string).collect::<Vec<_>>().iter())
            }
            Self::MachineUndone { changes } => {
                most("changes", changes.len(), CPUS)?;
                texts("changes", changes.iter().map(Undone::sentence))
            }
            Self::Sockets { addresses } => most("addresses", addresses.len(), SOCKETS),
            Self::Measured(measured) => window(measured),
            Self::Alternated { states } => {
                most("states", states.len(), MOST_IN_TURNS)?;
                states.iter().try_for_each(|state| {
                    most("turns", state.turns.len(), MOST_TURNS)?;
                    window(&state.sum)
                })
            }
            Self::NotInTurns { why } => texts("why", [why].into_iter()),
            Self::Located(located) => {
                name("interface", &located.interface)?;
                addresses(&located.addresses)?;
                most("taken", located.taken.len(), host::NUMBERS)?;
                cpus(&located.near)
            }
            Self::PairFacts(facts) => pair_facts(facts),
            Self::Arrived(load::Arrived { packets: _, unsent: _ }) => Ok(()),
            Self::Interface { name: one } => name("name", one),
            Self::Watched(watched) => guests(watched),
            Self::Exact(account) => {
                most("applied", account.applied.len(), FEW)?;
                texts("softirq_absent", account.softirq_absent.iter())
            }
            Self::Traced(account) | Self::TracedRound(account) => traced(account),
            Self::Surveyed(survey) => surveyed(survey),
            Self::Finished(finished) => outcome(finished),
            Self::Booted(guest) => booted(guest),
        }
    }
}

fn pair_facts(facts: &host::PairFacts) -> Checked {
    let host::PairFacts { boot_id, namespace: _, link, master, taken, neighbours, firewall } = facts;
    let links = || [Some(link), master.as_ref()].into_iter().flatten();
    names("name", links().map(|link| &link.name))?;
    let words = links().flat_map(|link| link.kind.iter().chain(&link.address));
    texts("link", words.chain(boot_id).chain(neighbours.iter().map(|(_, link_address)| link_address)))?;
    names("taken", taken.iter().map(|one| &one.interface))?;
    texts("tables", firewall.tables.iter())?;
    [taken.len(), neighbours.len(), firewall.tables.len()]
        .into_iter()
        .try_for_each(|count| most("facts", count, FEW))
}

fn booted(guest: &Booted) -> Checked {
    let Booted { process: _, acceleration, kvm_tried, stays_root, boot_ms: _, failed_first } = guest;
    let why = match acceleration {
        Accelerated::Kvm => None,
        Accelerated::Emulation { why } => Some(why),
    };
    texts(
        "guest",
        [why, kvm_tried.as_ref(), stays_root.as_ref(), failed_first.as_ref()].into_iter().flatten(),
    )
}

fn receiver(receiver: &ExactReceiver) -> Checked {
    match receiver {
        ExactReceiver::In { process: _, spec: other } => spec(other),
        ExactReceiver::Nobody(_) | ExactReceiver::Apart => Ok(()),
    }
}

fn surveyed(survey: &trace::Survey) -> Checked {
    most("ladder", survey.ladder.0.len(), FEW)?;
    texts("ladder", survey.ladder.0.iter().map(|step| &step.reason))?;
    most("paths", survey.paths.len(), FEW)?;
    for stages in &survey.paths {
        most("stages", stages.len(), trace::POINTS)?;
        for stage in stages {
            texts("stages", [&stage.label].into_iter())?;
            for found in [&stage.ipv4, &stage.ipv6] {
                match found {
                    ProbePoints::Missing(reason) => texts("stages.missing", [reason].into_iter())?,
                    ProbePoints::Points(points) => {
                        most("stages.points", points.len(), FEATURES)?;
                        texts("stages.points", points.iter().map(|point| &point.name))?;
                    }
                }
            }
        }
    }
    Ok(())
}

fn traced(account: &trace::TraceAccount) -> Checked {
    most("stages", account.stages.len(), trace::POINTS)?;
    for stage in &account.stages {
        texts("stages", [&stage.label].into_iter().chain(stage.seen.as_ref().err()))?;
        texts("stages.seen", stage.seen.iter().map(|seen| &seen.name))?;
    }
    most("untraced", account.untraced.len(), words::MOST_ROUNDS)?;
    most("one_more", account.one_more.len(), FEW)?;
    let more = account.one_more.iter().map(|(_, rounds)| rounds);
    for rounds in [&account.ends, &account.all].into_iter().chain(more) {
        most("rounds", rounds.len(), words::MOST_ROUNDS)?;
        for Round { batch_ns: _, reading, between } in rounds {
            most("between", between.len(), trace::POINTS)?;
            most("hits", reading.hits.len(), trace::POINTS)?;
            most("ways", reading.ways.len(), trace::POINTS)?;
            for way in &reading.ways {
                most("segments", way.segments.len(), trace::POINTS)?;
                for segment in way.segments.iter().chain([&way.whole]) {
                    most("buckets", segment.buckets.len(), trace::BUCKETS)?;
                }
            }
        }
    }
    if let Some(sampled) = &account.sampled {
        most("packets", sampled.packets.len(), trace::MOST_SAMPLES)?;
        for packet in &sampled.packets {
            most("stamps", packet.stamps.len(), trace::POINTS)?;
        }
    }
    account.profile.as_ref().map_or(Ok(()), profile)
}

fn profile(profile: &host::perf::Profile) -> Checked {
    most("functions", profile.functions.len(), host::perf::MOST_FUNCTIONS)?;
    texts("functions", profile.functions.iter().map(|own| &own.name))?;
    most("profile.stacks", profile.stacks.len(), host::perf::MOST_STACKS)?;
    let frames = |stack: &host::perf::Stack| most("frames", stack.frames.len(), host::perf::MOST_FRAMES + 1);
    profile.stacks.iter().try_for_each(frames)
}

fn settled(settled: &Settled) -> Checked {
    features("active", &settled.active)?;
    features("refused", &settled.refused)?;
    texts("refused", settled.refused.values())?;
    texts("tuning", settled.tuning.values())?;
    features("follow_on", &settled.follow_on)
}

fn window(measured: &Measured) -> Checked {
    cpus(&measured.cpus)?;
    most("cpu_each", measured.cpu_each.len(), measured.cpus.len())?;
    most("threads", measured.threads.len(), THREADS)?;
    most("load.flows", measured.load.flows.len(), FLOWS)?;
    most("link.from", measured.link.from.len(), TEXT)?;
    measured.device.iter().try_for_each(|device| {
        name("device.interface", &device.interface)?;
        most("device.changed", device.changed.len(), host::DeviceCounters::MOST)?;
        texts("device.changed", device.changed.keys())
    })?;
    measured.power.iter().try_for_each(|power| {
        most("power", power.idle_us.len().max(power.millicelsius.len()), host::Power::MOST)?;
        texts("power", power.idle_us.keys().chain(power.millicelsius.keys()))
    })?;
    let rows = measured.series.at_ns.len();
    most("series.at_ns", rows, series::MOST + 1)?;
    measured.series.columns().into_iter().try_for_each(|column| most(column.name, column.values.len(), rows))
}

fn guests(watched: &Watched) -> Checked {
    most("guests", watched.guests.len(), FEW)?;
    watched.guests.iter().try_for_each(|guest| most("vcpu_each", guest.vcpu_each.len(), CPUS))?;
    most("cpu_each", watched.cpu_each.len(), CPUS)?;
    most("interrupts_each", watched.interrupts_each.len(), CPUS)
}

fn outcome(finished: &Finished) -> Checked {
    let outcome = &finished.outcome;
    most("flows", outcome.flows.len(), FLOWS)?;
    most("threads", outcome.threads.len(), THREADS)?;
    most("applied", outcome.applied.len(), SOCKETS)?;
    most("notes", outcome.notes.len(), FEW)?;
    // A histogram of latencies that has too many buckets, or wrong ones, cannot be read.
    texts("notes", outcome.notes.iter().flat_map(load::Note::texts))
}

fn environment(about: &host::Environment) -> Checked {
    let host::Environment { netassay, kernel, cpu, machine, interfaces, sysctls, load: _ } = about;
    texts("netassay", [netassay].into_iter())?;
    let of_kernel = [
        &kernel.release,
        &kernel.version,
        &kernel.command_line,
        &kernel.boot_id,
        &kernel.clock_source,
        &kernel.clock_sources,
        &kernel.tainted,
        &kernel.preemption,
        &kernel.huge_pages,
    ];
    texts("kernel", of_kernel.into_iter().flatten())?;
    let of_cpu = [
        &cpu.model,
        &cpu.microcode,
        &cpu.online_list,
        &cpu.isolated,
        &cpu.frequency_driver,
        &cpu.multithreading,
        &cpu.idle_driver,
        &cpu.idle_governor,
    ];
    texts("cpu", of_cpu.into_iter().flatten())?;
    most("governors", cpu.governors.len(), FEW)?;
    texts("governors", cpu.governors.iter())?;
    most("idle_states", cpu.idle_states.len(), FEW)?;
    texts("idle_states", cpu.idle_states.iter().map(|state| &state.name))?;
    pairs("vulnerabilities", &cpu.vulnerabilities, FEATURES)?;
    texts("machine", [&machine.vendor, &machine.product].into_iter().flatten())?;
    pairs("sysctls", sysctls, FEATURES)?;
    most("interfaces", interfaces.len(), FEW)?;
    any_names("interfaces", interfaces.keys())?;
    interfaces.values().flatten().try_for_each(interface)
}

fn interface(about: &host::InterfaceEnvironment) -> Checked {
    name("link.name", &about.link.name)?;
    texts("link", [&about.link.kind, &about.link.address, &about.driver].into_iter().flatten())?;
    texts("hardware", about.hardware.texts())?;
    about.features.iter().try_for_each(|known| features("features", known))?;
    pairs("receive_steering", &about.receive_steering, CPUS)?;
    pairs("transmit_steering", &about.transmit_steering, CPUS)
}

fn pairs(what: &'static str, pairs: &BTreeMap<String, String>, count: impl TryInto<u64>) -> Checked {
    most(what, pairs.len(), count)?;
    texts(what, pairs.keys().chain(pairs.values()))
}

impl Bounded for Launch {
    fn check(&self) -> Checked {
        most("lease_ms", self.lease_ms.unwrap_or(0), TIME.as_millis())?;
        cpus(&self.cpus)
    }
}

impl Bounded for Settings {
    fn check(&self) -> Checked {
        most("ports", self.ports, FEW)?;
        most("seed", self.seed.len(), TEXT)
    }
}

#[cfg(test)]
mod tests {
    use words::Turn;

    use super::*;
    use crate::message::TurnState;

    #[test]
    fn a_list_or_number_beyond_its_bound_is_refused_by_name() {
        let long = "x".repeat(16);
        let many = vec![(IpAddr::from([10, 0, 0, 1]), 24); FEW + 1];
        let wide = vec![(IpAddr::from([10, 0, 0, 1]), 33)];
        let traffic = load::Traffic::new(load::Kind::TcpRr);
        let alternate = |settle_ns, state| Request::Alternate {
            ramp_ns: 0,
            turn_ns: 100,
            settle_ns,
            states: vec![TurnState { features: BTreeMap::new(), traffic: traffic.clone(), tuning: None }; 2],
            turns: vec![Turn { state, counts: true }],
        };
        let refused: [(Request, &str); 12] = [
            (alternate(51, 0), "`settle_ns` has 51, and may have at most 50"),
            (alternate(50, 2), "`state` has 2, and may have at most 1"),
            (Request::SteerNew { cpus: vec![u32::MAX] }, "`cpus` has 4294967295, and may have at most 8191"),
            (Request::SteerNew { cpus: vec![0; 8_193] }, "`cpus` has 8193, and may have at most 8192"),
            (Request::CreateBridge { name: long.clone() }, "`name` has 16"),
            (Request::Environment { interfaces: vec!["x".repeat(128)] }, "`interfaces` has 128"),
            (Request::Configure { interface: "a".into(), addresses: many }, "`addresses` has 65"),
            (Request::Configure { interface: "a".into(), addresses: wide }, "`addresses` has 33"),
            (Request::Environment { interfaces: vec!["a".into(); 65] }, "`interfaces` has 65"),
            (Request::Measure { ramp_ns: 0, window_ns: u64::MAX, step_ns: 0 }, "`window_ns` has 1844674407"),
            (Request::SetMtu { interface: "a".into(), mtu: u32::MAX }, "`mtu` has 4294967295"),
            (Request::CreateTap { name: "a".into(), bridge: long }, "`name` has 16"),
        ];
        for (request, why) in refused {
            let error = request.check().unwrap_err().to_string();
            assert!(error.starts_with(why), "{error}");
        }
        Request::SteerNew { cpus: vec![8_191] }.check().unwrap();
    }
}
