//! A bound on the wake-up time of a host's CPUs.

use std::fs::File;
use std::io::{Read as _, Write as _};

use crate::error::Error;
use crate::kernel::files::Machine;

const FILE: &str = "dev/cpu_dma_latency";

// The kernel's value without a bound, in µs (`PM_QOS_CPU_LATENCY_DEFAULT_VALUE`).
const UNBOUND: i32 = 2_000_000_000;

/// Keeps the CPUs of this machine from idle states that take longer to wake up from, in µs, while
/// the file is open (`Documentation/power/pm_qos_interface.rst`).
///
/// # Errors
/// The kernel puts no CPU into idle states, so that the bound would do nothing; or it is not held.
pub fn hold_latency(machine: &Machine, microseconds: u32) -> Result<File, Error> {
    let what = format!("cannot hold the wake-up time of the CPUs at {microseconds} µs");
    let driver = machine.text("sys/devices/system/cpu/cpuidle/current_driver");
    // The kernel takes the bound in either case, and only idle states heed it.
    if driver.is_none_or(|driver| driver == "none") {
        return Err(Error::from(format!(
            "{what}: this kernel has no driver of idle states (in a virtual machine its host decides how deep the CPUs sleep); \
             remove `cpu_latency`"
        )));
    }
    let failed = |errno| Error::failed(format!("{what}: /{FILE}"), errno, "; it needs root");
    let asked = i32::try_from(microseconds).unwrap_or(UNBOUND);
    let mut file = File::options().read(true).write(true).open(machine.path(FILE)).map_err(failed)?;
    file.write_all(&asked.to_ne_bytes()).map_err(failed)?;
    // The least bound of all programs counts.
    match bound(&mut file) {
        Some(now) if now <= asked => Ok(file),
        Some(now) => Err(format!("{what}: it reads back {now} µs").into()),
        None => Err(format!("{what}: it does not read back").into()),
    }
}

/// The bound in force, in µs; `None` if there is none, or it may not be read.
pub(crate) fn latency_bound(files: &Machine) -> Option<u32> {
    let now = bound(&mut File::open(files.path(FILE)).ok()?)?;
    // While no program holds a bound the file reads the kernel's value for none.
    u32::try_from(now).ok().filter(|_| now < UNBOUND)
}

fn bound(file: &mut File) -> Option<i32> {
    let mut bytes = [0; 4];
    file.read_exact(&mut bytes).ok()?;
    Some(i32::from_ne_bytes(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::files::fixture::files;

    #[test]
    fn a_machine_without_idle_states_is_refused_with_the_reason() {
        for driver in [&[("sys/devices/system/cpu/cpuidle/current_driver", "none\n")][..], &[]] {
            let (_keep, files) = files(driver);
            let error = hold_latency(&files, 0).unwrap_err().to_string();
            assert!(error.contains("no driver of idle states") && error.contains("`cpu_latency`"), "{error}");
        }
    }

    #[test]
    fn what_nobody_bounds_is_unknown() {
        let value = |bytes: [u8; 4]| {
            let (keep, files) = files(&[]);
            std::fs::create_dir(keep.path().join("dev")).unwrap();
            std::fs::write(keep.path().join(FILE), bytes).unwrap();
            latency_bound(&files)
        };
        assert_eq!(value(UNBOUND.to_ne_bytes()), None);
        assert_eq!(value(50_i32.to_ne_bytes()), Some(50));
        assert_eq!(value(0_i32.to_ne_bytes()), Some(0));
    }
}
