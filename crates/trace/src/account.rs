//! The account of a trace: batches without probes, with some, with all, and programs' counts.

use host::perf::Profile;
use serde::{Deserialize, Serialize};
use words::Closure;

use crate::chosen::{ChosenStage, ProbeCost};
use crate::path::{At, JourneyPhase};
use crate::probe_counts::{ProbeCounts, Segment, Way};
use crate::sampled::{SampledPackets, TimeBetween};

/// The account of a trace.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
    /// The one at which it ends.
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

/// Batches are alike if their packets take the same within this share.
const ALIKE: f64 = 0.001;

impl TraceAccount {
    /// Adds the rounds that the same trace made later.
    pub fn add(&mut self, later: Self) {
        self.untraced.extend(later.untraced);
        self.ends.extend(later.ends);
        for ((_, rounds), (_, more)) in self.one_more.iter_mut().zip(later.one_more) {
            rounds.extend(more);
        }
        self.all.extend(later.all);
        if let (Some(sampled), Some(more)) = (&mut self.sampled, later.sampled) {
            sampled.add(more);
        }
    }

    /// The time that a probe of this kind adds, in ns for a packet: the time from the point before
    /// the probe to the point behind it, with and without it. `None`: not measured.
    #[must_use]
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

    /// Half of what the probe at a stage costs: what lies on one side of its reading of the clock.
    fn half_probe_cost(&self, stage: &ChosenStage) -> f64 {
        stage.cost().map_or(0.0, |kind| self.cost_or_like(kind)) / 2.0
    }

    /// A kind that stands only where it is needed is not measured: then that of a similar one,
    /// changed as it is in another phase, else 0.
    fn cost_or_like(&self, kind: ProbeCost) -> f64 {
        let other = if kind.at == At::Entry { At::Return } else { At::Entry };
        let plain = ProbeCost { listed: false, ..kind };
        let phases =
            [JourneyPhase::Out, JourneyPhase::Leading, JourneyPhase::Arriving, JourneyPhase::Reading];
        let of = |at: At, phase: JourneyPhase| self.cost(ProbeCost { at, phase, ..plain });
        let elsewhere = |at: At| phases.iter().find_map(|phase| of(at, *phase));
        let changed = phases.iter().find_map(|phase| Some(of(kind.at, *phase)? - of(other, *phase)?));
        let like = || Some(of(other, kind.phase)? + changed.unwrap_or_default());
        let known = self.cost(kind).or_else(|| self.cost(plain)).or_else(like);
        known.or_else(|| elsewhere(kind.at)).or_else(|| elsewhere(other)).unwrap_or_default()
    }

    /// The stage that has this point.
    #[must_use]
    pub fn stage_at(&self, point: u8) -> Option<usize> {
        self.stages.iter().position(|stage| stage.seen.as_ref().is_ok_and(|seen| seen.point == point))
    }

    /// The sum of all batches with all points.
    #[must_use]
    pub fn reading(&self) -> ProbeCounts {
        let mut sum = ProbeCounts::default();
        for round in &self.all {
            sum.add(round.reading.clone());
        }
        sum
    }

