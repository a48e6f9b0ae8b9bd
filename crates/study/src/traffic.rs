//! How the traffic of a workload is sent and taken, beside its kind and its sizes.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::congestion_control::CongestionControl;
use crate::duration;
use crate::mode::{Direction, Reader, Sender};
use crate::pacing::Pacing;
use crate::setting::Setting;

/// How the traffic is sent and taken. The default is the plainest: one message at a time, as fast as it goes, all
/// else as the kernel has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Traffic {
    /// How the sending program hands data over.
    pub sender: Sender,
    /// How the receiving program takes them.
    pub reader: Reader,
    /// The threads that the flows of either side are shared out to; `None`: chosen by the program.
    pub threads: Option<u32>,
    /// Which way a stream flows.
    pub direction: Direction,
    /// Transactions in flight per flow (`tcp_rr`, `udp_rr`).
    pub in_flight: u32,
    /// Requests per second over all flows, each at its intended time whatever has been answered; `None`: the next
    /// request follows an answer.
    pub rate: Option<u32>,
    /// The pace of each flow (streams, `pps`); `None`: as fast as it goes.
    pub pacing: Option<Pacing>,
    /// How long a receive polls the device's queue instead of sleeping, in whole microseconds; `None`: not at all.
    #[serde(with = "duration::maybe_text")]
    pub busy_poll: Option<Duration>,
    /// TCP's congestion control.
    pub congestion_control: CongestionControl,
    /// The differentiated services code point, 0 to 63 (RFC 2474); `None`: the kernel's, which is 0.
    pub dscp: Option<u8>,
    /// Whether TCP sends small segments at once (`TCP_NODELAY`); `None`: where requests are answered.
    pub nodelay: Option<bool>,
    /// Whether the sending UDP sockets are connected.
    pub connected: bool,
    /// Whether every byte and every sequence number is checked where it arrives.
    pub verify: bool,
}

impl Default for Traffic {
    fn default() -> Self {
        Self {
            sender: Sender::Send,
            reader: Reader::Recv,
            threads: None,
            direction: Direction::Forward,
            in_flight: 1,
            rate: None,
            pacing: None,
            busy_poll: None,
            congestion_control: CongestionControl::Unpaced,
            dscp: None,
            nodelay: None,
            connected: true,
            verify: false,
        }
    }
}

impl Traffic {
    /// Sets one parameter.
    pub(crate) fn set(&mut self, setting: &Setting) {
        match setting {
            Setting::Sender(sender) => self.sender = *sender,
            Setting::Reader(reader) => self.reader = *reader,
            Setting::Threads(threads) => self.threads = *threads,
            Setting::Direction(direction) => self.direction = *direction,
            Setting::InFlight(count) => self.in_flight = *count,
            Setting::Rate(rate) => self.rate = *rate,
            Setting::Pacing(pacing) => self.pacing = *pacing,
            Setting::BusyPoll(time) => self.busy_poll = *time,
            Setting::CongestionControl(one) => self.congestion_control.clone_from(one),
            Setting::Dscp(dscp) => self.dscp = *dscp,
            Setting::Nodelay(on) => self.nodelay = *on,
            Setting::Connected(on) => self.connected = *on,
            Setting::Verify(on) => self.verify = *on,
        }
    }

    /// Every parameter with its value.
    pub(crate) fn settings(&self) -> [Setting; 13] {
        [
            Setting::Sender(self.sender),
            Setting::Reader(self.reader),
            Setting::Threads(self.threads),
            Setting::Direction(self.direction),
            Setting::InFlight(self.in_flight),
            Setting::Rate(self.rate),
            Setting::Pacing(self.pacing),
            Setting::BusyPoll(self.busy_poll),
            Setting::CongestionControl(self.congestion_control.clone()),
            Setting::Dscp(self.dscp),
            Setting::Nodelay(self.nodelay),
            Setting::Connected(self.connected),
            Setting::Verify(self.verify),
        ]
    }

    /// The parameters that are not as they are by default.
    pub(crate) fn changed(&self) -> impl Iterator<Item = Setting> {
        let plain = Self::default().settings();
        self.settings().into_iter().filter(move |setting| !plain.contains(setting))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Not the default in any parameter.
    fn unusual() -> Traffic {
        Traffic {
            sender: Sender::Gso,
            reader: Reader::Gro,
            threads: Some(2),
            direction: Direction::Both,
            in_flight: 4,
            rate: Some(10),
            pacing: Pacing::parse("1.5Mbit").ok(),
            busy_poll: Some(Duration::from_micros(50)),
            congestion_control: CongestionControl::Named("bbr".into()),
            dscp: Some(46),
            nodelay: Some(false),
            connected: false,
            verify: true,
        }
    }

    #[test]
    fn what_is_set_is_what_was_taken() {
        assert_eq!(Traffic::default().changed().count(), 0);
        let unusual = unusual();
        assert_eq!(unusual.changed().count(), unusual.settings().len());
        let mut traffic = Traffic::default();
        unusual.changed().for_each(|setting| traffic.set(&setting));
        assert_eq!(traffic, unusual);
    }

    #[test]
    fn it_survives_being_stored_and_reads_what_was_stored_before_it_was_there() {
        let json = serde_json::to_string(&unusual()).unwrap();
        assert!(json.contains("\"1500kbit\"") && json.contains("\"50us\""), "{json}");
        assert_eq!(serde_json::from_str::<Traffic>(&json).unwrap(), unusual());
        assert_eq!(serde_json::from_str::<Traffic>("{}").unwrap(), Traffic::default());
    }
}
