//! A trace: fixed work of one thread, watched by programs in the kernel.

use std::collections::BTreeMap;
use std::io;

use host::perf::{Profile, SampleBatch, Sampler, Symbols, softirq_threads};
use host::{Links, ProcessTimes};
use load::Spec;
use load::exact::{LentWork, Worker, lend};
use trace::{
    ChosenStage, JourneyPhase, KernelPrograms, OfferedProbes, Probe, ProbeCost, ProbeLadder, Round,
    SampledPackets, Survey, TimeBetween, TraceAccount, TracePath, Tracer, Way, candidates, choose, needed,
    resolve,
};

use crate::error::{Refusal, Reply, Tell};
use crate::exact::{OtherEnd, keep_neighbours, spread_neighbours};
use crate::message::{Answer, ExactReceiver, TraceOptions};
use crate::workload_side::WorkloadSide;

// The numbers of `sendto`, by which `send` sends too, and of `recvfrom` (x86-64).
const SENDTO: u64 = 44;
const RECVFROM: u64 = 45;
// Turns before counting begins: by then caches and windows have their sizes.
const WARM_UP: u32 = 2000;
// Turns in which the possible places of stages are tried.
const TRIED: u32 = 64;
// A connection that was idle while probes came and went sends acknowledgements by themselves.
const RUN_UP: u32 = 64;
// A request and its answer are two packets, and the ring has room for 481.
const SAMPLED: u32 = 200;

// The most samples a second: the kernel's own limit.
const MOST_SAMPLED: u32 = 100_000;

const NOT_CONNECTED: &str = "no workload is open: connect to the other machine first";

/// `connected`: for a receiver on another machine.
pub(crate) fn trace(
    links: &mut Links,
    spec: &Spec,
    (receiver, connected): (ExactReceiver, Option<WorkloadSide>),
    wanted: &TraceOptions,
    tell: Tell<'_>,
) -> Reply {
    let most = (words::MOST_MESSAGES, words::MOST_ROUNDS, MOST_SAMPLED);
    if wanted.batch > most.0 || wanted.rounds > most.1 || wanted.profile > most.2 {
        return Err("the batch, the rounds or the samples of the trace are too many".into());
    }
    let path = TracePath::parse("the path", &wanted.path)?;
    if let Some(obstacle) = ProbeLadder::read().obstacle() {
        return Err(format!("this kernel cannot be traced from here: {obstacle}").into());
    }
    let kernel = KernelPrograms::running()?;
    let work = TracedWork { kernel, path, wanted, ipv6: spec.local.is_ipv6(), tell };
    let Some(OtherEnd { receiver, links: mut there, nobody }) = OtherEnd::open(receiver)? else {
        let connected = connected.as_ref().ok_or(NOT_CONNECTED)?;
        // Another machine's neighbours are its own, and so may this one's be.
        let mut borrower = |turns: &mut LentWork<'_>| work.account(turns, &mut []);
        let lent = connected.endpoint.lend(wanted.asleep, described, &mut borrower);
        return Ok(Answer::Traced(Box::new(lent??)));
    };
    drop(connected);
    spread_neighbours(links)?;
    let mut both: Vec<&mut Links> = std::iter::once(links).chain(&mut there).collect();
    let mut borrower = |turns: &mut LentWork<'_>| work.account(turns, &mut both);
    let lent = lend(spec, receiver, nobody, wanted.asleep, described, &mut borrower)?;
    Ok(Answer::Traced(Box::new(lent.0?)))
}

pub(crate) fn survey(paths: &[String], functions: bool) -> Reply {
    let parsed = paths.iter().map(|text| TracePath::parse("the path", text));
    let paths = parsed.collect::<Result<Vec<_>, _>>()?;
    Ok(Answer::Surveyed(Box::new(Survey::make(&paths, functions))))
}

struct TracedWork<'w> {
    kernel: KernelPrograms,
    path: TracePath,
    wanted: &'w TraceOptions,
    ipv6: bool,
    tell: Tell<'w>,
}

