//! The impairment of a path: delay, loss, rate. Queueing disciplines apply it where packets leave
//! an interface: `netem` delays and drops, `tbf` limits the rate.

use std::fmt;
use std::time::Duration;

use netlink_packet_core::{
    DecodeError, DefaultNla, Emitable, NLM_F_CREATE, NLM_F_EXCL, NlasIterator, parse_u32, parse_u64,
};
use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::tc::{TcAttribute, TcHeader, TcMessage};
use nix::errno::Errno;
use nix::libc;
use words::PATH_QUEUE;

use crate::error::Error;
use crate::kernel::attributes::bytes;
use crate::kernel::netlink::Failure;
use crate::link::discipline::Discipline;
use crate::link::links::Links;

/// The impairment of packets that leave an interface; by default none. In the kernel's units, so
/// that it equals what is read back.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Impairment {
    delay_ns: u64,
    /// The probability times 2^32 - 1.
    loss: u32,
    /// Bytes per second; 0: no limit.
    rate: u64,
}

impl fmt::Display for Impairment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { delay_ns, loss, rate } = self;
        let loss = 100.0 * f64::from(*loss) / f64::from(u32::MAX);
        write!(f, "a delay of {delay_ns} ns, a loss of {loss} % and ")?;
        if *rate == 0 { f.write_str("no rate") } else { write!(f, "a rate of {rate} bytes/s") }
    }
}

struct Order {
    handle: u32,
    parent: u32,
    kind: &'static str,
    options: Vec<u8>,
}

// The handles of our disciplines, which identify them. The class below `netem` is its first.
const NETEM: u32 = 0x6e61_0000;
const TBF: u32 = 0x6e62_0000;
const BELOW_NETEM: u32 = NETEM | 1;

// The most packets that a delay holds: 100 ms at a million packets per second.
const HELD: u32 = 100_000;
// The length of a burst.
const BURST: Duration = Duration::from_millis(1);
// More than any link-layer header, in bytes.
const HEADERS: u32 = 128;

// linux/pkt_sched.h
const TCA_TBF_PARMS: u16 = 1;
const TCA_TBF_RATE64: u16 = 4;
const TCA_TBF_BURST: u16 = 6;
const TCA_NETEM_LATENCY64: u16 = 10;
// `struct tc_netem_qopt`: latency, limit, loss, gap, duplicate, jitter, of 32 bits each.
const NETEM_OPTIONS: usize = 24;
const TC_LINKLAYER_ETHERNET: u8 = 1;

impl Impairment {
    /// A delay of each packet, a random loss in percent, and a rate in bits per second, headers
    /// included.
    #[must_use]
    pub fn new(delay: Option<Duration>, loss_percent: Option<f64>, rate_bits: Option<u64>) -> Self {
        let delay_ns = delay.map_or(0, |delay| u64::try_from(delay.as_nanos()).unwrap_or(u64::MAX));
        let loss = loss_percent.map_or(0.0, |percent| percent / 100.0 * f64::from(u32::MAX));
        Self { delay_ns, loss: loss.round() as u32, rate: rate_bits.map_or(0, |bits| bits.div_ceil(8)) }
    }

    fn orders(&self, mtu: u32) -> Vec<Order> {
        let mut orders = Vec::new();
        if self.needs_netem() {
            let options = netem(self.delay_ns, self.loss);
            orders.push(Order { handle: NETEM, parent: Discipline::ROOT, kind: "netem", options });
        }
        if self.rate > 0 {
            let parent = if self.needs_netem() { BELOW_NETEM } else { Discipline::ROOT };
            orders.push(Order { handle: TBF, parent, kind: "tbf", options: tbf(self.rate, mtu) });
        }
        orders
    }

    fn needs_netem(&self) -> bool {
        self.delay_ns > 0 || self.loss > 0
    }

    /// Adds the effect of one of our disciplines, from a payload of `RTM_NEWQDISC`; ignores others.
    fn add(&mut self, index: u32, payload: &[u8]) -> Result<(), DecodeError> {
        let discipline = Discipline::parse(payload)?;
        match (discipline.index == index, discipline.handle) {
            (true, TBF) => self.rate = discipline.rate_bits.unwrap_or(0) / 8,
            (true, NETEM) => {
                let options = options(payload)?;
                self.loss = options.get(8..12).and_then(|loss| parse_u32(loss).ok()).unwrap_or(0);
                for attribute in NlasIterator::new(options.get(NETEM_OPTIONS..).unwrap_or_default()) {
                    let attribute = attribute?;
                    if attribute.kind() == TCA_NETEM_LATENCY64 {
                        self.delay_ns = parse_u64(attribute.value())?;
                    }
                }
            }
            _ => {}
        }
        Ok(())
    }
}

