use host::CapabilitySet;

use super::*;
use crate::facts::tests::machine;
use crate::resolve::BTF;

fn capable() -> bool {
    let own = Privileges::read();
    own.capabilities.contains(CapabilitySet::SYS_ADMIN) && own.in_user_namespace == Some(false)
}

/// A ladder of a kernel with these files.
fn ladder(files: &[(&str, &[u8])], loaded: io::Result<()>) -> ProbeLadder {
    let unmet = facts::unmet(machine(files).path(), &Privileges::read());
    ProbeLadder::judge(unmet.as_deref(), loaded, &|_| None)
}

fn reason(ladder: &ProbeLadder, rung: Rung) -> (Availability, &str) {
    let step = ladder.0.iter().find(|step| step.rung == rung).unwrap();
    (step.verdict, &step.reason)
}

#[test]
fn a_refused_program_is_reported_with_the_way_out() {
    let refused = |errno| {
        let found = ladder(&[(BTF, &0xeb9f_u16.to_ne_bytes())], Err(io::Error::from_raw_os_error(errno)));
        found.obstacle().unwrap().to_owned()
    };
    assert!(refused(libc::EPERM).contains("seccomp"));
    assert!(refused(libc::ENOSYS).contains("CONFIG_BPF_SYSCALL"));
    assert!(refused(libc::E2BIG).contains("refused the program"));
}

#[test]
fn without_types_nothing_is_traced_though_a_program_is_loaded() {
    let found = ladder(&[], Ok(()));
    assert!(found.0.iter().all(|step| step.verdict == Availability::No), "{found:?}");
    assert!(found.obstacle().unwrap().contains("CONFIG_DEBUG_INFO_BTF"), "{found:?}");
}

#[test]
fn lockdown_refuses_every_rung_by_its_name() {
    let types = 0xeb9f_u16.to_ne_bytes();
    let locked: [(&str, &[u8]); 2] =
        [(BTF, &types), ("sys/kernel/security/lockdown", b"none integrity [confidentiality]\n")];
    let found = ladder(&locked, Err(io::Error::from_raw_os_error(libc::EPERM)));
    for step in &found.0 {
        assert_eq!(step.verdict, Availability::No, "{step:?}");
        assert!(step.reason.contains("lockdown is \"confidentiality\""), "{step:?}");
    }
}

#[test]
fn what_is_not_tried_is_no_refusal() {
    let found = ProbeLadder::judge(None, Ok(()), &|_| None);
    assert_eq!(reason(&found, Rung::Trampoline).0, Availability::NotTried, "{found:?}");
    assert!(reason(&found, Rung::Trampoline).1.contains("inside=guest"), "{found:?}");
    assert_eq!(found.obstacle(), None);
    // In a guest the kernel is asked.
    let found = ProbeLadder::judge(None, Ok(()), &|mean| match mean {
        Attachment::Trampoline => Some(Ok("attached".to_owned())),
        _ => Some(Err(TraceError::plain("ENOENT"))),
    });
    assert_eq!(reason(&found, Rung::Trampoline), (Availability::Yes, "attached"));
    assert_eq!(reason(&found, Rung::Kprobe), (Availability::No, "ENOENT"));
}

#[test]
fn the_running_kernel_is_read_and_nothing_stays_behind() {
    let descriptors = || std::fs::read_dir("/proc/self/fd").unwrap().count();
    // Tests in parallel open files too; only those of this thread must not accumulate.
    let before = descriptors();
    for _ in 0..50 {
        let found = ProbeLadder::read();
        assert_eq!(found.0.iter().map(|step| step.rung).collect::<Vec<_>>(), Rung::ALL);
        assert!(found.0.iter().all(|step| !step.reason.is_empty()), "{found:?}");
        for rung in [Rung::Trampoline, Rung::Kprobe] {
            assert_ne!(reason(&found, rung).0, Availability::Yes, "functions here are not probed: {found:?}");
        }
    }
    assert!(descriptors() < before + 50, "descriptors pile up");
}

#[test]
fn programs_load_with_the_capability_and_are_refused_without() {
    let found = ProbeLadder::read();
    let Some(obstacle) = found.obstacle() else { return };
    if capable() {
        for known in ["CONFIG_", "lockdown", "seccomp", "/sys/kernel/btf"] {
            if obstacle.contains(known) {
                return;
            }
        }
        panic!("{found:?}");
    }
    assert!(obstacle.contains("CAP_BPF"), "{found:?}");
}
