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

// The sysctls that a study may change: exactly those whose full effect is one value, so that
// writing the old value back undoes it. The sources are the kernel's handlers
// (`net/ipv4/sysctl_net_ipv4.c`, `net/core/sysctl_net_core.c`, `kernel/sysctl.c` and others, Linux
// 6.18): a handler that only stores the value, or whose state follows from the value alone.

/// The sysctls that may be changed.
pub const SYSCTLS: &[&str] = &[
    "kernel.nmi_watchdog",
    "kernel.numa_balancing",
    "kernel.sched_autogroup_enabled",
    "kernel.sched_cfs_bandwidth_slice_us",
    "kernel.timer_migration",
    "net.core.busy_poll",
    "net.core.busy_read",
    "net.core.dev_weight",
    "net.core.dev_weight_rx_bias",
    "net.core.dev_weight_tx_bias",
    "net.core.gro_normal_batch",
    "net.core.high_order_alloc_disable",
    "net.core.max_skb_frags",
    "net.core.mem_pcpu_rsv",
    "net.core.netdev_budget",
    "net.core.netdev_budget_usecs",
    "net.core.netdev_max_backlog",
    "net.core.netdev_tstamp_prequeue",
    "net.core.optmem_max",
    "net.core.rmem_default",
    "net.core.rmem_max",
    "net.core.skb_defer_max",
    "net.core.somaxconn",
    "net.core.txrehash",
    "net.core.wmem_default",
    "net.core.wmem_max",
    "net.ipv4.ip_autobind_reuse",
    "net.ipv4.ip_default_ttl",
    "net.ipv4.ip_early_demux",
    "net.ipv4.ip_local_port_range",
    "net.ipv4.ip_local_reserved_ports",
    "net.ipv4.ip_no_pmtu_disc",
    "net.ipv4.ipfrag_high_thresh",
    "net.ipv4.ipfrag_low_thresh",
    "net.ipv4.ipfrag_max_dist",
    "net.ipv4.ipfrag_time",
    "net.ipv4.tcp_abort_on_overflow",
    "net.ipv4.tcp_adv_win_scale",
    "net.ipv4.tcp_app_win",
    "net.ipv4.tcp_autocorking",
    "net.ipv4.tcp_backlog_ack_defer",
    "net.ipv4.tcp_base_mss",
    "net.ipv4.tcp_challenge_ack_limit",
    "net.ipv4.tcp_comp_sack_delay_ns",
    "net.ipv4.tcp_comp_sack_nr",
    "net.ipv4.tcp_comp_sack_slack_ns",
    "net.ipv4.tcp_dsack",
    "net.ipv4.tcp_early_demux",
    "net.ipv4.tcp_early_retrans",
    "net.ipv4.tcp_ecn",
    "net.ipv4.tcp_ecn_fallback",
    "net.ipv4.tcp_fin_timeout",
    "net.ipv4.tcp_frto",
    "net.ipv4.tcp_invalid_ratelimit",
    "net.ipv4.tcp_keepalive_intvl",
    "net.ipv4.tcp_keepalive_probes",
    "net.ipv4.tcp_keepalive_time",
    "net.ipv4.tcp_limit_output_bytes",
    "net.ipv4.tcp_max_reordering",
    "net.ipv4.tcp_max_syn_backlog",
    "net.ipv4.tcp_max_tw_buckets",
    "net.ipv4.tcp_mem",
    "net.ipv4.tcp_min_rtt_wlen",
    "net.ipv4.tcp_min_snd_mss",
    "net.ipv4.tcp_min_tso_segs",
    "net.ipv4.tcp_moderate_rcvbuf",
    "net.ipv4.tcp_mtu_probe_floor",
    "net.ipv4.tcp_mtu_probing",
    "net.ipv4.tcp_no_metrics_save",
    "net.ipv4.tcp_no_ssthresh_metrics_save",
    "net.ipv4.tcp_notsent_lowat",
    "net.ipv4.tcp_orphan_retries",
    "net.ipv4.tcp_pacing_ca_ratio",
    "net.ipv4.tcp_pacing_ss_ratio",
    "net.ipv4.tcp_pingpong_thresh",
    "net.ipv4.tcp_plb_cong_thresh",
    "net.ipv4.tcp_plb_enabled",
    "net.ipv4.tcp_plb_idle_rehash_rounds",
    "net.ipv4.tcp_plb_rehash_rounds",
    "net.ipv4.tcp_plb_suspend_rto_sec",
    "net.ipv4.tcp_probe_interval",
    "net.ipv4.tcp_probe_threshold",
    "net.ipv4.tcp_recovery",
    "net.ipv4.tcp_reordering",
    "net.ipv4.tcp_retrans_collapse",
    "net.ipv4.tcp_retries1",
    "net.ipv4.tcp_retries2",
    "net.ipv4.tcp_rmem",
    "net.ipv4.tcp_rto_max_ms",
    "net.ipv4.tcp_rto_min_us",
    "net.ipv4.tcp_sack",
    "net.ipv4.tcp_shrink_window",
    "net.ipv4.tcp_slow_start_after_idle",
    "net.ipv4.tcp_syn_linear_timeouts",
    "net.ipv4.tcp_syn_retries",
    "net.ipv4.tcp_synack_retries",
    "net.ipv4.tcp_syncookies",
    "net.ipv4.tcp_thin_linear_timeouts",
    "net.ipv4.tcp_timestamps",
    "net.ipv4.tcp_tso_rtt_log",
    "net.ipv4.tcp_tso_win_divisor",
    "net.ipv4.tcp_tw_reuse",
    "net.ipv4.tcp_window_scaling",
    "net.ipv4.tcp_wmem",
    "net.ipv4.tcp_workaround_signed_windows",
    "net.ipv4.udp_early_demux",
    "net.ipv4.udp_mem",
    "net.ipv4.udp_rmem_min",
    "net.ipv4.udp_wmem_min",
    "net.ipv6.auto_flowlabels",
    "net.ipv6.ip6frag_high_thresh",
    "net.ipv6.ip6frag_low_thresh",
    "net.ipv6.ip6frag_time",
    "net.unix.max_dgram_qlen",
    "vm.page-cluster",
    "vm.stat_interval",
    "vm.swappiness",
    "vm.vfs_cache_pressure",
    "vm.zone_reclaim_mode",
];

