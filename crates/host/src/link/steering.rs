//! Receive packet steering: the CPUs of an interface's receive work.

use std::io;
use std::path::{Path, PathBuf};

use words::format_cpu_list;

use crate::cpu::mask::{format_cpu_mask, parse_cpu_mask};
use crate::error::Error;
use crate::kernel::files::Files;
use crate::link::links::Links;

/// Steers the receive work of every queue of the interface to `cpus`, and reads that back; no CPUs
/// end the steering.
///
/// Needs a sysfs of this network namespace on `/sys` (see [`crate::namespace::mount_sysfs`]) and,
/// unless the queues are steered like this already, `CAP_NET_ADMIN` in the machine's first user
/// namespace.
///
/// # Errors
/// Among others without that privilege. A rootless run uses [`steer_new`].
pub fn steer(interface: &str, cpus: &[u32]) -> Result<(), Error> {
    let mask = mask(cpus)?;
    let directory = own_directory(interface)?;
    let what = format!("cannot steer the receive work of {interface:?} to CPUs {}", format_cpu_list(cpus));
    let fail = |path: &Path, errno: io::Error| match errno.kind() {
        io::ErrorKind::PermissionDenied => Error::failed(&what, errno, FORBIDDEN),
        _ => Error::failed(format!("{what}: {}", path.display()), errno, ""),
    };
    let mut wanted = cpus.to_vec();
    wanted.sort_unstable();
    wanted.dedup();
    let queues = directory.join("queues");
    for entry in std::fs::read_dir(&queues).map_err(|errno| fail(&queues, errno))? {
        let queue = entry.map_err(|errno| fail(&queues, errno))?;
        if !queue.file_name().as_encoded_bytes().starts_with(b"rx-") {
            continue;
        }
        let file = queue.path().join("rps_cpus");
        let read = || std::fs::read_to_string(&file).map_err(|errno| fail(&file, errno));
        if parse_cpu_mask(&read()?).as_ref() == Some(&wanted) {
            continue;
        }
        std::fs::write(&file, &mask).map_err(|errno| fail(&file, errno))?;
        let got = read()?;
        if parse_cpu_mask(&got).as_ref() != Some(&wanted) {
            let got = got.trim();
            return Err(format!("{what}: the kernel applied {got:?} (offline or isolated CPUs?)").into());
        }
    }
    Ok(())
}

const FORBIDDEN: &str = "; it needs CAP_NET_ADMIN in the first user namespace: run as root, or use Linux 6.3 or later, which \
                         steers new interfaces without it. Without steering, packets between namespaces \
                         are received on the CPU that sent them: the receiver's softirq time is spent, and counted, on the \
                         transmitter's CPUs";

// The default mask of receive queues in a network namespace. Unlike a queue's own mask, the owner
// of the namespace may write it.
const NEW: &str = "/proc/sys/net/core/rps_default_mask";

/// Steers the receive work of every interface that is made in this network namespace from now on to
/// `cpus`; no CPUs end that. Needs `CAP_NET_ADMIN` in the namespace's own user namespace only.
///
/// # Errors
/// Always before Linux 6.3.
pub fn steer_new(cpus: &[u32]) -> Result<(), Error> {
    let list = format_cpu_list(cpus);
    std::fs::write(NEW, mask(cpus)?).map_err(|errno| {
        let what = format!("cannot steer the receive work of new interfaces to CPUs {list}: {NEW}");
        Error::failed(what, errno, " (Linux 6.3 and later have it)")
    })
}

fn mask(cpus: &[u32]) -> Result<String, Error> {
    format_cpu_mask(cpus).map_err(|cpu| {
        format!("cannot steer receive work to CPU {cpu}: no machine has a CPU with this number").into()
    })
}

/// The interface's directory in sysfs, if sysfs shows this network namespace: the machine's own
/// `eth0` must not be steered instead of a testbed's.
fn own_directory(interface: &str) -> Result<PathBuf, Error> {
    let sysfs = Links::open()?.find(interface)?.sysfs(&Files::system());
    sysfs.map(|directory| Path::new("/").join(directory)).ok_or_else(|| {
        format!(
            "cannot steer the receive work of {interface:?}: /sys/class/net shows another network namespace; mount a sysfs of \
             this one first"
        )
        .into()
    })
}
