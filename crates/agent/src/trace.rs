//! A trace: fixed work of one thread, watched by programs in the kernel.

use std::collections::BTreeMap;
use std::time::Instant;

use ::trace::{
    Account, Candidates, Chosen, Cost, Kernel, Ladder, Offered, Path, Phase, Probe, Round, Sampled, Survey,
    Tracer, needed, resolve,
};
use host::{Links, ProcessTimes};
use load::Spec;
use load::exact::{Repeat, lend};

use crate::envelope::Deadline;
use crate::exact::OtherEnd;
use crate::message::{Answer, ExactReceiver, Traced};
use crate::neighbours::Neighbours;
use crate::profiler::Profiler;
use crate::refusal::{Refusal, Reply};
use crate::traffic::Traffic;

/// The numbers of `sendto`, by which `send` sends too, and of `recvfrom` (x86-64).
const SENDTO: u64 = 44;
const RECVFROM: u64 = 45;
/// Turns before anything is counted: by then caches and windows have their sizes.
const WARM_UP: u32 = 2000;
/// Turns in which the places of stages are tried.
const TRIED: u32 = 64;

const NOT_CONNECTED: &str = "no workload is open: connect to the other machine first";

/// Traces the work of a workload. Meanwhile the agent reads and writes nothing.
/// `connected`: the workload that was open, for a receiver on another machine.
pub(crate) fn trace(
    links: &mut Links,
    spec: &Spec,
    (receiver, connected): (ExactReceiver, Option<Traffic>),
    wanted: &Traced,
    deadline: Deadline,
) -> Reply {
    let path = Path::parse("the path", &wanted.path).map_err(|error| Refusal::from(error.to_string()))?;
    if let Some(obstacle) = Ladder::read().obstacle() {
        return Err(format!("this kernel cannot be traced from here: {obstacle}").into());
    }
    let kernel = Kernel::running().map_err(|error| Refusal::from(error.to_string()))?;
    let work = Watched { kernel, path, wanted, ipv6: spec.local.is_ipv6(), deadline };
    let Some(OtherEnd { receiver, links: there, nobody }) = OtherEnd::of(receiver)? else {
        let connected = connected.as_ref().ok_or(NOT_CONNECTED)?;
        // Another machine's neighbours are its own, and so may this one's be.
        let mut borrower = |turns: &mut dyn Repeat| work.account(turns, None);
        let lent = connected.endpoint().lend(wanted.asleep, &mut borrower);
        return Ok(Answer::Traced(Box::new(lent.map_err(Refusal::passing)??)));
    };
    drop(connected);
    let mut neighbours = Neighbours::of(links, there)?;
    let mut borrower = |turns: &mut dyn Repeat| work.account(turns, Some(&mut neighbours));
    let lent = lend(spec, receiver, nobody, wanted.asleep, &mut borrower).map_err(Refusal::passing)?;
    Ok(Answer::Traced(Box::new(lent.0?)))
}

/// Tells what the kernel has for these paths.
pub(crate) fn survey(paths: &[String], functions: bool) -> Reply {
    let parsed = paths.iter().map(|text| Path::parse("the path", text));
    let paths = parsed.collect::<Result<Vec<_>, _>>().map_err(|error| Refusal::from(error.to_string()))?;
    Ok(Answer::Surveyed(Box::new(Survey::make(&paths, functions))))
}

struct Watched<'w> {
    kernel: Kernel,
    path: Path,
    wanted: &'w Traced,
    ipv6: bool,
    deadline: Deadline,
}

