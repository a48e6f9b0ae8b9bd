//! Programs and filters of other processes that see each packet of an interface beside the network
//! stack: XDP, and traffic control.

use std::collections::BTreeMap;
use std::fmt::{Display, Formatter, Result as FmtResult};

use netlink_packet_core::{DecodeError, Emitable, NlasIterator, parse_string, parse_u32};
use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::link::LinkHeader;
use netlink_packet_route::tc::{TcHeader, TcMessage};
use nix::libc;
use serde::{Deserialize, Serialize};

use crate::kernel::bpf;
use crate::link::interface::Link;
use crate::link::links::Links;

/// Names of programs, and kinds of filters that are no programs, by their place.
pub type Programs = BTreeMap<ProgramPlace, Vec<String>>;

/// The place at which a program sees the packets of an interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProgramPlace {
    /// XDP, in the driver or the hardware: before the kernel has made a packet of it.
    Xdp,
    /// XDP behind a driver that cannot run it. Packets are copied for it, and not merged.
    XdpGeneric,
    /// Traffic control, as a packet comes in.
    TcIngress,
    /// Traffic control, as a packet goes out.
    TcEgress,
}

impl Display for ProgramPlace {
    fn fmt(&self, f: &mut Formatter<'_>) -> FmtResult {
        f.write_str(match self {
            Self::Xdp => "XDP",
            Self::XdpGeneric => "generic XDP",
            Self::TcIngress => "tc ingress",
            Self::TcEgress => "tc egress",
        })
    }
}

// `TCA_BPF_NAME`, and the parents of filters: `TC_H_MAKE(TC_H_CLSACT, TC_H_MIN_INGRESS)`, its twin
// for egress, and the discipline at the root (linux/pkt_cls.h, pkt_sched.h).
const TCA_BPF_NAME: u16 = 7;
const PARENTS: [(u32, ProgramPlace); 3] = [
    (0xffff_fff2, ProgramPlace::TcIngress),
    (0xffff_fff3, ProgramPlace::TcEgress),
    (0, ProgramPlace::TcEgress),
];

impl Links {
    /// The programs and filters of an interface, as far as this process may see them.
    pub(crate) fn programs(&mut self, link: &Link) -> Programs {
        let mut found = Programs::new();
        let mut add = |place: ProgramPlace, name: String| {
            let name: String = name.chars().filter(|c| !c.is_control()).collect();
            let names = found.entry(place).or_default();
            if !names.contains(&name) {
                names.push(name);
            }
        };
        if let Ok(Some((place, number))) = self.xdp(link) {
            add(place, bpf::name(number));
        }
        for (place, attached) in [ProgramPlace::TcIngress, ProgramPlace::TcEgress].into_iter().zip(bpf::TCX) {
            let names = bpf::names_at(link.index, attached).unwrap_or_default();
            names.into_iter().for_each(|name| add(place, name));
        }
        for (parent, place) in PARENTS {
            let mut message = TcMessage::default();
            message.header.index = link.index.cast_signed();
            message.header.parent = parent.into();
            let request = RouteNetlinkMessage::GetTrafficFilter(message);
            // A kernel without traffic control has no filters.
            let filters = self.dump(
                request,
                |payload| filter(payload, link.index),
                &link.name,
                || format!("read the filters of interface {:?}", link.name),
            );
            filters.unwrap_or_default().into_iter().flatten().for_each(|name| add(place, name));
        }
        found
    }
}

