//! One side of one run: its sockets and threads, and the counters read at the edges of its window.

use std::net::SocketAddr;
use std::thread;
use std::time::{Duration, Instant};

use host::{
    ClockReading, Counters, CpuTimes, DeviceReader, DeviceReading, Interrupts, LinkLimit, Links, Power,
    ProcessTimes, ThreadTimes, WireCounters,
};
use load::{Endpoint, Phase};

use crate::envelope::Deadline;
use crate::message::Answer;
use crate::refusal::{Refusal, Reply, done};
use crate::series::{self, Recorder, Row};
use record::{Finished, Late, Measured};

/// How often a waiting measurement checks that its threads live: two loads per thread.
const GLANCE: Duration = Duration::from_millis(200);

/// At most this many accounts of single flows; of more, neighbours are summed, so that answers and
/// stored results stay small.
pub(crate) const MOST_FLOWS: usize = 2048;

/// How long a workload stays open without its window, and after it. The controller asks for the
/// account at once; if it does not, the sockets are closed, whatever keeps it.
const BEFORE_WINDOW: Duration = Duration::from_secs(60);
const AFTER_WINDOW: Duration = Duration::from_secs(10);

/// What each flow adds: the other end has as many sockets to close first.
const FOR_EACH_FLOW: Duration = Duration::from_millis(1);

pub(crate) struct Traffic {
    endpoint: Endpoint,
    /// When it is closed if nothing asks for its account.
    closes: Instant,
    interface: String,
    underlay: Option<String>,
    /// The kernel's counters before the sockets were opened.
    before: Counters,
    /// How many sockets carry the traffic.
    flows: u32,
}

impl Traffic {
    pub(crate) fn listen(
        links: &mut Links,
        spec: &load::Spec,
        interface: String,
        underlay: Option<String>,
    ) -> Result<Self, Refusal> {
        let before = Counters::read(links, &interface)?;
        let endpoint = Endpoint::bind(spec).map_err(Refusal::passing)?;
        Ok(Self::of(endpoint, interface, underlay, before, spec))
    }

    pub(crate) fn connect(
        links: &mut Links,
        spec: &load::Spec,
        endpoints: &[SocketAddr],
        interface: String,
        underlay: Option<String>,
    ) -> Result<Self, Refusal> {
        let before = Counters::read(links, &interface)?;
        let endpoint = Endpoint::connect(spec, endpoints).map_err(Refusal::passing)?;
        Ok(Self::of(endpoint, interface, underlay, before, spec))
    }

    fn of(
        endpoint: Endpoint,
        interface: String,
        underlay: Option<String>,
        before: Counters,
        spec: &load::Spec,
    ) -> Self {
        let flows = spec.traffic.lanes();
        Self { endpoint, closes: within(BEFORE_WINDOW, flows), interface, underlay, before, flows }
    }

    /// When it is closed if nothing asks for its account.
    pub(crate) fn closes(&self) -> Instant {
        self.closes
    }

    pub(crate) fn addresses(&self) -> Vec<SocketAddr> {
        self.endpoint.addresses().to_vec()
    }

    pub(crate) fn attach(&mut self, locals: &[SocketAddr]) -> Reply {
        done(self.endpoint.attach(locals).map_err(Refusal::passing))
    }

    pub(crate) fn start(&mut self) -> Reply {
        done(self.endpoint.start().map_err(Refusal::passing))
    }

    pub(crate) fn quiet(&self) -> Answer {
        self.endpoint.quiet();
        Answer::Done
    }

    /// Reads all counters at both edges of the window, and a few at each step. The edges are of
    /// this host's own clock: rates divide by its time, so the hosts need no common clock. The
    /// times: ramp, window, step of the series.
    pub(crate) fn measure(
        &mut self,
        links: &mut Links,
        cpus: &[u32],
        times: [Duration; 3],
        deadline: Deadline,
    ) -> Reply {
        let measured = self.over_window(links, cpus, times, deadline);
        self.closes = within(AFTER_WINDOW, self.flows);
        measured
    }

