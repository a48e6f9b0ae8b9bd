//! Problems of the testbed: guests, tunnels, exact mode, designs.

use crate::{VALID, added, problems};

#[test]
fn factors_that_cannot_act_are_refused() {
    shows!(added(
        "receiver.tso = [\"on\", \"off\"]\ntransmitter.tso = [\"on\", \"off\"]\nmessage = [1, 2]\n"
    ));
    shows!(problems(&VALID.replace("veth", "loopback").replace("tso =", "receiver.gro =")));
    shows!(problems(
        &VALID
            .replace("\"tcp_stream\"", "\"tcp_stream\"\nflows = 2")
            .replace("tso =", "flows = [1, 4]\ntso =")
    ));
}

/// A study inside or on virtual machines, with these lines at the top and at the end.
fn of_guests(scenario: &str, top: &str, end: &str) -> String {
    problems(&format!(
        "name = \"x\"\nquestion = \"q\"\nscenario = \"{scenario}\"\n{top}\n[[workload]]\nkind = \"udp_stream\"\n{end}\n"
    ))
}

#[test]
fn virtual_machines_are_asked_for_where_there_are_some() {
    shows!(of_guests("veth", "[guest]\nvcpus = 2", "[factors]\nkernel = [\"a\", \"b\"]\nnic = \"e1000e\""));
    shows!(of_guests("veth", "inside = \"guest\"", "[guest]\nnic = \"e1000e\""));
    shows!(of_guests("vm", "inside = \"guest\"", ""));
    assert_eq!(
        of_guests("vm", "", "[guest]\nnic = \"e1000e\"\nmemory = \"1 GiB\"\npin = false"),
        "no problem"
    );
}

#[test]
fn values_of_virtual_machines_have_their_limits() {
    shows!(of_guests(
        "vm",
        "",
        "[guest]\nkernel = \"\"\ncommand_line = \"quiet  nosmt\"\nvcpus = 0\nmemory = \"64MiB\"\nnic = \"virtio\"\n\
         acceleration = \"tcg\"\ncpus = 1\n\
         [factors]\ncommand_line = [\"rdinit=/bin/sh\", \"default\"]\nvcpus = [65]"
    ));
    shows!(of_guests("vm", "", "[guest]\nvcpus = 2\nmemory = \"much\"\n[factors]\nvcpus = [1, 2]"));
}

#[test]
fn an_underlay_lies_under_a_tunnel() {
    shows!(of_guests(
        "veth",
        "[underlay]\nfamily = \"ipv6\"",
        "[factors]\nunderlay.tso = [\"on\", \"off\"]\n\"transmitter.underlay.gso\" = [\"on\", \"off\"]"
    ));
    shows!(of_guests(
        "vxlan",
        "",
        "[underlay]\nmtu = 9000\n[factors]\nunderlay.mtu = [1500, 9000]\nunderlay.receiver.tso = \"on\"\n\
         transmitter.underlay.mtu = 9000\nunderlay.kernel = \"a\"\nreceiver.underlay = \"off\""
    ));
    let known = "[factors]\nunderlay.family = [\"ipv4\", \"ipv6\"]\nreceiver.underlay.offloads = [\"default\", \"none\"]";
    assert_eq!(of_guests("vxlan", "", known), "no problem");
}

#[test]
fn a_setting_of_a_device_needs_a_device() {
    let ring = "[factors]\nrx_ring = [\"default\", 256]\nreceiver.adaptive_rx = [\"on\", \"off\"]";
    for scenario in ["loopback", "veth", "vxlan"] {
        shows!(of_guests(scenario, "", ring));
    }
    shows!(of_guests("vm-vxlan", "", "[factors]\nrx_ring = [256, 2000000]\nqueues = \"many\"\npause_rx = 1"));
    assert_eq!(of_guests("vm", "", ring), "no problem");
    let under = "[factors]\nunderlay.rx_queues = [1, 2]\ntransmitter.underlay.tx_queues = [\"default\", 2]";
    assert_eq!(of_guests("vxlan", "", under), "no problem");
}

