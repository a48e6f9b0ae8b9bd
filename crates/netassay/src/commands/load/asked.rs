//! What the command line asks for, as the testbed and the engine take it.

use std::time::Duration;

use load::{Family, Kind, Traffic};
use study::{CongestionControl, Scenario, feature};
use testbed::{Options, RunOrder, Switches};

use crate::cli::{FamilyWord, Load, OffloadsWord, ScenarioWord, SwitchWord};
use crate::failure::Failure;

/// One workload, and where it runs.
#[derive(Debug, Clone)]
pub(super) struct Asked {
    pub(super) scenario: Scenario,
    pub(super) offloads: &'static str,
    pub(super) switches: Switches,
    pub(super) order: RunOrder,
    discard_device: Option<host::DiscardDevice>,
    /// Whether TCP's congestion control is for the testbed to choose.
    pub(super) chooses_congestion_control: bool,
}

impl Asked {
    /// Reads the command line.
    ///
    /// # Errors
    /// [`Failure::Usage`] naming the option that cannot be had, why, and the way out.
    pub(super) fn read(flags: &Load) -> Result<Self, Failure> {
        let scenario = scenario(flags)?;
        let traffic = traffic(flags);
        let ipv6 = flags.family == FamilyWord::Ipv6;
        traffic.validate(Family::of(ipv6)).map_err(|error| Failure::Usage(as_options(error)))?;
        if ipv6 && flags.mtu.is_some_and(|mtu| mtu < LEAST_IPV6_MTU) {
            return Err(Failure::Usage(format!(
                "--mtu: IPv6 needs at least {LEAST_IPV6_MTU} bytes (RFC 8200, section 5)"
            )));
        }
        if flags.discard_device.is_some() && scenario != Scenario::Discard {
            return Err(Failure::Usage(format!("--discard-device: nothing is thrown away on {scenario}")));
        }
        let offloads = match flags.offloads {
            OffloadsWord::Default => ("default", &[][..]),
            OffloadsWord::None => ("none", feature::OFFLOADS),
        };
        let off: std::collections::BTreeMap<String, bool> =
            offloads.1.iter().map(|name| ((*name).to_owned(), false)).collect();
        let window = flags.seconds;
        let step = flags.step.unwrap_or_else(|| RunOrder::step_of(window));
        Ok(Self {
            scenario,
            offloads: offloads.0,
            switches: Switches {
                mtu: flags.mtu,
                transmitter: off.clone(),
                receiver: off,
                ..Switches::default()
            },
            order: RunOrder {
                traffic,
                ipv6,
                ramp: flags.ramp,
                window,
                step: flags.interval.map_or(step, |interval| step.min(interval)),
            },
            discard_device: flags.discard_device,
            chooses_congestion_control: !flags.workload.is_udp()
                && flags.congestion_control == CongestionControl::Unpaced,
        })
    }

    /// How the testbed is built.
    pub(super) fn options(&self, rootless: bool) -> Options {
        let cpus = testbed::split(&testbed::usable());
        // The running binary itself, even if its file was replaced meanwhile.
        let plain = Options::new(self.scenario, "/proc/self/exe", cpus, rootless);
        Options { discard_device: self.discard_device, ..plain }
    }

    /// Datagrams that the kernel is to cut from one buffer must fit into packets of this MTU: it never fragments them.
    ///
    /// # Errors
    /// [`Failure::Usage`] if they do not.
    pub(super) fn check_segments(&self, mtu: u32) -> Result<(), Failure> {
        let traffic = &self.order.traffic;
        let (version, headers) = if self.order.ipv6 { ("IPv6", 40 + 8) } else { ("IPv4", 20 + 8) };
        let most = mtu.saturating_sub(headers);
        if traffic.sender.segments() && traffic.message > most {
            return Err(Failure::Usage(format!(
                "--message {}: cut from one buffer (--sender {}), a datagram over {version} carries at most {most} bytes at an MTU of {mtu}: take a smaller message, a larger --mtu, or --sender sendmmsg",
                traffic.message, traffic.sender
            )));
        }
        Ok(())
    }
}

/// The least MTU of a link that carries IPv6; the kernel turns IPv6 off below it.
const LEAST_IPV6_MTU: u32 = 1280;

fn scenario(flags: &Load) -> Result<Scenario, Failure> {
    let sends_to_nobody = flags.workload == Kind::Pps;
    match (flags.scenario, sends_to_nobody) {
        (None, true) | (Some(ScenarioWord::Discard), true) => Ok(Scenario::Discard),
        (None, false) | (Some(ScenarioWord::Veth), false) => Ok(Scenario::Veth),
        (Some(ScenarioWord::Loopback), false) => Ok(Scenario::Loopback),
        (Some(_), true) => Err(Failure::Usage(
            "--scenario: pps sends to nobody, which only discard has: leave --scenario out, or take udp_stream"
                .to_owned(),
        )),
        (Some(ScenarioWord::Discard), false) => Err(Failure::Usage(format!(
            "--scenario discard: nobody receives there, and {} needs a receiver: take pps, or --scenario veth",
            flags.workload
        ))),
    }
}

fn traffic(flags: &Load) -> Traffic {
    let plain = Traffic::new(flags.workload);
    let message = flags.message.unwrap_or(plain.message);
    let response = if flags.workload.is_rr() { message } else { 0 };
    Traffic {
        message,
        response: flags.response.unwrap_or(response),
        flows: flags.flows,
        threads: flags.threads,
        direction: flags.direction,
        sender: flags.sender,
        reader: flags.reader,
        in_flight: flags.in_flight,
        rate: flags.rate,
        pacing: flags.pacing,
        busy_poll: flags.busy_poll.map(|micros| Duration::from_micros(u64::from(micros))),
        congestion_control: flags.congestion_control.clone(),
        dscp: flags.dscp,
        nodelay: flags.nodelay.map(|switch| switch == SwitchWord::On),
        connected: !flags.unconnected,
        socket_buffer: flags.socket_buffer,
        checksum: !flags.no_checksum,
        port: flags.port,
        verify: flags.verify,
        ..plain
    }
}

/// The engine names keys; here they are options.
fn as_options(misfit: load::Misfit) -> String {
    format!("--{}: {}; {}", misfit.key.replace('_', "-"), misfit.why, misfit.help)
}
