use super::*;
use crate::kernel::files::fixture::files;

#[test]
fn both_capabilities_make_privileged_and_the_map_tells_the_user_namespace() {
    for (mask, privileged, map, inside) in [
        ("000001ffffffffff", true, "         0          0 4294967295\n", Some(false)),
        ("0000000000201000", true, "         0       1000          1\n", Some(true)),
        ("0000000000001000", false, "", None),
        ("?", false, "", None),
    ] {
        let status = format!("Name:\tx\nCapEff:\t{mask}\n");
        let (_keep, files) = files(&[("proc/self/status", &status), ("proc/self/uid_map", map)]);
        let read = Privileges::read_from(&files);
        assert_eq!((read.privileged(), read.in_user_namespace), (privileged, inside), "{mask}");
    }
}

#[test]
fn the_first_obstacle_to_a_user_namespace_is_named_with_the_way_out() {
    let (_keep, files) = files(&[("proc/self/ns/user", "")]);
    let free = Privileges { max_user_namespaces: Some(100), ..Privileges::read_from(&files) };
    assert_eq!(free.obstacle(), None);
    for (settings, way_out) in [
        (Privileges { max_user_namespaces: Some(0), ..free.clone() }, "user.max_user_namespaces=15000"),
        (
            Privileges { unprivileged_clone: Some(false), ..free.clone() },
            "kernel.unprivileged_userns_clone=1",
        ),
        (
            Privileges { apparmor_restricts: Some(true), ..free.clone() },
            "kernel.apparmor_restrict_unprivileged_userns=0",
        ),
        (Privileges { user_namespaces: false, ..free }, "CONFIG_USER_NS"),
    ] {
        assert!(settings.obstacle().unwrap().contains(way_out), "{settings:?}");
    }
}

#[test]
fn apparmors_restriction_is_named_with_its_profile_unless_a_program_has_its_own() {
    for (restricts, profile, obstacle) in [
        ("1\n", "unconfined\n", Some("(profile `unconfined`): `sysctl kernel.apparmor_restrict")),
        ("1\n", "unprivileged_userns (enforce)\n", Some("(profile `unprivileged_userns (enforce)`)")),
        ("1\n", "", Some("in user namespaces: `sysctl")),
        ("1\n", "netassay (unconfined)\n", None),
        ("0\n", "unconfined\n", None),
        ("", "unconfined\n", None),
    ] {
        let (_keep, files) = files(&[
            ("proc/self/ns/user", ""),
            ("proc/sys/kernel/apparmor_restrict_unprivileged_userns", restricts),
            ("proc/self/attr/apparmor/current", profile),
        ]);
        let found = Privileges::read_from(&files).obstacle();
        assert_eq!(found.is_some(), obstacle.is_some(), "{restricts} {profile}: {found:?}");
        assert!(found.unwrap_or_default().contains(obstacle.unwrap_or_default()), "{profile}");
    }
}

#[test]
fn this_process_is_read() {
    assert!(Privileges::read().user_namespaces);
}

fn status(name: &str) -> String {
    let text = std::fs::read_to_string("/proc/thread-self/status").unwrap();
    field(&text, name).unwrap().to_owned()
}

fn set(name: &str) -> u64 {
    u64::from_str_radix(&status(name), 16).unwrap()
}

/// Makes all capabilities inheritable, as the parent of netassay may have done.
fn inherit_all() {
    let had = thread::capabilities(None).unwrap();
    thread::set_capabilities(None, CapabilitySets { inheritable: had.permitted, ..had }).unwrap();
}

#[test]
fn what_is_not_needed_is_given_up_and_does_not_come_back() {
    std::thread::spawn(|| {
        let before = set("CapEff");
        inherit_all();
        assert_eq!(set("CapInh"), before);
        keep_capabilities(CapabilitySet::NET_ADMIN).unwrap();
        let kept = before & CapabilitySet::NET_ADMIN.bits();
        assert_eq!((set("CapEff"), set("CapPrm"), set("CapInh")), (kept, kept, 0));
        if before & CapabilitySet::SETPCAP.bits() != 0 {
            assert_eq!(set("CapBnd") & !kept, 0);
        }
        assert_eq!(status("NoNewPrivs"), "1");
        assert_eq!(std::thread::spawn(|| set("CapEff")).join().unwrap(), kept);
    })
    .join()
    .unwrap();
}
