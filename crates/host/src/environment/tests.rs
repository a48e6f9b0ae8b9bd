use super::*;
use crate::kernel::files::fixture::files;

#[test]
fn a_machine_without_any_file_gives_an_environment_without_content() {
    let (_keep, files) = files(&[]);
    let environment = HostEnvironment::of_machine(&files, "0.1.0");
    assert_eq!(environment.netassay, "0.1.0");
    assert_eq!(environment.kernel.release, None);
    assert_eq!(
        environment.machine,
        MachineEnvironment { vendor: None, product: None, hypervisor: None, memory: None }
    );
    assert_eq!(environment.load, LoadEnvironment { average: None, stolen: None, stolen_percent: None });
    assert!(environment.sysctls.is_empty());
}

#[test]
fn a_machine_is_read() {
    let (_keep, files) = files(&[
        ("proc/sys/kernel/osrelease", "6.12.9\n"),
        ("proc/cmdline", "quiet mitigations=off\n"),
        ("proc/meminfo", "MemTotal:       16318480 kB\nMemFree: 1 kB\n"),
        ("proc/loadavg", "0.51 0.40 0.30 1/123 4567\n"),
        ("proc/stat", "cpu  0 0 0 0\ncpu0 50 0 25 20 0 0 0 5 0 0\n"),
        ("sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n"),
        ("sys/firmware/devicetree/base/model", "Some Board\0"),
        ("proc/sys/net/core/rmem_max", "212992\n"),
        ("proc/sys/net/ipv4/tcp_rmem", "4096\t131072\t6291456\n"),
    ]);
    let environment = HostEnvironment::of_machine(&files, "0.1.0");
    assert_eq!(environment.kernel.release.as_deref(), Some("6.12.9"));
    assert_eq!(environment.kernel.clock_source.as_deref(), Some("tsc"));
    assert_eq!(environment.machine.memory, Some(16_318_480 * 1024));
    assert_eq!(environment.load.average, Some([0.51, 0.40, 0.30]));
    assert_eq!(environment.load.stolen, Some(50_000_000));
    assert_eq!(environment.load.stolen_percent, Some(5.0));
    assert_eq!(environment.sysctls["net.core.rmem_max"], "212992");
    assert_eq!(environment.sysctls["net.ipv4.tcp_rmem"], "4096 131072 6291456");
}

#[test]
fn what_a_namespace_hides_is_added_and_what_it_shows_is_its_own() {
    let (_keep, files) = files(&[("proc/sys/net/ipv4/tcp_ecn", "1\n")]);
    let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let machine =
        [pair("net.core.netdev_max_backlog", "5000"), pair("net.ipv4.tcp_ecn", "2")].into_iter().collect();
    let environment = HostEnvironment::of_machine(&files, "0.1.0").with_hidden(&machine);
    assert_eq!(environment.sysctls["net.core.netdev_max_backlog"], "5000");
    assert_eq!(environment.sysctls["net.ipv4.tcp_ecn"], "1");
}

#[test]
fn this_machine_is_read_and_the_reading_survives_the_journey() {
    let environment = HostEnvironment::read(&["lo", "no-such-thing"], "0.1.0");
    assert!(environment.kernel.release.is_some() && environment.kernel.boot_id.is_some());
    assert!(environment.cpu.online > 0 && environment.load.average.is_some());
    let lo = environment.interfaces["lo"].as_ref().unwrap();
    assert_eq!(lo.link.name, "lo");
    assert!(lo.features.as_ref().is_some_and(|features| features.contains_key("tx-tcp-segmentation")));
    assert_eq!(environment.interfaces["no-such-thing"], None);
    assert!(environment.sysctls.contains_key("net.ipv4.tcp_congestion_control"));
    let json = serde_json::to_string(&environment).unwrap();
    let back: HostEnvironment = serde_json::from_str(&json).unwrap();
    // Fractions may lose their last bit in JSON.
    assert_eq!(HostEnvironment { load: environment.load.clone(), ..back }, environment);
}

#[test]
fn the_deepest_idle_state_and_a_running_program_are_found() {
    let (_keep, files) = files(&[
        ("sys/devices/system/cpu/online", "0\n"),
        ("sys/devices/system/cpu/cpu0/cpuidle/state0/name", "POLL\n"),
        ("sys/devices/system/cpu/cpu0/cpuidle/state0/latency", "0\n"),
        ("sys/devices/system/cpu/cpu0/cpuidle/state1/name", "C1\n"),
        ("sys/devices/system/cpu/cpu0/cpuidle/state1/latency", "2\n"),
        ("sys/devices/system/cpu/cpu0/cpuidle/state2/name", "C6\n"),
        ("sys/devices/system/cpu/cpu0/cpuidle/state2/latency", "133\n"),
        ("sys/devices/system/cpu/cpu0/cpuidle/state2/disable", "1\n"),
        ("proc/1/comm", "init\n"),
        ("proc/812/comm", "irqbalance\n"),
    ]);
    let environment = HostEnvironment::of_machine(&files, "");
    assert_eq!(environment.cpu.deepest_idle_state().map(|state| state.name.as_str()), Some("C1"));
    assert!(files.runs("irqbalance") && !files.runs("irq"));
    assert_eq!(environment.load.stolen_percent, None);
}

#[test]
fn nothing_is_claimed_where_nothing_can_be_seen() {
    let (_keep, files) = files(&[]);
    let HostEnvironment { cpu, load, .. } = HostEnvironment::of_machine(&files, "");
    assert!(!files.runs("irqbalance"));
    assert_eq!((cpu.turbo, cpu.deepest_idle_state(), load.average), (None, None, None));
}

#[test]
fn a_build_is_told_by_its_id() {
    let note = "\x7fELF…\x04\0\0\0\x14\0\0\0\x03\0\0\0GNU\0";
    for (program, expected) in [
        (format!("{note}ABCDEFGH"), "0.1.0, build 414243444546"),
        (format!("{note}ABC"), "0.1.0"),
        ("\x7fELF".to_owned(), "0.1.0"),
    ] {
        let (_keep, files) = files(&[("proc/self/exe", program.as_str())]);
        assert_eq!(build(&files, "0.1.0"), expected, "{program:?}");
    }
    // This program's own.
    assert!(build(&Machine::system(), "0.1.0").starts_with("0.1.0, build "));
}
