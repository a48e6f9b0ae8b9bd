//! What a thread does from its start to its end.

use std::sync::atomic::Ordering;

use nix::unistd::gettid;

use crate::error::{Errno, Error};
use crate::lane::{End, Lane};
use crate::{sys, workload};

/// Runs thread number `thread`, which serves these lanes. Errors go to the control, where
/// they are seen while the others still run.
pub(super) fn run(lanes: &[Lane], thread: usize, sends: bool, cpu: Option<u32>) -> Option<Vec<End>> {
    let first = lanes.first()?;
    let _report = PanicReport(first);
    let work = || {
        if let Some(cpu) = cpu {
            sys::pin(cpu).map_err(|e| Error::Pin { flow: first.flow as u32, cpu, errno: Errno::of(&e) })?;
        }
        first.control.threads[thread].store(gettid().as_raw().unsigned_abs(), Ordering::Relaxed);
        sys::own_descriptors(lanes.iter().map(|lane| lane.fd));
        workload::run(lanes, sends)
    };
    match work() {
        Ok(ends) => Some(ends),
        Err(error) => {
            first.control.fail(error);
            None
        }
    }
}

struct PanicReport<'a>(&'a Lane);

impl Drop for PanicReport<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let bug = "its thread panicked; this is a bug in netassay";
            self.0.control.fail(Error::flow(self.0.flow, bug));
        }
        // A thread that ended before its loop must not be waited for.
        self.0.readiness.take();
    }
}
