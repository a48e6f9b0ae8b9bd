//! What the running kernel allows to trace.

use std::fmt;
use std::io::{self, Read};
use std::path::Path;

use host::bpf::{Program, load_return};

/// What the running kernel, with the privileges of this process, allows to trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// The kernel describes its own types (BTF): programs find fields by name on any kernel.
    pub types: Capability,
    /// BPF programs at the kernel's fixed tracepoints.
    pub raw_tracepoints: Capability,
    /// Probes at (almost) any kernel function: their event source exists.
    pub kernel_probes: Capability,
    /// The file system in which the kernel lists its tracepoints and functions.
    pub trace_files: Capability,
    /// Programs at the entry and exit of kernel functions (fentry, kprobe): never tried here.
    pub functions: Capability,
}

/// One requirement of tracing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capability {
    /// Whether it is available.
    pub verdict: Verdict,
    /// The evidence, or what is missing with the remedy.
    pub reason: String,
}

/// Whether something is available.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is.
    Yes,
    /// It is not.
    No,
    /// It was not tried.
    NotTried,
}

impl Capabilities {
    /// Tries. Loads one BPF program of two instructions, attached to nothing, and unloads it at
    /// once; changes nothing else.
    ///
    /// Call it before another network namespace's sysfs is mounted on `/sys`: that hides the trace
    /// files.
    pub fn probe() -> Self {
        let root = Path::new("/");
        Self {
            types: types(root),
            raw_tracepoints: raw_tracepoints(load_return(Program::RawTracepoint, 0).map(drop)),
            kernel_probes: kernel_probes(root),
            trace_files: trace_files(root),
            functions: Capability {
                verdict: Verdict::NotTried,
                reason: "not tried on the running kernel; netassay traces functions in a guest".to_owned(),
            },
        }
    }
}

impl Capability {
    fn yes(reason: impl Into<String>) -> Self {
        Self { verdict: Verdict::Yes, reason: reason.into() }
    }

    fn no(reason: impl Into<String>) -> Self {
        Self { verdict: Verdict::No, reason: reason.into() }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Yes => "yes",
            Self::No => "no",
            Self::NotTried => "not tried",
        })
    }
}

const BTF: &str = "sys/kernel/btf/vmlinux";
/// The first two bytes of BTF, in the machine's byte order.
const BTF_MAGIC: u16 = 0xeb9f;

fn types(root: &Path) -> Capability {
    let read = || -> io::Result<[u8; 2]> {
        let mut magic = [0; 2];
        std::fs::File::open(root.join(BTF))?.read_exact(&mut magic)?;
        Ok(magic)
    };
    match read() {
        Ok(magic) if u16::from_ne_bytes(magic) == BTF_MAGIC => Capability::yes(format!("/{BTF} holds them")),
        Ok(_) => Capability::no(format!("/{BTF} is not in the format BTF")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Capability::no(format!("no /{BTF}: the kernel needs CONFIG_DEBUG_INFO_BTF"))
        }
        Err(error) => Capability::no(format!("/{BTF} cannot be read: {error}")),
    }
}

fn raw_tracepoints(loaded: io::Result<()>) -> Capability {
    let Err(error) = loaded else { return Capability::yes("a program of two instructions was loaded") };
    let why = match error.raw_os_error() {
        Some(libc::EPERM) => {
            "it needs CAP_BPF and CAP_PERFMON (root has them) in the first user namespace; kernel lockdown and, before Linux \
             5.11, a low RLIMIT_MEMLOCK refuse it too"
        }
        Some(libc::ENOSYS) => {
            "the kernel has no BPF system call (CONFIG_BPF_SYSCALL), or a seccomp filter hides it"
        }
        Some(libc::EINVAL) => "the kernel does not know raw tracepoint programs: they came with Linux 4.17",
        _ => "the kernel refused the program",
    };
    Capability::no(format!("loading a program of two instructions failed: {error}: {why}"))
}

const KPROBE: &str = "sys/bus/event_source/devices/kprobe/type";

fn kernel_probes(root: &Path) -> Capability {
    if root.join(KPROBE).exists() {
        Capability::yes("the event source \"kprobe\" is there (no probe was set on the running kernel)")
    } else {
        Capability::no("the kernel has no event source \"kprobe\": it needs CONFIG_KPROBE_EVENTS")
    }
}