    fn over_window(
        &self,
        links: &mut Links,
        cpus: &[u32],
        [ramp, window, step]: [Duration; 3],
        deadline: Deadline,
    ) -> Reply {
        let opens = Instant::now().checked_add(ramp).ok_or(TOO_LONG)?;
        let closes = opens.checked_add(window).ok_or(TOO_LONG)?;
        deadline.allows(closes)?;
        let step = series::step(step, window, self.flows);

        // Of a tunnel, the driver below it counts.
        let mut device = DeviceReader::open(self.underlay.as_deref().unwrap_or(&self.interface));

        self.wait_until(opens)?;
        let opened_ns = since(opens);
        let first = self.edge(links, &mut device, cpus, Phase::Window)?;
        let mut recorder = Recorder::new(first.row(), step);
        loop {
            let next = series::next(opens, step, Instant::now());
            if next >= closes {
                break;
            }
            self.wait_until(next)?;
            recorder.take(&self.row(links, cpus)?);
        }
        self.wait_until(closes)?;
        let closed_ns = since(closes);
        let last = self.edge(links, &mut device, cpus, Phase::Tail)?;

        let cpu_each: Vec<CpuTimes> =
            last.cpu_each.iter().zip(&first.cpu_each).map(|(last, first)| last.since(first)).collect();
        Ok(Answer::Measured(Box::new(Measured {
            elapsed_ns: last.load.at_ns.saturating_sub(first.load.at_ns),
            load: last.load.since(&first.load),
            cpu: CpuTimes::sum(&cpu_each),
            cpus: cpus.to_vec(),
            cpu_each,
            own: last.own.since(&first.own),
            threads: last.threads.iter().zip(&first.threads).map(|(last, first)| last.since(first)).collect(),
            counters: last.counters.since(&first.counters),
            interrupts: last.interrupts.since(&first.interrupts),
            underlay: last.underlay.zip(first.underlay).map(|(last, first)| last.since(&first)),
            device: Some(device.passed(&first.device, &last.device)).filter(|passed| !passed.is_nothing()),
            power: Some(last.power.since(&first.power)).filter(|power| !power.is_unknown()),
            clock: last.clock.since(&first.clock),
            late: Late { opened_ns, closed_ns },
            // After the window, so that reading it disturbs nothing.
            link: LinkLimit::read(links, &self.interface)?,
            series: recorder.finish(&last.row()),
        })))
    }

    pub(crate) fn finish(self, links: &mut Links) -> Reply {
        let mut outcome = self.endpoint.finish().map_err(Refusal::passing)?;
        outcome.sum_up(MOST_FLOWS);
        let counters = Counters::read(links, &self.interface)?.since(&self.before);
        Ok(Answer::Finished(Box::new(Finished { outcome, counters })))
    }

    fn edge(
        &self,
        links: &mut Links,
        device: &mut DeviceReader,
        cpus: &[u32],
        next: Phase,
    ) -> Result<Edge, Refusal> {
        // The kernel's counters take longest to read, so they come first at both edges: then each
        // quantity covers a window of the same length.
        let power = Power::read(cpus);
        let device = device.read();
        let counters = Counters::read(links, &self.interface)?;
        let underlay = self.underlay.as_deref().map(|name| WireCounters::read(links, name)).transpose()?;
        let interrupts = Interrupts::read(cpus);
        let cpu_each = CpuTimes::read_each(cpus)?;
        // A thread that has ended has failed; `wait_until` reports that better.
        let threads = self.endpoint.threads();
        let threads =
            threads.into_iter().map(|thread| ThreadTimes::read(thread).unwrap_or_default()).collect();
        let own = ProcessTimes::read();
        let clock = ClockReading::read();
        self.endpoint.set_phase(next);
        Ok(Edge {
            power,
            device,
            counters,
            underlay,
            interrupts,
            cpu_each,
            threads,
            own,
            clock,
            load: self.sample(),
        })
    }

    fn row(&self, links: &mut Links, cpus: &[u32]) -> Result<Row, Refusal> {
        let queue = links.queue(&self.interface)?;
        Ok(Row { queue, cpu: CpuTimes::read(cpus)?, load: self.sample() })
    }

    /// All flows together: single flows are only reported at the end.
    fn sample(&self) -> load::Sample {
        load::Sample { flows: Vec::new(), ..self.endpoint.sample() }
    }

    fn wait_until(&self, when: Instant) -> Result<(), Refusal> {
        loop {
            if let Some(failure) = self.endpoint.failed() {
                return Err(Refusal::passing(failure));
            }
            let left = when.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(());
            }
            thread::sleep(left.min(GLANCE));
        }
    }
}

fn within(time: Duration, flows: u32) -> Instant {
    Instant::now() + time + FOR_EACH_FLOW * flows
}

struct Edge {
    power: Power,
    device: DeviceReading,
    counters: Counters,
    underlay: Option<WireCounters>,
    interrupts: Interrupts,
    cpu_each: Vec<CpuTimes>,
    threads: Vec<ThreadTimes>,
    own: ProcessTimes,
    clock: ClockReading,
    load: load::Sample,
}

impl Edge {
    fn row(&self) -> Row {
        Row { load: self.load.clone(), cpu: CpuTimes::sum(&self.cpu_each), queue: self.counters.queue }
    }
}

pub(crate) const TOO_LONG: &str = "the window ends beyond the range of this host's clock";

pub(crate) fn since(due: Instant) -> u64 {
    u64::try_from(due.elapsed().as_nanos()).unwrap_or(u64::MAX)
}
