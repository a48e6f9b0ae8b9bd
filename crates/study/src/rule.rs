//! Combinations that no testbed can reach, and why. What the kernel forces (TSO without scatter-gather) is not here:
//! it is found by trying and reading back.

use crate::condition::Condition;
use crate::family::Family;

/// The least MTU that IPv6 works over, in bytes (RFC 8200, section 5).
const LEAST_IPV6_MTU: u32 = 1_280;

/// Why a condition cannot be reached, if it cannot.
pub(crate) fn forbids(condition: &Condition) -> Option<String> {
    if !condition.checksum && condition.workload.kind.is_tcp() {
        return Some(
            "TCP has no switch for checksums per socket; vary the features `tx` and `rx` instead".to_owned(),
        );
    }
    if condition.family == Family::Ipv4 {
        return None;
    }
    if !condition.checksum {
        return Some("UDP checksums are mandatory over IPv6 (RFC 8200, section 8.1)".to_owned());
    }
    let mtu = condition.mtu.filter(|mtu| *mtu < LEAST_IPV6_MTU)?;
    Some(format!("IPv6 needs an MTU of at least {LEAST_IPV6_MTU} bytes (RFC 8200, section 5), not {mtu}"))
}
