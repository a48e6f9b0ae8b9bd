//! The state of an agent between requests, and its answers.

use std::collections::BTreeMap;
use std::fs::File;
use std::net::IpAddr;
use std::time::{Duration, Instant};

use host::{DeviceSettings, Features, Impairment, Links};

use crate::error::{Refusal, Reply, Tell, done};
use crate::exact::exact;
use crate::frame::Deadline;
use crate::interfaces::{Interfaces, ONE_QUEUE, check_one_queue};
use crate::launch::Launch;
use crate::message::{Answer, PROTOCOL, Request};
use crate::trace::{survey, trace};
use crate::turns::TurnSchedule;
use crate::watch::watch;
use crate::workload_side::{WorkloadSide, within};
use words::{DeviceSetting, Settled, Tuning};

pub(crate) struct AgentSession {
    // Declared first: at the end its threads end before any undo begins.
    pub(crate) traffic: Option<WorkloadSide>,
    probe: Option<load::PairProbe>,
    interfaces: Interfaces,
    // Declared behind `interfaces`: the next session gets the turn when the changes are undone.
    turn: Option<File>,
    cpus: Vec<u32>,
    version: &'static str,
    machine_sysctls: BTreeMap<String, String>,
    usable_cpus: Vec<(u32, u32)>,
    quotas: host::Quotas,
    originals: BTreeMap<String, Original>,
}

struct Original {
    features: Features,
    device: DeviceSettings,
    mtu: u32,
}

impl AgentSession {
    pub(crate) fn open(
        launch: Launch,
        version: &'static str,
        machine_sysctls: BTreeMap<String, String>,
        usable_cpus: Vec<(u32, u32)>,
        quotas: host::Quotas,
    ) -> Result<Self, host::Error> {
        Ok(Self {
            traffic: None,
            probe: None,
            turn: None,
            interfaces: Interfaces::open(&launch)?,
            cpus: if launch.cpus.is_empty() { host::affinity::online_cpus() } else { launch.cpus },
            version,
            machine_sysctls,
            usable_cpus,
            quotas,
            originals: BTreeMap::new(),
        })
    }

