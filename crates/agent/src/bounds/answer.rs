//! The bounds of answers.

use std::collections::BTreeMap;

use host::journal::{Change, Difference, PresentValue};
use host::machine::Value;
use record::{Finished, Measured, Watched};
use trace::{ProbePoints, Round};
use words::{Accelerated, MOST_IN_TURNS, MOST_TURNS, Settled};

use super::{
    CPUS, Checked, FEATURES, FEW, FLOWS, SOCKETS, TEXT, THREADS, addresses, any_names, at_most, cpus,
    features, name, names, texts,
};
use crate::frame::Bounded;
use crate::message::{Answer, Booted, Undone};
use crate::series;

impl Bounded for Answer {
    fn check(&self) -> Checked {
        match self {
            // A reason is cut where it is shown.
            Self::Done | Self::Failed { .. } | Self::NoJournal { .. } => Ok(()),
            Self::Hello { protocol: _, version, pid: _, cpus: usable } => {
                at_most("version", version.len(), TEXT)?;
                at_most("cpus", usable.len(), CPUS)
            }
            Self::Discards(discard) => {
                at_most("lacking", discard.lacking.len(), FEW)?;
                texts("lacking", discard.lacking.iter())
            }
            Self::Settled(state) => settled(state),
            Self::Environment(about) => environment(about),
            Self::Told { what } => {
                // At most one for each CPU.
                at_most("what", what.len(), CPUS)?;
                texts("what", what.iter())
            }
            Self::MachineChanged { changes } => {
                at_most("changes", changes.len(), CPUS)?;
                let values = changes.iter().flat_map(|one| [Some(&one.before), one.after.as_ref()]);
                settings(values.flatten())?;
                texts("changes", changes.iter().map(Change::to_string).collect::<Vec<_>>().iter())
            }
            Self::MachineDiffers { differences } => {
                at_most("differences", differences.len(), CPUS)?;
                let now = |one: &Difference| {
                    if let PresentValue::Reads(now) = &one.now { Some(now.clone()) } else { None }
                };
                settings(differences.iter().map(|one| &one.after))?;
                settings(differences.iter().filter_map(now).collect::<Vec<_>>().iter())?;
                texts("differences", differences.iter().map(Difference::to_string).collect::<Vec<_>>().iter())
            }
            Self::MachineUndone { changes } => {
                at_most("changes", changes.len(), CPUS)?;
                texts("changes", changes.iter().map(Undone::sentence))
            }
            Self::Sockets { addresses } => at_most("addresses", addresses.len(), SOCKETS),
            Self::Measured(measured) => window(measured),
            Self::Alternated { states } => {
                at_most("states", states.len(), MOST_IN_TURNS)?;
                states.iter().try_for_each(|state| {
                    at_most("turns", state.turns.len(), MOST_TURNS)?;
                    window(&state.sum)
                })
            }
            Self::NotInTurns { why } => texts("why", [why].into_iter()),
            Self::Located(located) => {
                name("interface", &located.interface)?;
                addresses(&located.addresses)?;
                at_most("taken", located.taken.len(), host::NUMBERS)?;
                cpus(&located.near)
            }
            Self::PairFacts(facts) => pair_facts(facts),
            Self::Arrived(load::Arrived { packets: _, unsent: _ }) => Ok(()),
            Self::Interface { name: one } => name("name", one),
            Self::Watched(watched) => guests(watched),
            Self::Exact(account) => {
                at_most("applied", account.applied.len(), FEW)?;
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
        .try_for_each(|count| at_most("facts", count, FEW))
}

fn booted(guest: &Booted) -> Checked {
    let Booted { process: _, acceleration, stays_root, boot_ms: _, failed_first } = guest;
    let why = match acceleration {
        Accelerated::Kvm => None,
        Accelerated::Emulation { why } => Some(why),
    };
    texts("guest", [why, stays_root.as_ref(), failed_first.as_ref()].into_iter().flatten())
}

fn surveyed(survey: &trace::Survey) -> Checked {
    at_most("ladder", survey.ladder.0.len(), FEW)?;
    texts("ladder", survey.ladder.0.iter().map(|step| &step.reason))?;
    at_most("paths", survey.paths.len(), FEW)?;
    for stages in &survey.paths {
        at_most("stages", stages.len(), trace::POINTS)?;
        for stage in stages {
            texts("stages", [&stage.label].into_iter())?;
            for found in [&stage.ipv4, &stage.ipv6] {
                match found {
                    ProbePoints::Missing(reason) => texts("stages.missing", [reason].into_iter())?,
                    ProbePoints::Points(points) => {
                        at_most("stages.points", points.len(), FEATURES)?;
                        texts("stages.points", points.iter().map(|point| &point.name))?;
                    }
                }
            }
        }
    }
    Ok(())
}

fn traced(account: &trace::TraceAccount) -> Checked {
    at_most("stages", account.stages.len(), trace::POINTS)?;
    for stage in &account.stages {
        texts("stages", [&stage.label].into_iter().chain(stage.seen.as_ref().err()))?;
        texts("stages.seen", stage.seen.iter().map(|seen| &seen.name))?;
    }
    at_most("untraced", account.untraced.len(), words::MOST_ROUNDS)?;
    at_most("one_more", account.one_more.len(), FEW)?;
    let more = account.one_more.iter().map(|(_, rounds)| rounds);
    for rounds in [&account.ends, &account.all].into_iter().chain(more) {
        at_most("rounds", rounds.len(), words::MOST_ROUNDS)?;
        for Round { batch_ns: _, reading, between } in rounds {
            at_most("between", between.len(), trace::POINTS)?;
            at_most("hits", reading.hits.len(), trace::POINTS)?;
            at_most("ways", reading.ways.len(), trace::POINTS)?;
            for way in &reading.ways {
                at_most("segments", way.segments.len(), trace::POINTS)?;
                for segment in way.segments.iter().chain([&way.whole]) {
                    at_most("buckets", segment.buckets.len(), trace::BUCKETS)?;
                }
            }
        }
    }
    if let Some(sampled) = &account.sampled {
        at_most("packets", sampled.packets.len(), trace::MOST_SAMPLES)?;
        for packet in &sampled.packets {
            at_most("stamps", packet.stamps.len(), trace::POINTS)?;
        }
    }
    account.profile.as_ref().map_or(Ok(()), profile)
}

fn profile(profile: &host::perf::Profile) -> Checked {
    at_most("functions", profile.functions.len(), host::perf::MOST_FUNCTIONS)?;
    texts("functions", profile.functions.iter().map(|own| &own.name))?;
    at_most("profile.stacks", profile.stacks.len(), host::perf::MOST_STACKS)?;
    let frames =
        |stack: &host::perf::SampledStack| at_most("frames", stack.frames.len(), host::perf::MOST_FRAMES + 1);
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
    at_most("cpu_each", measured.cpu_each.len(), measured.cpus.len())?;
    at_most("threads", measured.threads.len(), THREADS)?;
    at_most("load.flows", measured.load.flows.len(), FLOWS)?;
    at_most("link.from", measured.link.from.len(), TEXT)?;
    measured.device.iter().try_for_each(|device| {
        name("device.interface", &device.interface)?;
        at_most("device.changed", device.changed.len(), host::DeviceCounters::MOST)?;
        texts("device.changed", device.changed.keys())
    })?;
    measured.power.iter().try_for_each(|power| {
        at_most("power", power.idle_us.len().max(power.millicelsius.len()), host::Power::MOST)?;
        texts("power", power.idle_us.keys().chain(power.millicelsius.keys()))
    })?;
    let rows = measured.series.at_ns.len();
    at_most("series.at_ns", rows, series::MOST + 1)?;
    measured
        .series
        .columns()
        .into_iter()
        .try_for_each(|column| at_most(column.name, column.values.len(), rows))
}

fn guests(watched: &Watched) -> Checked {
    at_most("guests", watched.guests.len(), FEW)?;
    watched.guests.iter().try_for_each(|guest| at_most("vcpu_each", guest.vcpu_each.len(), CPUS))?;
    at_most("cpu_each", watched.cpu_each.len(), CPUS)?;
    at_most("interrupts_each", watched.interrupts_each.len(), CPUS)
}

fn outcome(finished: &Finished) -> Checked {
    let outcome = &finished.outcome;
    at_most("flows", outcome.flows.len(), FLOWS)?;
    at_most("threads", outcome.threads.len(), THREADS)?;
    at_most("applied", outcome.applied.len(), SOCKETS)?;
    at_most("notes", outcome.notes.len(), FEW)?;
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
    at_most("governors", cpu.governors.len(), FEW)?;
    texts("governors", cpu.governors.iter())?;
    at_most("idle_states", cpu.idle_states.len(), FEW)?;
    texts("idle_states", cpu.idle_states.iter().map(|state| &state.name))?;
    pairs("vulnerabilities", &cpu.vulnerabilities, FEATURES)?;
    texts("machine", [&machine.vendor, &machine.product].into_iter().flatten())?;
    pairs("sysctls", sysctls, FEATURES)?;
    at_most("interfaces", interfaces.len(), FEW)?;
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

// The longest value of a setting that the kernel gives: a list of ports, 190 KB.
const SETTING: usize = 200_000;

fn settings<'a>(mut values: impl Iterator<Item = &'a Value>) -> Checked {
    values.try_for_each(|one| at_most("value", one.bytes().len(), SETTING))
}

fn pairs(what: &'static str, pairs: &BTreeMap<String, String>, count: impl TryInto<u64>) -> Checked {
    at_most(what, pairs.len(), count)?;
    texts(what, pairs.keys().chain(pairs.values()))
}
