//! Combinations that no testbed can reach, and why. The kernel's own rules (TSO needs
//! scatter-gather) are not here: reading back shows them.

use words::{DeviceSetting, Family, KEYS, Kind, Scenario, Side, Traffic, VXLAN_OVERHEAD};

use crate::plan::condition::Condition;

/// The least MTU that IPv6 works over, in bytes (RFC 8200, section 5).
const LEAST_IPV6_MTU: u32 = 1_280;

/// Why a scenario cannot carry a kind of traffic, with the remedy: `discard` has no receiver, and
/// the others have one.
pub(crate) fn uncarried(kind: Kind, scenario: Scenario) -> Option<(String, &'static str)> {
    match (scenario, kind.is_received()) {
        (Scenario::Discard, true) => Some((
            format!("`{kind}` needs a receiver, and `discard` has none"),
            "use `pps`, or the scenario `veth` or `loopback`",
        )),
        (Scenario::Discard, false) | (_, true) => None,
        (_, false) => Some((
            format!("`{kind}` needs an interface that discards packets, and `{scenario}` has none"),
            "use the scenario `discard`, or `udp_stream`",
        )),
    }
}

/// Why a condition cannot be reached, if it cannot.
pub(crate) fn forbids(condition: &Condition, is_exact: bool, is_traced: bool) -> Option<String> {
    let (workload, traffic) = (&condition.workload, &condition.workload.traffic);
    if let Some((why, _)) = uncarried(traffic.kind, condition.boot.scenario) {
        return Some(why);
    }
    if is_exact && let Err(misfit) = traffic.validate_exact() {
        return Some(misfit.why);
    }
    if is_traced && let Some(misfit) = traffic.traced_misfits(condition.boot.scenario).first() {
        let key = misfit.key;
        return Some(format!("a trace does not support this `{key}`: it sends one message after the other"));
    }
    let of_keys = KEYS.iter().find_map(|key| key.misfit(&key.get(workload), traffic.kind));
    if let Some(misfit) = of_keys.or_else(|| traffic.conflict(condition.family)) {
        return Some(misfit.why);
    }
    if let Some(why) = Side::BOTH.into_iter().find_map(|side| misplaced(condition, side)) {
        return Some(why);
    }
    let (scenario, mtu) = (condition.boot.scenario, mtu(condition));
    if condition.family == Family::Ipv6 && mtu < LEAST_IPV6_MTU {
        return Some(format!(
            "IPv6 needs an MTU of at least {LEAST_IPV6_MTU} bytes (RFC 8200, section 5), not {mtu}"
        ));
    }
    let carries_ipv6 = scenario.has_tunnel() && condition.boot.underlay_family == Family::Ipv6;
    if let Some(outer) = condition.underlay.mtu.filter(|outer| carries_ipv6 && *outer < LEAST_IPV6_MTU) {
        return Some(format!(
            "an underlay of IPv6 needs an MTU of at least {LEAST_IPV6_MTU} bytes (RFC 8200, section 5), not {outer}"
        ));
    }
    let most = Traffic::largest_segment(mtu, condition.family);
    (traffic.sender.segments() && traffic.message > most).then(|| {
        format!(
            "`{}` makes no fragments: with an MTU of {mtu} a datagram over {} carries at most {most} bytes, not {}",
            traffic.sender, condition.family, traffic.message
        )
    })
}

/// Why a placement of a side contradicts its other settings.
fn misplaced(condition: &Condition, side: Side) -> Option<String> {
    let settings = condition.side(side);
    let placement = settings.tuning.placement?;
    let under = match side {
        Side::Transmitter => &condition.underlay.transmitter,
        Side::Receiver => &condition.underlay.receiver,
    };
    let card = if condition.boot.scenario.has_tunnel() { under } else { settings };
    if let Some(queues) = card.device.get(&DeviceSetting::Queues).filter(|queues| **queues != 1) {
        return Some(format!("`placement` leaves the {side}'s interface one queue, not {queues}"));
    }
    let irq = Some(vec![placement.irq]);
    (settings.tuning.irq_affinity.is_some() && settings.tuning.irq_affinity != irq).then(|| {
        format!(
            "`placement` has the interrupts of the {side} on CPU {}, and `irq_affinity` elsewhere",
            placement.irq
        )
    })
}

