//! The kinds of probe, best first: which a kernel allows, and what a trace loses without each.

use std::path::Path;
use std::{fmt, io};

use host::Privileges;
use host::bpf::{Program, load_return};
use serde::{Deserialize, Serialize};

use crate::facts;
use crate::object::KernelPrograms;
use crate::tracer::Attachment;

/// A kind of probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rung {
    /// fentry and fexit: a function calls the program.
    Trampoline,
    /// kprobe and kretprobe.
    Kprobe,
    /// The kernel's own places, with their raw arguments.
    RawTracepoint,
}

/// A rung, as a kernel has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LadderStep {
    /// Which.
    pub rung: Rung,
    /// Whether a trace can use it.
    pub verdict: Availability,
    /// The evidence; what refuses it, with the remedy; or why it was not tried.
    pub reason: String,
    /// The kernel's name of the kind.
    pub name: String,
    /// The loss of a trace without it.
    pub without: String,
}

/// Whether something is available.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Availability {
    /// Available.
    Yes,
    /// Not available.
    No,
    /// Not tried.
    NotTried,
}

/// The kinds of probe of a kernel, best first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ProbeLadder(pub Vec<LadderStep>);

impl Rung {
    const ALL: [Self; 3] = [Self::Trampoline, Self::Kprobe, Self::RawTracepoint];

    /// The kernel's name of the kind, and the loss of a trace without it.
    fn words(self) -> [&'static str; 2] {
        match self {
            Self::Trampoline => [
                "fentry, fexit",
                "functions are probed by kprobes, which cost half as much again to twice as much",
            ],
            Self::Kprobe => [
                "kprobe, kretprobe",
                "functions of modules and those with more than six arguments are no stages; without fentry too, \
                 stages are only as fine as the kernel's tracepoints",
            ],
            Self::RawTracepoint => [
                "raw tracepoints",
                "nothing can be traced: at them interruptions are told from a packet's own time",
            ],
        }
    }
}

impl ProbeLadder {
    /// Reads the ladder of the running kernel, whose functions are not probed. Loads a program of
    /// two instructions, attached to nothing, and unloads it at once; otherwise it only reads.
    ///
    /// Call it before another network namespace's sysfs is mounted on `/sys`: that hides the trace
    /// files.
    pub fn read() -> Self {
        Self::of_running(&|_| None)
    }

    /// Tries a guest's kernel: programs are attached to this function too, and detached at once.
    pub fn tried(function: &str) -> Self {
        let kernel = KernelPrograms::running().map_err(|error| error.to_string());
        Self::of_running(&|mean| {
            let tried = kernel.as_ref().map_err(Clone::clone);
            let tried = tried.and_then(|kernel| kernel.try_at(mean, function));
            Some(tried.map(|()| format!("a program was attached to {function}, and detached")))
        })
    }

    fn of_running(tried: &dyn Fn(Attachment) -> Option<Result<String, String>>) -> Self {
        let unmet = facts::unmet(Path::new("/"), &Privileges::read());
        Self::judge(unmet.as_deref(), load_return(Program::RawTracepoint, 0).map(drop), tried)
    }

    /// `tried`: the evidence of attaching a program, or the kernel's error; `None`: not tried.
    fn judge(
        unmet: Option<&str>,
        loaded: io::Result<()>,
        tried: &dyn Fn(Attachment) -> Option<Result<String, String>>,
    ) -> Self {
        let loaded = loaded.map(|()| "a program of two instructions was loaded".to_owned()).map_err(refused);
        let step = |rung| {
            let tried = match rung {
                Rung::Trampoline => tried(Attachment::Trampoline),
                Rung::Kprobe => tried(Attachment::Kprobe),
                Rung::RawTracepoint => Some(loaded.clone()),
            };
            let (verdict, reason) = match (unmet, tried) {
                (Some(why), Some(Err(error))) => (Availability::No, format!("{why} ({error})")),
                // Without types no program of ours fits, whatever else the kernel takes.
                (Some(why), _) => (Availability::No, why.to_owned()),
                (None, Some(Err(error))) => (Availability::No, error),
                (None, Some(Ok(evidence))) => (Availability::Yes, evidence),
                (None, None) => (Availability::NotTried, NOT_TRIED.to_owned()),
            };
            let [name, without] = rung.words().map(str::to_owned);
            LadderStep { rung, verdict, reason, name, without }
        };
        Self(Rung::ALL.map(step).into())
    }

    /// Why nothing can be traced by tracepoints, on which every trace relies; `None` if it can.
    pub fn obstacle(&self) -> Option<&str> {
        let step = self.0.iter().find(|step| step.rung == Rung::RawTracepoint)?;
        (step.verdict != Availability::Yes).then_some(step.reason.as_str())
    }
}

const NOT_TRIED: &str = "nothing forbids it; functions of the kernel that this machine runs are not probed, those of a \
                         virtual machine are (inside=guest)";

fn refused(error: io::Error) -> String {
    let why = match error.raw_os_error() {
        Some(libc::EPERM) => {
            "the kernel refuses it; if privileges and lockdown allow it, then a security module or a seccomp filter does \
             not, or, before Linux 5.11, a low RLIMIT_MEMLOCK"
        }
        Some(libc::ENOSYS) => {
            "the kernel has no BPF system call (CONFIG_BPF_SYSCALL), or a seccomp filter hides it"
        }
        _ => "the kernel refused the program",
    };
    format!("loading a program of two instructions failed: {error}: {why}")
}

impl fmt::Display for Availability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(["yes", "no", "not tried"][*self as usize])
    }
}

#[cfg(test)]
mod tests {
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
            _ => Some(Err("ENOENT".to_owned())),
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
                assert_ne!(
                    reason(&found, rung).0,
                    Availability::Yes,
                    "functions here are not probed: {found:?}"
                );
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
}