impl Watched<'_> {
    fn account(
        &self,
        work: &mut dyn Repeat,
        neighbours: Option<&mut Neighbours<'_>>,
    ) -> Result<Account, Refusal> {
        let mut profiler = match self.wanted.profile {
            0 => None,
            frequency => Some(Profiler::ready(work, frequency)?),
        };
        repeat(work, WARM_UP)?;
        neighbours.map_or(Ok(()), Neighbours::keep)?;
        let stages = self.choose(work)?;
        let probes: Vec<Probe> = stages.iter().filter_map(Chosen::probe).collect();
        let mut with_all = self.loaded_to_sample(&probes, self.wanted.every)?;
        let pilot = round(&mut with_all, work, TRIED)?.reading;
        // What was sampled until here belongs to no batch.
        with_all.sampled().map_err(said)?;
        let asks = probes.iter().find(|probe| probe.phase == Phase::Reading).map(|probe| probe.number);
        let avoiding = asks.filter(|_| self.wanted.asleep);
        let way = pilot.most_used(avoiding);
        let ends = needed(&stages, way).map_err(|reason| match self.wanted.functions {
            true => reason,
            false => format!(
                "{reason}. Functions are probed in a virtual machine (--inside guest) and on a machine with another kernel (--host)"
            ),
        })?;
        // For each kind of probe one in the middle shows what it costs.
        let mut kinds: BTreeMap<Cost, Probe> = BTreeMap::new();
        let passes = |probe: &Probe| way.is_none_or(|way| way.passes(probe.number));
        for stage in &stages {
            if let (Some(probe), Some(kind)) = (stage.probe(), stage.cost())
                && !ends.contains(&probe)
                && passes(&probe)
            {
                kinds.entry(kind).or_insert(probe);
            }
        }
        let messages = work.messages();
        let turns = self.wanted.batch.div_ceil(messages);
        let mut account = Account {
            batch: turns * messages,
            avoiding,
            stages,
            untraced: Vec::new(),
            ends: Vec::new(),
            one_more: kinds.keys().map(|kind| (*kind, Vec::new())).collect(),
            all: Vec::new(),
            sampled: (self.wanted.every > 0).then(Sampled::default),
            profile: None,
        };
        let mut with_ends = self.loaded(&ends)?;
        let mut with_one_more = Vec::new();
        for probe in kinds.values() {
            let mut one_more = ends.clone();
            one_more.push(probe.clone());
            one_more.sort_by_key(|probe| probe.number);
            with_one_more.push(self.loaded(&one_more)?);
        }
        let mut on_cpu = Vec::new();
        // All kinds of rounds in turn, so that a slow change of the machine meets each alike.
        for _ in 0..self.wanted.rounds {
            self.deadline.allows(Instant::now())?;
            let before = ProcessTimes::read();
            account.untraced.push(repeat(work, turns)?);
            on_cpu.push(taken(&before));
            account.ends.push(round(&mut with_ends, work, turns)?);
            for ((_, rounds), tracer) in account.one_more.iter_mut().zip(&mut with_one_more) {
                rounds.push(round(tracer, work, turns)?);
            }
            account.all.push(round(&mut with_all, work, turns)?);
            if let Some(sampled) = &mut account.sampled {
                sampled.add(with_all.sampled().map_err(said)?);
            }
        }
        // All programs are detached.
        if let (Some(profiler), Some([lasts, _])) = (&mut profiler, account.a_message()) {
            let on_cpu = account.of_a_message(on_cpu).unwrap_or_default();
            account.profile = Some(profiler.profile(work, [lasts, on_cpu], self.deadline)?);
        }
        Ok(account)
    }

    /// Tries all places, and chooses for each stage the first that packets pass.
    fn choose(&self, work: &mut dyn Repeat) -> Result<Vec<Chosen>, String> {
        let resolved = resolve(&self.path, &Offered::read());
        let candidates = Candidates::of(&resolved, self.ipv6);
        let mut tried = Vec::new();
        for group in candidates.probes(self.wanted.functions) {
            let (tracer, means) = self.kernel.attach_to_try(&group, self.call()).map_err(said)?;
            follow(&tracer, work)?;
            repeat(work, TRIED)?;
            let hits = tracer.read().map_err(said)?.hits;
            tried.extend(means.into_iter().zip(hits));
        }
        Ok(candidates.choose(self.wanted.functions, tried, u64::from(TRIED / 2)))
    }

    /// The system call that `sys_enter` and `sys_exit` stand for.
    fn call(&self) -> u64 {
        if self.path.comes_in() { RECVFROM } else { SENDTO }
    }

    /// The programs of these probes, not attached.
    fn loaded(&self, probes: &[Probe]) -> Result<Tracer, String> {
        self.loaded_to_sample(probes, 0)
    }

    fn loaded_to_sample(&self, probes: &[Probe], every: u32) -> Result<Tracer, String> {
        let (mut tracer, means) = self.kernel.attach_to_sample(probes, self.call(), every).map_err(said)?;
        tracer.detach();
        match means.into_iter().find_map(Result::err) {
            None => Ok(tracer),
            Some(reason) => Err(format!("a place that could be probed cannot be any more: {reason}")),
        }
    }
}

/// A batch with the programs of a tracer.
fn round(tracer: &mut Tracer, work: &mut dyn Repeat, turns: u32) -> Result<Round, String> {
    tracer.attach().map_err(said)?;
    follow(tracer, work)?;
    let batch_ns = repeat(work, turns)?;
    let reading = tracer.read().map_err(said)?;
    tracer.detach();
    Ok(Round { batch_ns, reading })
}

/// Follows the calling thread, and those that the work has beside it.
fn follow(tracer: &Tracer, work: &dyn Repeat) -> Result<(), String> {
    let own = nix::unistd::gettid().as_raw().unsigned_abs();
    let mut threads = work.threads().into_iter().chain([own]);
    threads.try_for_each(|thread| tracer.follow(thread)).map_err(said)
}

/// The CPU time of this process since then: the work's, for it does nothing else.
fn taken(before: &ProcessTimes) -> u64 {
    let since = ProcessTimes::read().since(before);
    since.user_ns + since.system_ns
}

fn repeat(work: &mut dyn Repeat, turns: u32) -> Result<u64, String> {
    work.repeat(turns).map_err(said)
}

fn said(error: impl std::fmt::Display) -> String {
    error.to_string()
}
