//! The order in which the offloads of a ladder go off, from the kernel's dependencies.

use crate::model::design::dependency;
use crate::model::design::offload::Offload;

/// The offloads, each before those that it needs; otherwise in the order given.
pub(crate) fn by_dependencies(offloads: &[Offload]) -> Vec<usize> {
    let mut left: Vec<usize> = (0..offloads.len()).collect();
    let mut order = Vec::with_capacity(left.len());
    while !left.is_empty() {
        let is_needed = |one: &usize| left.iter().any(|other| needs(&offloads[*other], &offloads[*one]));
        // The kernel's rules have no circle, but groups of features might: then the given order
        // decides.
        let place = left.iter().position(|one| !is_needed(one)).unwrap_or(0);
        order.push(left.remove(place));
    }
    order
}

/// Whether some interface that both are about loses one with the other.
fn needs(one: &Offload, other: &Offload) -> bool {
    one.meets(other) && dependency::needs(&one.features, &other.features)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ordered(names: &[&str]) -> Vec<String> {
        let offloads: Vec<Offload> = names.iter().map(|name| Offload::named(name).unwrap()).collect();
        by_dependencies(&offloads).into_iter().map(|place| names[place].to_owned()).collect()
    }

    /// The published study's order: TSO, then the checksums, then GSO.
    #[test]
    fn what_needs_another_goes_off_before_it() {
        assert_eq!(ordered(&["tx", "tso", "gso"]), ["tso", "tx", "gso"]);
        assert_eq!(ordered(&["sg", "gso", "tx", "tso"]), ["gso", "tso", "sg", "tx"]);
        assert_eq!(ordered(&["rx", "rx-gro-hw", "gro"]), ["rx-gro-hw", "rx", "gro"]);
        assert_eq!(ordered(&["gro", "rx"]), ["gro", "rx"], "neither needs the other: as given");
    }

    #[test]
    fn interfaces_do_not_need_each_others_features() {
        assert_eq!(ordered(&["transmitter.tx", "receiver.tso"]), ["transmitter.tx", "receiver.tso"]);
        assert_eq!(ordered(&["underlay.tx", "tso"]), ["underlay.tx", "tso"]);
        assert_eq!(ordered(&["tx", "receiver.tso"]), ["receiver.tso", "tx"]);
        assert_eq!(
            ordered(&["receiver.underlay.tx", "underlay.tx-udp-segmentation"]),
            ["underlay.tx-udp-segmentation", "receiver.underlay.tx"]
        );
    }
}
