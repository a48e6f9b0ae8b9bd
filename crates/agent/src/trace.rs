//! A trace: fixed work of one thread, watched by programs in the kernel.

use std::collections::BTreeMap;
use std::io;

use ::trace::{
    Candidates, ChosenStage, JourneyPhase, KernelPrograms, OfferedProbes, Probe, ProbeCost, ProbeLadder,
    Round, SampledPackets, Survey, TimeBetween, TraceAccount, TracePath, Tracer, Way, needed, resolve,
};
use host::{Links, ProcessTimes};
use load::Spec;
use load::exact::{Repeat, Worker, lend};

use crate::exact::{Neighbours, OtherEnd};
use crate::message::{Answer, ExactReceiver, TraceOptions};
use crate::profiler::{Profiler, to_text};
use crate::refusal::{Refusal, Reply, Tell};
use crate::workload_side::WorkloadSide;

// The numbers of `sendto`, by which `send` sends too, and of `recvfrom` (x86-64).
const SENDTO: u64 = 44;
const RECVFROM: u64 = 45;
// Turns before counting begins: by then caches and windows have their sizes.
const WARM_UP: u32 = 2000;
// Turns in which the possible places of stages are tried.
const TRIED: u32 = 64;
// Turns before each batch: a connection that was idle while probes came and went sends
// acknowledgements by themselves at first.
const RUN_UP: u32 = 64;
// The number of messages of a batch that are sampled. A request and its answer are two packets,
// and the ring has room for 481.
const SAMPLED: u32 = 200;

const NOT_CONNECTED: &str = "no workload is open: connect to the other machine first";

/// Traces the work of a workload. Meanwhile the agent reads nothing, and writes each finished
/// round. `connected`: the workload that was open, for a receiver on another machine.
pub(crate) fn trace(
    links: &mut Links,
    spec: &Spec,
    (receiver, connected): (ExactReceiver, Option<WorkloadSide>),
    wanted: &TraceOptions,
    tell: Tell<'_>,
) -> Reply {
    let path =
        TracePath::parse("the path", &wanted.path).map_err(|error| Refusal::from(error.to_string()))?;
    if let Some(obstacle) = ProbeLadder::read().obstacle() {
        return Err(format!("this kernel cannot be traced from here: {obstacle}").into());
    }
    let kernel = KernelPrograms::running().map_err(|error| Refusal::from(error.to_string()))?;
    let work = TracedWork { kernel, path, wanted, ipv6: spec.local.is_ipv6(), tell };
    let Some(OtherEnd { receiver, links: there, nobody }) = OtherEnd::open(receiver)? else {
        let connected = connected.as_ref().ok_or(NOT_CONNECTED)?;
        // Another machine's neighbours are its own, and so may this one's be.
        let mut borrower = |turns: &mut dyn Repeat| work.account(turns, None);
        let lent = connected.endpoint().lend(wanted.asleep, described, &mut borrower);
        return Ok(Answer::Traced(Box::new(lent.map_err(Refusal::passing)??)));
    };
    drop(connected);
    let mut neighbours = Neighbours::new(links, there)?;
    let mut borrower = |turns: &mut dyn Repeat| work.account(turns, Some(&mut neighbours));
    let lent =
        lend(spec, receiver, nobody, wanted.asleep, described, &mut borrower).map_err(Refusal::passing)?;
    Ok(Answer::Traced(Box::new(lent.0?)))
}

/// Reports which stages of these paths the kernel can probe.
pub(crate) fn survey(paths: &[String], functions: bool) -> Reply {
    let parsed = paths.iter().map(|text| TracePath::parse("the path", text));
    let paths = parsed.collect::<Result<Vec<_>, _>>().map_err(|error| Refusal::from(error.to_string()))?;
    Ok(Answer::Surveyed(Box::new(Survey::make(&paths, functions))))
}

#[derive(Clone, Copy)]
enum Batch {
    Untraced,
    Ends,
    /// With one more probe, of the kind with this number.
    OneMore(usize),
    All,
}

struct TracedWork<'w> {
    kernel: KernelPrograms,
    path: TracePath,
    wanted: &'w TraceOptions,
    ipv6: bool,
    tell: Tell<'w>,
}

