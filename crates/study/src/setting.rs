//! One parameter of the traffic with its value, and which kinds of traffic can have it.

use std::time::Duration;

use crate::congestion_control::CongestionControl;
use crate::duration::format_duration;
use crate::mode::{Direction, Reader, Sender};
use crate::pacing::Pacing;
use crate::suggest;
use crate::word::{Word, display_as_word};
use crate::workload::WorkloadKind;

/// A parameter of the traffic. All but `verify`, which is a precaution and no question, can be factors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Parameter {
    Sender,
    Reader,
    Threads,
    Direction,
    InFlight,
    Rate,
    Pacing,
    BusyPoll,
    CongestionControl,
    Dscp,
    Nodelay,
    Connected,
    Verify,
}

impl Word for Parameter {
    const WHAT: &'static str = "a parameter of the traffic";
    const WORDS: &'static [(&'static str, Self)] = &[
        ("sender", Self::Sender),
        ("reader", Self::Reader),
        ("threads", Self::Threads),
        ("direction", Self::Direction),
        ("in_flight", Self::InFlight),
        ("rate", Self::Rate),
        ("pacing", Self::Pacing),
        ("busy_poll", Self::BusyPoll),
        ("congestion_control", Self::CongestionControl),
        ("dscp", Self::Dscp),
        ("nodelay", Self::Nodelay),
        ("connected", Self::Connected),
        ("verify", Self::Verify),
    ];
}
display_as_word!(Parameter);

/// A parameter with its value. `None` is what the system does by default.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Setting {
    Sender(Sender),
    Reader(Reader),
    Threads(Option<u32>),
    Direction(Direction),
    InFlight(u32),
    Rate(Option<u32>),
    Pacing(Option<Pacing>),
    BusyPoll(Option<Duration>),
    CongestionControl(CongestionControl),
    Dscp(Option<u8>),
    Nodelay(Option<bool>),
    Connected(bool),
    Verify(bool),
}

/// Why traffic of a kind cannot have a setting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Misfit {
    /// As a fragment of a sentence.
    pub(crate) why: String,
    /// The way out.
    pub(crate) help: String,
}

impl Setting {
    /// What the file writes for the value.
    pub(crate) fn text(&self) -> String {
        let or_default = |text: Option<String>| text.unwrap_or_else(|| "default".to_owned());
        let switch = |on: bool| if on { "on" } else { "off" }.to_owned();
        match self {
            Self::Sender(sender) => sender.to_string(),
            Self::Reader(reader) => reader.to_string(),
            Self::Direction(direction) => direction.to_string(),
            Self::InFlight(count) => count.to_string(),
            Self::Threads(threads) => or_default(threads.map(|threads| threads.to_string())),
            Self::Rate(rate) => or_default(rate.map(|rate| rate.to_string())),
            Self::Pacing(pacing) => or_default(pacing.map(|pacing| pacing.to_string())),
            Self::BusyPoll(time) => or_default(time.map(format_duration)),
            Self::CongestionControl(one) => one.to_string(),
            Self::Dscp(dscp) => or_default(dscp.map(|dscp| dscp.to_string())),
            Self::Nodelay(on) => or_default(on.map(switch)),
            Self::Connected(on) | Self::Verify(on) => switch(*on),
        }
    }

    /// The parameter.
    pub(crate) fn parameter(&self) -> Parameter {
        match self {
            Self::Sender(_) => Parameter::Sender,
            Self::Reader(_) => Parameter::Reader,
            Self::Threads(_) => Parameter::Threads,
            Self::Direction(_) => Parameter::Direction,
            Self::InFlight(_) => Parameter::InFlight,
            Self::Rate(_) => Parameter::Rate,
            Self::Pacing(_) => Parameter::Pacing,
            Self::BusyPoll(_) => Parameter::BusyPoll,
            Self::CongestionControl(_) => Parameter::CongestionControl,
            Self::Dscp(_) => Parameter::Dscp,
            Self::Nodelay(_) => Parameter::Nodelay,
            Self::Connected(_) => Parameter::Connected,
            Self::Verify(_) => Parameter::Verify,
        }
    }

    /// Whether the value is a number in a file, and not a text.
    pub(crate) fn is_number(&self) -> bool {
        matches!(self, Self::InFlight(_) | Self::Threads(Some(_)) | Self::Rate(Some(_)) | Self::Dscp(Some(_)))
    }

