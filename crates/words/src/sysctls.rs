//! Sysctls with their values, as one level of a factor has them.

use std::collections::BTreeMap;

use crate::turn::NOT_COMPARED;

/// Sysctls that the kernel reads anew for every packet, call or poll, so that a new value acts at
/// once (Linux 6.18: checked where each is read, not only where it is stored). Excluded: values
/// that a socket copies when it is created (`net.core.busy_read`), that are agreed on with the peer
/// (`net.ipv4.tcp_sack`), and limits of buffers that have grown already (`net.ipv4.tcp_rmem`).
const PER_PACKET: &[&str] = &[
    "net.core.dev_weight",
    "net.core.dev_weight_rx_bias",
    "net.core.dev_weight_tx_bias",
    "net.core.gro_normal_batch",
    "net.core.netdev_budget",
    "net.core.netdev_budget_usecs",
    "net.core.netdev_tstamp_prequeue",
    "net.core.skb_defer_max",
    "net.ipv4.ip_default_ttl",
    "net.ipv4.ip_early_demux",
    "net.ipv4.tcp_autocorking",
    "net.ipv4.tcp_backlog_ack_defer",
    "net.ipv4.tcp_early_demux",
    "net.ipv4.tcp_min_tso_segs",
    "net.ipv4.tcp_tso_rtt_log",
    "net.ipv4.tcp_tso_win_divisor",
    "net.ipv4.udp_early_demux",
];

/// Sysctls that are also read each time, but bound a queue or set a timer, a pace or a window:
/// packets that are queued or slowed down already outlast the old value.
const HOLDING: &[&str] = &[
    "net.core.netdev_max_backlog",
    "net.ipv4.tcp_comp_sack_delay_ns",
    "net.ipv4.tcp_comp_sack_nr",
    "net.ipv4.tcp_comp_sack_slack_ns",
    "net.ipv4.tcp_limit_output_bytes",
    "net.ipv4.tcp_notsent_lowat",
    "net.ipv4.tcp_pacing_ca_ratio",
    "net.ipv4.tcp_pacing_ss_ratio",
    "net.ipv4.tcp_slow_start_after_idle",
];

/// Whether a new value of a sysctl acts on sockets that carry traffic already.
#[must_use]
pub fn acts_at_once(sysctl: &str) -> bool {
    PER_PACKET.contains(&sysctl) || HOLDING.contains(&sysctl)
}

/// The doubt about turns of two values of a sysctl. Those of the whole machine cannot be switched
/// in namespaces, in which turns are compared with runs.
pub(crate) fn doubt(sysctl: &str) -> Option<&'static str> {
    match sysctl {
        held if HOLDING.contains(&held) => {
            Some("what waits in a queue, or for a timer, is there after the turn")
        }
        of_machine if of_machine.starts_with("net.core.") => Some(NOT_COMPARED),
        _ => None,
    }
}

/// Reads `net.core.netdev_budget=300 net.ipv4.tcp_rmem=4096 131072 6291456`: words without `=`
/// belong to the value before them.
///
/// # Errors
/// If the text is not a list of sysctls.
pub fn parse_sysctls(text: &str) -> Result<BTreeMap<String, String>, &'static str> {
    let mut all: BTreeMap<String, String> = BTreeMap::new();
    let mut last: Option<String> = None;
    for word in text.split_whitespace() {
        if let Some((name, value)) = word.split_once('=') {
            if all.insert(name.to_owned(), value.to_owned()).is_some() {
                return Err("one is there twice");
            }
            last = Some(name.to_owned());
        } else {
            let value = last.as_ref().and_then(|name| all.get_mut(name));
            let value = value.ok_or("each is written NAME=VALUE")?;
            value.extend([if value.is_empty() { "" } else { " " }, word]);
        }
    }
    if all.is_empty() { Err("it names none") } else { Ok(all) }
}

/// Writes sysctls in the form that [`parse_sysctls`] reads, by name.
#[must_use]
pub fn format_sysctls(all: &BTreeMap<String, String>) -> String {
    let written: Vec<String> = all.iter().map(|(name, value)| format!("{name}={value}")).collect();
    written.join(" ")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_value_may_have_several_words() {
        let text = "net.ipv4.tcp_rmem=4096 131072 6291456  net.core.netdev_budget=300";
        let all = parse_sysctls(text).unwrap();
        assert_eq!(all["net.ipv4.tcp_rmem"], "4096 131072 6291456");
        assert_eq!(format_sysctls(&all), "net.core.netdev_budget=300 net.ipv4.tcp_rmem=4096 131072 6291456");
        for wrong in ["", " ", "300", "300 a=1", "a=1 a=2"] {
            assert!(parse_sysctls(wrong).is_err(), "{wrong:?}");
        }
        assert!(acts_at_once("net.ipv4.tcp_autocorking") && !acts_at_once("net.core.busy_read"));
    }

    #[test]
    fn the_page_about_turns_lists_what_acts_at_once() {
        let page = include_str!("../../../docs/studies.md");
        for (names, before) in [(PER_PACKET, "call or poll: "), (HOLDING, "on request only: ")] {
            let list: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
            assert!(page.contains(&format!("{before}{}.", list.join(", "))), "{list:?}");
            assert!(names.is_sorted());
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(
            all in prop::collection::btree_map("[a-z.]{1,9}", "[0-9]{0,3}( [0-9]{1,3}){0,2}", 1..4)
        ) {
            let all: BTreeMap<String, String> = all.into_iter().map(|(name, value)| (name, value.trim().to_owned())).collect();
            prop_assert_eq!(parse_sysctls(&format_sysctls(&all)), Ok(all));
        }

        #[test]
        fn any_text_is_read_or_refused(text in ".{0,40}") {
            if let Ok(all) = parse_sysctls(&text) {
                prop_assert_eq!(parse_sysctls(&format_sysctls(&all)), Ok(all));
            }
        }
    }
}
