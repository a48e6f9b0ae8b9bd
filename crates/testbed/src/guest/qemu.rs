//! QEMU's command line.

use std::os::fd::RawFd;
use std::path::Path;

use agent::init::port_name;
use words::{Copies, Nic};

use crate::guest::order::GuestOrder;
use crate::guest::sandbox::SANDBOX;

pub(crate) fn command_line(order: &GuestOrder, kvm: bool) -> String {
    // earlycon shows early panics; panic: exit at once. Calibration of an emulated machine's clocks
    // fails under load and leaves steps of 10 ns. Self-tests of ciphers take a tenth of a boot.
    let mut line =
        "console=ttyS0 earlycon=uart8250,io,0x3f8 quiet panic=-1 pci=lastbus=0 random.trust_cpu=on cryptomgr.notests".to_owned();
    if !kvm {
        line.push_str(" tsc=reliable no_timer_check");
    }
    if order.exact {
        // With one instruction a nanosecond the clock has 1 GHz. Measuring the APIC's timer took 6
        // s of a boot's 9.5; the PIT has a known rate. A datagram costs some 700 instructions more
        // if both sockets share a place of the kernel's table: the largest table makes that one
        // boot in 65,536.
        line.push_str(
            " nokaslr norandmaps randomize_kstack_offset=off tsc_early_khz=1000000 nolapic_timer uhash_entries=65536",
        );
    }
    // The kernel takes the last of several values: the order's wins.
    if !order.command_line.trim().is_empty() {
        line.extend([" ", order.command_line.trim()]);
    }
    line
}

pub(crate) fn file(fd: RawFd) -> String {
    format!("/proc/self/fd/{fd}")
}

/// `arguments`: those of its [`machine`], to which the guest's are added.
pub(crate) fn arguments(
    order: &GuestOrder,
    mut arguments: Vec<String>,
    kvm: bool,
    [kernel, initramfs]: [RawFd; 2],
    tap: Option<RawFd>,
    ports: &[RawFd],
) -> Vec<String> {
    arguments.extend(["-cpu".to_owned(), processor(order, kvm)]);
    let mut add = |name: &str, value: String| arguments.extend([name.to_owned(), value]);
    add("-name", format!("{},debug-threads=on", order.name.replace(',', ",,")));
    // With a single virtual CPU QEMU's emulator drops memory barriers, although devices run in
    // another thread: with QEMU 7.2 a queue of the network card waits forever after some ten runs.
    // A place for a second CPU keeps them. Exact mode has one thread for both, and no network card.
    let one_is_enough = kvm || order.exact || order.vcpus > 1;
    add("-smp", if one_is_enough { order.vcpus.to_string() } else { "1,maxcpus=2".to_owned() });
    add("-m", format!("{}M", order.memory_mib));
    add("-kernel", file(kernel));
    add("-initrd", file(initramfs));
    add("-append", command_line(order, kvm));
    // Otherwise another thread of QEMU interrupts at any time.
    let at_once = if order.exact { ",ioeventfd=off" } else { "" };
    add("-device", format!("virtio-serial-pci,max_ports={}{at_once}", ports.len() + 1));
    for (index, fd) in ports.iter().enumerate() {
        add("-chardev", format!("socket,id=port{index},fd={fd}"));
        add("-device", format!("virtserialport,chardev=port{index},name={}", port_name(index)));
    }
    if let Some(tap) = tap {
        add("-netdev", format!("tap,id=net,fd={tap}"));
        let mac = order.mac.map(|byte| format!("{byte:02x}")).join(":");
        // No firmware boots from the network.
        let card = match order.nic {
            Nic::VirtioNet => "virtio-net-pci",
            Nic::E1000e => "e1000e",
        };
        add("-device", format!("{card},netdev=net,mac={mac},romfile="));
    }
    if order.exact {
        // The clock of an idle guest jumps to its next timer; it must not overtake a peer on a
        // network.
        let idle = if tap.is_some() { "on" } else { "off" };
        add("-icount", format!("shift=0,sleep={idle}"));
        add("-rtc", "base=2026-01-01T00:00:00,clock=vm".to_owned());
        add("-seed", "1".to_owned());
    }
    arguments
}

pub(crate) fn machine(kvm: bool, exact: bool, firmware: Option<&Path>, sandbox: bool) -> Vec<String> {
    const ALWAYS: &str = "-nodefaults -no-user-config -no-reboot -display none -monitor none -serial stdio \
        -machine q35,usb=off,vmport=off,smbus=off,sata=off,hpet=off,dump-guest-core=off";
    let mut arguments: Vec<String> = ALWAYS.split(' ').map(str::to_owned).collect();
    let accelerator = match (kvm, exact) {
        (true, _) => "kvm",
        // Steps can be counted in one thread only.
        (false, true) => "tcg,thread=single",
        (false, false) => "tcg,thread=multi",
    };
    arguments.extend(["-accel".to_owned(), accelerator.to_owned()]);
    if sandbox {
        arguments.extend(["-sandbox", SANDBOX].map(str::to_owned));
    }
    if let Some(firmware) = firmware {
        arguments.extend(["-bios".to_owned(), firmware.display().to_string()]);
    }
    arguments
}

// The emulator counts every byte of `rep movsb` as an instruction: kernels must not prefer it
// (`erms`, `fsrm`) to a loop or `rep movsq`.
fn processor(order: &GuestOrder, kvm: bool) -> String {
    if kvm {
        return "host".to_owned();
    }
    let mut processor = "max".to_owned();
    if order.copies == Copies::Words {
        processor.push_str(",-erms,-fsrm");
    }
    if order.exact {
        processor.push_str(",-rdrand,-rdseed");
    }
    processor
}

#[cfg(test)]
mod tests;
