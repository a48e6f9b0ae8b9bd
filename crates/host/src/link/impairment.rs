//! The impairment of a path where packets leave: `netem` delays and drops, `tbf` limits the rate.

use std::time::Duration;

use nix::errno::Errno;
use nix::libc;
use words::PATH_QUEUE;

use crate::error::Error;
use crate::kernel::attributes::{attribute, encode, number, push, string, u32_at, u64_at};
use crate::kernel::netlink::{CREATE_NEW, NetlinkFailure};
use crate::link::links::Links;
use crate::link::traffic_control::{Discipline, QueueCounters, TCA_TBF_PARMS, TCA_TBF_RATE64, header};

/// The impairment of packets that leave an interface, in the kernel's units, which are read back.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Impairment {
    delay_ns: u64,
    /// The probability times 2^32 - 1.
    loss: u32,
    /// Bytes per second; 0: no limit.
    rate: u64,
}

// The handles of our disciplines, which identify them. The class below `netem` is its first.
const NETEM: u32 = 0x6e61_0000;
const TBF: u32 = 0x6e62_0000;
const BELOW_NETEM: u32 = NETEM | 1;

// The most packets that a delay holds: 100 ms at a million packets per second.
const HELD: u32 = 100_000;
const BURST: Duration = Duration::from_millis(1);
// More than any link-layer header, in bytes.
const HEADERS: u32 = 128;

// linux/pkt_sched.h
const TCA_TBF_BURST: u16 = 6;
const TCA_NETEM_LATENCY64: u16 = 10;
// `struct tc_netem_qopt`: latency, limit, loss, gap, duplicate, jitter, of 32 bits each.
const NETEM_OPTIONS: usize = 24;
const TC_LINKLAYER_ETHERNET: u8 = 1;

impl Impairment {
    /// A delay of each packet, a random loss in %, and a rate in bits/s, headers included.
    pub fn new(delay: Option<Duration>, loss_percent: Option<f64>, rate_bits: Option<u64>) -> Self {
        let delay_ns = delay.map_or(0, |delay| u64::try_from(delay.as_nanos()).unwrap_or(u64::MAX));
        let loss = loss_percent.map_or(0.0, |percent| percent / 100.0 * f64::from(u32::MAX));
        Self { delay_ns, loss: loss.round() as u32, rate: rate_bits.map_or(0, |bits| bits.div_ceil(8)) }
    }

    fn disciplines(&self, index: u32, mtu: u32) -> Vec<Discipline> {
        let discipline = |handle, parent, kind: &str, options| {
            let (kind, queue) = (kind.to_owned(), QueueCounters::default());
            Discipline { index, handle, parent, kind, options, queue }
        };
        let mut wanted = Vec::new();
        let mut parent = Discipline::ROOT;
        if self.delay_ns > 0 || self.loss > 0 {
            wanted.push(discipline(NETEM, parent, "netem", netem(self.delay_ns, self.loss)));
            parent = BELOW_NETEM;
        }
        if self.rate > 0 {
            wanted.push(discipline(TBF, parent, "tbf", tbf(self.rate, mtu)));
        }
        wanted
    }

    fn from_disciplines(all: &[Discipline]) -> Self {
        let ours = |handle: u32| all.iter().find(|one| one.handle == handle);
        let netem = ours(NETEM).map_or(&[][..], |one| &one.options);
        let delay = attribute(netem.get(NETEM_OPTIONS..).unwrap_or_default(), TCA_NETEM_LATENCY64);
        Self {
            delay_ns: delay.and_then(|delay| u64_at(delay, 0)).unwrap_or(0),
            loss: u32_at(netem, 8).unwrap_or(0),
            rate: ours(TBF).and_then(Discipline::rate_bits).unwrap_or(0) / 8,
        }
    }
}

impl Links {
    /// Applies exactly this impairment to what leaves the interface.
    ///
    /// # Errors
    /// The kernel lacks a discipline, refuses it, or reads back another one.
    pub fn impair(&mut self, name: &str, wanted: &Impairment) -> Result<(), Error> {
        let link = self.find(name)?;
        // Made for each run: then its queue is empty, and its burst fits the current MTU.
        if Impairment::from_disciplines(&self.disciplines(link.index, name)?) != Impairment::default() {
            let payload = header(link.index, 0, Discipline::ROOT);
            let action = format_args!("remove the queueing disciplines of interface {name:?}");
            self.change(libc::RTM_DELQDISC, &payload, 0, name, action)?;
        }
        for one in wanted.disciplines(link.index, link.mtu) {
            let action = format_args!("add the queueing discipline {} to interface {name:?}", one.kind);
            self.change(libc::RTM_NEWQDISC, &creation(&one), CREATE_NEW, name, action)?;
        }
        let read = Impairment::from_disciplines(&self.disciplines(link.index, name)?);
        if read != *wanted {
            let why = format!("set {wanted:?}, read back {read:?}");
            let action = format_args!("impair interface {name:?}");
            return Err(Error::netlink(action, name, NetlinkFailure::Malformed(why)));
        }
        Ok(())
    }

