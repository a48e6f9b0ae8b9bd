//! The sysctls of the network.

use std::collections::BTreeMap;

use crate::kernel::files::Files;

/// The machine's sysctls of the network, by name. A network namespace shows only its own, so they
/// are read before entering one, for [`super::Environment::with_hidden`].
#[must_use]
pub fn visible_sysctls() -> BTreeMap<String, String> {
    read(&Files::system())
}

/// The available settings of [`NAMES`]: numbers on one line, separated by single spaces.
pub(super) fn read(files: &Files) -> BTreeMap<String, String> {
    let read = |name: &&str| {
        let text = files.text(&format!("proc/sys/{}", name.replace('.', "/")))?;
        Some(((*name).to_owned(), text.split_whitespace().collect::<Vec<_>>().join(" ")))
    };
    NAMES.iter().filter_map(read).collect()
}

// Settings that influence speed or loss of packets.
const NAMES: &[&str] = &[
    "kernel.numa_balancing",
    "kernel.perf_event_paranoid",
    "kernel.randomize_va_space",
    "kernel.sched_autogroup_enabled",
    "kernel.sched_rt_runtime_us",
    "kernel.timer_migration",
    "kernel.unprivileged_bpf_disabled",
    "net.core.bpf_jit_enable",
    "net.core.bpf_jit_harden",
    "net.core.busy_poll",
    "net.core.busy_read",
    "net.core.default_qdisc",
    "net.core.dev_weight",
    "net.core.flow_limit_cpu_bitmap",
    "net.core.gro_normal_batch",
    "net.core.high_order_alloc_disable",
    "net.core.mem_pcpu_rsv",
    "net.core.netdev_budget",
    "net.core.netdev_budget_usecs",
    "net.core.netdev_max_backlog",
    "net.core.netdev_tstamp_prequeue",
    "net.core.optmem_max",
    "net.core.rmem_default",
    "net.core.rmem_max",
    "net.core.rps_default_mask",
    "net.core.rps_sock_flow_entries",
    "net.core.skb_defer_max",
    "net.core.tstamp_allow_data",
    "net.core.warnings",
    "net.core.wmem_default",
    "net.core.wmem_max",
    "net.ipv4.conf.all.rp_filter",
    "net.ipv4.ip_early_demux",
    "net.ipv4.ip_forward",
    "net.ipv4.ip_local_port_range",
    "net.ipv4.ip_no_pmtu_disc",
    "net.ipv4.tcp_adv_win_scale",
    "net.ipv4.tcp_allowed_congestion_control",
    "net.ipv4.tcp_autocorking",
    "net.ipv4.tcp_backlog_ack_defer",
    "net.ipv4.tcp_comp_sack_delay_ns",
    "net.ipv4.tcp_congestion_control",
    "net.ipv4.tcp_early_demux",
    "net.ipv4.tcp_ecn",
    "net.ipv4.tcp_limit_output_bytes",
    "net.ipv4.tcp_mem",
    "net.ipv4.tcp_min_tso_segs",
    "net.ipv4.tcp_moderate_rcvbuf",
    "net.ipv4.tcp_mtu_probing",
    "net.ipv4.tcp_no_metrics_save",
    "net.ipv4.tcp_notsent_lowat",
    "net.ipv4.tcp_pacing_ca_ratio",
    "net.ipv4.tcp_pacing_ss_ratio",
    "net.ipv4.tcp_reflect_tos",
    "net.ipv4.tcp_rmem",
    "net.ipv4.tcp_sack",
    "net.ipv4.tcp_shrink_window",
    "net.ipv4.tcp_slow_start_after_idle",
    "net.ipv4.tcp_timestamps",
    "net.ipv4.tcp_tso_rtt_log",
    "net.ipv4.tcp_tso_win_divisor",
    "net.ipv4.tcp_window_scaling",
    "net.ipv4.tcp_wmem",
    "net.ipv4.udp_early_demux",
    "net.ipv4.udp_mem",
    "net.ipv4.udp_rmem_min",
    "net.ipv4.udp_wmem_min",
    "net.ipv6.auto_flowlabels",
    "net.ipv6.conf.all.disable_ipv6",
    "net.ipv6.conf.all.forwarding",
    "vm.swappiness",
    "vm.zone_reclaim_mode",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_are_in_order_and_none_is_there_twice() {
        assert!(NAMES.is_sorted_by(|a, b| a < b), "{NAMES:?}");
    }
}
