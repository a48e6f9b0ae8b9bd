//! Namespaces, wires between them and offload features on the running kernel, as root and as an
//! ordinary user.
//!
//! Every case runs in a process of its own, inside namespaces that it makes itself; the machine's
//! own interfaces are never touched. A case that lacks a privilege says `SKIPPED`, and fails
//! instead with `CI=true`.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "this is a test harness")]
#![expect(clippy::unwrap_used, reason = "a case fails by panicking where it fails")]

mod device;
mod devices;
mod discard;
mod features;
mod harness;
mod journal;
mod limits;
mod peer;
mod tunnel;
mod walls;
mod wire;

use harness::{Case, Identity::Root, Identity::User};

const CASES: &[Case] = &[
    Case { name: "two_namespaces_exchange_packets", identities: &[Root, User], run: wire::exchange },
    Case { name: "mtu_is_set_and_obeyed", identities: &[Root, User], run: wire::mtu },
    Case { name: "queue_drops_are_counted", identities: &[Root, User], run: wire::queue_drops },
    Case { name: "link_limits_are_read", identities: &[Root, User], run: limits::rates },
    Case { name: "a_path_is_impaired", identities: &[Root, User], run: limits::impaired },
    Case { name: "a_wire_vanishes_with_either_end", identities: &[Root, User], run: wire::vanishes },
    Case { name: "refusals_name_thing_and_way_out", identities: &[Root, User], run: wire::refusals },
    Case {
        name: "without_privileges_changes_are_refused",
        identities: &[Root],
        run: wire::without_privileges,
    },
    Case { name: "wires_are_made_fast", identities: &[Root, User], run: wire::fast },
    Case { name: "a_tunnel_is_made_once", identities: &[Root, User], run: tunnel::made },
    Case { name: "a_tunnels_port_in_use_is_named", identities: &[Root, User], run: tunnel::port_in_use },
    Case { name: "a_bridge_carries_packets", identities: &[Root, User], run: tunnel::bridged },
    Case { name: "a_tap_is_made", identities: &[Root, User], run: tunnel::tap },
    Case { name: "each_discarding_device_discards", identities: &[Root, User], run: discard::each },
    Case { name: "a_discarding_device_is_found", identities: &[Root, User], run: discard::found },
    Case {
        name: "features_are_set_and_read_back",
        identities: &[Root, User],
        run: features::set_and_read_back,
    },
    Case { name: "checksums_off_drags_segmentation", identities: &[Root, User], run: features::dragged },
    Case {
        name: "features_that_cannot_be_had_are_refused",
        identities: &[Root, User],
        run: features::refused,
    },
    Case { name: "features_are_those_of_ethtool", identities: &[Root, User], run: features::as_ethtool_says },
    Case { name: "settings_of_a_device_are_set_and_read_back", identities: &[Root, User], run: device::set },
    Case {
        name: "settings_of_a_device_that_cannot_be_had_are_refused",
        identities: &[Root, User],
        run: device::refused,
    },
    Case {
        name: "counters_of_a_driver_are_those_of_ethtool",
        identities: &[Root, User],
        run: device::counters,
    },
    Case {
        name: "queues_and_what_follows_come_back_after_a_kill",
        identities: &[Root, User],
        run: devices::queues_after_a_kill,
    },
    Case { name: "environment_shows_this_namespace", identities: &[Root, User], run: features::environment },
    Case { name: "changes_are_journalled_and_undone", identities: &[Root, User], run: journal::undone },
    Case {
        name: "each_allowed_sysctl_comes_back_after_a_kill",
        identities: &[Root, User],
        run: journal::restored,
    },
    Case { name: "a_kill_at_any_system_call_loses_nothing", identities: &[Root, User], run: journal::killed },
    Case {
        name: "an_mtu_without_ipv6_comes_back_after_a_kill",
        identities: &[Root, User],
        run: devices::mtu_after_a_kill,
    },
    Case {
        name: "features_and_what_follows_come_back_after_a_kill",
        identities: &[Root, User],
        run: devices::features_after_a_kill,
    },
    Case {
        name: "addresses_and_tunnels_vanish_after_a_kill",
        identities: &[Root, User],
        run: devices::addresses_after_a_kill,
    },
    Case {
        name: "an_interface_is_down_again_after_a_kill",
        identities: &[Root, User],
        run: devices::up_after_a_kill,
    },
    Case {
        name: "ipv6_comes_back_as_it_was_with_a_late_carrier",
        identities: &[Root, User],
        run: devices::late_carrier,
    },
    Case {
        name: "a_renamed_interface_is_restored_and_another_is_not",
        identities: &[Root, User],
        run: devices::renamed,
    },
    Case { name: "a_guardian_follows_one_process", identities: &[Root], run: devices::of_one_process },
    Case { name: "namespaces_are_of_a_thread", identities: &[Root, User], run: walls::of_a_thread },
    Case { name: "threads_keep_out_of_user_namespaces", identities: &[Root, User], run: walls::threads },
    Case { name: "sysfs_shows_this_namespace", identities: &[Root, User], run: walls::sysfs },
    Case { name: "receive_work_is_steered_or_refused", identities: &[Root, User], run: walls::steering },
    Case { name: "children_die_with_their_parent", identities: &[Root, User], run: walls::die_with_parent },
    Case {
        name: "a_process_that_dropped_root_enters_a_user_namespace",
        identities: &[Root],
        run: walls::dropped_root,
    },
    Case { name: "privileges_inside_are_seen", identities: &[Root, User], run: walls::privileges },
];

fn main() -> std::process::ExitCode {
    harness::main(CASES)
}
