//! One side of one run: its sockets and threads, and the counters read at the edges of its window.

use std::net::SocketAddr;
use std::thread;
use std::time::{Duration, Instant};

use host::{
    ClockReading, Counters, CpuTimes, DeviceReader, Interrupts, LinkLimit, Links, ProcessTimes, QuotaGroup,
    Quotas, ThreadTimes, Throttled, WireCounters,
};
use load::{Endpoint, Kind, Phase};

use crate::error::{Refusal, Reply};
use crate::frame::Deadline;
use crate::message::Answer;
use crate::series::{self, SeriesRow};
use record::{Finished, Late, Measured, Series};

// The interval at which a waiting measurement checks that its threads live: two loads per thread.
const GLANCE: Duration = Duration::from_millis(200);

// With more flows neighbours are summed, so that answers and stored results stay small.
pub(crate) const MOST_FLOWS: usize = 2048;

// Afterwards the sockets are closed, whatever keeps the controller.
const BEFORE_WINDOW: Duration = Duration::from_secs(60);
const AFTER_WINDOW: Duration = Duration::from_secs(10);

// The other end has as many sockets to close first.
const FOR_EACH_FLOW: Duration = Duration::from_millis(1);

pub(crate) struct WorkloadSide {
    pub(crate) endpoint: Endpoint,
    /// The workload is closed then if no request for its account has come.
    pub(crate) closes: Instant,
    pub(crate) interface: String,
    underlay: Option<String>,
    before: Counters,
    pub(crate) flows: u32,
    pub(crate) kind: Kind,
    quotas: Quotas,
}

impl WorkloadSide {
    /// `endpoints`: a transmitter's destinations. `quotas`: those whose throttling is counted.
    pub(crate) fn open(
        links: &mut Links,
        spec: &load::Spec,
        endpoints: Option<&[SocketAddr]>,
        (interface, underlay): (String, Option<String>),
        quotas: &Quotas,
    ) -> Result<Self, Refusal> {
        let before = Counters::read(links, &interface)?;
        let endpoint = match endpoints {
            None => Endpoint::bind(spec)?,
            Some(endpoints) => Endpoint::connect(spec, endpoints)?,
        };
        let (flows, kind, quotas) = (spec.traffic.lanes(), spec.traffic.kind, quotas.clone());
        let closes = within(BEFORE_WINDOW, flows);
        Ok(Self { endpoint, closes, interface, underlay, before, flows, kind, quotas })
    }

    pub(crate) fn lowest(&self) -> &str {
        self.underlay.as_deref().unwrap_or(&self.interface)
    }

    /// Reads all counters at the window's edges, and a few at each step. The times: ramp, window,
    /// step of the series.
    pub(crate) fn measure(
        &self,
        links: &mut Links,
        cpus: &[u32],
        [ramp, window, step]: [Duration; 3],
        deadline: Deadline,
    ) -> Reply {
        // By this host's own clock: those of the two ends may differ.
        let opens = Instant::now().checked_add(ramp).ok_or(TOO_LONG)?;
        let closes = opens.checked_add(window).ok_or(TOO_LONG)?;
        deadline.allows(closes)?;
        let step = series::step(step, window, self.flows);

        // In a tunnel's traffic, the driver below the tunnel counts.
        let device = DeviceReader::open(self.lowest());

        self.wait_until(opens)?;
        let opened_ns = ns(opens.elapsed());
        // The slowest reading is first at both edges: all quantities cover equally long windows.
        let devices = device.read();
        let first = self.read(links, cpus, Phase::Window)?;
        let (first_row, mut rows) = (first.row(), Series { step_ns: ns(step), ..Series::default() });
        loop {
            let next = series::next(opens, step, Instant::now());
            if next >= closes {
                break;
            }
            self.wait_until(next)?;
            series::add_row(&mut rows, &first_row, &self.row(links, cpus)?);
        }
        self.wait_until(closes)?;
        let closed_ns = ns(closes.elapsed());
        let devices_after = device.read();
        let last = self.read(links, cpus, Phase::Tail)?;
        series::add_row(&mut rows, &first_row, &last.row());

        Ok(Answer::Measured(Box::new(Measured {
            device: Some(device.passed(&devices, &devices_after)).filter(|passed| !passed.changed.is_empty()),
            late: Late { opened_ns, closed_ns },
            // Read after the window, so that the reading disturbs no measurement.
            link: LinkLimit::read(links, &self.interface)?,
            series: rows,
            ..last.since(&first, cpus)
        })))
    }

