//! The bounds of requests.

use std::collections::BTreeMap;

use host::machine::MachineRequest;
use words::{MOST_IN_TURNS, MOST_TURNS, Tuning};

use super::{
    Checked, FEATURES, FEW, MOST_SAMPLED, MTU, PROBE_MS, SOCKETS, TEXT, TIME, VALUE, VXLAN_ID, addresses,
    any_names, at_most, cpus, features, name, name_of_congestion_control, names, spec, texts, times,
};
use crate::frame::Bounded;
use crate::message::{ExactReceiver, Request};

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
                at_most("behind", behind.len(), FEW)?;
                addresses(given)
            }
            Self::CreateVxlan { name: one, vxlan, addresses: given, bridge } => {
                names("name", [one, &vxlan.underlay].into_iter().chain(bridge))?;
                at_most("id", vxlan.id, VXLAN_ID)?;
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
                at_most("addresses", addresses.len(), FEW)
            }
            Self::OpenProbe { interface, local: _, ports: _, listens: _ } => name("interface", interface),
            Self::ExchangeProbes { to: _, full, within_ms } => {
                full.iter().try_for_each(|bytes| at_most("full", *bytes, MTU))?;
                at_most("within_ms", *within_ms, PROBE_MS)
            }
            Self::FindInterface { address } => at_most("address", address.len(), TEXT),
            Self::Configure { interface, addresses: given } => {
                name("interface", interface)?;
                addresses(given)
            }
            Self::SetMtu { interface, mtu } => {
                name("interface", interface)?;
                at_most("mtu", *mtu, MTU)
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
                at_most("mtu", mtu.unwrap_or(0), MTU)?;
                tuning.as_ref().map_or(Ok(()), tuned)?;
                features("features", wanted)
            }
            Self::Apply { interface, mtu, features: wanted } => {
                name("interface", interface)?;
                at_most("mtu", mtu.unwrap_or(0), MTU)?;
                features("features", wanted)
            }
            Self::Environment { interfaces } => {
                at_most("interfaces", interfaces.len(), FEW)?;
                any_names("interfaces", interfaces.iter())
            }
            Self::Lacking { traffic, family: _ } => name_of_congestion_control(traffic),
            Self::Listen { spec: own, interface, underlay } => {
                names("interface", [interface].into_iter().chain(underlay))?;
                spec(own)
            }
            Self::Connect { spec: own, endpoints, interface, underlay } => {
                names("interface", [interface].into_iter().chain(underlay))?;
                at_most("endpoints", endpoints.len(), SOCKETS)?;
                spec(own)
            }
            Self::Attach { locals } => at_most("locals", locals.len(), SOCKETS),
            Self::Measure { ramp_ns, window_ns, step_ns: _ } => {
                times([("ramp_ns", *ramp_ns), ("window_ns", *window_ns)])
            }
            Self::Alternate { ramp_ns, turn_ns, settle_ns, states, turns } => {
                times([("ramp_ns", *ramp_ns), ("turn_ns", *turn_ns)])?;
                at_most("settle_ns", *settle_ns, *turn_ns / 2)?;
                at_most("states", states.len(), MOST_IN_TURNS)?;
                states.iter().try_for_each(|state| {
                    features("features", &state.features)?;
                    state.tuning.as_ref().map_or(Ok(()), tuned)?;
                    name_of_congestion_control(&state.traffic)
                })?;
                at_most("turns", turns.len(), MOST_TURNS)?;
                let last = states.len().saturating_sub(1);
                turns.iter().try_for_each(|turn| at_most("state", turn.state, last))
            }
            Self::Watch { processes, cpus: watched, underlay, ramp_ns, window_ns } => {
                at_most("processes", processes.len(), FEW)?;
                cpus(watched)?;
                names("underlay", underlay.iter())?;
                times([("ramp_ns", *ramp_ns), ("window_ns", *window_ns)])
            }
            Self::Stay { for_ms } => at_most("for_ms", *for_ms, TIME.as_millis()),
            Self::Exact { spec: own, receiver: there } => {
                spec(own)?;
                receiver(there)
            }
            Self::Trace { spec: own, receiver: there, wanted } => {
                spec(own)?;
                receiver(there)?;
                at_most("path", wanted.path.len(), trace::MOST_BYTES)?;
                at_most("batch", wanted.batch, words::MOST_MESSAGES)?;
                at_most("rounds", wanted.rounds, words::MOST_ROUNDS)?;
                at_most("profile", wanted.profile, MOST_SAMPLED)
            }
            Self::Survey { paths, functions: _ } => {
                at_most("paths", paths.len(), FEW)?;
                paths.iter().try_for_each(|path| at_most("paths", path.len(), trace::MOST_BYTES))
            }
            Self::ChangeMachine(wanted) | Self::PreviewMachine(wanted) => machine(wanted),
            Self::Keep { why } => at_most("why", why.len(), TEXT),
        }
    }
}

fn tuned(tuning: &Tuning) -> Checked {
    sysctls(&tuning.sysctl)?;
    texts("governor", tuning.governor.iter())?;
    tuning.irq_affinity.as_deref().map_or(Ok(()), cpus)
}

fn sysctls(by_name: &BTreeMap<String, String>) -> Checked {
    at_most("sysctls", by_name.len(), FEATURES)?;
    texts("sysctls", by_name.keys())?;
    by_name.values().try_for_each(|value| at_most("sysctls", value.len(), VALUE))
}

fn machine(wanted: &MachineRequest) -> Checked {
    let MachineRequest { sysctls: by_name, governor, cpu_latency: _, placement, irq_affinity, features } =
        wanted;
    sysctls(by_name)?;
    texts("governor", governor.iter())?;
    placement.iter().try_for_each(|placed| name("placement", &placed.interface))?;
    at_most("irq_affinity", irq_affinity.len(), FEW)?;
    any_names("irq_affinity", irq_affinity.keys())?;
    irq_affinity.values().try_for_each(|wanted| cpus(wanted))?;
    at_most("features", features.len(), FEATURES)?;
    features.iter().try_for_each(|wanted| {
        any_names("interface", [&wanted.interface].into_iter())?;
        at_most("features", wanted.features.len(), FEATURES)?;
        texts("features", wanted.features.iter())
    })
}

fn receiver(receiver: &ExactReceiver) -> Checked {
    match receiver {
        ExactReceiver::In { process: _, spec: other } => spec(other),
        ExactReceiver::Nobody(_) | ExactReceiver::Apart => Ok(()),
    }
}
