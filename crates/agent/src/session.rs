//! The state of an agent between requests, and its answers.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::time::Duration;

use host::{Ethtool, Features, Impairment, Links};

use crate::exact::exact;
use crate::launch::Launch;
use crate::machine::MachineSettings;
use crate::message::{Answer, PROTOCOL, Request};
use crate::refusal::{Refusal, Reply, done};
use crate::traffic::Traffic;
use crate::watch::Watch;
use words::Settled;

/// One controller's conversation with this host.
pub(crate) struct Session {
    links: Links,
    ethtool: Ethtool,
    cpus: Vec<u32>,
    about: About,
    /// Interfaces as they were when they were set up: requests that are over return to this.
    originals: BTreeMap<String, Original>,
    /// The addresses of interfaces: the kernel removes those of IPv6 when the MTU is too small.
    given: BTreeMap<String, Given>,
    traffic: Option<Traffic>,
    machine: MachineSettings,
}

/// What an agent knows of itself before its first request.
pub(crate) struct About {
    /// The program's version.
    pub(crate) version: &'static str,
    /// The machine's settings, read outside of the namespace.
    pub(crate) machine: BTreeMap<String, String>,
    /// The CPUs that it could use, each with its core.
    pub(crate) usable: Vec<(u32, u32)>,
}

#[derive(Clone, Default)]
struct Given {
    addresses: Vec<(IpAddr, u8)>,
    behind: Vec<IpAddr>,
}

struct Original {
    features: Features,
    mtu: u32,
}

impl Session {
    pub(crate) fn open(launch: Launch, about: About) -> Result<Self, host::Error> {
        let machine = MachineSettings::new(&launch);
        let cpus = if launch.cpus.is_empty() { host::affinity::online_cpus() } else { launch.cpus };
        Ok(Self {
            links: Links::open()?,
            ethtool: Ethtool::open()?,
            cpus,
            about,
            originals: BTreeMap::new(),
            given: BTreeMap::new(),
            traffic: None,
            machine,
        })
    }