impl TracedWork<'_> {
    /// `links`: of the network namespaces whose neighbours are to be kept.
    fn account(&self, work: &mut LentWork<'_>, links: &mut [&mut Links]) -> Result<TraceAccount, Refusal> {
        let symbols = (self.wanted.profile > 0).then(Symbols::read).transpose()?;
        if symbols.is_some() {
            // A kernel that refuses samples refuses them before the trace, which takes long.
            Sampler::open(self.sample_period())?;
        }
        work.repeat(WARM_UP)?;
        keep_neighbours(links)?;
        let stages = self.choose(work)?;
        let probes: Vec<Probe> = stages.iter().filter_map(ChosenStage::probe).collect();
        let messages = work.messages();
        let turns = self.wanted.batch.div_ceil(messages);
        let mut tracer = self.attached(&probes, turns * messages)?;
        let Round { reading: pilot, .. } = counted(&tracer, work, TRIED)?;
        let asks = probes.iter().find(|probe| probe.phase == JourneyPhase::Reading).map(|probe| probe.number);
        let avoiding = asks.filter(|_| self.wanted.asleep);
        let way = pilot.most_used(avoiding);
        let ends = needed(&stages, way).map_err(|reason| match self.wanted.functions {
            true => reason.to_string(),
            false => format!(
                "{reason}. Functions are probed in a virtual machine (inside=guest) and on a machine with another kernel (--host)"
            ),
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
            one_more: kinds.keys().map(|kind| (*kind, Vec::new())).collect(),
            sampled: (self.wanted.every > 0).then(SampledPackets::default),
            ..TraceAccount::default()
        };
        let on_the_way: Vec<u8> = way.into_iter().flat_map(Way::points).collect();
        let fewest: Vec<u8> =
            ends.iter().map(|probe| probe.number).filter(|point| on_the_way.contains(point)).collect();
        let one_more = kinds.into_values().map(|probe| ends.iter().cloned().chain([probe]).collect());
        let sets: Vec<Vec<Probe>> = std::iter::once(ends.clone()).chain(one_more).chain([probes]).collect();
        let mut on_cpu = Vec::new();
        // In rounds, as adding and removing probes takes most of a trace's time, and a slow change
        // of the machine then meets each kind of batch alike. `None`: without probes.
        let mut batches: Vec<Option<usize>> =
            std::iter::once(None).chain((0..sets.len()).map(Some)).collect();
        let mut account = none.clone();
        for _ in 0..self.wanted.rounds {
            let mut finished = none.clone();
            batches.reverse();
            for batch in &batches {
                let Some(set) = *batch else {
                    tracer.detach();
                    work.repeat(RUN_UP)?;
                    let before = ProcessTimes::read();
                    finished.untraced.push(work.repeat(turns)?);
                    // All of this process's CPU time is the work's.
                    let own = ProcessTimes::read().since(&before);
                    on_cpu.push(own.user_ns + own.system_ns);
                    continue;
                };
                tracer.attach(&sets[set])?;
                work.repeat(RUN_UP)?;
                tracer.restart()?;
                let round = counted(&tracer, work, turns)?;
                let packets = tracer.sampled()?;
                let between = TimeBetween::neighbours(&fewest, &on_the_way, &packets);
                let round = Round { between, ..round };
                match set.checked_sub(1) {
                    None => finished.ends.push(round),
                    Some(kind) if set + 1 < sets.len() => finished.one_more[kind].1.push(round),
                    Some(_) => {
                        finished.all.push(round);
                        finished.sampled = finished.sampled.take().map(|_| packets);
                    }
                }
            }
            (self.tell)(&Answer::TracedRound(Box::new(finished.clone())))?;
            account.add(finished);
        }
        tracer.detach();
        if let (Some(symbols), Some([lasts, _])) = (&symbols, account.a_message()) {
            let on_cpu = account.of_a_message(on_cpu).unwrap_or_default();
            account.profile = Some(self.profile(work, symbols, [lasts, on_cpu])?);
        }
        Ok(account)
    }

    /// Chooses for each stage the first place that packets pass.
    fn choose(&self, work: &mut LentWork<'_>) -> Result<Vec<ChosenStage>, Refusal> {
        let resolved = resolve(&self.path, &OfferedProbes::read(std::slice::from_ref(&self.path)));
        let (functions, mut tried) = (self.wanted.functions, Vec::new());
        for group in candidates(&resolved, self.ipv6, functions) {
            let (tracer, means) = self.kernel.attach(&group, self.call(), 0, true)?;
            follow(&tracer, work)?;
            work.repeat(TRIED)?;
            let hits = tracer.read()?.hits;
            tried.extend(means.into_iter().zip(hits));
        }
        Ok(choose(&resolved, self.ipv6, functions, tried, u64::from(TRIED / 2)))
    }

    fn call(&self) -> u64 {
        if self.path.comes_in() { RECVFROM } else { SENDTO }
    }

    /// `batch`: its messages, of which the usual number is sampled, unless a number was asked for.
    fn attached(&self, probes: &[Probe], batch: u32) -> Result<Tracer, Refusal> {
        let every = if self.wanted.every == 0 { batch.div_ceil(SAMPLED) } else { self.wanted.every };
        let (tracer, means) = self.kernel.attach(probes, self.call(), every, false)?;
        match means.into_iter().find_map(Result::err) {
            None => Ok(tracer),
            Some(reason) => Err(format!("a place that could be probed cannot be any more: {reason}").into()),
        }
    }

    /// In ns.
    fn sample_period(&self) -> u64 {
        1_000_000_000 / u64::from(self.wanted.profile.max(1))
    }

    /// `lasts`, `on_cpu`: the time and CPU time of each message, in ns.
    fn profile(
        &self,
        work: &mut LentWork<'_>,
        symbols: &Symbols,
        [lasts, on_cpu]: [f64; 2],
    ) -> Result<Profile, Refusal> {
        let period = self.sample_period();
        // If each end waits for the other, both CPUs have samples of it in turn.
        let takes = if on_cpu > 0.0 { on_cpu } else { lasts };
        let turn = (takes * f64::from(work.messages())).max(1.0);
        let turns = (SAMPLES / f64::from(PARTS) * period as f64 / turn).ceil() as u32;
        let mut parts: Vec<SampleBatch> = Vec::new();
        for part in 0..PARTS {
            let mut sampler = Sampler::open(period + period_addition(part, takes.min(period as f64)))?;
            sampler.start()?;
            work.repeat(turns.max(1))?;
            parts.push(sampler.stop()?);
        }
        let threads = work.workers().iter().map(|worker| worker.thread).collect();
        let whose = (&threads, &softirq_threads());
        let profile = Profile::from_samples(&parts, symbols, period, whose, on_cpu);
        if profile.samples == 0 {
            let others: usize = parts.iter().map(|part| part.taken.len()).sum();
            let why = format!("no sample met the work, {others} others: the kernel's timer does not tick");
            return Err(why.into());
        }
        Ok(profile)
    }
}