#[test]
fn settings_of_machines_are_factors_between_machines() {
    let levels = "[factors]\nreceiver.placement = [{ irq = 0, traffic = 0 }, \"irq0-traffic1\", \"default\"]\n\
        governor = [\"performance\", \"default\"]\ncpu_latency = [0, \"default\"]\n\
        transmitter.irq_affinity = [\"0-1\", [3, 2], 0]\nreceiver.flow_hash_udp4 = [\"sd\", \"fnds\", \"default\"]\n\
        receiver.sysctl = [{ \"net.core.netdev_budget\" = 300, \"net.ipv4.tcp_rmem\" = \"4096  87380 100000\" }, \"net.ipv4.tcp_rmem=1 2 3 net.core.netdev_budget=600\"]\n\
        [[comparison]]\nbaseline = { receiver.sysctl = \"net.core.netdev_budget=600 net.ipv4.tcp_rmem=1 2 3\", receiver.placement = { irq = 0, traffic = 1 }, governor = \"default\", cpu_latency = 0, \
        transmitter.irq_affinity = [[2, 3]], receiver.flow_hash_udp4 = \"sdfn\" }";
    assert_eq!(of_guests("ssh", "", levels), "no problem");
    assert_eq!(
        of_guests("veth", "", "[factors]\nreceiver.placement = { irq = 0, traffic = 1 }"),
        "no problem"
    );
    assert_eq!(of_guests("vxlan", "", "[factors]\nsysctl = \"net.ipv4.tcp_rmem=1 2 3\""), "no problem");
    shows!(of_guests(
        "veth",
        "",
        "[factors]\nreceiver.sysctl = \"vm.swappiness=1\"\ngovernor = \"performance\"\nunderlay.placement = \"default\""
    ));
    shows!(of_guests(
        "ssh",
        "",
        "[factors]\nplacement = [{ irq = 0 }, \"0:1\", 1]\nirq_affinity = [\"a\", [], -1]\nflow_hash_tcp6 = [\"sx\", \"ss\", 1]\n\
         cpu_latency = \"none\"\ngovernor = \"../x\""
    ));
    shows!(of_guests(
        "ssh",
        "",
        "[factors]\nsysctl = [{}, \"default\", { \"vm.swappiness\" = \"a=b\" }, \"../x=1\", 7, { \"fs.x\" = 1 }, \"net.a=1 net.a=2\"]\n\
         receiver.sysctl = [\"net.core.netdev_budget=1\", { \"net.core.dev_weight\" = 1 }]"
    ));
}

#[test]
fn exact_mode_has_one_cpu_and_one_guest() {
    shows!(of_guests("veth", "exact = true", "[guest]\nvcpus = 2\nacceleration = \"kvm\""));
    shows!(of_guests("veth", "exact = true", "[factors]\nvcpus = [1, 2]"));
    shows!(of_guests("vm-vxlan", "exact = true", ""));
    shows!(of_guests(
        "veth",
        "",
        "[[comparison]]\nmetric = \"instructions_packet\"\n[[comparison]]\nmetric = \"host_cpu\""
    ));
    let compared =
        "[factors]\nkernel = [\"a\", \"b\"]\n[[comparison]]\nmetric = \"kernel_instructions_packet\"";
    assert_eq!(of_guests("veth", "exact = \"on\"", compared), "no problem");
}

