//! The kinds of probe, best first: which a kernel allows, and what a trace loses without each.

use std::io;
use std::path::Path;

use host::Privileges;
use host::bpf::{Program, load_return};
use serde::{Deserialize, Serialize};

use crate::facts;
use crate::object::KernelPrograms;
use crate::tracer::{Attachment, TraceError};

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
    /// The kind of probe.
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
// It is no error: thiserror gives each variant its words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Availability {
    /// Available.
    #[error("yes")]
    Yes,
    /// Not available.
    #[error("no")]
    No,
    /// Not tried.
    #[error("not tried")]
    NotTried,
}

/// The kinds of probe of a kernel, best first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ProbeLadder(pub Vec<LadderStep>);

impl Rung {
    const ALL: [Self; 3] = [Self::Trampoline, Self::Kprobe, Self::RawTracepoint];

    /// The kernel's name of the kind, and the loss of a trace without it.
    fn name_and_loss(self) -> [&'static str; 2] {
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
        Self::tried(None)
    }

    /// Tries a guest's kernel: programs are attached to this function too, and detached at once.
    pub fn tried(function: Option<&str>) -> Self {
        let kernel = function.map(|_| KernelPrograms::running());
        let tried = |mean| {
            let (kernel, function) = (kernel.as_ref()?, function?);
            let tried = kernel.as_ref().map_err(Clone::clone);
            let tried = tried.and_then(|kernel| kernel.try_at(mean, function));
            Some(tried.map(|()| format!("a program was attached to {function}, and detached")))
        };
        let unmet = facts::unmet(Path::new("/"), &Privileges::read());
        Self::judge(unmet.as_deref(), load_return(Program::RawTracepoint, 0).map(drop), &tried)
    }

    /// `tried`: the evidence of attaching a program, or the kernel's error; `None`: not tried.
    fn judge(
        unmet: Option<&str>,
        loaded: io::Result<()>,
        tried: &dyn Fn(Attachment) -> Option<Result<String, TraceError>>,
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
                (None, Some(Err(error))) => (Availability::No, error.to_string()),
                (None, Some(Ok(evidence))) => (Availability::Yes, evidence),
                (None, None) => (Availability::NotTried, NOT_TRIED.to_owned()),
            };
            let [name, without] = rung.name_and_loss().map(str::to_owned);
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

fn refused(error: io::Error) -> TraceError {
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
    TraceError(format!("loading a program of two instructions failed: {error}: {why}"))
}

#[cfg(test)]
mod tests;