fn counted(tracer: &Tracer, work: &mut LentWork<'_>, turns: u32) -> Result<Round, Refusal> {
    follow(tracer, work)?;
    let batch_ns = work.repeat(turns)?;
    Ok(Round { batch_ns, reading: tracer.read()?, ..Round::default() })
}

fn follow(tracer: &Tracer, work: &LentWork<'_>) -> Result<(), Refusal> {
    Ok(work.workers().iter().try_for_each(|worker| tracer.follow(worker.initial))?)
}

fn described() -> io::Result<Worker> {
    let thread = nix::unistd::gettid().as_raw().unsigned_abs();
    Ok(Worker { thread, initial: host::bpf::current_thread()? })
}

// Samples of a profile: a function's share of a tenth is then known to half a hundredth.
const SAMPLES: f64 = 4000.0;
// With equal times for all messages, as with counted instructions, samples of one period would fall
// on the same places again and again: each part has its own.
const PARTS: u32 = 64;

fn period_addition(part: u32, message: f64) -> u64 {
    // Multiples of the golden ratio: the first few parts divide a message's time evenly already.
    const GOLDEN: f64 = 0.618_033_988_749_894_9;
    ((f64::from(part) * GOLDEN).fract() * message) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In a program that repeats itself, each tenth gets its share of samples, whatever a message's
    /// time is.
    #[test]
    fn samples_of_messages_that_take_the_same_time_are_all_over_them() {
        // Fractions of the period by which samples would stay where they are: 6, 13/2, 50/7.
        for message in [50_157.0 / 6.0, 100_314.0 / 13.0, 8183.0, 7_022.0, 300_000.0] {
            let mut tenths = [0u32; 10];
            let samples = SAMPLES as u32 / PARTS;
            for part in 0..PARTS {
                let period = 50_157 + period_addition(part, f64::min(message, 50_157.0));
                for sample in 1..=samples {
                    let phase = (u64::from(sample) * period) as f64 / message;
                    tenths[(phase.fract() * 10.0) as usize] += 1;
                }
            }
            let even = f64::from(samples * PARTS) / 10.0;
            let apart = tenths.map(|tenth| (f64::from(tenth) / even - 1.0).abs());
            assert!(apart.iter().all(|apart| *apart < 0.15), "{message}: {tenths:?}");
        }
    }
}