impl Links {
    /// Applies exactly this impairment to what leaves the interface; without one, restores its own
    /// queue.
    ///
    /// # Errors
    /// The kernel lacks a discipline, refuses it, or reads back another one.
    pub fn impair(&mut self, name: &str, wanted: &Impairment) -> Result<(), Error> {
        let link = self.find(name)?;
        // Made for each run: then its queue is empty, and its burst fits the current MTU.
        if self.impairment(link.index, name)? != Impairment::default() {
            let root = Order { handle: 0, parent: Discipline::ROOT, kind: "", options: Vec::new() };
            self.change(
                RouteNetlinkMessage::DelQueueDiscipline(message(link.index, &root)),
                0,
                name,
                || format!("remove the queueing disciplines of interface {name:?}"),
            )?;
        }
        for order in wanted.orders(link.mtu) {
            let message = RouteNetlinkMessage::NewQueueDiscipline(message(link.index, &order));
            self.change(message, NLM_F_CREATE | NLM_F_EXCL, name, || {
                format!("add the queueing discipline {} to interface {name:?}", order.kind)
            })?;
        }
        let read = self.impairment(link.index, name)?;
        if read != *wanted {
            let why = format!("set {wanted}, read back {read}");
            let action = format!("impair interface {name:?}");
            return Err(Error::netlink(action, name, Failure::Malformed(why)));
        }
        Ok(())
    }

    /// The disciplines that this kernel lacks for an impairment, each with the remedy.
    pub fn lacking(&mut self, wanted: &Impairment) -> Vec<String> {
        wanted.orders(0).into_iter().filter_map(|order| self.lacks(order)).collect()
    }

    /// Whether the kernel lacks a discipline: it looks up the name before the options, and makes
    /// none without options (`EINVAL`).
    fn lacks(&mut self, Order { handle, kind, .. }: Order) -> Option<String> {
        const LOOPBACK: u32 = 1;
        let order = Order { handle, parent: Discipline::ROOT, kind, options: Vec::new() };
        let message = RouteNetlinkMessage::NewQueueDiscipline(message(LOOPBACK, &order));
        let asked = self.change(message, NLM_F_CREATE | NLM_F_EXCL, "lo", || {
            format!("look for the queueing discipline {kind}")
        });
        let error = asked.err()?;
        match error.errno().map(Errno::from_raw) {
            Some(Errno::EINVAL | Errno::EEXIST) => None,
            Some(Errno::ENOENT) => Some(format!(
                "the kernel has no queueing discipline `{kind}` (module sch_{kind}); a virtual machine may have it: \
                 scenario `vm`, or `inside = \"guest\"`"
            )),
            _ => Some(error.to_string()),
        }
    }

    fn impairment(&mut self, index: u32, name: &str) -> Result<Impairment, Error> {
        let request = RouteNetlinkMessage::GetQueueDiscipline(TcMessage::default());
        let mut found = Impairment::default();
        self.dump(
            request,
            |payload| found.add(index, payload),
            name,
            || format!("read the queueing disciplines of interface {name:?}"),
        )?;
        Ok(found)
    }
}

fn message(index: u32, order: &Order) -> TcMessage {
    // No index has more than 31 bits.
    let mut message = TcMessage::with_index(i32::try_from(index).unwrap_or(0));
    message.header.handle = order.handle.into();
    message.header.parent = order.parent.into();
    if !order.kind.is_empty() {
        message.attributes.push(TcAttribute::Kind(order.kind.to_owned()));
    }
    if !order.options.is_empty() {
        message
            .attributes
            .push(TcAttribute::Other(DefaultNla::new(libc::TCA_OPTIONS, order.options.clone())));
    }
    message
}

/// The options of `netem`: a structure, then attributes.
fn netem(delay_ns: u64, loss: u32) -> Vec<u8> {
    // The first number is the delay in ticks, which its attribute overrides.
    let mut options: Vec<u8> = [0, HELD, loss, 0, 0, 0].into_iter().flat_map(u32::to_ne_bytes).collect();
    options.extend(bytes(&[DefaultNla::new(TCA_NETEM_LATENCY64, delay_ns.to_ne_bytes().to_vec())]));
    options
}