impl TracedWork<'_> {
    /// The remedy if tracepoints are too few.
    fn remedy(&self, stages: &[ChosenStage]) -> String {
        let functions = "Functions are probed in a virtual machine (inside=guest) and on a machine with another kernel (--host)";
        let has_reader = stages.iter().any(|stage| stage.phase == JourneyPhase::Reading);
        // `skb_copy_datagram_iovec` is passed where not all of a packet is in one piece.
        match has_reader && self.path.workload.is_udp() {
            true => format!(
                "With message=20000 a datagram lies in several pieces, and their copy to the reader has a tracepoint. {functions}"
            ),
            false => functions.to_owned(),
        }
    }

    fn account(
        &self,
        work: &mut dyn Repeat,
        neighbours: Option<&mut Neighbours<'_>>,
    ) -> Result<TraceAccount, Refusal> {
        let mut profiler = match self.wanted.profile {
            0 => None,
            frequency => Some(Profiler::ready(work, frequency)?),
        };
        repeat(work, WARM_UP)?;
        neighbours.map_or(Ok(()), Neighbours::keep)?;
        let stages = self.choose(work)?;
        let probes: Vec<Probe> = stages.iter().filter_map(ChosenStage::probe).collect();
        let messages = work.messages();
        let turns = self.wanted.batch.div_ceil(messages);
        let mut tracer = self.attached(&probes, turns * messages)?;
        let (Round { reading: pilot, .. }, _) = counted(&mut tracer, work, TRIED)?;
        let asks = probes.iter().find(|probe| probe.phase == JourneyPhase::Reading).map(|probe| probe.number);
        let avoiding = asks.filter(|_| self.wanted.asleep);
        let way = pilot.most_used(avoiding);
        let ends = needed(&stages, way).map_err(|reason| match self.wanted.functions {
            true => reason,
            false => format!("{reason}. {}", self.remedy(&stages)),
        })?;
        // For each kind of probe one in the middle shows what it costs.
        let mut kinds: BTreeMap<ProbeCost, Probe> = BTreeMap::new();
        let passes = |probe: &Probe| way.is_none_or(|way| way.passes(probe.number));
        for stage in &stages {
            if let (Some(probe), Some(kind)) = (stage.probe(), stage.cost())
                && !ends.contains(&probe)
                && passes(&probe)
            {
                kinds.entry(kind).or_insert(probe);
            }
        }
        let none = TraceAccount {
            batch: turns * messages,
            avoiding,
            stages,
            untraced: Vec::new(),
            ends: Vec::new(),
            one_more: kinds.keys().map(|kind| (*kind, Vec::new())).collect(),
            all: Vec::new(),
            sampled: (self.wanted.every > 0).then(SampledPackets::default),
            profile: None,
        };
        let on_the_way: Vec<u8> = way.into_iter().flat_map(Way::points).collect();
        let fewest: Vec<u8> =
            ends.iter().map(|probe| probe.number).filter(|point| on_the_way.contains(point)).collect();
        let one_more: Vec<Vec<Probe>> =
            kinds.into_values().map(|probe| ends.iter().cloned().chain([probe]).collect()).collect();
        let mut on_cpu = Vec::new();
        let usual = |(round, sampled): (Round, SampledPackets)| {
            (Round { between: TimeBetween::neighbours(&fewest, &on_the_way, &sampled), ..round }, sampled)
        };
        // One round takes probes away, and the next one adds them again (the additional probe is
        // changed): the kernel's work for adding and removing probes takes most of a trace's time.
        // And a slow change of the machine meets each kind of batch alike.
        let mut batches: Vec<Batch> = [Batch::Untraced, Batch::Ends]
            .into_iter()
            .chain((0..one_more.len()).map(Batch::OneMore))
            .chain([Batch::All])
            .collect();
        let mut account = none.clone();
        for _ in 0..self.wanted.rounds {
            let mut finished = none.clone();
            batches.reverse();
            for batch in &batches {
                match *batch {
                    Batch::Untraced => {
                        tracer.detach();
                        repeat(work, RUN_UP)?;
                        let before = ProcessTimes::read();
                        finished.untraced.push(repeat(work, turns)?);
                        on_cpu.push(taken(&before));
                    }
                    Batch::Ends => finished.ends.push(usual(traced(&mut tracer, &ends, work, turns)?).0),
                    Batch::OneMore(kind) => {
                        let (round, _) = usual(traced(&mut tracer, &one_more[kind], work, turns)?);
                        finished.one_more[kind].1.push(round);
                    }
                    Batch::All => {
                        let (round, packets) = usual(traced(&mut tracer, &probes, work, turns)?);
                        finished.all.push(round);
                        finished.sampled = finished.sampled.take().map(|_| packets);
                    }
                }
            }
            (self.tell)(&Answer::TracedRound(Box::new(finished.clone()))).map_err(to_text)?;
            account.add(finished);
        }
        tracer.detach();
        if let (Some(profiler), Some([lasts, _])) = (&mut profiler, account.a_message()) {
            let on_cpu = account.of_a_message(on_cpu).unwrap_or_default();
            account.profile = Some(profiler.profile(work, [lasts, on_cpu])?);
        }
        Ok(account)
    }

    /// Tries all places, and chooses for each stage the first that packets pass.
    fn choose(&self, work: &mut dyn Repeat) -> Result<Vec<ChosenStage>, String> {
        let resolved = resolve(&self.path, &OfferedProbes::read(std::slice::from_ref(&self.path)));
        let candidates = Candidates::of_family(&resolved, self.ipv6);
        let mut tried = Vec::new();
        for group in candidates.probes(self.wanted.functions) {
            let (tracer, means) = self.kernel.attach_to_try(&group, self.call()).map_err(to_text)?;
            follow(&tracer, work)?;
            repeat(work, TRIED)?;
            let hits = tracer.read().map_err(to_text)?.hits;
            tried.extend(means.into_iter().zip(hits));
        }
        Ok(candidates.choose(self.wanted.functions, tried, u64::from(TRIED / 2)))
    }

    /// The system call that `sys_enter` and `sys_exit` stand for.
    fn call(&self) -> u64 {
        if self.path.comes_in() { RECVFROM } else { SENDTO }
    }

    /// Attaches these probes. One packet in a number is sampled: in the number that was asked for,
    /// or else in one that gives the usual number of samples.
    fn attached(&self, probes: &[Probe], batch: u32) -> Result<Tracer, String> {
        let every = match self.wanted.every {
            0 => batch.div_ceil(SAMPLED),
            asked => asked,
        };
        let (tracer, means) = self.kernel.attach_to_sample(probes, self.call(), every).map_err(to_text)?;
        match means.into_iter().find_map(Result::err) {
            None => Ok(tracer),
            Some(reason) => Err(format!("a place that could be probed cannot be any more: {reason}")),
        }
    }
}