    /// The disciplines that this kernel lacks for an impairment, each with the remedy.
    pub fn lacking(&mut self, wanted: &Impairment) -> Vec<String> {
        const LOOPBACK: u32 = 1;
        // The kernel looks up the name first, and makes no discipline without options (`EINVAL`).
        let lacks = |one: Discipline| {
            let tried = Discipline { parent: Discipline::ROOT, options: Vec::new(), ..one };
            let kind = &tried.kind;
            let action = format_args!("look for the queueing discipline {kind}");
            let answer = self.change(libc::RTM_NEWQDISC, &creation(&tried), CREATE_NEW, "lo", action);
            let error = answer.err()?;
            match error.errno().map(Errno::from_raw) {
                Some(Errno::EINVAL | Errno::EEXIST) => None,
                Some(Errno::ENOENT) => Some(format!(
                    "the kernel has no queueing discipline `{kind}` (module sch_{kind}); a virtual machine may have it: \
                     scenario `vm`, or `inside = \"guest\"`"
                )),
                _ => Some(error.to_string()),
            }
        };
        wanted.disciplines(LOOPBACK, 0).into_iter().filter_map(lacks).collect()
    }
}

fn creation(one: &Discipline) -> Vec<u8> {
    let mut payload = header(one.index, one.handle, one.parent);
    push(&mut payload, libc::TCA_KIND, &string(&one.kind));
    if !one.options.is_empty() {
        push(&mut payload, libc::TCA_OPTIONS, &one.options);
    }
    payload
}

fn netem(delay_ns: u64, loss: u32) -> Vec<u8> {
    // The first number is the delay in ticks, which its attribute overrides.
    let mut options: Vec<u8> = [0, HELD, loss, 0, 0, 0].into_iter().flat_map(u32::to_ne_bytes).collect();
    push(&mut options, TCA_NETEM_LATENCY64, &delay_ns.to_ne_bytes());
    options
}

fn tbf(rate: u64, mtu: u32) -> Vec<u8> {
    let in_time = |time: Duration| {
        let bytes = u128::from(rate) * time.as_nanos() / 1_000_000_000;
        u32::try_from(bytes).unwrap_or(u32::MAX)
    };
    // At least a packet of the interface's MTU; an offload's larger packets are segmented first.
    let burst = in_time(BURST).max(mtu.saturating_add(HEADERS));
    let limit = in_time(PATH_QUEUE).max(burst);
    let narrow = u32::try_from(rate).unwrap_or(u32::MAX);
    // `struct tc_tbf_qopt`: rate, peak rate, limit, burst in ticks (which its attribute overrides).
    let mut parameters = vec![0, TC_LINKLAYER_ETHERNET, 0, 0, 0, 0, 0, 0];
    parameters.extend(narrow.to_ne_bytes());
    parameters.extend([0; 12]);
    parameters.extend([limit, 0, 0].into_iter().flat_map(u32::to_ne_bytes));
    let mut options = encode(&[(TCA_TBF_PARMS, parameters), (TCA_TBF_BURST, number(burst))]);
    if u64::from(narrow) < rate {
        push(&mut options, TCA_TBF_RATE64, &rate.to_ne_bytes());
    }
    options
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The disciplines that a kernel reads back.
    fn made(wanted: &[Discipline]) -> Vec<Discipline> {
        wanted.iter().map(|one| Discipline::parse(&creation(one)).unwrap()).collect()
    }

    #[test]
    fn delay_and_loss_come_before_the_rate() {
        let kinds = |delay, loss, rate| {
            let wanted = Impairment::new(delay, loss, rate).disciplines(3, 1500);
            wanted.into_iter().map(|one| (one.kind, one.parent == Discipline::ROOT)).collect::<Vec<_>>()
        };
        let expected = |list: &[(&str, bool)]| -> Vec<(String, bool)> {
            list.iter().map(|(kind, is_root)| ((*kind).to_owned(), *is_root)).collect()
        };
        let (delay, loss, rate) = (Some(Duration::from_millis(10)), Some(0.1), Some(1_000_000));
        assert_eq!(kinds(None, None, None), []);
        assert_eq!(kinds(delay, None, None), expected(&[("netem", true)]));
        assert_eq!(kinds(None, loss, None), expected(&[("netem", true)]));
        assert_eq!(kinds(None, None, rate), expected(&[("tbf", true)]));
        assert_eq!(kinds(delay, loss, rate), expected(&[("netem", true), ("tbf", false)]));
    }

    #[test]
    fn others_disciplines_are_passed_over() {
        let wanted = Impairment::new(Some(Duration::from_secs(1)), None, Some(8)).disciplines(3, 1500);
        let foreign: Vec<Discipline> =
            wanted.into_iter().map(|one| Discipline { handle: 0x10000, ..one }).collect();
        assert_eq!(Impairment::from_disciplines(&made(&foreign)), Impairment::default());
    }

    proptest! {
        #[test]
        fn what_is_set_reads_back(
            delay in prop::option::of(0u64..10_000_000_000),
            loss in prop::option::of(0.0..=100.0),
            rate in prop::option::of(1u64..=1_000_000_000_000),
            mtu in any::<u32>(),
        ) {
            let wanted = Impairment::new(delay.map(Duration::from_nanos), loss, rate);
            prop_assert_eq!(Impairment::from_disciplines(&made(&wanted.disciplines(3, mtu))), wanted);
        }

        #[test]
        fn any_options_are_read_or_refused(options in prop::collection::vec(any::<u8>(), 0..120)) {
            for (handle, kind) in [(NETEM, "netem"), (TBF, "tbf")] {
                let (kind, options) = (kind.to_owned(), options.clone());
                let one = Discipline { handle, parent: Discipline::ROOT, kind, options, ..Default::default() };
                let _ = Impairment::from_disciplines(&made(&[one]));
            }
        }
    }
}
