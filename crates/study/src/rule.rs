//! Combinations that no testbed can reach, and why. What the kernel forces (TSO without scatter-gather) is not here:
//! it is found by trying and reading back.

use crate::condition::Condition;
use crate::family::Family;
use crate::mode::Reader;
use crate::scenario::Scenario;

/// The least MTU that IPv6 works over, in bytes (RFC 8200, section 5).
const LEAST_IPV6_MTU: u32 = 1_280;

/// Why a condition cannot be reached, if it cannot.
pub(crate) fn forbids(condition: &Condition, scenario: Scenario) -> Option<String> {
    let kind = condition.workload.kind;
    let settings = condition.workload.traffic.settings();
    if let Some(misfit) = settings.iter().find_map(|setting| setting.misfit(kind)) {
        return Some(misfit.why);
    }
    if !condition.checksum && kind.is_tcp() {
        return Some(
            "TCP has no switch for checksums per socket; vary the features `tx` and `rx` instead".to_owned(),
        );
    }
    if condition.family == Family::Ipv6 && !condition.checksum {
        return Some("UDP checksums are mandatory over IPv6 (RFC 8200, section 8.1)".to_owned());
    }
    let too_small = |mtu: &u32| condition.family == Family::Ipv6 && *mtu < LEAST_IPV6_MTU;
    if let Some(mtu) = condition.mtu.filter(too_small) {
        return Some(format!(
            "IPv6 needs an MTU of at least {LEAST_IPV6_MTU} bytes (RFC 8200, section 5), not {mtu}"
        ));
    }
    of_modes(condition, scenario)
}

/// Senders and readers that something else of the condition rules out.
fn of_modes(condition: &Condition, scenario: Scenario) -> Option<String> {
    let (workload, traffic) = (&condition.workload, &condition.workload.traffic);
    if traffic.verify && traffic.reader == Reader::Trunc {
        return Some("`trunc` throws the bytes away unread, and `verify` is to check them".to_owned());
    }
    if !traffic.sender.segments() {
        return None;
    }
    let sender = traffic.sender;
    // What the kernel itself refuses (udp_send_skb): it makes no fragments of segments, and cuts no buffer whose
    // datagrams are to have no checksum.
    if !condition.checksum {
        return Some(format!("`{sender}` needs the UDP checksum (UDP_SEGMENT)"));
    }
    let mtu = condition.mtu.unwrap_or(scenario.default_mtu());
    let most = mtu.saturating_sub(condition.family.udp_headers());
    (workload.message > most).then(|| {
        format!(
            "`{sender}` makes no fragments: with an MTU of {mtu} a datagram over {} carries at most {most} bytes, not {}",
            condition.family, workload.message
        )
    })
}