    pub(crate) fn answer(&mut self, request: Request, deadline: Deadline, tell: Tell<'_>) -> Reply {
        // A request is refused if its time is over. Waits and repeated work (a measurement, a
        // trace) are given up then; all other work ends by itself.
        deadline.allows(Instant::now())?;
        match request {
            Request::Hello { protocol } if protocol != PROTOCOL => Err(format!(
                "the controller speaks protocol {protocol}, this agent {PROTOCOL}: install the same netassay on both hosts"
            )
            .into()),
            Request::Hello { protocol } => {
                Ok(Answer::Hello { protocol, pid: std::process::id(), cpus: self.usable_cpus.clone() })
            }
            Request::TakeTurn { session } => self.take_turn(&session),
            Request::LeaveTurn => {
                self.interfaces.machine.leave();
                self.turn = None;
                Ok(Answer::Done)
            }
            Request::CreateVeth { name, peer, peer_pid } => {
                done(self.interfaces.make(&name, "veth", |links| links.create_veth(&name, &peer, peer_pid)))
            }
            Request::CreateDiscard { name, device, addresses, behind } => {
                let make = |links: &mut Links| links.create_discard(&name, device);
                let (device, lacking) = self.interfaces.make(&name, "dummy or bridge or veth", make)?;
                self.configure(&name, &addresses)?;
                self.interfaces.add_addresses_behind(&name, behind)?;
                Ok(Answer::Discards { device, lacking })
            }
            Request::CreateVxlan { name, vxlan, addresses, bridge } => {
                self.interfaces.make(&name, "vxlan", |links| links.create_vxlan(&name, &vxlan))?;
                self.interfaces.links.quiet_ipv6(&name)?;
                bridge.map_or(Ok(()), |bridge| self.interfaces.links.add_port(&bridge, &name))?;
                self.interfaces.add_addresses(&name, &addresses)?;
                self.interfaces.links.set_vxlan_up(&name, &vxlan)?;
                done(self.original(&name).map(drop))
            }
            Request::CreateBridge { name } => {
                self.interfaces.make(&name, "bridge", |links| links.create_bridge(&name))?;
                self.interfaces.links.quiet_ipv6(&name)?;
                done(self.interfaces.links.set_up(&name))
            }
            Request::CreateTap { name, bridge } => {
                self.interfaces.make(&name, "tun", |_| host::create_tap(&name))?;
                self.interfaces.links.quiet_ipv6(&name)?;
                self.interfaces.links.add_port(&bridge, &name)?;
                done(self.interfaces.links.set_up(&name))
            }
            Request::AddPort { bridge, interface } => done(self.interfaces.add_port(&bridge, &interface)),
            Request::Locate { interface, beside, towards, connection } => {
                let located =
                    host::LocatedInterface::find(interface.as_deref(), &beside, towards, connection)?;
                Ok(Answer::Located(located))
            }
            Request::PairFacts { interface, addresses } => {
                Ok(Answer::PairFacts(Box::new(host::PairFacts::read(&interface, &addresses)?)))
            }
            Request::OpenProbe { interface, local, ports, listens } => {
                // An earlier probe may hold the port.
                self.probe = None;
                let (probe, addresses) = load::PairProbe::open(local, &interface, ports, listens)?;
                self.probe = Some(probe);
                Ok(Answer::Sockets(addresses))
            }
            Request::ExchangeProbes { to, full, within_ms } => {
                let probe = self.probe.as_mut().ok_or(NO_PROBE)?;
                Ok(Answer::Arrived(probe.exchange(to, full, Duration::from_millis(within_ms.into()))))
            }
            Request::FindInterface { address } => {
                Ok(Answer::Interface(self.interfaces.links.find_by_address(&address)?.name))
            }
            Request::Configure { interface, addresses } => self.configure(&interface, &addresses),
            Request::SetMtu { interface, mtu } => done(self.interfaces.set_mtu(&interface, mtu)),
            Request::AwaitRunning { interface } => done(self.interfaces.links.await_running(&interface)),
            Request::Steer { interface, cpus } => done(self.interfaces.steer(&interface, &cpus)),
            Request::SteerNew { cpus } => done(self.interfaces.steer_new(&cpus)),
            Request::Settle { interface, mtu, features, device, tuning } => {
                self.settle(&interface, mtu, &features, &device, tuning.as_ref()).map(Answer::Settled)
            }
            Request::Environment { interfaces } => {
                let environment = host::HostEnvironment::read(&interfaces, self.version);
                Ok(Answer::Environment(Box::new(environment.with_hidden(&self.machine_sysctls))))
            }
            Request::Lacking { traffic, family } => {
                let mut what = load::lacking(&traffic, family);
                what.extend(self.interfaces.links.lacking(&impairment_of(&traffic)));
                Ok(Answer::Told(what))
            }
            Request::Open { spec, endpoints, interface, underlay } => {
                (self.traffic, self.probe) = (None, None);
                self.interfaces.impair(&interface, &impairment_of(&spec.traffic))?;
                let (links, place) = (&mut self.interfaces.links, (interface, underlay));
                let traffic = WorkloadSide::open(links, &spec, endpoints.as_deref(), place, &self.quotas)?;
                let addresses = traffic.endpoint.addresses().to_vec();
                self.traffic = Some(traffic);
                Ok(Answer::Sockets(addresses))
            }
            Request::Attach { locals } => done(self.traffic()?.endpoint.attach(&locals)),
            Request::Start => done(self.traffic()?.endpoint.start()),
            Request::Stay { for_ms } => {
                let traffic = self.traffic()?;
                traffic.closes = within(Duration::from_millis(for_ms.into()), traffic.flows);
                Ok(Answer::Done)
            }
            Request::Quiet => done(self.traffic().map(|traffic| traffic.endpoint.quiet())),
            Request::Measure { ramp_ns, window_ns, step_ns } => {
                let times = [ramp_ns, window_ns, step_ns].map(Duration::from_nanos);
                let traffic = self.traffic.as_mut().ok_or(NO_TRAFFIC)?;
                let measured = traffic.measure(&mut self.interfaces.links, &self.cpus, times, deadline);
                traffic.note_window_end();
                measured
            }
            Request::Alternate { ramp_ns, turn_ns, settle_ns, states, turns } => {
                let [ramp, turn, settle] = [ramp_ns, turn_ns, settle_ns].map(Duration::from_nanos);
                let traffic = self.traffic.as_mut().ok_or(NO_TRAFFIC)?;
                let (interfaces, cpus, tuned) = (&mut self.interfaces, &*self.cpus, BTreeMap::new());
                let schedule =
                    TurnSchedule { ramp, turn, settle, states, turns, traffic, interfaces, cpus, tuned };
                schedule.follow(deadline)
            }
            Request::Watch { processes, cpus, underlay, ramp_ns, window_ns } => {
                let times = [ramp_ns, window_ns].map(Duration::from_nanos);
                let links = &mut self.interfaces.links;
                watch(links, (&processes, &cpus), underlay.as_deref(), &self.quotas, times, deadline)
            }
            Request::Exact { .. } if self.interfaces.machine.is_allowed() => Err(NO_EXACT.into()),
            Request::Exact { spec, receiver } => {
                self.traffic = None;
                exact(&mut self.interfaces.links, &spec, &receiver)
            }
            Request::Trace { spec, receiver, wanted } => {
                let connected = self.traffic.take();
                trace(&mut self.interfaces.links, &spec, (receiver, connected), &wanted, tell)
            }
            Request::Survey { paths, functions } => survey(&paths, functions),
            Request::Finish => {
                let traffic = self.traffic.take().ok_or(NO_TRAFFIC)?;
                traffic.finish(&mut self.interfaces.links)
            }
            Request::Abandon => {
                self.traffic = None;
                Ok(Answer::Done)
            }
            Request::ChangeMachine(wanted) => {
                let changed = self.interfaces.change_machine(&wanted)?;
                // Requests return to the values that were set here.
                let known: Vec<String> = std::mem::take(&mut self.originals).into_keys().collect();
                known.iter().try_for_each(|interface| self.original(interface).map(drop))?;
                Ok(changed)
            }
            Request::PreviewMachine(wanted) => self.interfaces.preview_machine(&wanted),
            Request::Apply { interface, mtu, features } => {
                self.interfaces.machine.allow_changing_applied()?;
                self.settle(&interface, mtu, &features, &BTreeMap::new(), None).map(Answer::Settled)
            }
            Request::Keep { why } => self.interfaces.machine.keep(&why),
            Request::MachineDifferences => Ok(self.interfaces.machine.differences()),
            Request::UndoMachine => {
                self.traffic = None;
                self.originals.clear();
                self.interfaces.undo()
            }
        }
    }