    pub(crate) fn answer(&mut self, request: Request) -> Reply {
        match request {
            Request::Hello { protocol } => self.hello(protocol),
            Request::CreateVeth { name, peer, peer_pid } => {
                done(self.links.create_veth(&name, &peer, peer_pid))
            }
            Request::CreateDiscard { name, device, addresses, behind } => {
                let discard = self.links.create_discard(&name, device)?;
                self.configure(&name, &addresses)?;
                for address in &behind {
                    self.links.add_neighbour_behind_discard(&name, *address)?;
                }
                self.given.entry(name).or_default().behind = behind;
                Ok(Answer::Discards(discard))
            }
            Request::CreateVxlan { name, vxlan, addresses, bridge } => {
                self.links.create_vxlan(&name, &vxlan)?;
                self.links.quiet_ipv6(&name)?;
                self.join(&name, bridge.as_deref())?;
                self.address(&name, &addresses)?;
                self.links.set_vxlan_up(&name, &vxlan)?;
                done(self.original(&name).map(drop))
            }
            Request::CreateBridge { name } => {
                self.links.create_bridge(&name)?;
                self.links.quiet_ipv6(&name)?;
                done(self.links.set_up(&name))
            }
            Request::CreateTap { name, bridge } => {
                host::create_tap(&name)?;
                self.links.quiet_ipv6(&name)?;
                self.join(&name, Some(&bridge))?;
                done(self.links.set_up(&name))
            }
            Request::Locate { interface, towards } => {
                Ok(Answer::Located(host::Located::find(interface.as_deref(), towards)?))
            }
            Request::FindInterface { address } => {
                let name = self.links.find_by_address(&address)?.name;
                Ok(Answer::Interface { name })
            }
            Request::Configure { interface, addresses } => self.configure(&interface, &addresses),
            Request::SetMtu { interface, mtu } => done(self.set_mtu(&interface, mtu)),
            Request::AwaitRunning { interface } => done(self.links.await_running(&interface)),
            Request::Steer { interface, cpus } => {
                done(host::steering::steer(&interface, &cpus).map_err(Refusal::passing))
            }
            Request::SteerNew { cpus } => done(host::steering::steer_new(&cpus).map_err(Refusal::passing)),
            Request::Settle { interface, mtu, features } => {
                self.settle(&interface, mtu, &features).map(Answer::Settled)
            }
            Request::Environment { interfaces } => self.environment(&interfaces),
            Request::Lacking { traffic, family } => {
                let mut what = load::lacking(&traffic, family);
                what.extend(self.links.lacking(&impairment_of(&traffic)));
                Ok(Answer::Told { what })
            }
            Request::Listen { spec, interface, underlay } => {
                self.traffic = None;
                self.links.impair(&interface, &impairment_of(&spec.traffic))?;
                let traffic = Traffic::listen(&mut self.links, &spec, interface, underlay)?;
                Ok(Answer::Sockets { addresses: self.traffic.insert(traffic).addresses() })
            }
            Request::Connect { spec, endpoints, interface, underlay } => {
                self.traffic = None;
                self.links.impair(&interface, &impairment_of(&spec.traffic))?;
                let traffic = Traffic::connect(&mut self.links, &spec, &endpoints, interface, underlay)?;
                Ok(Answer::Sockets { addresses: self.traffic.insert(traffic).addresses() })
            }
            Request::Attach { locals } => self.traffic()?.attach(&locals),
            Request::Start => self.traffic()?.start(),
            Request::Quiet => Ok(self.traffic()?.quiet()),
            Request::Measure { ramp_ns, window_ns, step_ns } => {
                let times = [ramp_ns, window_ns, step_ns].map(Duration::from_nanos);
                self.traffic.as_ref().ok_or(NO_TRAFFIC)?.measure(&mut self.links, &self.cpus, times)
            }
            Request::Watch { processes, cpus, underlay, ramp_ns, window_ns } => {
                let times = [ramp_ns, window_ns].map(Duration::from_nanos);
                let watched = Watch { processes, cpus, underlay };
                watched.over(&mut self.links, times)
            }
            Request::Exact { spec, receiver } => {
                self.traffic = None;
                exact(&mut self.links, &spec, receiver)
            }
            Request::Finish => {
                let traffic = self.traffic.take().ok_or(NO_TRAFFIC)?;
                traffic.finish(&mut self.links)
            }
            Request::Abandon => {
                self.traffic = None;
                Ok(Answer::Done)
            }
            Request::ChangeMachine(wanted) => self.machine.change(&wanted),
            Request::MachineDifferences => Ok(self.machine.differences()),
            Request::UndoMachine => self.machine.undo(),
        }
    }

    fn hello(&self, protocol: u32) -> Reply {
        if protocol != PROTOCOL {
            return Err(format!(
                "the controller speaks protocol {protocol}, this agent {PROTOCOL}: install the same netassay on both hosts"
            )
            .into());
        }
        Ok(Answer::Hello {
            protocol: PROTOCOL,
            version: self.about.version.to_owned(),
            pid: std::process::id(),
            cpus: self.about.usable.clone(),
        })
    }

    fn configure(&mut self, interface: &str, addresses: &[(IpAddr, u8)]) -> Reply {
        self.address(interface, addresses)?;
        self.links.set_up(interface)?;
        // Now, not at the first settling: until then others may have switched what it follows (a
        // tunnel's underlay, the far end of a veth pair).
        done(self.original(interface).map(drop))
    }

    fn address(&mut self, interface: &str, addresses: &[(IpAddr, u8)]) -> Result<(), host::Error> {
        for (address, prefix) in addresses {
            self.links.add_address(interface, *address, *prefix)?;
        }
        self.given.entry(interface.to_owned()).or_default().addresses.extend(addresses);
        Ok(())
    }

