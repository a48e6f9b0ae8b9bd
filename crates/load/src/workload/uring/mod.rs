//! A ring shared with the kernel: many requests and completions with one system call (io_uring(7)).

mod probe;

use io_uring::types::{CancelBuilder, Fixed, SubmitArgs, Timespec};
use io_uring::{IoUring, cqueue, squeue};

use crate::error::{Error, Result};
use crate::lane::{Call, Lane, LoopStep};
use crate::socket;

pub(crate) use probe::lacking;

/// The flow's socket as registered in our ring: one reference to it is cheaper than one for every
/// request.
pub(crate) const SOCKET: Fixed = Fixed(0);

/// The longest wait for the last sends, in ms; then the phase is checked.
const PATIENCE: u32 = 100;
/// The longest wait for cancelled requests at the end of a ring, in seconds.
const CANCEL: u64 = 1;

/// A ring that one thread uses for one socket.
pub(crate) struct Ring {
    ring: IoUring,
}

impl Ring {
    /// Opens a ring with room for `requests` and `completions`, in the thread that will use it.
    pub(crate) fn open(lane: &Lane, requests: usize, completions: usize) -> Result<Self> {
        let failed = |call, error: std::io::Error| Error::setup(call, socket::flow(lane.flow), &error);
        let ring = build(requests, completions).map_err(|e| failed("io_uring_setup", e))?;
        ring.submitter()
            .register_files(&[lane.fd])
            .map_err(|e| failed("io_uring_register of the socket", e))?;
        Ok(Self { ring })
    }

    /// The queue of requests: after it is dropped, [`Ring::enter`] submits them.
    #[inline(always)]
    pub(crate) fn queue(&mut self) -> squeue::SubmissionQueue<'_> {
        self.ring.submission()
    }

    /// Submits queued requests, and waits for `want` completions.
    #[inline(always)]
    pub(crate) fn enter(&self, lane: &Lane, want: usize) -> Result<LoopStep> {
        match self.ring.submit_and_wait(want) {
            Ok(_) => Ok(LoopStep::Again),
            Err(error) => lane.judge(Call::Enter, error.raw_os_error().unwrap_or(libc::EIO)),
        }
    }

    /// Enters the ring for a short time.
    pub(crate) fn enter_shortly(&self, lane: &Lane, want: usize) -> Result<LoopStep> {
        let time = Timespec::new().nsec(PATIENCE * 1_000_000);
        match self.ring.submitter().submit_with_args(want, &SubmitArgs::new().timespec(&time)) {
            Ok(_) => Ok(LoopStep::Again),
            Err(error) if error.raw_os_error() == Some(libc::ETIME) => Ok(LoopStep::Again),
            Err(error) => lane.judge(Call::Enter, error.raw_os_error().unwrap_or(libc::EIO)),
        }
    }

    #[inline(always)]
    pub(crate) fn completed(&mut self) -> cqueue::CompletionQueue<'_> {
        self.ring.completion()
    }
}

/// Queues a request.
///
/// # Safety
/// The request's memory outlives the ring, and is not used until its completion has come. There is
/// room for the request.
#[inline(always)]
pub(crate) unsafe fn push(queue: &mut squeue::SubmissionQueue<'_>, request: &squeue::Entry) {
    // SAFETY: the caller guarantees it. A full queue, which the callers' counts rule out, would
    // lose the request.
    let _full = unsafe { queue.push(request) };
    debug_assert!(_full.is_ok());
}

impl Drop for Ring {
    fn drop(&mut self) {
        // No memory of the thread may be sent from after this. A kernel without this call (before
        // 6.0) ends the requests when the ring is closed.
        let time = Timespec::new().sec(CANCEL);
        let _ = self.ring.submitter().register_sync_cancel(Some(time), CancelBuilder::any());
    }
}

/// The cheapest ring of this kernel: used by one thread only, which runs completions when it asks
/// for them (6.1), else one without interrupts for that (5.19), else a plain one.
fn build(requests: usize, completions: usize) -> std::io::Result<IoUring> {
    let requests = u32::try_from(requests).unwrap_or(u32::MAX);
    let completions = u32::try_from(completions).unwrap_or(u32::MAX);
    let builder = || {
        let mut builder = IoUring::builder();
        builder.setup_cqsize(completions);
        builder
    };
    let refused = |error: &std::io::Error| error.raw_os_error() == Some(libc::EINVAL);
    match builder().setup_single_issuer().setup_defer_taskrun().build(requests) {
        Err(error) if refused(&error) => match builder().setup_coop_taskrun().build(requests) {
            Err(error) if refused(&error) => builder().build(requests),
            built => built,
        },
        built => built,
    }
}

/// The error number in a completion's result; 0 without an error.
#[inline(always)]
pub(crate) fn errno(result: i32) -> i32 {
    if result < 0 { -result } else { 0 }
}
