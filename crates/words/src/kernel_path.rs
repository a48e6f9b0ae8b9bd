//! The ways of packets through the kernel that are traced.

use serde::Serialize;

use crate::kind::Kind;

crate::vocabulary! {
    /// A way of packets through the kernel.
    pub enum KernelPath: "a path of packets" {
        /// A UDP datagram from the system call to the driver.
        UdpTx = "udp-tx";
        /// A UDP datagram from the interrupt to the reader.
        UdpRx = "udp-rx";
        /// A TCP segment from the system call to the driver.
        TcpTx = "tcp-tx";
        /// A TCP segment from the interrupt to the reader.
        TcpRx = "tcp-rx";
    }
}

crate::vocabulary! {
    /// The way in which readers of traced packets wait for one.
    pub enum Waiting: "a way to wait" {
        /// One thread sends and then reads: the packet is there before its reader asks.
        Awake = "awake";
        /// Each end has a thread, and a packet wakes it. For requests and responses.
        Asleep = "asleep";
    }
}

/// The most messages of a batch of a trace: far more than a trace asks for.
pub const MOST_MESSAGES: u32 = 1 << 20;
/// The most batches of each kind: without probes, with some, and with all.
pub const MOST_ROUNDS: u32 = 64;

impl KernelPath {
    /// Whether packets of this traffic take it.
    pub fn carries(self, kind: Kind) -> bool {
        let is_way_in = matches!(self, Self::UdpRx | Self::TcpRx);
        kind.is_tcp() == matches!(self, Self::TcpTx | Self::TcpRx) && (kind.is_received() || !is_way_in)
    }
}

impl Waiting {
    /// Whether readers of this traffic can wait so.
    pub fn suits(self, kind: Kind) -> bool {
        self == Self::Awake || kind.is_rr()
    }
}

/// The sum of a trace's stages as a share of the whole way, which is measured separately. It is 1
/// if nothing is missing.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize)]
#[serde(transparent)]
pub struct Closure(f64);

/// The largest error of that sum for counted instructions, as a share of the whole.
// Instructions repeat: the bundled paths stay within it, and a larger error means that a probe's
// cost is wrong.
const EXACT: f64 = 0.02;
/// The largest error of that sum for times.
// Times repeat less: the cost of a probe is known to some percent. Beyond this a stage may be off
// by as much as the differences that a study looks for.
const TIME: f64 = 0.10;

// Beyond it the measured whole is mostly an error of the probes' cost.
const SENSELESS: f64 = 10.0;

impl Closure {
    /// The closure of stages with this sum; `None` without a whole.
    pub fn from_sum(sum: f64, whole: Option<f64>) -> Option<Self> {
        whole.filter(|whole| *whole > 0.0).map(|whole| Self(sum / whole))
    }

    /// The share of the whole.
    pub fn share(self) -> f64 {
        self.0
    }

    /// The largest error of the sum, as a share of the whole.
    pub fn bound(exact: bool) -> f64 {
        if exact { EXACT } else { TIME }
    }

    /// Whether the stages may be judged one by one.
    pub fn holds(self, exact: bool) -> bool {
        // Bounds are whole percents: 1.02 - 1.0 is a little more than 0.02.
        (self.0 - 1.0).abs() <= Self::bound(exact) + 1e-9
    }

    /// A share of the whole in percent, as it is printed.
    pub fn percent(share: f64) -> String {
        let (beyond, share) = if share > SENSELESS { ("more than ", SENSELESS) } else { ("", share) };
        format!("{beyond}{:.1}", 100.0 * share)
    }

    /// The error as a clause; `None` if it is within the bound.
    pub fn breach(self, exact: bool) -> Option<String> {
        let apart = self.0 - 1.0;
        let than = if apart > 0.0 { "more" } else { "less" };
        (!self.holds(exact)).then(|| {
            format!(
                "the stages add up to {} % {than} than the whole: they are not trusted one by one beyond {} %",
                Self::percent(apart.abs()),
                100.0 * Self::bound(exact)
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_take_the_paths_of_their_protocol_and_come_in_where_somebody_reads() {
        use KernelPath::{TcpRx, TcpTx, UdpRx, UdpTx};
        let paths = |kind: Kind| KernelPath::ALL.into_iter().filter(|path| path.carries(kind)).collect();
        let all: Vec<(Kind, Vec<KernelPath>)> = Kind::ALL.map(|kind| (kind, paths(kind))).to_vec();
        for (kind, paths) in all {
            let expected = match kind {
                Kind::Pps => vec![UdpTx],
                _ if kind.is_udp() => vec![UdpTx, UdpRx],
                _ => vec![TcpTx, TcpRx],
            };
            assert_eq!(paths, expected, "{kind}");
            assert!(Waiting::Awake.suits(kind));
            assert_eq!(Waiting::Asleep.suits(kind), kind.is_rr(), "{kind}");
        }
    }
}

#[cfg(test)]
mod closure_tests {
    use super::*;

    #[test]
    fn stages_may_be_as_far_from_the_whole_as_what_is_counted_repeats() {
        let closure = |sum: f64| Closure::from_sum(sum, Some(100.0)).unwrap();
        for (sum, exact, time) in
            [(100.0, true, true), (98.0, true, true), (102.0, true, true), (97.9, false, true)]
        {
            assert_eq!((closure(sum).holds(true), closure(sum).holds(false)), (exact, time), "{sum}");
        }
        for (sum, time) in [(90.0, true), (110.0, true), (110.1, false), (89.9, false), (147.0, false)] {
            assert_eq!((closure(sum).holds(true), closure(sum).holds(false)), (false, time), "{sum}");
        }
        assert_eq!(closure(100.0).breach(true), None);
        let breach = closure(147.0).breach(false).unwrap();
        assert!(breach.contains("47.0 % more") && breach.ends_with("beyond 10 %"), "{breach}");
        assert!(closure(97.0).breach(true).unwrap().contains("3.0 % less"));
        let breach = closure(1e15).breach(true).unwrap();
        assert!(breach.contains("more than 1000.0 % more than the whole"), "{breach}");
        assert!(closure(f64::NAN).breach(true).is_some(), "what is no number does not close");
        assert_eq!((Closure::from_sum(1.0, None), Closure::from_sum(1.0, Some(0.0))), (None, None));
    }
}
