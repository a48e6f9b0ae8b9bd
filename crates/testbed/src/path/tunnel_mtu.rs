//! The MTUs of a tunnel and of its underlay.

use host::Vxlan;
use study::{Family, Fragments};

/// The default MTU of an underlay, in bytes: that of Ethernet.
const UNDERLAY: u32 = 1_500;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TunnelMtu {
    pub(crate) inner: u32,
    pub(crate) outer: u32,
    /// The outer packet of the largest inner one.
    needed: u32,
}

impl TunnelMtu {
    /// The requested MTUs and their defaults: Ethernet's outside, and what fits inside.
    pub(crate) fn resolve(inner: Option<u32>, outer: Option<u32>, family: Family) -> Self {
        let outer = outer.unwrap_or(UNDERLAY);
        let overhead = Vxlan::overhead(family == Family::Ipv6);
        let inner = inner.unwrap_or(outer.saturating_sub(overhead));
        Self { inner, outer, needed: inner.saturating_add(overhead) }
    }

    /// The outer MTU under which the kernel accepts this inner one: it rejects a tunnel larger than
    /// its underlay, but the underlay may shrink afterwards.
    pub(crate) fn roomy(&self) -> u32 {
        self.outer.max(self.needed)
    }

    /// The packet sizes, if full packets do not fit.
    pub(crate) fn fragments(&self) -> Option<Fragments> {
        let Self { inner, outer, needed } = *self;
        (needed > outer).then_some(Fragments { inner, needed, outer })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_inner_follows_the_outer_and_what_does_not_fit_is_reported() {
        let mtu = TunnelMtu::resolve(None, None, Family::Ipv4);
        assert_eq!((mtu.inner, mtu.outer, mtu.roomy(), mtu.fragments()), (1450, 1500, 1500, None));
        assert_eq!(TunnelMtu::resolve(None, Some(9000), Family::Ipv6).inner, 8930);
        let tight = TunnelMtu::resolve(Some(1500), None, Family::Ipv4);
        assert_eq!((tight.inner, tight.outer, tight.roomy()), (1500, 1500, 1550));
        assert_eq!(
            tight.fragments().unwrap().to_string(),
            "the tunnel's MTU of 1500 bytes makes packets of 1550 bytes on an underlay of 1500: those are sent in fragments, or not at all; an \
             MTU of 1450 fits"
        );
    }

    proptest! {
        #[test]
        fn any_mtus_make_sense(inner in any::<Option<u32>>(), outer in any::<Option<u32>>(), ipv6 in any::<bool>()) {
            let mtu = TunnelMtu::resolve(inner, outer, Family::from_ipv6(ipv6));
            prop_assert!(mtu.roomy() >= mtu.outer);
            prop_assert_eq!(mtu.fragments().is_some(), mtu.roomy() > mtu.outer);
        }
    }
}
