use words::Acceleration;

use super::*;
use crate::guest::kernel::Kernel;

fn order() -> GuestOrder {
    GuestOrder {
        name: "receiver".to_owned(),
        kernel: Kernel { image: "/boot/vmlinuz".into(), modules: None, release: None },
        command_line: " mitigations=off ".to_owned(),
        vcpus: 2,
        memory_mib: 512,
        nic: Nic::VirtioNet,
        tap: Some("tap,0".to_owned()),
        mac: [0x02, 0, 0, 0, 0xab, 1],
        ports: 2,
        acceleration: Acceleration::Auto,
        exact: false,
        copies: Copies::Words,
        program: "/init".into(),
        modules: &[],
        packed: None,
        place: None,
        rootless: false,
        pin: Vec::new(),
    }
}

fn line(order: &GuestOrder, kvm: bool) -> String {
    let tap = order.tap.as_ref().map(|_| 11);
    let ports = &[7, 8][..order.ports];
    arguments(order, machine(kvm, order.exact, None, true), kvm, [10, 9], tap, ports).join(" ")
}

#[test]
fn each_part_of_an_order_has_its_place() {
    let kvm = line(&order(), true);
    let e1000e = line(&GuestOrder { nic: Nic::E1000e, ..order() }, false);
    let exact = line(&GuestOrder { exact: true, vcpus: 1, tap: None, ..order() }, false);
    let one = GuestOrder { vcpus: 1, ..order() };
    let exact_with_a_network = line(&GuestOrder { exact: true, ..one.clone() }, false);
    let rows: [(&str, &[&str], &[&str]); 6] = [
        (
            &kvm,
            &[
                "-accel kvm ",
                "-cpu host ",
                "-name receiver,debug-threads=on",
                "-smp 2 -m 512M -kernel /proc/self/fd/10 -initrd /proc/self/fd/9",
                "-device virtio-serial-pci,max_ports=3",
                "-chardev socket,id=port1,fd=8 -device virtserialport,chardev=port1,name=netassay.1",
                "-netdev tap,id=net,fd=11",
                "-sandbox on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny",
                "-device virtio-net-pci,netdev=net,mac=02:00:00:00:ab:01,romfile=",
            ],
            &["icount", "tsc=reliable"],
        ),
        (&e1000e, &["-netdev tap,id=net,fd=11 -device e1000e,", "-accel tcg,thread=multi "], &[]),
        (
            &exact,
            &[
                "-accel tcg,thread=single",
                "-cpu max,-erms,-fsrm,-rdrand,-rdseed ",
                "-device virtio-serial-pci,max_ports=3,ioeventfd=off ",
                "-icount shift=0,sleep=off -rtc base=2026-01-01T00:00:00,clock=vm -seed 1",
                " nokaslr norandmaps",
                " nolapic_timer uhash_entries=65536",
                "-smp 1 ",
            ],
            &["-netdev"],
        ),
        (&exact_with_a_network, &["-netdev tap", "-icount shift=0,sleep=on "], &["sleep=off"]),
        (&line(&one, false), &["-accel tcg,thread=multi ", "-smp 1,maxcpus=2 "], &[]),
        (&line(&one, true), &["-smp 1 "], &[]),
    ];
    for (line, present, absent) in rows {
        assert!(present.iter().all(|part| line.contains(part)), "{present:?}: {line}");
        assert!(!absent.iter().any(|part| line.contains(part)), "{absent:?}: {line}");
    }
    let kernel = command_line(&order(), true);
    assert!(kernel.ends_with(" mitigations=off"), "what is asked for has the last word: {kernel}");
}

#[test]
fn an_emulated_kernel_copies_by_words_unless_bytes_are_asked_for() {
    let processor = |order: &GuestOrder| {
        let line = line(order, false);
        line.split_once("-cpu ").unwrap().1.split(' ').next().unwrap().to_owned()
    };
    assert_eq!(processor(&order()), "max,-erms,-fsrm");
    let exact = GuestOrder { exact: true, vcpus: 1, tap: None, ..order() };
    assert_eq!(processor(&exact), "max,-erms,-fsrm,-rdrand,-rdseed");
    assert_eq!(processor(&GuestOrder { copies: Copies::Bytes, ..order() }), "max");
    assert_eq!(processor(&GuestOrder { copies: Copies::Bytes, ..exact }), "max,-rdrand,-rdseed");
}