    fn set_mtu(&mut self, interface: &str, mtu: u32) -> Result<(), host::Error> {
        let before = self.links.find(interface)?.mtu;
        if before == mtu {
            return Ok(());
        }
        self.links.set_mtu(interface, mtu)?;
        // The kernel keeps path MTUs that it found under the old MTU for ten minutes.
        host::forget_path_mtus();
        if before < LEAST_IPV6_MTU && mtu >= LEAST_IPV6_MTU {
            let given = self.given.get(interface).cloned().unwrap_or_default();
            for (address, prefix) in given.addresses.iter().filter(|(address, _)| address.is_ipv6()) {
                self.links.add_address(interface, *address, *prefix)?;
            }
            for address in given.behind.iter().filter(|address| address.is_ipv6()) {
                self.links.add_neighbour_behind_discard(interface, *address)?;
            }
        }
        Ok(())
    }

    fn join(&mut self, interface: &str, bridge: Option<&str>) -> Result<(), host::Error> {
        bridge.map_or(Ok(()), |bridge| self.links.add_port(bridge, interface))
    }

    fn settle(
        &mut self,
        interface: &str,
        mtu: Option<u32>,
        asked: &BTreeMap<String, bool>,
    ) -> Result<Settled, Refusal> {
        let original = self.original(interface)?;
        let target_mtu = mtu.unwrap_or(original.mtu);
        let mut wanted: BTreeMap<String, bool> = original
            .features
            .iter()
            .filter(|(_, state)| state.changeable)
            .map(|(name, state)| (name.clone(), state.active))
            .collect();
        wanted.extend(asked.iter().map(|(name, on)| (name.clone(), *on)));
        let defaults = original.features.clone();

        let ran = self.links.find(interface)?.running;
        self.set_mtu(interface, target_mtu)?;
        let change = self.ethtool.set(interface, &wanted)?;
        // Some drivers (e1000e) restart their device, and drop packets until the link is back.
        if ran {
            self.links.await_running(interface)?;
        }
        let after = &change.after;
        // Only requests can be unmet: the rest of `wanted` returns to the defaults. An unknown
        // feature is off, so a request for "off" is met.
        let unfulfilled = |name: &String| {
            asked.get(name).is_some_and(|&on| after.get(name).is_some_and(|state| state.active) != on)
        };
        let refused = change
            .refused
            .iter()
            .filter(|(name, _)| unfulfilled(name))
            .map(|(name, reason)| (name.clone(), reason.to_string()))
            .collect();
        // Against the defaults, not the last condition: a condition's record must not depend on its
        // predecessor.
        let follow_on = after
            .iter()
            .filter(|(name, state)| {
                !asked.contains_key(*name)
                    && defaults.get(*name).is_some_and(|was| was.active != state.active)
            })
            .map(|(name, state)| (name.clone(), state.active))
            .collect();
        let active = after.iter().map(|(name, state)| (name.clone(), state.active)).collect();
        let mtu = self.links.find(interface)?.mtu;
        Ok(Settled { mtu, active, refused, follow_on })
    }

    fn original(&mut self, interface: &str) -> Result<&Original, Refusal> {
        if !self.originals.contains_key(interface) {
            let features = self.ethtool.features(interface)?;
            let mtu = self.links.find(interface)?.mtu;
            self.originals.insert(interface.to_owned(), Original { features, mtu });
        }
        Ok(&self.originals[interface])
    }

    fn environment(&self, interfaces: &[String]) -> Reply {
        let environment =
            host::Environment::read(interfaces, self.about.version).with_hidden(&self.about.machine);
        Ok(Answer::Environment(Box::new(environment)))
    }

    fn traffic(&mut self) -> Result<&mut Traffic, Refusal> {
        Ok(self.traffic.as_mut().ok_or(NO_TRAFFIC)?)
    }
}

/// The impairment of the path: each end applies it to what it sends.
fn impairment_of(traffic: &load::Traffic) -> Impairment {
    let loss = traffic.path_loss.map(words::Percent::value);
    Impairment::new(traffic.path_delay, loss, traffic.path_rate.map(words::Pacing::bits))
}

/// The least MTU of IPv6, in bytes (RFC 8200, section 5). Below it, Linux turns IPv6 off on the
/// interface.
const LEAST_IPV6_MTU: u32 = 1_280;

const NO_TRAFFIC: &str = "no workload is open: listen or connect first";
