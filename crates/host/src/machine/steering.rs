//! Receive packet steering: the CPUs of an interface's receive work.

use std::io;

use words::format_cpu_list;

use super::{Interface, Machine};
use crate::cpu::affinity::format_cpu_mask;
use crate::error::Error;

/// Steers the receive work of every queue of the interface to `cpus`, and reads that back; no CPUs
/// end the steering. Needs a sysfs of this network namespace on `/sys`, and, unless the queues are
/// steered like this already, `CAP_NET_ADMIN` in the machine's first user namespace.
///
/// # Errors
/// Among others without that privilege. A rootless run uses [`steer_new`].
pub fn steer(interface: &str, cpus: &[u32]) -> Result<(), Error> {
    let mask = format_cpu_mask(cpus)?;
    let machine = Machine::system();
    let queues = machine.affected_by_steering(&Interface::find(interface)?)?;
    for queue in queues.iter().filter(|queue| !machine.has(queue, &mask)) {
        machine.set(queue, &mask).map_err(|error| match error.errno().map(io::Error::from_raw_os_error) {
            Some(errno) if errno.kind() == io::ErrorKind::PermissionDenied => {
                let cpus = format_cpu_list(cpus);
                let what = format!("cannot steer the receive work of {interface:?} to CPUs {cpus}");
                Error::failed(what, errno, FORBIDDEN)
            }
            _ => error,
        })?;
    }
    Ok(())
}

const FORBIDDEN: &str = "; it needs CAP_NET_ADMIN in the first user namespace: run as root, or use Linux 6.3 or later, which \
                         steers new interfaces without it. Without steering, packets between namespaces \
                         are received on the CPU that sent them: the receiver's softirq time is spent, and counted, on the \
                         transmitter's CPUs";

// The namespace's owner may write it, unlike a queue's own mask.
const NEW: &str = "/proc/sys/net/core/rps_default_mask";

/// Steers the receive work of every interface that is made in this network namespace from now on to
/// `cpus`. Needs `CAP_NET_ADMIN` in the namespace's own user namespace only.
///
/// # Errors
/// Always before Linux 6.3.
pub fn steer_new(cpus: &[u32]) -> Result<(), Error> {
    std::fs::write(NEW, format_cpu_mask(cpus)?).map_err(|errno| {
        let list = format_cpu_list(cpus);
        let what = format!("cannot steer the receive work of new interfaces to CPUs {list}: {NEW}");
        Error::failed(what, errno, " (Linux 6.3 and later have it)")
    })
}
