//! The kernel's sampling of stacks.

use std::collections::BTreeSet;
use std::io;
use std::sync::atomic::Ordering;

use nix::libc;
use nix::sys::mman::ProtFlags;
use thiserror::Error;

use crate::cpu::affinity::allowed_cpus;
use crate::kernel::event::{Control, Event, EventAttributes, EventScope};
use crate::kernel::files::{Files, numbers};
use crate::kernel::pages::{Pages, page_size};

use super::profile::SamplingScope;
use super::record::SampleBatch;

/// Samples a second: a prime number, so that no timer of the work keeps pace with it. Where
/// instructions are counted a second has few of them, and samples are dearer than they are rare.
#[must_use]
pub fn frequency(exact: bool) -> u32 {
    if exact { 19_937 } else { 3_989 }
}

/// The reason why sampling is impossible.
#[derive(Debug, Error)]
#[expect(missing_docs, reason = "the messages of its variants say it")]
pub enum PerfError {
    /// The kernel refuses.
    #[error(
        "the kernel may not be sampled from here: {errno} (kernel.perf_event_paranoid is {paranoid}): it needs root, CAP_PERFMON, or `sysctl kernel.perf_event_paranoid=1`; in a virtual machine (inside=guest) it needs neither"
    )]
    Refused {
        errno: io::Error,
        /// The setting that limits it to some users.
        paranoid: String,
    },
    #[error("the kernel cannot be sampled: {0}; it needs CONFIG_PERF_EVENTS")]
    Failed(#[from] io::Error),
}

/// Takes samples, until it is dropped or the process ends.
#[derive(Debug)]
pub struct Sampler {
    rings: Vec<SampleRing>,
    means: SamplingScope,
}

