//! Guests that do not boot, or do not stay.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use agent::Interrupt;
use testbed::guest::{GuestOrder, Kernel, RunningGuest};
use testbed::{Error, GuestFault};
use words::Nic;

use crate::{elf, order};

/// A guest with a first process of our own making.
fn with_init(directory: &tempfile::TempDir, program: &[u8]) -> GuestOrder {
    let path = directory.path().join("init");
    fs::write(&path, program).unwrap();
    GuestOrder { program: path, ..order() }
}

fn await_death(order: &GuestOrder) -> Error {
    RunningGuest::start(order).unwrap().await_life(&Interrupt::new().unwrap()).unwrap_err()
}

#[test]
#[ignore = "the gate proves this with an earlier panic"]
fn a_panic_is_reported_with_its_words() {
    let directory = tempfile::tempdir().unwrap();
    let error = await_death(&with_init(&directory, &elf::that_ends()));
    assert!(error.may_pass(), "{error}");
    let text = error.to_string();
    // Exit code 7, as the kernel writes it.
    assert!(
        text.starts_with("the transmitter's kernel panicked: Attempted to kill init! exitcode=0x00000700\n"),
        "{text}"
    );
    assert!(text.contains("  | "), "the console's last lines: {text}");
}

#[test]
#[ignore = "waits until a guest is given up"]
fn a_guest_that_hangs_is_given_up_when_its_cpus_have_nothing_to_do() {
    let directory = tempfile::tempdir().unwrap();
    let interrupt = Interrupt::new().unwrap();
    let mut guest = RunningGuest::start(&with_init(&directory, &elf::that_hangs("stuck here\n"))).unwrap();
    let error = guest.await_life(&interrupt).unwrap_err();
    assert!(error.may_pass() && error.to_string().contains("have had no work for"), "{error}");
    let text = error.to_string();
    assert!(text.starts_with("the transmitter did not boot within "), "{text}");
    assert!(text.contains("the last lines of its console:\n") && text.contains("  | stuck here"), "{text}");
    interrupt.trip();
    assert!(matches!(guest.await_life(&interrupt), Err(Error::Interrupted)));
}

#[test]
fn a_panic_before_the_console_is_there_is_reported() {
    let begun = Instant::now();
    // Less than the kernel and this initramfs need.
    let error = await_death(&GuestOrder { command_line: "mem=24M".to_owned(), ..order() });
    let Error::Guest { what, fault: GuestFault::Passing, .. } = &error else { panic!("{error}") };
    eprintln!("note: {what} after {:.1} s", begun.elapsed().as_secs_f64());
    assert!(what.contains("Cannot find place for new RAMDISK"), "{error}");
}

#[test]
#[ignore = "the gate proves this with a kernel without e1000e"]
fn a_kernel_without_virtio_is_reported_before_or_after_it_was_booted() {
    let mut blind = order();
    let modules = tempfile::tempdir().unwrap();
    blind.kernel.modules = Some(modules.path().to_owned());
    let error = RunningGuest::start(&blind).unwrap_err().to_string();
    assert!(
        error.contains("has no virtio_pci (bus), virtio_console (ports), which a guest needs"),
        "{error}"
    );
    assert!(error.contains("netassay kernel fetch"), "{error}");

    // A bare image, and one that is said to have them built in: the guest tells.
    blind.kernel.modules = None;
    let error = await_death(&blind).to_string();
    assert!(error.contains("no virtio_console") && error.contains("boot/ and lib/modules/"), "{error}");
    fs::write(
        modules.path().join("modules.builtin"),
        "kernel/drivers/virtio/virtio_pci.ko\nkernel/drivers/char/virtio_console.ko\n",
    )
    .unwrap();
    blind.kernel.modules = Some(modules.path().to_owned());
    let error = await_death(&blind);
    let Error::Guest { what, fault: GuestFault::Kernel, .. } = &error else { panic!("{error}") };
    assert!(what.contains("its agent did not start") && what.contains("no virtio_console"), "{error}");
}

#[test]
fn a_kernel_for_clouds_has_no_e1000e() {
    let order = GuestOrder { nic: Nic::E1000e, tap: Some("wire".to_owned()), ..order() };
    let error = RunningGuest::start(&order).unwrap_err().to_string();
    assert!(error.contains(" has no e1000e (network card), which a guest needs"), "{error}");
    assert!(error.contains("nic = \"virtio-net\""), "{error}");
}

#[test]
fn what_qemu_says_before_it_gives_up_is_reported() {
    // More memory than any machine lends.
    let error = await_death(&GuestOrder { memory_mib: 1 << 30, ..order() });
    let text = error.to_string();
    assert!(
        matches!(error, Error::Guest { fault: GuestFault::Machine, .. })
            && text.contains("the transmitter's QEMU exited (exit status: 1)"),
        "{text}"
    );
    let error =
        RunningGuest::start(&GuestOrder { place: Some(u32::MAX), ..order() }).unwrap_err().to_string();
    assert!(error.contains("open the namespaces of its place"), "{error}");
}

#[test]
fn an_image_that_is_none_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("vmlinuz");
    fs::write(&path, "not a kernel").unwrap();
    let error = Kernel::find(path.to_str()).unwrap_err().to_string();
    assert!(error.contains("no bootable x86 kernel image"), "{error}");
}

/// Where a controller that is to be killed tells the number of its guest's process.
const CONTROLLER: &str = "NETASSAY_TEST_CONTROLLER";

#[test]
fn a_killed_controller_leaves_no_guest() {
    if let Some(told) = std::env::var_os(CONTROLLER) {
        let guest = RunningGuest::start(&order()).unwrap();
        let beside = PathBuf::from(&told).with_extension("new");
        fs::write(&beside, guest.pid().to_string()).unwrap();
        fs::rename(&beside, &told).unwrap();
        std::thread::sleep(Duration::from_secs(120));
        panic!("nobody killed the controller");
    }
    let directory = tempfile::tempdir().unwrap();
    let told = directory.path().join("pid");
    let mut controller = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "failures::a_killed_controller_leaves_no_guest"])
        .env(CONTROLLER, &told)
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let end = Instant::now() + Duration::from_secs(60);
    while !told.exists() {
        assert!(Instant::now() < end && controller.try_wait().unwrap().is_none(), "no guest");
        std::thread::sleep(Duration::from_millis(10));
    }
    let qemu = PathBuf::from(format!("/proc/{}", fs::read_to_string(&told).unwrap()));
    assert!(fs::read_to_string(qemu.join("cmdline")).unwrap().contains("qemu-system"));
    controller.kill().unwrap();
    controller.wait().unwrap();
    while fs::read_to_string(qemu.join("cmdline")).is_ok_and(|line| !line.is_empty()) {
        assert!(Instant::now() < end, "QEMU outlived its controller");
        std::thread::sleep(Duration::from_millis(10));
    }
}
