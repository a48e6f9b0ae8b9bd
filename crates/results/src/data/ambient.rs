//! Settings of the hosts that no study sets and that affect results: where they differ between the
//! hosts, or from the kernel's default.

use store::StoredStudy;

use crate::words::lists::distinct;

// The sysctls, each with its default; with several, those of successive kernels.
const SYSCTLS: &[(&str, &[&str])] = &[
    ("net.core.busy_poll", &["0"]),
    ("net.core.busy_read", &["0"]),
    ("net.core.netdev_max_backlog", &["1000"]),
    ("net.core.rmem_default", &["212992"]),
    ("net.core.rmem_max", &["212992", "4194304"]),
    ("net.core.wmem_default", &["212992"]),
    ("net.core.wmem_max", &["212992", "4194304"]),
    ("net.ipv4.tcp_ecn", &["2"]),
    ("net.ipv4.tcp_moderate_rcvbuf", &["1"]),
    ("net.ipv4.tcp_reflect_tos", &["0"]),
    ("net.ipv4.tcp_rmem", &["4096 131072 6291456", "4096 131072 33554432"]),
    ("net.ipv4.tcp_sack", &["1"]),
    ("net.ipv4.tcp_timestamps", &["1"]),
    ("net.ipv4.tcp_window_scaling", &["1"]),
    ("net.ipv4.tcp_wmem", &["4096 16384 4194304"]),
];

pub(crate) fn ambient(stored: &StoredStudy) -> Vec<String> {
    let mut lines = Vec::new();
    for environment in stored.boots.iter().map(|boot| &boot.environment) {
        let hosts = [Some(&environment.transmitter), environment.receiver.as_ref()];
        for (name, defaults) in SYSCTLS {
            let found = hosts.map(|host| {
                let (value, memory) = (host?.sysctls.get(*name)?, host?.machine.memory);
                let is_usual = defaults.iter().any(|default| is_default(value, default, memory));
                Some((value.clone(), is_usual))
            });
            // The newest kernel's default is named.
            lines.push(line(name, defaults[defaults.len() - 1], found));
        }
        // Of interfaces; 0 by default. (Receive steering is netassay's own, and recorded.)
        let interfaces = hosts.map(|host| host.map(|host| host.interfaces.values().flatten()));
        let flush = interfaces.clone().map(|all| all?.filter_map(|one| one.gro_flush_timeout).max());
        let defer = interfaces.map(|all| all?.filter_map(|one| one.napi_defer_hard_irqs).max());
        for (name, found) in [("gro_flush_timeout", flush), ("napi_defer_hard_irqs", defer)] {
            let of_host = |value: u64| (value.to_string(), value == 0);
            lines.push(line(name, "0", found.map(|value| value.map(of_host))));
        }
    }
    distinct(lines.into_iter().flatten())
}

/// The value on a host, and whether it is a kernel's default.
type HostSetting = (String, bool);

fn is_default(value: &str, default: &str, memory: Option<u64>) -> bool {
    if value == default {
        return true;
    }
    let (Some((value, most)), Some((default, usual)), Some(memory)) =
        (value.rsplit_once(' '), default.rsplit_once(' '), memory)
    else {
        return false;
    };
    let (Ok(most), Ok(usual)) = (most.parse::<u64>(), usual.parse::<u64>()) else { return false };
    // On small machines TCP's largest buffer is 1/128 of free memory (`tcp_init`,
    // net/ipv4/tcp.c), and a part of the memory is not free.
    value == default && most < usual && (memory / 256..=memory / 128).contains(&most)
}

/// `hosts`: the transmitter, the receiver.
fn line(name: &str, default: &str, hosts: [Option<HostSetting>; 2]) -> Option<String> {
    match hosts {
        [Some((one, one_usual)), Some((other, other_usual))]
            if one != other && !(one_usual && other_usual) =>
        {
            Some(format!(
                "the hosts differ: {name} is {one} at the transmitter, {other} at the receiver (default {default})"
            ))
        }
        [Some((one, false)), _] | [None, Some((one, false))] => {
            Some(format!("{name} is {one}, not {default} as by default"))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host_setting(value: &str, usual: bool) -> Option<HostSetting> {
        Some((value.to_owned(), usual))
    }

    #[test]
    fn nothing_is_reported_of_what_is_usual() {
        for (one, other) in [
            (None, None),
            (host_setting("1", true), host_setting("1", true)),
            (host_setting("1", true), None),
            (host_setting("1", true), host_setting("2", true)),
        ] {
            assert_eq!(line("x", "1", [one, other]), None);
        }
    }

    #[test]
    fn a_difference_and_an_unusual_value_are_reported_in_one_line() {
        let differ = line("x", "1", [host_setting("1", true), host_setting("3", false)]).unwrap();
        assert_eq!(differ, "the hosts differ: x is 1 at the transmitter, 3 at the receiver (default 1)");
        let both = line("x", "1", [host_setting("3", false), host_setting("3", false)]).unwrap();
        assert_eq!(both, "x is 3, not 1 as by default");
        assert_eq!(line("x", "1", [None, host_setting("3", false)]), Some(both.clone()));
        assert_eq!(line("x", "1", [host_setting("3", false), None]), Some(both));
    }

    #[test]
    fn a_small_machine_has_small_buffers_by_default() {
        let default = "4096 131072 6291456";
        let memory = Some(512 << 20);
        assert!(is_default(default, default, None));
        assert!(is_default("4096 131072 3932160", default, memory));
        assert!(!is_default("4096 131072 3932160", default, Some(64 << 30)));
        assert!(!is_default("4096 87380 3932160", default, memory));
        assert!(!is_default("4096 131072 262144", default, memory));
        assert!(!is_default("5000", "1000", memory));
    }
}