impl Sampler {
    /// Prepares one sample each `period` ns, on each CPU that the calling thread may use, whatever
    /// runs there; if that is not allowed, of these threads of this process only.
    pub fn open(period: u64, threads: &[u32]) -> Result<Self, PerfError> {
        let is_refused = |error: &io::Error| matches!(error.raw_os_error(), Some(libc::EACCES | libc::EPERM));
        let rings = |whose: Vec<EventScope>| -> io::Result<Vec<SampleRing>> {
            whose.into_iter().map(|whose| SampleRing::open(period, whose)).collect()
        };
        let (rings, means) = match rings(allowed_cpus().into_iter().map(EventScope::Cpu).collect()) {
            Err(error) if is_refused(&error) => {
                (rings(threads.iter().copied().map(EventScope::Thread).collect()), SamplingScope::Threads)
            }
            opened => (opened, SamplingScope::Cpus),
        };
        match rings {
            Ok(rings) => Ok(Self { rings, means }),
            Err(errno) if is_refused(&errno) => {
                let paranoid = Files::system().text("proc/sys/kernel/perf_event_paranoid");
                Err(PerfError::Refused { errno, paranoid: paranoid.unwrap_or_else(|| "unknown".to_owned()) })
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Whether it samples CPUs or threads.
    #[must_use]
    pub fn means(&self) -> SamplingScope {
        self.means
    }

    /// Takes samples from now on.
    pub fn start(&self) -> io::Result<()> {
        self.rings.iter().try_for_each(|ring| ring.event.control(Control::Enable, 0))
    }

    /// Stops sampling, and reads the samples.
    pub fn stop(&mut self) -> io::Result<SampleBatch> {
        self.rings.iter().try_for_each(|ring| ring.event.control(Control::Disable, 0))?;
        let mut samples = SampleBatch::default();
        self.rings.iter_mut().for_each(|ring| samples.add(ring.read()));
        Ok(samples)
    }
}

/// The threads to which the kernel leaves work of soft interrupts.
#[must_use]
pub fn softirq_threads() -> BTreeSet<u32> {
    let is_one = |number: &u32| {
        std::fs::read_to_string(format!("/proc/{number}/comm"))
            .is_ok_and(|name| name.starts_with("ksoftirqd/"))
    };
    numbers("/proc").unwrap_or_default().into_iter().filter(is_one).collect()
}

/// An event, and the memory in which the kernel writes its samples.
#[derive(Debug)]
struct SampleRing {
    event: Event,
    pages: Pages,
    /// The offset of the samples behind the first page, and their room, a power of two.
    page: usize,
    size: usize,
}

// The room for samples in pages: a thousand samples, or many more of shallow stacks.
const PAGES: usize = 64;
// The kernel's write position, and this process's read position (`struct perf_event_mmap_page`).
const WRITTEN: usize = 1024;
const READ: usize = 1032;
// The most that a sample takes: 127 addresses (`kernel.perf_event_max_stack`) and a few numbers.
const LARGEST: usize = 2048;

impl SampleRing {
    fn open(period: u64, whose: EventScope) -> io::Result<Self> {
        const SOFTWARE: u32 = 1;
        const CPU_CLOCK: u64 = 0;
        // Address, thread, stack (`enum perf_event_sample_format`).
        const SAMPLED: u64 = 1 | 1 << 1 | 1 << 5;
        const DISABLED: u64 = 1;
        const NO_STACKS_OF_USERS: u64 = 1 << 22;
        let attributes = EventAttributes {
            kind: SOFTWARE,
            config: CPU_CLOCK,
            sample_period: period,
            sample_type: SAMPLED,
            flags: DISABLED | NO_STACKS_OF_USERS,
            ..EventAttributes::default()
        };
        // SAFETY: the attributes hold no address.
        let event = unsafe { Event::open(attributes, whose) }?;
        let page = page_size()?;
        let size = PAGES * page;
        // Writable: the kernel then keeps unread samples, and counts those without room.
        let access = ProtFlags::PROT_READ | ProtFlags::PROT_WRITE;
        let pages = Pages::map(event.descriptor(), 0, page + size, access)?;
        Ok(Self { event, pages, page, size })
    }

    /// The samples since the last reading. Their room is free again.
    fn read(&mut self) -> SampleBatch {
        let end = self.pages.position(WRITTEN).load(Ordering::Acquire);
        let begin = self.pages.position(READ).load(Ordering::Relaxed);
        let len = usize::try_from(end.saturating_sub(begin)).unwrap_or(self.size).min(self.size);
        let at = begin as usize & (self.size - 1);
        let first = len.min(self.size - at);
        let bytes = |at: usize, len: usize| self.pages.bytes(self.page + at, len);
        let mut samples = SampleBatch::parse(&[bytes(at, first), bytes(0, len - first)].concat());
        self.pages.position(READ).store(end, Ordering::Release);
        // The kernel tells its lost samples with the next sample that has room: there may be none.
        if self.size - len < LARGEST && samples.lost == 0 {
            samples.lost = 1;
        }
        samples
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;
    use crate::perf::{Profile, Symbols, SymbolsError};

    const NAME: &str = "a_busy_thread_is_in_its_system_call_most_of_the_time";

    #[expect(clippy::print_stderr, reason = "a skipped test must be seen")]
    fn skipped(reason: &str) {
        let must = std::env::var_os("CI").is_some_and(|ci| ci == "true") && nix::unistd::getuid().is_root();
        assert!(!must, "must not be skipped here: {reason}");
        eprintln!("SKIPPED: {NAME}: {reason}");
    }

    #[test]
    fn a_busy_thread_is_in_its_system_call_most_of_the_time() {
        let own = nix::unistd::gettid().as_raw().unsigned_abs();
        let mut sampler = match Sampler::open(250_689, &[own]) {
            Ok(sampler) => sampler,
            Err(refused @ PerfError::Refused { .. }) => {
                assert!(refused.to_string().contains("CAP_PERFMON"), "{refused}");
                return skipped(&refused.to_string());
            }
            Err(error) => panic!("{error}"),
        };
        let mut zeros = std::fs::File::open("/dev/zero").unwrap();
        let mut room = vec![0; 1 << 18];
        sampler.start().unwrap();
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_millis(400) {
            io::Read::read_exact(&mut zeros, &mut room).unwrap();
        }
        let samples = sampler.stop().unwrap();
        assert!(samples.taken.iter().any(|sample| sample.thread == own), "{samples:?}");
        let symbols = match Symbols::read() {
            Ok(symbols) => symbols,
            Err(hidden @ SymbolsError::Hidden) => return skipped(&hidden.to_string()),
            Err(error) => panic!("{error}"),
        };
        let threads = (&[own].into(), &BTreeSet::new());
        let profile = Profile::from_samples(&[samples], &symbols, (sampler.means(), 250_689), threads, 1.0);
        // Only this thread's samples count, so a busy machine does no harm. The thread fills memory
        // with zeros.
        let inside = |name: &str| -> u64 { profile.stacks_with(name).map(|stack| stack.samples).sum() };
        assert!(inside("ksys_read") * 2 > profile.samples, "{profile:?}");
        assert!(profile.is_sound(), "{profile:?}");
        // No sample is taken any more.
        assert_eq!(sampler.stop().unwrap(), SampleBatch::default());
    }

    #[test]
    fn a_thread_that_is_not_there_is_no_privilege_that_is_missing() {
        let error = SampleRing::open(250_689, EventScope::Thread(u32::MAX >> 2)).unwrap_err();
        assert_ne!(error.raw_os_error(), Some(libc::EFAULT), "{error}");
    }
}
