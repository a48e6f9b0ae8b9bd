//! Sysctls with their values, as one level of a factor has them.

use std::collections::BTreeMap;

use crate::names::NameError;

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

/// Whether turns of two values of a sysctl are not known to find what runs find.
pub(crate) fn is_doubted(sysctl: &str) -> bool {
    // Packets in a queue, or behind a timer, outlast their turn. Sysctls of the whole machine
    // cannot be switched in namespaces, in which turns are compared with runs.
    acting(sysctl) == Some("queue") || sysctl.starts_with("net.core.")
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

/// Whether a study may change a sysctl: one whose effect is only its value, so that it can be
/// undone.
///
/// # Errors
/// [`NameError::UnlistedSysctl`].
pub fn check_sysctl(name: &str) -> Result<(), NameError> {
    sysctls().any(|changeable| changeable == name).then_some(()).ok_or(NameError::UnlistedSysctl)
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
        for name in [
            "net.ipv4.ip_forward",
            "net.core.default_qdisc",
            "net.ipv6.conf.all.disable_ipv6",
            "net.ipv6.conf.eth0/1.forwarding",
            "net.ipv4.conf.all.forwarding",
            "net.ipv4.tcp_congestion_control",
            "vm.dirty_ratio",
            "vm.drop_caches",
            "kernel.core_pattern",
            "net.ipv4.tcp_rmem_",
        ] {
            assert_eq!(check_sysctl(name), Err(NameError::UnlistedSysctl), "{name}");
        }
        assert_eq!(check_sysctl("net.core.rmem_max"), Ok(()));
    }

    #[test]
    fn the_list_is_sorted_and_the_page_of_study_files_has_all_of_it() {
        assert!(sysctls().is_sorted());
        let page = include_str!("../../../docs/studies.md");
        let missing: Vec<&str> = sysctls().filter(|name| !page.contains(&format!("`{name}`"))).collect();
        assert_eq!(missing, [""; 0], "docs/studies.md, [machine]");
    }
}