/// The place and the number of the XDP program in an `RTM_NEWLINK` payload.
pub(crate) fn xdp_of(payload: &[u8]) -> Option<(ProgramPlace, u32)> {
    // `IFLA_XDP_ATTACHED`, and of its values that for the generic one (linux/if_link.h).
    const ATTACHED: u16 = 2;
    const GENERIC: u8 = 2;
    const NUMBERS: std::ops::RangeInclusive<u16> = 4..=7;
    let header = LinkHeader::parse(payload).ok()?;
    let mut attributes = NlasIterator::new(payload.get(header.buffer_len()..)?).flatten();
    let xdp = attributes.find(|attribute| attribute.kind() == libc::IFLA_XDP)?;
    let inside = || NlasIterator::new(xdp.value()).flatten();
    let attached = inside().find(|one| one.kind() == ATTACHED)?.value().first().copied()?;
    let number = inside().find(|one| NUMBERS.contains(&one.kind()))?;
    let place = if attached == GENERIC { ProgramPlace::XdpGeneric } else { ProgramPlace::Xdp };
    Some((place, parse_u32(number.value()).ok().filter(|number| *number != 0)?))
}

/// The name of the program, or the kind of another filter, in an `RTM_NEWTFILTER` payload of the
/// interface.
fn filter(payload: &[u8], interface: u32) -> Result<Option<String>, DecodeError> {
    let header = TcHeader::parse(payload)?;
    let (mut kind, mut name) = (String::new(), None);
    for attribute in NlasIterator::new(&payload[header.buffer_len()..]) {
        let attribute = attribute?;
        match attribute.kind() {
            libc::TCA_KIND => kind = parse_string(attribute.value()).unwrap_or_default(),
            libc::TCA_OPTIONS => {
                let mut options = NlasIterator::new(attribute.value()).flatten();
                let named = options.find(|option| option.kind() == TCA_BPF_NAME);
                name = named.and_then(|name| parse_string(name.value()).ok());
            }
            _ => {}
        }
    }
    let text = if kind == "bpf" { name.unwrap_or_else(|| "unnamed".to_owned()) } else { kind };
    Ok((header.index.cast_unsigned() == interface && !text.is_empty()).then_some(text))
}

#[cfg(test)]
mod tests {
    use netlink_packet_core::DefaultNla;

    use super::*;
    use crate::kernel::attributes::{bytes, nested, string};

    #[test]
    fn an_xdp_program_is_found_with_its_place() {
        let payload = |attributes: &[DefaultNla]| {
            let header = LinkHeader::default();
            let mut payload = vec![0; header.buffer_len()];
            header.emit(&mut payload);
            payload.extend(bytes(&[nested(libc::IFLA_XDP, attributes)]));
            payload
        };
        let attached = |how: u8| DefaultNla::new(2, vec![how]);
        let number = |kind: u16| DefaultNla::new(kind, 17u32.to_ne_bytes().to_vec());
        assert_eq!(xdp_of(&payload(&[attached(0)])), None);
        assert_eq!(xdp_of(&payload(&[attached(1), number(4)])), Some((ProgramPlace::Xdp, 17)));
        assert_eq!(xdp_of(&payload(&[attached(2), number(4)])), Some((ProgramPlace::XdpGeneric, 17)));
        assert_eq!(xdp_of(&payload(&[attached(4), number(5), number(6)])), Some((ProgramPlace::Xdp, 17)));
        assert_eq!(xdp_of(&[]), None);
    }

    #[test]
    fn filters_are_named_by_their_program_or_their_kind() {
        let payload = |index: i32, kind: &str, name: &str| {
            let header = TcHeader { index, ..TcHeader::default() };
            let mut payload = vec![0; header.buffer_len()];
            header.emit(&mut payload);
            let options = nested(libc::TCA_OPTIONS, &[string(TCA_BPF_NAME, name)]);
            payload.extend(bytes(&[string(libc::TCA_KIND, kind), options]));
            payload
        };
        let found = |payload: &[u8]| filter(payload, 5).unwrap();
        assert_eq!(found(&payload(5, "bpf", "prog.o:[main]")).as_deref(), Some("prog.o:[main]"));
        assert_eq!(found(&payload(5, "flower", "")).as_deref(), Some("flower"));
        assert_eq!(found(&payload(6, "bpf", "of another interface")), None);
        assert!(filter(&[1, 2], 5).is_err());
    }
}
