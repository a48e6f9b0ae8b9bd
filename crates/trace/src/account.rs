//! The account of a trace: batches without probes, with some, with all, and programs' counts.

use host::perf::Profile;
use serde::{Deserialize, Serialize};
use words::Closure;

use crate::chosen::{ChosenStage, ProbeCost};
use crate::path::{At, JourneyPhase};
use crate::probe_counts::{ProbeCounts, Segment, Way};
use crate::sampled::{SampledPackets, TimeBetween};

/// The account of a trace.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TraceAccount {
    /// Messages of a batch.
    pub batch: u32,
    /// The stages of the path, and where each is seen.
    pub stages: Vec<ChosenStage>,
    /// The point where a reader that sleeps asks for a message. A packet that passes it found its
    /// reader awake, and is left out of the table. `None`: the readers do not sleep.
    pub avoiding: Option<u8>,
    /// The time of each batch without any probe, in ns.
    pub untraced: Vec<u64>,
    /// Batches with the fewest points by which a packet can be followed: the first and the last,
    /// and on the way those where a packet is first seen and where its reader gets it.
    pub ends: Vec<Round>,
    /// Batches with the fewest points and one more, for each kind of probe: the cost of a probe.
    pub one_more: Vec<(ProbeCost, Vec<Round>)>,
    /// Batches with all points.
    pub all: Vec<Round>,
    /// Single packets of these, if that was asked for.
    pub sampled: Option<SampledPackets>,
    /// The functions that take the time without probes, if that was asked for.
    pub profile: Option<Profile>,
}

/// A batch with probes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Round {
    /// The time of the batch, in ns.
    pub batch_ns: u64,
    /// The programs' counts of this batch.
    pub reading: ProbeCounts,
    /// Times between neighbours of the fewest points on the way; empty in older traces.
    #[serde(default)]
    pub between: Vec<TimeBetween>,
}

/// A row of the table: from a point to the next one.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StageTime {
    /// The stage at which it begins, as an index of [`TraceAccount::stages`].
    pub from: usize,
    /// The stage at which it ends.
    pub to: usize,
    /// The packet waits in its socket until a reader takes it: no work, so it is in no sum.
    pub waits: bool,
    /// The mean of a packet as it was measured, in ns, in the fastest batches.
    pub raw: f64,
    /// The mean less the cost of the probes.
    pub corrected: f64,
    /// Interruptions in it, in ns for a packet; they are in neither of the others.
    pub outside: f64,
    /// The times that 50, 90 and 99 % of the packets do not exceed, in ns, as measured.
    pub quantiles: [u64; 3],
}

// Batches are alike if their packets take the same within this share.
const ALIKE: f64 = 0.001;

impl TraceAccount {
    /// Adds the rounds that the same trace made later.
    pub fn add(&mut self, later: Self) {
        self.untraced.extend(later.untraced);
        self.ends.extend(later.ends);
        let both = self.one_more.iter_mut().zip(later.one_more);
        both.for_each(|((_, rounds), (_, more))| rounds.extend(more));
        self.all.extend(later.all);
        if let (Some(sampled), Some(more)) = (&mut self.sampled, later.sampled) {
            sampled.add(more);
        }
    }

    /// The time that a probe of this kind adds, in ns for a packet: the time from the point before
    /// the probe to the point behind it, with and without it. `None`: not measured.
    pub fn cost(&self, kind: ProbeCost) -> Option<f64> {
        let (_, with) = self.one_more.iter().find(|(of, _)| *of == kind)?;
        let [more, fewest] = [with, &self.ends].map(|rounds| self.usual_way(rounds));
        let probe = more.into_iter().find(|point| !fewest.contains(point))?;
        let before = *fewest.iter().rev().find(|point| **point < probe)?;
        let behind = *fewest.iter().find(|point| **point > probe)?;
        let difference = |of: &dyn Fn(&Round) -> Option<f64>| {
            let least = |rounds: &[Round]| rounds.iter().filter_map(of).min_by(f64::total_cmp);
            Some((least(with)? - least(&self.ends)?).max(0.0))
        };
        // Without differences elsewhere, and without work that a few packets do for many.
        let usual = |round: &Round| {
            let same = |between: &&TimeBetween| [between.from, between.to] == [before, behind];
            Some(round.between.iter().find(same)?.quarter as f64)
        };
        let mean = |round: &Round| {
            let passes = |way: &&Way| way.passes(before) && way.passes(behind);
            let way = round.reading.ways.iter().find(passes)?;
            let within = |segment: &&Segment| (before + 1..=behind).contains(&segment.point);
            Some(way.segments.iter().filter(within).map(Segment::mean).sum())
        };
        difference(&usual).or_else(|| difference(&mean))
    }

