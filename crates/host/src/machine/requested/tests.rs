use super::*;
use crate::kernel::files::fixture::files;

#[test]
fn a_whole_machine_has_a_governor_and_sysctls_of_no_network() {
    let sysctls = ["vm.swappiness", "net.ipv4.tcp_rmem"].map(|name| (name.to_owned(), "1".to_owned()));
    let request = MachineRequest {
        sysctls: sysctls.clone().into(),
        governor: Some("performance".to_owned()),
        irq_affinity: [("eth0".to_owned(), vec![0])].into(),
        ..MachineRequest::default()
    };
    let [of_machine, _] = sysctls;
    let expected =
        MachineRequest { sysctls: [of_machine].into(), irq_affinity: BTreeMap::new(), ..request.clone() };
    assert_eq!(request.of_whole_machine(), expected);
}

#[test]
fn wishes_become_settings_of_this_machine() {
    let (keep, _) = files(&[
        ("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n"),
        ("sys/class/net/eth0/device/msi_irqs/32", "msix"),
        ("sys/class/net/eth0/device/msi_irqs/31", "msix"),
        ("sys/class/net/eth0/device/msi_irqs/30", "msix"),
        ("proc/irq/30/smp_affinity_list", "0\n"),
        ("proc/irq/31/smp_affinity_list", "1\n"),
        ("sys/class/net/eth1/device/irq", "9\n"),
    ]);
    let machine = Machine::below(keep.path());
    let requested = MachineRequest {
        sysctls: BTreeMap::from([("net.core.rmem_max".to_owned(), "5".to_owned())]),
        governor: Some("performance".to_owned()),
        cpu_latency: None,
        placement: None,
        irq_affinity: BTreeMap::from([("eth0".to_owned(), vec![1, 0]), ("eth1".to_owned(), vec![1])]),
        features: Vec::new(),
    };
    let settings = requested.settings(&machine).unwrap();
    let texts: Vec<String> = settings.iter().map(|(target, value)| format!("{target} = {value}")).collect();
    assert_eq!(
        texts,
        [
            "net.core.rmem_max = 5",
            "the frequency governor of CPU 0 = performance",
            "the CPUs of interrupt 30 = 0-1",
            "the CPUs of interrupt 31 = 0-1",
            "the CPUs of interrupt 9 = 1",
        ]
    );
}

#[test]
fn what_the_machine_does_not_have_is_reported() {
    let (keep, _) = files(&[("proc/x", "")]);
    let machine = Machine::below(keep.path());
    let governor = MachineRequest { governor: Some("performance".to_owned()), ..MachineRequest::default() };
    assert!(governor.settings(&machine).unwrap_err().to_string().contains("no CPU here has"));
    let irq_affinity = BTreeMap::from([("lo".to_owned(), vec![0])]);
    let affinity = MachineRequest { irq_affinity, ..MachineRequest::default() };
    assert!(affinity.settings(&machine).unwrap_err().to_string().contains("\"lo\" has no interrupts"));
}
