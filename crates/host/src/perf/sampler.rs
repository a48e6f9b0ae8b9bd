//! The kernel's sampling of stacks, and the records that it writes for samples.

use std::collections::BTreeSet;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::atomic::Ordering;

use nix::libc;
use nix::sys::mman::ProtFlags;

use crate::cpu::affinity::allowed_cpus;
use crate::error::Error;
use crate::kernel::event::{self, EventAttributes, PerfIoctl};
use crate::kernel::files::threads_named;
use crate::kernel::pages::{Pages, page_size};

/// Samples a second: a prime number, so that no timer of the work keeps pace with it. A second has
/// few counted instructions.
pub fn frequency(exact: bool) -> u32 {
    if exact { 19_937 } else { 3_989 }
}

/// Takes samples, until it is dropped or the process ends.
#[derive(Debug)]
pub struct Sampler {
    rings: Vec<SampleRing>,
}

impl Sampler {
    /// Prepares one sample each `period` ns, on each CPU that the calling thread may use, whatever
    /// runs there.
    pub fn open(period: u64) -> Result<Self, Error> {
        let rings = allowed_cpus().into_iter().map(|cpu| SampleRing::open(period, cpu));
        let rings = rings.collect::<io::Result<Vec<SampleRing>>>().map_err(|errno| {
            let way_out = match errno.raw_os_error() {
                Some(libc::EACCES | libc::EPERM) => MAY_NOT,
                _ => "; it needs CONFIG_PERF_EVENTS",
            };
            Error::failed("the kernel cannot be sampled from here", errno, way_out)
        })?;
        Ok(Self { rings })
    }

    /// Takes samples from now on.
    pub fn start(&self) -> io::Result<()> {
        self.rings.iter().try_for_each(|ring| event::control(&ring.event, PerfIoctl::Enable, 0))
    }

    /// Stops sampling, and reads the samples.
    pub fn stop(&mut self) -> io::Result<SampleBatch> {
        self.rings.iter().try_for_each(|ring| event::control(&ring.event, PerfIoctl::Disable, 0))?;
        let mut samples = SampleBatch::default();
        self.rings.iter_mut().for_each(|ring| samples.add(ring.read()));
        Ok(samples)
    }
}

const MAY_NOT: &str = "; it needs root, CAP_PERFMON, or `sysctl kernel.perf_event_paranoid=0`; in a virtual machine \
                       (inside=guest) it needs neither";

/// The threads to which the kernel leaves work of soft interrupts.
pub fn softirq_threads() -> BTreeSet<u32> {
    threads_named("/proc", |name| name.starts_with("ksoftirqd/")).unwrap_or_default()
}

#[derive(Debug)]
struct SampleRing {
    event: OwnedFd,
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

impl SampleRing {
    fn open(period: u64, cpu: u32) -> io::Result<Self> {
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
        let event = unsafe { event::open(attributes, cpu) }?;
        let page = page_size()?;
        let size = PAGES * page;
        // Writable: the kernel then keeps unread samples, and counts those without room.
        let access = ProtFlags::PROT_READ | ProtFlags::PROT_WRITE;
        let pages = Pages::map(&event, 0, page + size, access)?;
        Ok(Self { event, pages, page, size })
    }

    /// The samples since the last reading.
    fn read(&mut self) -> SampleBatch {
        // All records before the kernel's position are complete.
        let end = self.pages.position(WRITTEN).load(Ordering::Acquire);
        let begin = self.pages.position(READ).load(Ordering::Relaxed);
        let len = usize::try_from(end.saturating_sub(begin)).unwrap_or(self.size).min(self.size);
        let at = begin as usize & (self.size - 1);
        let first = len.min(self.size - at);
        let bytes = |at: usize, len: usize| self.pages.bytes(self.page + at, len);
        let samples = SampleBatch::parse(&[bytes(at, first), bytes(0, len - first)].concat());
        // Their room is free again.
        self.pages.position(READ).store(end, Ordering::Release);
        samples
    }
}

/// A sample of a CPU.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct StackSample {
    /// By the kernel's number; 0 if none ran.
    pub thread: u32,
    /// In the kernel: the address that ran, then those to which functions return.
    pub stack: Vec<u64>,
    /// In user space, where the thread ran there.
    pub user: Option<u64>,
}

/// Samples in the order in which they were taken.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SampleBatch {
    pub taken: Vec<StackSample>,
    /// The number of samples without room.
    pub lost: u64,
}

// `enum perf_event_type`.
const LOST: u32 = 2;
const SAMPLE: u32 = 9;
// Before each record: its kind, flags and length.
const HEADER: usize = 8;
// The begin of the kernel's addresses, and of marks in a stack (`PERF_CONTEXT_MAX`).
const KERNEL: u64 = 1 << 63;
const MARKS: u64 = -4095_i64 as u64;

impl SampleBatch {
    /// Adds samples of another CPU or a later time.
    pub fn add(&mut self, more: Self) {
        self.taken.extend(more.taken);
        self.lost = self.lost.saturating_add(more.lost);
    }

    /// Reads consecutive records (`perf_event_open(2)`).
    pub(crate) fn parse(mut bytes: &[u8]) -> Self {
        let mut samples = Self::default();
        while let Some(header) = bytes.first_chunk::<HEADER>() {
            let kind = u32::from_ne_bytes([header[0], header[1], header[2], header[3]]);
            let len = usize::from(u16::from_ne_bytes([header[6], header[7]]));
            // An incomplete record, or one that is shorter than its header, ends them.
            let Some(body) = bytes.get(HEADER..len) else { break };
            let words: Vec<u64> =
                body.as_chunks::<8>().0.iter().map(|word| u64::from_ne_bytes(*word)).collect();
            match (kind, words.as_slice()) {
                (SAMPLE, [address, process_and_thread, count, stack @ ..]) => {
                    let stack = &stack[..stack.len().min(usize::try_from(*count).unwrap_or(usize::MAX))];
                    samples.taken.push(StackSample::from_words(*address, *process_and_thread, stack));
                }
                (LOST, [_, lost, ..]) => samples.lost = samples.lost.saturating_add(*lost),
                _ => {}
            }
            bytes = &bytes[len..];
        }
        samples
    }
}

impl StackSample {
    fn from_words(address: u64, process_and_thread: u64, stack: &[u64]) -> Self {
        let is_kernel = |one: &u64| (KERNEL..MARKS).contains(one);
        let mut stack: Vec<u64> = stack.iter().copied().filter(is_kernel).collect();
        if stack.is_empty() {
            stack.extend(Some(address).filter(is_kernel));
        }
        let user = Some(address).filter(|_| stack.is_empty());
        // Process and thread, of 32 bits each in the machine's order.
        let [_, _, _, _, thread @ ..] = process_and_thread.to_ne_bytes();
        Self { thread: u32::from_ne_bytes(thread), stack, user }
    }
}

#[cfg(test)]
mod tests;