    /// The way that most packets took, by those of its points that these batches have. Where no
    /// packet arrived in the batches with all points: that of most packets in these.
    fn usual_way(&self, rounds: &[Round]) -> Vec<u8> {
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
    #[must_use]
    pub fn waits(&self, from: u8, to: u8) -> bool {
        let phase = |point: u8| self.stage_at(point).map(|stage| self.stages[stage].phase);
        (phase(from), phase(to)) == (Some(JourneyPhase::Arriving), Some(JourneyPhase::Reading))
    }

    /// Segments of the way that most packets took, less half of the probes' cost at both ends.
    #[must_use]
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
    #[must_use]
    pub fn time_of_way(&self) -> Option<f64> {
        let (fastest, points) = (self.fastest(&self.ends)?, self.usual_way(&self.ends));
        let half =
            |point: u8| self.stage_at(point).map_or(0.0, |stage| self.half_probe_cost(&self.stages[stage]));
        let measured = points.windows(2).zip(fastest).filter(|(ends, _)| !self.waits(ends[0], ends[1]));
        Some(measured.map(|(ends, mean)| mean - half(ends[0]) - half(ends[1])).sum())
    }

    /// The sum of the corrected stages as a share of [`TraceAccount::time_of_way`]: unlike that of
    /// stages as measured, which always add up, it can fail.
    #[must_use]
    pub fn closure(&self) -> Option<Closure> {
        let rows = self.rows();
        let sum: f64 = rows.iter().filter(|row| !row.waits).map(|row| row.corrected).sum();
        Closure::from_sum(sum, self.time_of_way().filter(|_| !rows.is_empty()))
    }

    /// The time of a message without probes and with all of them, in ns: the median of the batches.
    #[must_use]
    pub fn a_message(&self) -> Option<[f64; 2]> {
        let all = self.all.iter().map(|round| round.batch_ns).collect();
        Some([self.of_a_message(self.untraced.clone())?, self.of_a_message(all)?])
    }

    /// The median over batches, for one message.
    #[must_use]
    pub fn of_a_message(&self, batches: Vec<u64>) -> Option<f64> {
        let each = batches.into_iter().map(|of_batch| of_batch as f64 / f64::from(self.batch));
        let mut sorted: Vec<f64> = each.collect();
        sorted.sort_by(f64::total_cmp);
        let upper = sorted.get(sorted.len() / 2)?;
        let lower = sorted.get(sorted.len().checked_sub(1)? / 2)?;
        Some(f64::midpoint(*lower, *upper))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chosen::StagePoint;
    use crate::path::Layer;
    use crate::probe_counts::Journeys;
    use crate::tracer::Attachment;

    /// A batch of ten packets whose points lie so far apart, each with a probe of `cost` between.
    fn round(points: &[u8], each: &[u64], cost: u64) -> Round {
        let segment = |point: u8, ns: u64| Segment {
            point,
            count: 10,
            sum: 10 * (ns + cost),
            least: ns + cost,
            most: ns + cost,
            outside: 50,
            buckets: vec![(20, 10)],
        };
        let segments: Vec<Segment> =
            points.iter().zip(each).map(|(point, ns)| segment(*point, *ns)).collect();
        let sum: u64 = segments.iter().map(|segment| segment.sum).sum();
        let whole = Segment { point: 0, sum, ..segment(0, 0) };
        let journeys = Journeys { arrived: 10, ..Journeys::default() };
        Round {
            batch_ns: 1000,
            reading: ProbeCounts { ways: vec![Way { whole, segments }], journeys, hits: vec![10; 4] },
            between: Vec::new(),
        }
    }

    fn stage(label: &str, point: u8) -> ChosenStage {
        let seen =
            Ok(StagePoint { point, name: label.to_owned(), mean: Attachment::Trampoline, packet: None });
        let (label, lane, phase) = (label.to_owned(), Layer::Ip, JourneyPhase::Out);
        ChosenStage { label, lane, at: At::Entry, optional: false, phase, seen }
    }

    fn kind(mean: Attachment) -> ProbeCost {
        ProbeCost { mean, at: At::Entry, phase: JourneyPhase::Out, listed: false }
    }

    fn account() -> TraceAccount {
        let mut gone = stage("gone", 9);
        gone.seen = Err("no function gone".to_owned());
        TraceAccount {
            batch: 10,
            avoiding: None,
            stages: vec![stage("a", 0), gone, stage("b", 1), stage("c", 2), stage("d", 3)],
            untraced: vec![500, 700, 600],
            ends: vec![round(&[3], &[600], 7)],
            one_more: vec![(kind(Attachment::Trampoline), vec![round(&[1, 3], &[100, 500], 7)])],
            all: vec![round(&[1, 2, 3], &[100, 200, 300], 7); 3],
            sampled: None,
            profile: None,
        }
    }

    #[test]
    fn what_probes_cost_is_taken_off_each_stage_and_the_sum_closes() {
        let account = account();
        assert_eq!(account.cost(kind(Attachment::Trampoline)), Some(7.0));
        assert_eq!(account.cost(kind(Attachment::Kprobe)), None);
        let rows = account.rows();
        let corrected: Vec<f64> = rows.iter().map(|row| row.corrected).collect();
        assert_eq!(corrected, [100.0, 200.0, 300.0]);
        assert_eq!((rows[0].from, rows[0].to, rows[0].outside), (0, 2, 5.0));
        assert_eq!((account.time_of_way(), account.closure().map(Closure::share)), (Some(600.0), Some(1.0)));
        assert_eq!(account.a_message(), Some([60.0, 100.0]));
    }

    /// At c the packet is in its socket, and at d its reader has it.
    #[test]
    fn the_wait_for_a_reader_and_the_probes_around_it_are_in_no_sum() {
        let mut account = account();
        (account.stages[3].phase, account.stages[4].phase) = (JourneyPhase::Arriving, JourneyPhase::Reading);
        account.one_more[0].1 = vec![round(&[1, 2, 3], &[100, 200, 0], 7)];
        for wait in [0, 300, 90_000] {
            account.ends = vec![round(&[2, 3], &[300, wait], 7)];
            account.all = vec![round(&[1, 2, 3], &[100, 200, wait], 7)];
            let waits: Vec<bool> = account.rows().iter().map(|row| row.waits).collect();
            assert_eq!(waits, [false, false, true]);
            assert_eq!(account.time_of_way(), Some(300.0), "{wait} ns");
            assert_eq!(account.closure().map(Closure::share), Some(1.0), "{wait} ns");
        }
        // The fastest batch is the one whose packets were, however long they waited.
        account.ends.push(round(&[2, 3], &[400, 0], 7));
        account.all.push(round(&[1, 2, 3], &[150, 250, 0], 7));
        assert_eq!((account.time_of_way(), account.closure().map(Closure::share)), (Some(300.0), Some(1.0)));
    }

    /// A tick adds to another stage in each batch; a batch that is slower by more is left out.
    #[test]
    fn what_a_tick_adds_to_a_batch_is_in_no_stage() {
        let batches = [[1004, 2000, 3000], [1000, 2004, 3000], [1000, 2000, 3004], [990, 2500, 3000]];
        // Here probes cost nothing.
        let all: Vec<Round> = batches.iter().map(|each| round(&[1, 2, 3], each, 0)).collect();
        let ends = vec![round(&[3], &[6003], 0), round(&[3], &[6000], 0)];
        let account = TraceAccount { all, ends, one_more: Vec::new(), ..account() };
        let corrected: Vec<f64> = account.rows().iter().map(|row| row.corrected).collect();
        assert_eq!((corrected, account.time_of_way()), (vec![1000.0, 2000.0, 3000.0], Some(6000.0)));
    }

    #[test]
    fn what_differs_elsewhere_and_what_few_packets_take_is_in_no_cost() {
        // The probe at 2 costs 7; the way to 1 takes longer in each batch with it.
        let mut account = TraceAccount {
            ends: vec![round(&[1, 3], &[100, 500], 7)],
            one_more: vec![(kind(Attachment::Trampoline), vec![round(&[1, 2, 3], &[900, 200, 300], 7)])],
            ..account()
        };
        assert_eq!(account.cost(kind(Attachment::Trampoline)), Some(7.0));
        // One packet in a hundred takes 20,000 ns more between 1 and 3, and only with the probe.
        account.one_more[0].1 = vec![round(&[1, 2, 3], &[900, 400, 300], 7)];
        assert_eq!(account.cost(kind(Attachment::Trampoline)), Some(207.0));
        let between = |quarter| vec![TimeBetween { from: 1, to: 3, quarter }];
        account.one_more[0].1[0].between = between(514);
        assert_eq!(
            account.cost(kind(Attachment::Trampoline)),
            Some(207.0),
            "of both kinds of batches or of none"
        );
        account.ends[0].between = between(507);
        assert_eq!(account.cost(kind(Attachment::Trampoline)), Some(7.0));
    }

    #[test]
    fn a_cost_that_does_not_repeat_shows_in_the_closure() {
        let all = vec![round(&[1, 2, 3], &[100, 200, 300], 27); 3];
        let account = TraceAccount { all, ..account() };
        let closure = account.closure().unwrap();
        assert_eq!(closure.share(), 1.1);
        assert!(!closure.holds(true));
    }

    /// In some batches most packets find their reader elsewhere, and pass other points.
    #[test]
    fn a_batch_whose_packets_took_another_way_is_left_out() {
        let elsewhere = round(&[3], &[9000], 7);
        let mut more = account().one_more;
        // The ends are 0, 2 and 3 here; without its 2 this batch looks as if nobody passed it.
        let mut strange = elsewhere.clone();
        strange.reading.ways.extend(round(&[1, 2, 3], &[100, 200, 300], 7).reading.ways);
        more[0].1 = vec![strange, round(&[1, 2, 3], &[100, 200, 300], 7)];
        let ends = vec![elsewhere, round(&[2, 3], &[300, 300], 7)];
        let account = TraceAccount { ends, one_more: more, ..account() };
        assert_eq!(account.cost(kind(Attachment::Trampoline)), Some(7.0));
        assert_eq!(account.closure().map(Closure::share), Some(1.0));
    }

    #[test]
    fn rounds_that_come_one_by_one_are_those_of_the_whole() {
        let whole = account();
        let part = |untraced: &[u64], once: bool, all: usize| {
            let some = |rounds: &Vec<Round>| if once { rounds.clone() } else { Vec::new() };
            TraceAccount {
                untraced: untraced.to_vec(),
                ends: some(&whole.ends),
                one_more: whole.one_more.iter().map(|(kind, rounds)| (*kind, some(rounds))).collect(),
                all: whole.all[..all].to_vec(),
                ..whole.clone()
            }
        };
        let mut sum = part(&[500], false, 1);
        sum.add(part(&[700, 600], true, 2));
        assert_eq!(sum, whole);
    }

    #[test]
    fn batches_without_a_packet_give_no_row() {
        // Fragments: with two points they arrive, with all they do not.
        let account = TraceAccount { all: vec![Round::default()], ..account() };
        assert_eq!((account.rows(), account.closure()), (Vec::new(), None));
        assert!(account.time_of_way().is_some());
    }
}