#[test]
fn exact_mode_is_one_thread_whose_work_is_always_the_same() {
    let exact = |rest: &str| {
        problems(&format!("name = \"x\"\nquestion = \"q\"\nscenario = \"veth\"\nexact = true\n{rest}"))
    };
    shows!(exact(
        "[[workload]]\nkind = \"tcp_crr\"\n[[workload]]\nkind = \"udp_rr\"\nflows = 2\nin_flight = 4\n\
         rate = 100\nconnected = \"off\"\n[[workload]]\nkind = \"udp_stream\"\nsender = \"zerocopy\"\n\
         direction = \"both\"\npacing = \"1Mbit\"\nbusy_poll = \"50us\"\nverify = true\n\
         [[workload]]\nkind = \"tcp_stream\"\nsender = \"zerocopy\"\n"
    ));
    shows!(exact(
        "[[workload]]\nkind = \"udp_stream\"\n[[workload]]\nkind = \"udp_rr\"\n[factors]\nflows = [1, 8]\n\
         sender = [\"send\", \"gso\", \"zerocopy\"]\nconnected = [\"on\", \"off\"]\nrate = [\"default\", 100]\n"
    ));
    let ladder = "[[workload]]\nkind = \"udp_stream\"\n[factors]\nsender = [\"send\", \"sendmmsg\", \"gso\"]\n\
         reader = [\"recv\", \"gro\", \"spin\"]\nconnected = [\"on\", \"off\"]\n";
    assert_eq!(exact(ladder), "no problem");
}

#[test]
fn a_design_turns_features_on_and_off() {
    shows!(added(
        "[design]\nkind = \"ladder\"\noffloads = [\"tso\", \"mtu\", \"transmitter.gso\", \"gso\", \"turbo\", 1]\nmost = 8\nwidth = 1"
    ));
    shows!(added("[design]\nkind = \"star\"\noffloads = []"));
    shows!(added("[design]"));
}

#[test]
fn a_design_has_a_size() {
    let design = |kind: &str, offloads: &[&str]| {
        let names: Vec<String> = offloads.iter().map(|name| format!("\"{name}\"")).collect();
        added(&format!("[design]\nkind = \"{kind}\"\noffloads = [{}]\n", names.join(", ")))
    };
    let many = [
        "gso",
        "gro",
        "rx",
        "tx",
        "sg",
        "lro",
        "rxvlan",
        "txvlan",
        "rxhash",
        "ntuple",
        "ufo",
        "highdma",
        "rx-gro-hw",
        "rx-gro-list",
    ];
    shows!(design("factorial", &many));
    shows!(design("fractional", &many));
    let few = added("[design]\nkind = \"fractional\"\nmost = 4\noffloads = [\"gso\", \"gro\", \"rx\"]");
    shows!(few);
    assert_eq!(design("ladder", &many), "no problem");
}

#[test]
fn a_study_of_several_states_does_not_stop_early() {
    shows!(problems(
        "name = \"x\"\nquestion = \"q\"\nscenario = \"veth\"\ninside = \"guest\"\n[[workload]]\nkind = \"udp_stream\"\n\
         [factors]\nvcpus = [1, 2]\n[protocol]\nboots = 10\nstop = { detect = \"2%\" }\n"
    ));
}

#[test]
fn kernels_of_machines_change_when_they_restart() {
    let of = |scenario: &str, boots: &str| {
        let kernels = "[factors]\nkernel = [\"6.1.0-47-amd64\", \"running\"]";
        of_guests(scenario, "", &format!("{kernels}\n[protocol]\nboots = {boots}"))
    };
    assert_eq!(of("ssh", "{ how = \"reboot\", count = 2 }"), "no problem");
    assert_eq!(of("ssh-vxlan", "{ how = \"reboot\", count = 2 }"), "no problem");
    shows!(of("ssh", "{ how = \"reset\", count = 2 }"));
    shows!(of("veth", "2"));
}

#[test]
fn only_machines_are_restarted() {
    let boots = |value: &str| format!("[protocol]\nboots = {value}");
    for kind in ["reset", "reboot"] {
        assert_eq!(of_guests("ssh", "", &boots(&format!("{{ how = \"{kind}\", count = 2 }}"))), "no problem");
    }
    assert_eq!(of_guests("veth", "", &boots("{ how = \"reset\" }")), "no problem");
    shows!(of_guests("veth", "", &boots("{ how = \"reboot\", count = 3 }")));
    shows!(of_guests("vm", "", &boots("{ how = \"reboot\" }")));
    shows!(of_guests("loopback", "inside = \"guest\"", &boots("{ how = \"reboot\" }")));
    shows!(of_guests("ssh", "", &boots("{ how = \"restart\", count = 0, kind = 1 }")));
    shows!(of_guests("ssh", "", &boots("\"three\"")));
}
