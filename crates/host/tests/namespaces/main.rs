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

use harness::{AS_BOTH, AS_ROOT, Case, LATER, ROOT_FIRST};

/// The gate runs a case as root, and as an ordinary user too where that user sees something else;
/// `cargo xtask test --all` runs each as both.
const CASES: &[Case] = &[
    Case::new("two_namespaces_exchange_packets", AS_BOTH, wire::exchange),
    Case::new("mtu_is_set_and_obeyed", ROOT_FIRST, wire::mtu),
    Case::new("queue_drops_are_counted", ROOT_FIRST, wire::queue_drops),
    Case::new("link_limits_are_read", ROOT_FIRST, limits::rates),
    Case::new("a_path_is_impaired", ROOT_FIRST, limits::impaired),
    Case::new("a_wire_vanishes_with_either_end", ROOT_FIRST, wire::vanishes),
    Case::new("refusals_name_thing_and_way_out", ROOT_FIRST, wire::refusals),
    Case::new("without_privileges_changes_are_refused", AS_ROOT, wire::without_privileges),
    Case::new("wires_are_made_fast", LATER, wire::fast),
    Case::new("a_tunnel_is_made_once", ROOT_FIRST, tunnel::made),
    Case::new("a_tunnels_port_in_use_is_named", ROOT_FIRST, tunnel::port_in_use),
    Case::new("a_bridge_carries_packets", ROOT_FIRST, tunnel::bridged),
    Case::new("a_tap_is_made", AS_BOTH, tunnel::tap),
    Case::new("each_discarding_device_discards", AS_BOTH, discard::each),
    Case::new("a_discarding_device_is_found", ROOT_FIRST, discard::found),
    Case::new("features_are_set_and_read_back", AS_BOTH, features::set_and_read_back),
    Case::new("checksums_off_drags_segmentation", ROOT_FIRST, features::dragged),
    Case::new("features_that_cannot_be_had_are_refused", ROOT_FIRST, features::refused),
    Case::new("features_are_those_of_ethtool", ROOT_FIRST, features::as_ethtool_says),
    Case::new("settings_of_a_device_are_set_and_read_back", ROOT_FIRST, device::set),
    Case::new("settings_of_a_device_that_cannot_be_had_are_refused", ROOT_FIRST, device::refused),
    Case::new("counters_of_a_driver_are_those_of_ethtool", ROOT_FIRST, device::counters),
    Case::new("queues_and_what_follows_come_back_after_a_kill", ROOT_FIRST, devices::queues_after_a_kill),
    Case::new("environment_shows_this_namespace", ROOT_FIRST, features::environment),
    Case::new("changes_are_journalled_and_undone", AS_BOTH, journal::undone),
    Case::new("each_allowed_sysctl_comes_back_after_a_kill", ROOT_FIRST, journal::restored),
    Case::new("a_kill_at_any_system_call_loses_nothing", ROOT_FIRST, journal::killed),
    Case::new("a_full_disk_stops_the_next_change_and_no_undo", AS_BOTH, journal::full),
    Case::new("an_mtu_without_ipv6_comes_back_after_a_kill", ROOT_FIRST, devices::mtu_after_a_kill),
    Case::new("features_and_what_follows_come_back_after_a_kill", ROOT_FIRST, devices::features_after_a_kill),
    Case::new("addresses_and_tunnels_vanish_after_a_kill", ROOT_FIRST, devices::addresses_after_a_kill),
    Case::new("an_interface_is_down_again_after_a_kill", ROOT_FIRST, devices::up_after_a_kill),
    Case::new("ipv6_comes_back_as_it_was_with_a_late_carrier", LATER, devices::late_carrier),
    Case::new("a_renamed_interface_is_restored_and_another_is_not", ROOT_FIRST, devices::renamed),
    Case::new("an_undo_process_follows_one_process", AS_ROOT, devices::of_one_process),
    Case::new("namespaces_are_of_a_thread", ROOT_FIRST, walls::of_a_thread),
    Case::new("sysfs_shows_this_namespace", AS_BOTH, walls::sysfs),
    Case::new("receive_work_is_steered_or_refused", AS_BOTH, walls::steering),
    Case::new("children_die_with_their_parent", ROOT_FIRST, walls::die_with_parent),
    Case::new("a_process_that_dropped_root_enters_a_user_namespace", AS_ROOT, walls::dropped_root),
    Case::new("privileges_inside_are_seen", AS_BOTH, walls::privileges),
];

fn main() -> std::process::ExitCode {
    harness::main(CASES)
}