/// The MTU that the traffic has: the tunnel's, if the study does not set one.
fn mtu(condition: &Condition) -> u32 {
    let scenario = condition.boot.scenario;
    let taken = match condition.boot.underlay_family {
        Family::Ipv4 => VXLAN_OVERHEAD,
        Family::Ipv6 => VXLAN_OVERHEAD + 20,
    };
    condition.mtu.unwrap_or_else(|| {
        if scenario.has_tunnel() {
            condition.underlay.mtu.unwrap_or(Scenario::Veth.default_mtu()).saturating_sub(taken)
        } else {
            scenario.default_mtu()
        }
    })
}

#[cfg(test)]
mod tests {
    use crate::Study;

    fn excluded(factors: &str) -> Vec<String> {
        let text = format!(
            "name = \"x\"\nquestion = \"q\"\nscenario = \"vxlan\"\n[[workload]]\nkind = \"udp_stream\"\n[factors]\n{factors}\n"
        );
        let study = Study::parse("x.toml", &text).unwrap_or_else(|problems| panic!("{problems}"));
        study.plan().excluded.into_iter().map(|dropped| dropped.why).collect()
    }

    #[test]
    fn ipv6_fits_neither_inside_nor_under_a_small_tunnel() {
        // 1300 under the tunnel leave 1250 inside it over IPv4, and 1230 over IPv6.
        let inside = excluded("family = [\"ipv4\", \"ipv6\"]\nunderlay.mtu = [1500, 1300]");
        assert_eq!(inside.len(), 1, "{inside:?}");
        assert!(inside[0].contains("not 1250"), "{inside:?}");
        let under = excluded(
            "family = [\"ipv4\"]\nunderlay.family = [\"ipv4\", \"ipv6\"]\nunderlay.mtu = [1500, 1200]",
        );
        assert_eq!(under.len(), 1, "{under:?}");
        assert!(
            under[0].starts_with("an underlay of IPv6 needs") && under[0].contains("not 1200"),
            "{under:?}"
        );
    }

    #[test]
    fn a_placement_leaves_one_queue_and_says_where_the_interrupts_are() {
        let of_ssh = |factors: &str| {
            let text = format!(
                "name = \"x\"\nquestion = \"q\"\nscenario = \"ssh\"\n[[workload]]\nkind = \"udp_stream\"\n[factors]\n{factors}\n"
            );
            let study = Study::parse("x.toml", &text).unwrap_or_else(|problems| panic!("{problems}"));
            study.plan().excluded.iter().map(|dropped| dropped.why.clone()).collect::<Vec<_>>()
        };
        let placement = "placement = [{ irq = 0, traffic = 1 }, \"default\"]";
        let why = of_ssh(&format!("{placement}\nreceiver.queues = [1, 4]"));
        assert_eq!(why, ["`placement` leaves the receiver's interface one queue, not 4"]);
        let why = of_ssh(&format!("{placement}\nirq_affinity = [0, \"0-1\"]"));
        assert_eq!(why.len(), 1, "{why:?}");
        assert!(why[0].contains("of the transmitter on CPU 0, and `irq_affinity` elsewhere"), "{why:?}");
    }

    #[test]
    fn segments_are_cut_to_what_the_tunnel_leaves() {
        let why = excluded("sender = [\"gso\"]\nmessage = [1440]\nunderlay.mtu = [1500, 9000]");
        assert_eq!(why.len(), 1, "{why:?}");
        assert!(why[0].contains("an MTU of 1450"), "{why:?}");
    }
}