    /// Why traffic of this kind cannot have it, if it cannot. What every kind has by default suits them all.
    pub(crate) fn misfit(&self, kind: WorkloadKind) -> Option<Misfit> {
        let (name, pps) = (self.parameter(), kind == WorkloadKind::Pps);
        let misfit = |why: String, help: String| Some(Misfit { why, help });
        match self {
            Self::Sender(sender) if !sender.sends(kind) => misfit(
                format!("`{sender}` cannot send a `{kind}`"),
                format!("a `{kind}` is sent by {}", suggest::list(&Sender::words_for(kind))),
            ),
            Self::Reader(_) | Self::BusyPoll(Some(_)) | Self::Verify(true) if pps && !self.is_recv() => {
                misfit(format!("nobody receives a `{kind}`"), format!("remove `{name}`"))
            }
            Self::Reader(reader) if !reader.takes(kind) => misfit(
                format!("`{reader}` cannot take a `{kind}`"),
                format!("a `{kind}` is taken by {}", suggest::list(&Reader::words_for(kind))),
            ),
            Self::Direction(direction) if *direction != Direction::Forward && !kind.is_stream() => misfit(
                format!("a `{kind}` has no direction to choose"),
                format!("remove `{name}`, or take `tcp_stream` or `udp_stream`"),
            ),
            Self::InFlight(2..) if kind == WorkloadKind::TcpCrr => misfit(
                "a `tcp_crr` has one transaction in each connection".to_owned(),
                "take more `flows`, or `tcp_rr`".to_owned(),
            ),
            Self::InFlight(2..) if !kind.is_rr() => misfit(
                format!("a `{kind}` has no transactions"),
                format!("remove `{name}`, or take `tcp_rr` or `udp_rr`"),
            ),
            Self::Rate(Some(_)) if !kind.is_rr() => misfit(
                format!("a `{kind}` has no requests"),
                format!("remove `{name}`: the pace of a `{kind}` is set by `pacing`"),
            ),
            Self::Pacing(Some(_)) if kind.is_rr() => misfit(
                format!("a `{kind}` is not paced"),
                format!("remove `{name}`: `rate` sets how many requests there are"),
            ),
            Self::CongestionControl(CongestionControl::System | CongestionControl::Named(_))
            | Self::Nodelay(Some(_))
                if kind.is_udp() =>
            {
                misfit(format!("a `{kind}` runs over UDP, and `{name}` is TCP's"), format!("remove `{name}`"))
            }
            Self::Connected(false) if kind.is_tcp() => misfit(
                format!("a `{kind}` runs over TCP, which is always connected"),
                format!("remove `{name}`"),
            ),
            _ => None,
        }
    }

    fn is_recv(&self) -> bool {
        *self == Self::Reader(Reader::Recv)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traffic::Traffic;

    #[test]
    fn the_default_suits_every_kind() {
        for (_, kind) in WorkloadKind::WORDS {
            for setting in Traffic::default().settings() {
                assert_eq!(setting.misfit(*kind), None, "{setting:?} {kind}");
            }
        }
    }

    #[test]
    fn what_does_not_fit_says_why_and_the_way_out() {
        use WorkloadKind::{Pps, TcpCrr, TcpRr, TcpStream, UdpRr, UdpStream};
        for (setting, fits, not) in [
            (Setting::Sender(Sender::Sendfile), vec![TcpStream], vec![TcpRr, UdpStream, Pps]),
            (Setting::Sender(Sender::Gso), vec![UdpStream, Pps], vec![TcpStream, UdpRr]),
            (Setting::Reader(Reader::Trunc), vec![TcpStream], vec![UdpStream, TcpRr, Pps]),
            (Setting::Reader(Reader::Spin), vec![TcpStream, UdpStream, TcpRr, UdpRr, TcpCrr], vec![Pps]),
            (Setting::Direction(Direction::Both), vec![TcpStream, UdpStream], vec![TcpRr, TcpCrr, Pps]),
            (Setting::InFlight(2), vec![TcpRr, UdpRr], vec![TcpStream, TcpCrr, Pps]),
            (Setting::Rate(Some(1)), vec![TcpRr, UdpRr, TcpCrr], vec![TcpStream, UdpStream, Pps]),
            (Setting::Pacing(Some(Pacing::MOST)), vec![TcpStream, UdpStream, Pps], vec![TcpRr, TcpCrr]),
            (Setting::BusyPoll(Some(Duration::from_micros(1))), vec![TcpStream, UdpRr, TcpCrr], vec![Pps]),
            (
                Setting::CongestionControl(CongestionControl::System),
                vec![TcpRr, TcpCrr],
                vec![UdpStream, Pps],
            ),
            (
                Setting::CongestionControl(CongestionControl::Named("bbr".into())),
                vec![TcpStream],
                vec![UdpRr, Pps],
            ),
            (Setting::Nodelay(Some(true)), vec![TcpStream, TcpRr], vec![UdpRr, Pps]),
            (Setting::Connected(false), vec![UdpStream, UdpRr, Pps], vec![TcpStream, TcpRr, TcpCrr]),
            (Setting::Dscp(Some(63)), vec![TcpStream, UdpStream, TcpRr, UdpRr, TcpCrr, Pps], vec![]),
            (Setting::Verify(true), vec![TcpStream, UdpRr, TcpCrr], vec![Pps]),
        ] {
            for kind in fits {
                assert_eq!(setting.misfit(kind), None, "{setting:?} {kind}");
            }
            for kind in not {
                let misfit = setting.misfit(kind).unwrap_or_else(|| panic!("{setting:?} fits {kind}"));
                assert!(misfit.why.contains(&format!("`{kind}`")) && !misfit.help.is_empty(), "{misfit:?}");
            }
        }
    }
}
