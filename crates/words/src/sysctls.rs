//! Sysctls with their values, as one level of a factor has them.

use std::collections::BTreeMap;

use crate::turn::NOT_COMPARED;

/// The sysctls that a study may change, each with the word for one that acts at once.
fn table() -> impl Iterator<Item = (&'static str, Option<&'static str>)> {
    let lines = include_str!("sysctls.txt").lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| line.split_once(' ').map_or((line, None), |(name, word)| (name, Some(word))))
}

/// The sysctls that a study may change.
pub fn sysctls() -> impl Iterator<Item = &'static str> {
    table().map(|(name, _)| name)
}

/// The word of the table for a sysctl that acts at once: `packet` or `queue`.
fn acting(sysctl: &str) -> Option<&'static str> {
    table().find(|(name, _)| *name == sysctl)?.1
}

/// Whether a new value of a sysctl acts on sockets that carry traffic already.
pub fn acts_at_once(sysctl: &str) -> bool {
    acting(sysctl).is_some()
}

/// The doubt about turns of two values of a sysctl. Those of the whole machine cannot be switched
/// in namespaces, in which turns are compared with runs.
pub(crate) fn doubt(sysctl: &str) -> Option<&'static str> {
    if acting(sysctl) == Some("queue") {
        return Some("what waits in a queue, or for a timer, is there after the turn");
    }
    sysctl.starts_with("net.core.").then_some(NOT_COMPARED)
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
pub fn format_sysctls(all: &BTreeMap<String, String>) -> String {
    let written: Vec<String> = all.iter().map(|(name, value)| format!("{name}={value}")).collect();
    written.join(" ")
}

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
    if sysctls().any(|changeable| changeable == name) {
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
        for (word, before) in [("packet", "call or poll: "), ("queue", "on request only: ")] {
            let names = table().filter(|(_, of_name)| *of_name == Some(word));
            let list: Vec<String> = names.map(|(name, _)| format!("`{name}`")).collect();
            assert!(page.contains(&format!("{before}{}.", list.join(", "))), "{list:?}");
        }
        assert!(table().all(|(_, word)| matches!(word, None | Some("packet" | "queue"))));
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
        assert!(sysctls().is_sorted());
        let page = include_str!("../../../docs/studies.md");
        let missing: Vec<&str> = sysctls().filter(|name| !page.contains(&format!("`{name}`"))).collect();
        assert_eq!(missing, [""; 0], "docs/studies.md, [machine]");
        assert!(sysctls().all(|name| !MORE.iter().any(|(begin, _)| name.starts_with(begin))));
    }
}
