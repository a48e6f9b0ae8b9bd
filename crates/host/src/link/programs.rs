//! Other processes' programs and filters that see each packet: XDP, and traffic control.

use std::collections::BTreeMap;

use nix::libc;
use serde::{Deserialize, Serialize};

use crate::kernel::attributes::{attribute, text};
use crate::kernel::bpf;
use crate::link::interface::Link;
use crate::link::links::Links;
use crate::link::traffic_control::Discipline;

// `bpftool net show` names the program.
const UNNAMED: &str = "a program";

/// Names of programs, and kinds of filters that are no programs, by their place.
pub type Programs = BTreeMap<ProgramPlace, Vec<String>>;

/// The place at which a program sees the packets of an interface.
// It is no error: thiserror gives each variant its words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "kebab-case")]
pub enum ProgramPlace {
    /// In the driver or the hardware: before the kernel has made a packet of it.
    #[error("XDP")]
    Xdp,
    /// Behind a driver that cannot run it. Packets are copied for it, and not merged.
    #[error("generic XDP")]
    XdpGeneric,
    #[error("tc ingress")]
    TcIngress,
    #[error("tc egress")]
    TcEgress,
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
    pub(crate) fn programs(&mut self, link: &Link) -> Programs {
        let mut found = Programs::new();
        let mut add = |place: ProgramPlace, name: String| {
            let name: String = name.chars().filter(|c| !c.is_control()).collect();
            let names = found.entry(place).or_default();
            if !names.contains(&name) {
                names.push(name);
            }
        };
        if let Some(place) = link.xdp {
            add(place, UNNAMED.to_owned());
        }
        for (place, attached) in [ProgramPlace::TcIngress, ProgramPlace::TcEgress].into_iter().zip(bpf::TCX) {
            if bpf::count_at(link.index, attached).is_ok_and(|count| count > 0) {
                add(place, UNNAMED.to_owned());
            }
        }
        for (parent, place) in PARENTS {
            // A kernel without traffic control has no filters.
            let filters = self.traffic_control(libc::RTM_GETTFILTER, (link.index, parent), &link.name);
            filters.unwrap_or_default().iter().filter_map(filter).for_each(|name| add(place, name));
        }
        found
    }
}

fn filter(Discipline { kind, options, .. }: &Discipline) -> Option<String> {
    let name = attribute(options, TCA_BPF_NAME).and_then(text);
    let name = if kind == "bpf" { name.unwrap_or_else(|| UNNAMED.to_owned()) } else { kind.clone() };
    Some(name).filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::attributes::{encode, string};
    use crate::link::traffic_control::fixture::answer;

    #[test]
    fn filters_are_named_by_their_program_or_their_kind() {
        let found = |kind: &str, options: &[(u16, Vec<u8>)]| {
            filter(&Discipline::parse(&answer([5, 0, 0], kind, encode(options))).unwrap())
        };
        let named = [(TCA_BPF_NAME, string("prog.o:[main]"))];
        assert_eq!(found("bpf", &named).as_deref(), Some("prog.o:[main]"));
        assert_eq!(found("bpf", &[]).as_deref(), Some(UNNAMED));
        assert_eq!(found("flower", &named).as_deref(), Some("flower"));
        assert_eq!(found("", &[]), None);
    }
}