    fn take_turn(&mut self, session: &str) -> Reply {
        // A second lock of the same file would find the first one in its way.
        if self.turn.is_none() {
            match host::take_lock_of_root(session) {
                Ok(turn) => self.turn = turn,
                Err(holder) => return Ok(Answer::Turn(Some(holder.0))),
            }
        }
        // Network namespaces of one machine have a turn each, and one undo journal.
        let claimed = if self.turn.is_some() { self.interfaces.machine.claim() } else { Ok(()) };
        Ok(Answer::Turn(claimed.err().map(|holder| holder.0)))
    }

    fn configure(&mut self, interface: &str, addresses: &[(IpAddr, u8)]) -> Reply {
        self.interfaces.add_addresses(interface, addresses)?;
        self.interfaces.set_up(interface)?;
        // Read now: before the first settling, other agents may switch settings that this one
        // follows.
        done(self.original(interface).map(drop))
    }

    fn settle(
        &mut self,
        interface: &str,
        mtu: Option<u32>,
        asked: &BTreeMap<String, bool>,
        asked_of_device: &BTreeMap<DeviceSetting, u32>,
        tuning: Option<&Tuning>,
    ) -> Result<Settled, Refusal> {
        let switchable = self.interfaces.switchable(interface)?;
        asked.keys().try_for_each(|name| switchable(name))?;
        let original = self.original(interface)?;
        let target_mtu = mtu.unwrap_or(original.mtu);
        let defaults = original.features.clone();
        let mut wanted: BTreeMap<String, bool> = defaults
            .iter()
            .filter(|(name, state)| state.changeable && switchable(name).is_ok())
            .map(|(name, state)| (name.clone(), state.active))
            .collect();
        wanted.extend(asked.clone());
        let mut device = now_of(&original.device);
        if let Some(absent) = asked_of_device.keys().find(|setting| !device.contains_key(setting)) {
            // No run of the study can be valid.
            return Err(no_setting(interface, *absent, &original.device).into());
        }
        device.extend(asked_of_device);
        let is_placed = tuning.is_some_and(|tuning| tuning.placement.is_some());
        if is_placed && device.contains_key(&DeviceSetting::Queues) {
            device.extend(ONE_QUEUE);
        }
        if let Some(tuning) = tuning {
            self.interfaces.machine.remember(tuning, interface);
        }
        let ran = self.interfaces.links.find(interface)?.running;
        self.interfaces.set_mtu(interface, target_mtu)?;
        let device = self.interfaces.set_device(interface, &device)?;
        if is_placed {
            check_one_queue(interface, &device)?;
        }
        let change = self.interfaces.switch(interface, &wanted)?;
        let tuning = tuning.map(|tuning| self.interfaces.tune(interface, tuning)).transpose()?;
        self.interfaces.machine.place_again()?;
        // Some drivers (e1000e) restart their device, and drop packets until the link is back.
        if ran {
            self.interfaces.links.await_running(interface)?;
        }
        let states = change.after.iter().map(|(name, state)| (name.clone(), state.active));
        let active: BTreeMap<String, bool> = states.collect();
        // The rest of `wanted` returns to the defaults. An unknown feature is off.
        let is_on = |name: &String| active.get(name).copied().unwrap_or(false);
        let unfulfilled = |name: &String| asked.get(name).is_some_and(|on| is_on(name) != *on);
        let of_features = change.refused.iter().filter(|(name, _)| unfulfilled(name));
        let of_features = of_features.map(|(name, reason)| (name.clone(), reason.to_string()));
        let of_device = device.refused.iter().filter(|(setting, _)| asked_of_device.contains_key(setting));
        let of_device = of_device.map(|(setting, why)| (setting.to_string(), why.clone()));
        let refused = of_features.chain(of_device).collect();
        // A condition's record must not depend on the condition before.
        let mut follow_on = active.clone();
        follow_on.retain(|name, on| {
            !asked.contains_key(name) && defaults.get(name).is_some_and(|was| was.active != *on)
        });
        let mtu = self.interfaces.links.find(interface)?.mtu;
        // Read again: a switch of a feature may change them too.
        let device = now_of(&self.interfaces.ethtool.device(interface)?);
        Ok(Settled { mtu, active, refused, follow_on, device, tuning: tuning.unwrap_or_default() })
    }

