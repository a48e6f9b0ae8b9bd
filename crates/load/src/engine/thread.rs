//! A thread's life.

use std::sync::atomic::Ordering;

use nix::unistd::gettid;

use crate::error::{Errno, Error};
use crate::lane::{Lane, LaneResult};
use crate::{sys, workload};

/// Runs thread number `thread`, which serves these lanes. Errors go to the control, visible while
/// the others still run.
pub(super) fn run(lanes: &[Lane], thread: usize, sends: bool, cpu: Option<u32>) -> Option<Vec<LaneResult>> {
    let first = lanes.first()?;
    let _report = PanicReport(first);
    let work = || {
        if let Some(cpu) = cpu {
            sys::pin(cpu).map_err(|e| {
                let errno = Errno::from_error(&e);
                Error::flow(
                    first.flow,
                    format!("cannot run on CPU {cpu}: {errno}; name CPUs that this host may use"),
                )
            })?;
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
        // Nobody must wait for a thread that ended before its loop.
        self.0.readiness.take();
    }
}