fn trace_files(root: &Path) -> Capability {
    let mut refused = None;
    for directory in ["sys/kernel/tracing", "sys/kernel/debug/tracing"] {
        match std::fs::metadata(root.join(directory).join("events")) {
            Ok(_) => return Capability::yes(format!("mounted on /{directory}")),
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                refused.get_or_insert(format!("/{directory} is for root only: {error}"));
            }
            Err(_) => {}
        }
    }
    Capability::no(refused.unwrap_or_else(|| {
        "not mounted: `mount -t tracefs tracefs /sys/kernel/tracing` as root, if the kernel has CONFIG_TRACING".to_owned()
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(files: &[(&str, &[u8])]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for (path, bytes) in files {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, bytes).unwrap();
        }
        root
    }

    #[test]
    fn types_need_a_file_with_the_right_magic() {
        let magic = BTF_MAGIC.to_ne_bytes();
        assert_eq!(types(machine(&[(BTF, &magic)]).path()).verdict, Verdict::Yes);
        assert!(types(machine(&[(BTF, b"xx")]).path()).reason.contains("not in the format"));
        assert!(types(machine(&[(BTF, b"x")]).path()).reason.contains("cannot be read"));
        assert!(types(machine(&[]).path()).reason.contains("CONFIG_DEBUG_INFO_BTF"));
    }

    #[test]
    fn probes_and_trace_files_are_found_where_they_are() {
        let root = machine(&[(KPROBE, b"8\n"), ("sys/kernel/debug/tracing/events/enable", b"0\n")]);
        assert_eq!(kernel_probes(root.path()).verdict, Verdict::Yes);
        assert_eq!(trace_files(root.path()).reason, "mounted on /sys/kernel/debug/tracing");
        let root = machine(&[]);
        assert!(kernel_probes(root.path()).reason.contains("CONFIG_KPROBE_EVENTS"));
        assert!(trace_files(root.path()).reason.contains("mount -t tracefs"));
    }

    #[test]
    fn a_refused_program_is_reported_with_the_way_out() {
        let refused = |errno| raw_tracepoints(Err(io::Error::from_raw_os_error(errno))).reason;
        assert!(refused(libc::EPERM).contains("CAP_BPF"));
        assert!(refused(libc::ENOSYS).contains("CONFIG_BPF_SYSCALL"));
        assert!(refused(libc::EINVAL).contains("4.17"));
        assert!(refused(libc::E2BIG).contains("refused the program"));
    }

    #[test]
    fn the_running_kernel_is_probed_and_nothing_stays_behind() {
        let descriptors = || std::fs::read_dir("/proc/self/fd").unwrap().count();
        // Tests in parallel open files too; only those of this thread must not accumulate.
        let before = descriptors();
        for _ in 0..100 {
            let found = Capabilities::probe();
            assert_eq!(found.functions.verdict, Verdict::NotTried);
            for capability in [&found.types, &found.raw_tracepoints, &found.kernel_probes, &found.trace_files]
            {
                assert!(!capability.reason.is_empty());
                assert_ne!(capability.verdict, Verdict::NotTried);
            }
        }
        assert!(descriptors() < before + 50, "descriptors pile up");
    }

    #[test]
    #[expect(clippy::print_stderr, reason = "a skipped test must be seen")]
    fn programs_load_with_the_capability_and_are_refused_without() {
        const CAP_SYS_ADMIN: u64 = 1 << 21;
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("CapEff:")).unwrap();
        let capable = u64::from_str_radix(line.trim(), 16).unwrap() & CAP_SYS_ADMIN != 0;
        let first = std::fs::read_to_string("/proc/self/uid_map").unwrap().contains("4294967295");
        let found = Capabilities::probe().raw_tracepoints;
        if found.reason.contains("CONFIG_BPF_SYSCALL") || found.reason.contains("4.17") {
            let name = "programs_load_with_the_capability_and_are_refused_without";
            assert!(
                std::env::var_os("CI").is_none_or(|ci| ci != "true"),
                "must not be skipped here: {}",
                found.reason
            );
            eprintln!("SKIPPED: {name}: {}", found.reason);
        } else if capable && first {
            assert_eq!(found.verdict, Verdict::Yes, "{found:?}");
        } else if !capable && found.verdict != Verdict::Yes {
            assert!(found.reason.contains("CAP_BPF"), "{found:?}");
        }
    }
}