/// A batch with these of a tracer's probes, which stay attached, and the sampled packets of it.
fn traced(
    tracer: &mut Tracer,
    probes: &[Probe],
    work: &mut dyn Repeat,
    turns: u32,
) -> Result<(Round, SampledPackets), String> {
    tracer.attach(probes).map_err(to_text)?;
    repeat(work, RUN_UP)?;
    tracer.restart().map_err(to_text)?;
    counted(tracer, work, turns)
}

/// A batch with the probes that are attached.
fn counted(
    tracer: &mut Tracer,
    work: &mut dyn Repeat,
    turns: u32,
) -> Result<(Round, SampledPackets), String> {
    follow(tracer, work)?;
    let batch_ns = repeat(work, turns)?;
    let reading = tracer.read().map_err(to_text)?;
    Ok((Round { batch_ns, reading, between: Vec::new() }, tracer.sampled().map_err(to_text)?))
}

fn follow(tracer: &Tracer, work: &dyn Repeat) -> Result<(), String> {
    work.workers().iter().try_for_each(|worker| tracer.follow(worker.initial)).map_err(to_text)
}

/// The calling thread, also as programs in the kernel see it.
fn described() -> io::Result<Worker> {
    let thread = nix::unistd::gettid().as_raw().unsigned_abs();
    Ok(Worker { thread, initial: host::bpf::current_thread()? })
}

/// The CPU time of this process since `before`: all of it is the work's, for the process does
/// nothing else.
fn taken(before: &ProcessTimes) -> u64 {
    let since = ProcessTimes::read().since(before);
    since.user_ns + since.system_ns
}

fn repeat(work: &mut dyn Repeat, turns: u32) -> Result<u64, String> {
    work.repeat(turns).map_err(to_text)
}