/// The options of `tbf`. A burst holds at least a packet of the interface's MTU; larger packets,
/// which an offload made, are segmented first.
fn tbf(rate: u64, mtu: u32) -> Vec<u8> {
    let in_time = |time: Duration| {
        let bytes = u128::from(rate) * time.as_nanos() / 1_000_000_000;
        u32::try_from(bytes).unwrap_or(u32::MAX)
    };
    let burst = in_time(BURST).max(mtu.saturating_add(HEADERS));
    let limit = in_time(PATH_QUEUE).max(burst);
    let narrow = u32::try_from(rate).unwrap_or(u32::MAX);
    // `struct tc_tbf_qopt`: rate, peak rate, limit, and the burst in ticks, which its attribute
    // overrides.
    let mut parameters = vec![0, TC_LINKLAYER_ETHERNET, 0, 0, 0, 0, 0, 0];
    parameters.extend(narrow.to_ne_bytes());
    parameters.extend([0; 12]);
    parameters.extend([limit, 0, 0].into_iter().flat_map(u32::to_ne_bytes));
    let mut options = vec![
        DefaultNla::new(TCA_TBF_PARMS, parameters),
        DefaultNla::new(TCA_TBF_BURST, burst.to_ne_bytes().to_vec()),
    ];
    if u64::from(narrow) < rate {
        options.push(DefaultNla::new(TCA_TBF_RATE64, rate.to_ne_bytes().to_vec()));
    }
    bytes(&options)
}

/// The options in a payload of `RTM_NEWQDISC`.
fn options(payload: &[u8]) -> Result<Vec<u8>, DecodeError> {
    let header = TcHeader::parse(payload)?.buffer_len();
    let mut found = Vec::new();
    for attribute in NlasIterator::new(&payload[header..]) {
        let attribute = attribute?;
        if attribute.kind() == libc::TCA_OPTIONS {
            found = attribute.value().to_vec();
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::kernel::attributes::string;

    /// The answers of a kernel with these disciplines for interface 3.
    fn answers(orders: &[Order]) -> Vec<Vec<u8>> {
        let payload = |Order { handle, parent, kind, options }: &Order| {
            let header = TcHeader {
                index: 3,
                handle: (*handle).into(),
                parent: (*parent).into(),
                ..TcHeader::default()
            };
            let mut payload = vec![0; header.buffer_len()];
            header.emit(&mut payload);
            let options = DefaultNla::new(libc::TCA_OPTIONS, options.clone());
            payload.extend(bytes(&[string(libc::TCA_KIND, kind), options]));
            payload
        };
        orders.iter().map(payload).collect()
    }

    #[test]
    fn delay_and_loss_come_before_the_rate() {
        let kinds = |delay, loss, rate| {
            let orders = Impairment::new(delay, loss, rate).orders(1500);
            orders.iter().map(|one| (one.kind, one.parent == Discipline::ROOT)).collect::<Vec<_>>()
        };
        let (delay, loss, rate) = (Some(Duration::from_millis(10)), Some(0.1), Some(1_000_000));
        assert_eq!(kinds(None, None, None), []);
        assert_eq!(kinds(delay, None, None), [("netem", true)]);
        assert_eq!(kinds(None, loss, None), [("netem", true)]);
        assert_eq!(kinds(None, None, rate), [("tbf", true)]);
        assert_eq!(kinds(delay, loss, rate), [("netem", true), ("tbf", false)]);
    }

    #[test]
    fn others_disciplines_are_passed_over() {
        let orders = Impairment::new(Some(Duration::from_secs(1)), None, Some(8)).orders(1500);
        let mut found = Impairment::default();
        answers(&orders).iter().for_each(|payload| found.add(4, payload).unwrap());
        let foreign = orders.into_iter().map(|order| Order { handle: 0x10000, ..order });
        answers(&foreign.collect::<Vec<_>>()).iter().for_each(|payload| found.add(3, payload).unwrap());
        assert_eq!(found, Impairment::default());
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
            let mut found = Impairment::default();
            for payload in answers(&wanted.orders(mtu)) {
                found.add(3, &payload).unwrap();
            }
            prop_assert_eq!(found, wanted);
        }

        #[test]
        fn any_options_are_read_or_refused(options in prop::collection::vec(any::<u8>(), 0..120)) {
            for (handle, kind) in [(NETEM, "netem"), (TBF, "tbf")] {
                let order = Order { handle, parent: Discipline::ROOT, kind, options: options.clone() };
                let _ = Impairment::default().add(3, &answers(&[order])[0]);
            }
        }
    }
}
