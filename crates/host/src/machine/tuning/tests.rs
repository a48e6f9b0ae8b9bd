use words::Placement;

use super::*;
use crate::kernel::files::fixture::files;

#[test]
fn a_condition_is_a_request_for_the_interface_of_its_traffic() {
    let mut tuning =
        Tuning { governor: Some("performance".to_owned()), irq_affinity: Some(vec![1]), ..Tuning::default() };
    let wanted = MachineRequest::of_condition(&tuning, "eth0");
    assert_eq!(wanted.irq_affinity, [("eth0".to_owned(), vec![1])].into());
    assert_eq!(wanted.governor.as_deref(), Some("performance"));
    tuning.placement = Some(Placement { irq: 1, traffic: 0 });
    let wanted = MachineRequest::of_condition(&tuning, "eth0");
    assert_eq!(wanted.placement, Some(("eth0".to_owned(), 1)));
    assert!(wanted.irq_affinity.is_empty());
    assert!(MachineRequest::of_condition(&Tuning::default(), "eth0").is_empty());
}

#[test]
fn a_sysctl_of_the_whole_machine_is_none_of_a_namespace() {
    let (keep, _) = files(&[("proc/sys/net/core/rmem_max", "1\n"), ("proc/sys/net/core/somaxconn", "1\n")]);
    let machine = Machine::below(keep.path());
    let path = keep.path().join("proc/sys/net/core/rmem_max");
    std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o444)).unwrap();
    for (name, is_shared) in
        [("net.core.rmem_max", true), ("net.core.netdev_budget", true), ("net.core.somaxconn", false)]
    {
        assert_eq!(machine.is_shared(&Target::Sysctl { name: name.to_owned() }), is_shared, "{name}");
    }
    let sysctls = [("net.core.rmem_max".to_owned(), "2".to_owned())].into();
    let refused = MachineRequest { sysctls, ..MachineRequest::default() }.settings(&machine);
    assert!(refused.unwrap_err().to_string().contains("for the whole machine"));
    let target = Target::Sysctl { name: "net.core.netdev_budget".to_owned() };
    let why = machine.set_of_network(&target, "2").unwrap_err().to_string();
    assert!(why.contains("for the whole machine"), "{why}");
}

#[test]
fn what_a_machine_has_is_read_in_words() {
    let (keep, _) = files(&[
        ("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n"),
        ("sys/class/net/eth0/device/msi_irqs/31", "msix"),
        ("sys/class/net/eth0/device/msi_irqs/30", "msix"),
        ("proc/sys/net/core/netdev_budget", "300\n"),
        ("proc/sys/net/ipv4/tcp_rmem", "4096\t131072\t6291456\n"),
        ("proc/irq/30/smp_affinity_list", "0\n"),
        ("proc/irq/31/smp_affinity_list", "1-3\n"),
    ]);
    let machine = Machine::below(keep.path());
    let sysctl = ["net.core.netdev_budget", "net.ipv4.tcp_rmem", "net.core.none"];
    let sysctl = sysctl.map(|name| (name.to_owned(), "1".to_owned())).into();
    let tuning = Tuning { sysctl, ..Tuning::default() };
    let read = "net.core.netdev_budget=300 net.ipv4.tcp_rmem=4096 131072 6291456";
    assert_eq!(machine.setting_text(TuningKey::Sysctl, &tuning, "eth0"), read);
    assert_eq!(machine.setting_text(TuningKey::Sysctl, &Tuning::default(), "eth0"), "none");
    assert_eq!(machine.setting_text(TuningKey::Governor, &tuning, "eth0"), "powersave");
    assert_eq!(machine.setting_text(TuningKey::IrqAffinity, &tuning, "eth0"), "0 and 1-3");
    assert_eq!(machine.setting_text(TuningKey::CpuLatency, &tuning, "eth0"), "none");
    assert_eq!(machine.setting_text(TuningKey::Placement, &tuning, "no-such-thing"), "none");
}