    pub(crate) fn finish(self, links: &mut Links) -> Reply {
        let mut outcome = self.endpoint.finish()?;
        outcome.sum_up(MOST_FLOWS);
        let counters = Counters::read(links, &self.interface)?.since(&self.before);
        Ok(Answer::Finished(Box::new(Finished { outcome, counters })))
    }

    pub(crate) fn note_window_end(&mut self) {
        self.closes = within(AFTER_WINDOW, self.flows);
    }

    /// Reads the counters that take a few hundred µs.
    pub(crate) fn read(&self, links: &mut Links, cpus: &[u32], next: Phase) -> Result<Reading, Refusal> {
        let counters = Counters::read(links, &self.interface)?;
        let underlay = self.underlay.as_deref().map(|name| WireCounters::read(links, name)).transpose()?;
        let interrupts = Interrupts::sum(&Interrupts::read_each(cpus));
        let cpu_each = CpuTimes::read_each(cpus)?;
        // A thread that has ended has failed; `wait_until` reports that better.
        let threads = self.endpoint.threads();
        let threads =
            threads.into_iter().map(|thread| ThreadTimes::read(thread).unwrap_or_default()).collect();
        let own = ProcessTimes::read();
        let throttled = self.quotas.iter().map(QuotaGroup::counters).collect();
        let clock = ClockReading::read();
        self.endpoint.set_phase(next);
        let load = self.sample();
        Ok(Reading { counters, underlay, interrupts, cpu_each, threads, own, throttled, clock, load })
    }

    fn row(&self, links: &mut Links, cpus: &[u32]) -> Result<SeriesRow, Refusal> {
        let queue = links.queue(&self.interface)?;
        Ok(SeriesRow { queue, cpu: CpuTimes::sum(&CpuTimes::read_each(cpus)?), load: self.sample() })
    }

    pub(crate) fn sample(&self) -> load::Sample {
        // The sum of all flows: single flows are only reported at the end.
        load::Sample { flows: Vec::new(), ..self.endpoint.sample() }
    }

    pub(crate) fn wait_until(&self, when: Instant) -> Result<(), Refusal> {
        loop {
            if let Some(failure) = self.endpoint.failed() {
                return Err(failure.clone().into());
            }
            let left = when.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(());
            }
            thread::sleep(left.min(GLANCE));
        }
    }
}

pub(crate) fn within(time: Duration, flows: u32) -> Instant {
    Instant::now() + time + FOR_EACH_FLOW * flows
}

pub(crate) struct Reading {
    counters: Counters,
    underlay: Option<WireCounters>,
    interrupts: Interrupts,
    cpu_each: Vec<CpuTimes>,
    threads: Vec<ThreadTimes>,
    own: ProcessTimes,
    throttled: Vec<Throttled>,
    pub(crate) clock: ClockReading,
    pub(crate) load: load::Sample,
}

impl Reading {
    fn row(&self) -> SeriesRow {
        SeriesRow { load: self.load.clone(), cpu: CpuTimes::sum(&self.cpu_each), queue: self.counters.queue }
    }

    pub(crate) fn since(&self, first: &Self, cpus: &[u32]) -> Measured {
        let cpu_each = each_since(&self.cpu_each, &first.cpu_each, CpuTimes::since);
        Measured {
            elapsed_ns: self.load.at_ns.saturating_sub(first.load.at_ns),
            load: self.load.since(&first.load),
            cpu: CpuTimes::sum(&cpu_each),
            cpus: cpus.to_vec(),
            cpu_each,
            own: self.own.since(&first.own),
            threads: each_since(&self.threads, &first.threads, ThreadTimes::since),
            counters: self.counters.since(&first.counters),
            interrupts: self.interrupts.since(&first.interrupts),
            underlay: self.underlay.zip(first.underlay).map(|(last, first)| last.since(&first)),
            throttled: Throttled::most_throttled(&self.throttled, &first.throttled),
            clock: self.clock.since(&first.clock),
            ..Measured::default()
        }
    }
}

pub(crate) fn each_since<T>(last: &[T], first: &[T], since: impl Fn(&T, &T) -> T) -> Vec<T> {
    last.iter().zip(first).map(|(last, first)| since(last, first)).collect()
}

pub(crate) const TOO_LONG: &str = "the window ends beyond the range of this host's clock";

pub(crate) fn ns(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
