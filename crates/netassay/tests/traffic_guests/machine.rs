//! What the machine lacks.

use std::fs;

use testbed::guest::{GuestOrder, RunningGuest, Tools};
use words::{Accelerated, Acceleration};

use crate::{fake_qemu, order};

#[test]
fn without_kvm_guests_are_emulated_or_refused_as_asked() {
    let tools = Tools { kvm: "/nonexistent/kvm".into(), ..Tools::of_this_machine() };
    let auto = GuestOrder { acceleration: Acceleration::Auto, ..order() };
    let guest = RunningGuest::start_with(&auto, &tools).unwrap();
    let why = "/nonexistent/kvm does not exist";
    assert_eq!(guest.accelerated, Accelerated::Emulation { why: why.to_owned() });
    let error = RunningGuest::start_with(&GuestOrder { acceleration: Acceleration::Kvm, ..order() }, &tools)
        .unwrap_err();
    assert!(
        error.to_string().contains(why) && error.to_string().contains("acceleration = \"auto\""),
        "{error}"
    );
}

#[test]
#[ignore = "asserts a time: needs a quiet machine"]
fn kvm_that_brings_no_guest_to_life_is_not_used() {
    // A device that can be opened, and a QEMU that under KVM does nothing, for ever.
    let script = "#!/bin/sh\ncase \"$*\" in *-version) ;; *'-accel kvm'*) exec sleep 600 ;; *) exec sleep 601 ;; esac\n";
    let (_directory, tools) = fake_qemu(script);
    let tools = Tools { kvm: "/dev/null".into(), ..tools };
    let guest = RunningGuest::start_with(&GuestOrder { acceleration: Acceleration::Auto, ..order() }, &tools)
        .unwrap();
    let Accelerated::Emulation { why } = &guest.accelerated else { panic!("KVM?") };
    assert_eq!(why, "a guest under KVM printed nothing within 5 s");
    assert_eq!(sleepers("600"), 0, "the trial's QEMU is gone");
    // Tried once in a process.
    let begun = std::time::Instant::now();
    let error = RunningGuest::start_with(&GuestOrder { acceleration: Acceleration::Kvm, ..order() }, &tools)
        .unwrap_err();
    assert!(error.to_string().contains(why.as_str()) && begun.elapsed().as_secs() < 5, "{error}");

    let (_directory, tools) = fake_qemu("#!/bin/sh\necho 'qemu: assertion failed' >&2\nexit 1\n");
    let tools = Tools { kvm: "/dev/null".into(), ..tools };
    let why = tools.try_kvm(&order().kernel.image).unwrap_err();
    assert_eq!(why, "QEMU exited under KVM: qemu: assertion failed");
}

/// How many children of this process sleep for so long.
fn sleepers(seconds: &str) -> usize {
    let words = format!("sleep\0{seconds}\0");
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let ours = |path: &std::path::Path| {
        let status = fs::read_to_string(path.join("status")).unwrap_or_default();
        status.contains(&format!("PPid:\t{}\n", std::process::id()))
    };
    let sleeps =
        |path: &std::path::Path| fs::read_to_string(path.join("cmdline")).is_ok_and(|line| line == words);
    processes.filter(|entry| ours(&entry.path()) && sleeps(&entry.path())).count()
}

#[test]
#[ignore = "may wait 5 s for KVM"]
fn kvm_of_this_machine_is_tried() {
    let tools = Tools::of_this_machine();
    match tools.try_kvm(&order().kernel.image) {
        Ok(()) => {
            let mut guest =
                RunningGuest::start(&GuestOrder { acceleration: Acceleration::Kvm, ..order() }).unwrap();
            guest.await_life(&agent::Interrupt::new().unwrap()).unwrap();
        }
        Err(why) => {
            assert!(!why.is_empty());
            let insists = GuestOrder { acceleration: Acceleration::Kvm, ..order() };
            let error = RunningGuest::start_with(&insists, &tools).unwrap_err();
            assert!(error.to_string().contains(&why), "{error}");
            eprintln!("note: no guest under KVM on this machine: {why}");
        }
    }
}

#[test]
fn without_qemu_its_package_is_named() {
    let tools = Tools { path: "/nonexistent".into(), ..Tools::of_this_machine() };
    let error = RunningGuest::start_with(&order(), &tools).unwrap_err().to_string();
    assert!(error.contains("no qemu-system-x86_64 in the PATH"), "{error}");
    assert!(error.contains("apt-get install --no-install-recommends qemu-system-x86"), "{error}");
}