    fn half_probe_cost(&self, stage: &ChosenStage) -> f64 {
        // The other half lies on the other side of the probe's reading of the clock.
        stage.cost().map_or(0.0, |kind| self.cost_or_like(kind)) / 2.0
    }

    fn cost_or_like(&self, kind: ProbeCost) -> f64 {
        // A kind that stands only where it is needed is not measured: then that of a similar one,
        // changed as it is in another phase, else 0.
        let other = if kind.at == At::Entry { At::Return } else { At::Entry };
        let plain = ProbeCost { listed: false, ..kind };
        let phases =
            [JourneyPhase::Out, JourneyPhase::Leading, JourneyPhase::Arriving, JourneyPhase::Reading];
        let cost = |at: At, phase: JourneyPhase| self.cost(ProbeCost { at, phase, ..plain });
        let elsewhere = |at: At| phases.iter().find_map(|phase| cost(at, *phase));
        let changed = phases.iter().find_map(|phase| Some(cost(kind.at, *phase)? - cost(other, *phase)?));
        let like = || Some(cost(other, kind.phase)? + changed.unwrap_or_default());
        let known = self.cost(kind).or_else(|| self.cost(plain)).or_else(like);
        known.or_else(|| elsewhere(kind.at)).or_else(|| elsewhere(other)).unwrap_or_default()
    }

    /// The stage that has this point.
    pub fn stage_at(&self, point: u8) -> Option<usize> {
        self.stages.iter().position(|stage| stage.seen.as_ref().is_ok_and(|seen| seen.point == point))
    }

    /// The sum of all batches with all points.
    pub fn reading(&self) -> ProbeCounts {
        let mut sum = ProbeCounts::default();
        self.all.iter().for_each(|round| sum.add(round.reading.clone()));
        sum
    }

    /// The way that most packets took, by those of its points that these batches have.
    fn usual_way(&self, rounds: &[Round]) -> Vec<u8> {
        // Where no packet arrived in the batches with all points: that of most packets in these.
        let ways = || rounds.iter().flat_map(|round| &round.reading.ways);
        match self.reading().most_used(self.avoiding) {
            None => ways().next().map_or_else(Vec::new, |way| way.points().collect()),
            Some(most) => most.points().filter(|point| ways().any(|way| way.passes(*point))).collect(),
        }
    }

    // Over the batches whose packets were fastest from the first point to the last, without the
    // wait for a reader: other work only adds time. A connection may be slower batch by batch: over
    // TCP half of the batches take 158 instructions a packet more between `sk_stream_alloc_skb` and
    // `tcp_push` (a guess: its accounting of memory). Batches that repeat within [`ALIKE`] differ
    // by single packets with some 2400 instructions more (a guess: a timer tick).
    fn fastest(&self, rounds: &[Round]) -> Option<Vec<f64>> {
        let points = self.usual_way(rounds);
        let is_meant = |way: &&Way| way.points().eq(points.iter().copied());
        let means = |round: &Round| -> Option<Vec<f64>> {
            let way = round.reading.ways.iter().find(is_meant)?;
            Some(way.segments.iter().map(Segment::mean).collect())
        };
        let batches: Vec<Vec<f64>> = rounds.iter().filter_map(means).collect();
        let works = |means: &Vec<f64>| -> f64 {
            let segments = points.windows(2).zip(means).filter(|(ends, _)| !self.waits(ends[0], ends[1]));
            segments.map(|(_, mean)| mean).sum()
        };
        let least = batches.iter().map(works).min_by(f64::total_cmp)?;
        let alike = batches.iter().filter(|means| works(means) <= (1.0 + ALIKE) * least);
        alike
            .cloned()
            .reduce(|one, other| one.iter().zip(&other).map(|(one, other)| one.min(*other)).collect())
    }