/// The side effects of sysctls, by prefix.
const MORE: &[(&str, &str)] = &[
    ("kernel.randomize_va_space", "programs that start meanwhile keep it for their life"),
    ("kernel.watchdog", "writing it also sets kernel.nmi_watchdog and kernel.soft_watchdog"),
    ("net.core.default_qdisc", "writing it loads a kernel module, and interfaces made meanwhile keep it"),
    ("net.core.flow_limit", "writing it makes or removes tables of the interfaces' CPUs"),
    ("net.core.rps_sock_flow_entries", "writing it replaces a table that the kernel has filled"),
    ("net.ipv4.conf.", "writing it marks it as set by hand, and routes or other interfaces follow it"),
    ("net.ipv4.ip_forward", "writing it also sets `forwarding` of every interface, and resets others"),
    ("net.ipv4.neigh.", "writing it marks it as set by hand, and interfaces follow the default"),
    ("net.ipv4.route.flush", "writing it is an action"),
    ("net.ipv4.tcp_allowed_congestion_control", "writing it changes what other namespaces may choose"),
    (
        "net.ipv4.tcp_congestion_control",
        "writing it loads a kernel module and lets every user choose it; a study's key `congestion_control` does without",
    ),
    ("net.ipv4.tcp_fastopen", "writing it resets keys or timers"),
    ("net.ipv6.conf.", "writing it adds or removes addresses and routes, or other interfaces follow it"),
    ("net.ipv6.neigh.", "writing it marks it as set by hand, and interfaces follow the default"),
    ("net.ipv6.route.flush", "writing it is an action"),
    ("vm.compact", "writing it is an action"),
    ("vm.dirty_", "writing a share sets the number of bytes to 0 and the other way round"),
    ("vm.drop_caches", "writing it is an action"),
    ("vm.min_free_kbytes", "after a write the kernel no longer chooses the value"),
    ("vm.nr_", "writing it moves memory"),
    ("vm.overcommit_", "writing a share sets the number of bytes to 0 and the other way round"),
];

/// Whether a study may change a sysctl.
///
/// # Errors
/// Why not, as the end of a sentence.
pub fn check_sysctl(name: &str) -> Result<(), String> {
    if SYSCTLS.contains(&name) {
        return Ok(());
    }
    let more = MORE.iter().find(|(begin, _)| name.starts_with(begin));
    Err(match more {
        Some((_, why)) => format!("its effect is more than its value, so it could not be undone: {why}"),
        None => "it is not on the list of sysctls that a study may change (docs/studies.md): writing \
                 it may change more than its own value"
            .to_owned(),
    })
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

#[cfg(test)]
mod changeable_sysctl_tests {
    use super::*;

    #[test]
    fn what_has_side_effects_is_refused_with_the_reason() {
        for (name, why) in [
            ("net.ipv4.ip_forward", "`forwarding` of every interface"),
            ("net.core.default_qdisc", "loads a kernel module"),
            ("net.ipv6.conf.all.disable_ipv6", "addresses and routes"),
            ("net.ipv6.conf.eth0/1.forwarding", "addresses and routes"),
            ("net.ipv4.conf.all.forwarding", "set by hand"),
            ("net.ipv4.tcp_congestion_control", "loads a kernel module"),
            ("vm.dirty_ratio", "number of bytes to 0"),
            ("vm.drop_caches", "an action"),
            ("kernel.core_pattern", "not on the list of sysctls"),
            ("net.ipv4.tcp_rmem_", "not on the list of sysctls"),
        ] {
            let refused = check_sysctl(name).unwrap_err();
            assert!(refused.contains(why), "{name}: {refused}");
        }
        assert_eq!(check_sysctl("net.core.rmem_max"), Ok(()));
    }

    #[test]
    fn the_list_is_sorted_and_the_page_of_study_files_has_all_of_it() {
        assert!(SYSCTLS.is_sorted());
        let page = include_str!("../../../docs/studies.md");
        let missing: Vec<&&str> =
            SYSCTLS.iter().filter(|name| !page.contains(&format!("`{name}`"))).collect();
        assert_eq!(missing, [""; 0].iter().collect::<Vec<_>>(), "docs/studies.md, [machine]");
        assert!(SYSCTLS.iter().all(|name| !MORE.iter().any(|(begin, _)| name.starts_with(begin))));
    }
}