    fn original(&mut self, interface: &str) -> Result<&Original, Refusal> {
        if !self.originals.contains_key(interface) {
            let features = self.interfaces.ethtool.features(interface)?;
            let mtu = self.interfaces.links.find(interface)?.mtu;
            let device = self.interfaces.ethtool.device(interface)?;
            self.originals.insert(interface.to_owned(), Original { features, device, mtu });
        }
        Ok(&self.originals[interface])
    }

    fn traffic(&mut self) -> Result<&mut WorkloadSide, Refusal> {
        Ok(self.traffic.as_mut().ok_or(NO_TRAFFIC)?)
    }
}

fn now_of(device: &DeviceSettings) -> BTreeMap<DeviceSetting, u32> {
    device.iter().map(|(setting, value)| (*setting, value.now)).collect()
}

fn no_setting(interface: &str, absent: DeviceSetting, present: &DeviceSettings) -> String {
    let present: Vec<&str> = present.keys().map(|setting| setting.word()).collect();
    let has =
        if present.is_empty() { "none of the settings of a device".to_owned() } else { present.join(", ") };
    format!(
        "interface {interface:?} has no `{absent}`: its driver, in this kernel, has {has}; remove this factor, or name another interface"
    )
}

fn impairment_of(traffic: &load::Traffic) -> Impairment {
    // Each end applies it to what it sends.
    let loss = traffic.path_loss.map(words::Percent::value);
    Impairment::new(traffic.path_delay, loss, traffic.path_rate.map(words::Pacing::bits))
}

const NO_EXACT: &str = "exact mode makes entries of the kernel's tables permanent, so it runs in a guest, and not on a machine that must be as before";

const NO_PROBE: &str = "no sockets are open by which the path could be tried";

const NO_TRAFFIC: &str = "no workload is open: listen or connect first (one is closed 10 s after its window if nothing asks for its account)";