    /// Whether a packet waits for its reader between these points.
    pub fn waits(&self, from: u8, to: u8) -> bool {
        let phase = |point: u8| self.stage_at(point).map(|stage| self.stages[stage].phase);
        (phase(from), phase(to)) == (Some(JourneyPhase::Arriving), Some(JourneyPhase::Reading))
    }

    /// Segments of the way that most packets took, less half of the probes' cost at both ends.
    pub fn rows(&self) -> Vec<StageTime> {
        let reading = self.reading();
        let Some(way) = reading.most_used(self.avoiding) else { return Vec::new() };
        let Some(fastest) = self.fastest(&self.all) else { return Vec::new() };
        let mut from = way.whole.point;
        let rows = way.segments.iter().enumerate().filter_map(|(index, segment)| {
            let (begin, end) = (self.stage_at(from)?, self.stage_at(segment.point)?);
            let waits = self.waits(from, segment.point);
            from = segment.point;
            let probes = self.half_probe_cost(&self.stages[begin]) + self.half_probe_cost(&self.stages[end]);
            let raw = *fastest.get(index)?;
            Some(StageTime {
                from: begin,
                to: end,
                waits,
                raw,
                corrected: (raw - probes).max(0.0),
                outside: segment.outside as f64 / segment.count.max(1) as f64,
                quantiles: [0.5, 0.9, 0.99].map(|share| segment.quantile(share)),
            })
        });
        rows.collect()
    }

    /// The whole from the first point to the last without the wait for a reader, in ns for a
    /// packet, with as few points as can be and less half of the cost of the probes at both ends.
    pub fn time_of_way(&self) -> Option<f64> {
        let (fastest, points) = (self.fastest(&self.ends)?, self.usual_way(&self.ends));
        let half =
            |point: u8| self.stage_at(point).map_or(0.0, |stage| self.half_probe_cost(&self.stages[stage]));
        let measured = points.windows(2).zip(fastest).filter(|(ends, _)| !self.waits(ends[0], ends[1]));
        Some(measured.map(|(ends, mean)| mean - half(ends[0]) - half(ends[1])).sum())
    }

    /// The sum of the corrected stages as a share of [`TraceAccount::time_of_way`]: unlike that of
    /// stages as measured, which always add up, it can fail.
    pub fn closure(&self) -> Option<Closure> {
        let rows = self.rows();
        let sum: f64 = rows.iter().filter(|row| !row.waits).map(|row| row.corrected).sum();
        Closure::from_sum(sum, self.time_of_way().filter(|_| !rows.is_empty()))
    }

    /// The time of a message without probes and with all of them, in ns: the median of the batches.
    pub fn a_message(&self) -> Option<[f64; 2]> {
        let all = self.all.iter().map(|round| round.batch_ns).collect();
        Some([self.of_a_message(self.untraced.clone())?, self.of_a_message(all)?])
    }

    /// The median over batches, for one message.
    pub fn of_a_message(&self, batches: Vec<u64>) -> Option<f64> {
        let each = batches.into_iter().map(|of_batch| of_batch as f64 / f64::from(self.batch));
        let mut sorted: Vec<f64> = each.collect();
        sorted.sort_by(f64::total_cmp);
        // Of an odd number both are the same one.
        let upper = sorted.get(sorted.len() / 2)?;
        let lower = sorted.get(sorted.len().checked_sub(1)? / 2)?;
        Some(f64::midpoint(*lower, *upper))
    }
}

#[cfg(test)]
mod tests;
