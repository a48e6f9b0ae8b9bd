//! What a trace came to: batches without probes, with some and with all, and what the programs
//! counted.

use serde::{Deserialize, Serialize};

use crate::chosen::Chosen;
use crate::path::At;
use crate::reading::Reading;
use crate::tracer::Mean;

/// The account of a trace.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Account {
    /// Messages of a batch.
    pub batch: u32,
    /// The stages of the path, and where each is seen.
    pub stages: Vec<Chosen>,
    /// The time of each batch without any probe, in ns.
    pub untraced: Vec<u64>,
    /// With the first and the last point only.
    pub ends: Vec<Round>,
    /// With these and one more point, for each kind of probe: what one costs.
    pub one_more: Vec<((Mean, At), Vec<Round>)>,
    /// With all points.
    pub all: Vec<Round>,
}

/// A batch with probes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Round {
    /// The time of the batch, in ns.
    pub batch_ns: u64,
    /// What the programs counted meanwhile.
    pub reading: Reading,
}

/// A row of the table: from a point to the next one.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// The stage at which it begins, as an index of [`Account::stages`].
    pub from: usize,
    /// The one at which it ends.
    pub to: usize,
    /// The mean of a packet as it was measured, in ns: the median of the batches.
    pub raw: f64,
    /// Less what the probe costs.
    pub corrected: f64,
    /// Interruptions in it, in ns for a packet; they are in neither of the others.
    pub outside: f64,
    /// The times that 50, 90 and 99 % of the packets do not exceed, in ns, as measured.
    pub quantiles: [u64; 3],
}

impl Account {
    /// What a probe of this kind adds to what lies around it, in ns for a packet: the whole with
    /// one more point less the whole without it. `None` where that was not measured.
    #[must_use]
    pub fn cost(&self, kind: (Mean, At)) -> Option<f64> {
        let (_, with) = self.one_more.iter().find(|(of, _)| *of == kind)?;
        Some((whole(with)? - whole(&self.ends)?).max(0.0))
    }

    /// Half of what the probe at a stage costs: what lies on one side of its reading of the clock.
    /// A kind that stands only at an end of the path has the cost of its mean at the other end of
    /// functions, or none that is known.
    fn half(&self, stage: &Chosen) -> f64 {
        let Ok(seen) = &stage.seen else { return 0.0 };
        let kinds = [stage.at, At::Entry, At::Return].map(|at| (seen.mean, at));
        kinds.into_iter().find_map(|kind| self.cost(kind)).unwrap_or_default() / 2.0
    }

    /// All packets of all batches with all points.
    #[must_use]
    pub fn reading(&self) -> Reading {
        let mut sum = Reading::default();
        for round in &self.all {
            sum.add(round.reading.clone());
        }
        sum
    }

    /// The segments of the way that most packets took, less half of what the probes at both of
    /// their ends cost.
    #[must_use]
    pub fn rows(&self) -> Vec<Row> {
        let reading = self.reading();
        let Some(way) = reading.ways.first() else { return Vec::new() };
        let stage = |point: u8| {
            self.stages.iter().position(|stage| stage.seen.as_ref().is_ok_and(|seen| seen.point == point))
        };
        let mut from = 0;
        let rows = way.segments.iter().enumerate().filter_map(|(index, segment)| {
            let (begin, end) = (stage(from)?, stage(segment.point)?);
            from = segment.point;
            let probes = self.half(&self.stages[begin]) + self.half(&self.stages[end]);
            let of_round = |round: &Round| {
                let same = round.reading.ways.iter().find(|one| one.points().eq(way.points()))?;
                Some(same.segments[index].mean())
            };
            let raw = median(self.all.iter().filter_map(of_round).collect())?;
            Some(Row {
                from: begin,
                to: end,
                raw,
                corrected: (raw - probes).max(0.0),
                outside: segment.outside as f64 / segment.count.max(1) as f64,
                quantiles: [0.5, 0.9, 0.99].map(|share| segment.quantile(share)),
            })
        });
        rows.collect()
    }

    /// The whole from the first point to the last, in ns for a packet, with these two points only
    /// and less half of what each of them costs.
    #[must_use]
    pub fn whole(&self) -> Option<f64> {
        let mut seen = self.stages.iter().filter(|stage| stage.seen.is_ok());
        let ends = [seen.next()?, seen.next_back()?];
        Some(whole(&self.ends)? - ends.map(|stage| self.half(stage)).iter().sum::<f64>())
    }

    /// The corrected stages' sum by [`Account::whole`]: 1 if they close. Stages as measured always
    /// add up to the whole with all probes, which proves nothing; this can fail.
    #[must_use]
    pub fn closure(&self) -> Option<f64> {
        let rows = self.rows();
        let sum: f64 = rows.iter().map(|row| row.corrected).sum();
        self.whole().filter(|whole| *whole > 0.0 && !rows.is_empty()).map(|whole| sum / whole)
    }

    /// The time of a message without probes and with all of them, in ns: the median of the batches.
    #[must_use]
    pub fn a_message(&self) -> Option<[f64; 2]> {
        let of = |batches: Vec<u64>| {
            median(batches.into_iter().map(|ns| ns as f64 / f64::from(self.batch)).collect())
        };
        let all = self.all.iter().map(|round| round.batch_ns).collect();
        Some([of(self.untraced.clone())?, of(all)?])
    }
}

/// The mean from the first point to the last of the way that most packets took: the median of the
/// batches.
fn whole(rounds: &[Round]) -> Option<f64> {
    median(rounds.iter().filter_map(|round| Some(round.reading.ways.first()?.whole.mean())).collect())
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() {
        0 => None,
        odd if odd % 2 == 1 => Some(values[middle]),
        _ => Some(f64::midpoint(values[middle - 1], values[middle])),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chosen::Seen;
    use crate::path::Lane;
    use crate::reading::{Journeys, Segment, Way};

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
            reading: Reading { ways: vec![Way { whole, segments }], journeys, hits: vec![10; 4] },
        }
    }

    fn stage(label: &str, point: u8) -> Chosen {
        let seen = Ok(Seen { point, name: label.to_owned(), mean: Mean::Trampoline });
        Chosen { label: label.to_owned(), lane: Lane::Ip, at: At::Entry, optional: false, seen }
    }

    fn account() -> Account {
        let mut gone = stage("gone", 9);
        gone.seen = Err("no function gone".to_owned());
        Account {
            batch: 10,
            stages: vec![stage("a", 0), gone, stage("b", 1), stage("c", 2), stage("d", 3)],
            untraced: vec![500, 700, 600],
            ends: vec![round(&[3], &[600], 7)],
            one_more: vec![((Mean::Trampoline, At::Entry), vec![round(&[1, 3], &[100, 500], 7)])],
            all: vec![round(&[1, 2, 3], &[100, 200, 300], 7); 3],
        }
    }

    #[test]
    fn what_probes_cost_is_taken_off_each_stage_and_the_sum_closes() {
        let account = account();
        assert_eq!(account.cost((Mean::Trampoline, At::Entry)), Some(7.0));
        assert_eq!(account.cost((Mean::Kprobe, At::Entry)), None);
        let rows = account.rows();
        let corrected: Vec<f64> = rows.iter().map(|row| row.corrected).collect();
        assert_eq!(corrected, [100.0, 200.0, 300.0]);
        assert_eq!((rows[0].from, rows[0].to, rows[0].outside), (0, 2, 5.0));
        assert_eq!((account.whole(), account.closure()), (Some(600.0), Some(1.0)));
        assert_eq!(account.a_message(), Some([60.0, 100.0]));
    }

    #[test]
    fn a_cost_that_does_not_repeat_shows_in_the_closure() {
        let all = vec![round(&[1, 2, 3], &[100, 200, 300], 27); 3];
        let account = Account { all, ..account() };
        assert_eq!(account.closure(), Some(1.1));
    }

    #[test]
    fn batches_without_a_packet_give_no_row() {
        // Fragments: with two points they arrive, with all they do not.
        let account = Account { all: vec![Round::default()], ..account() };
        assert_eq!((account.rows(), account.closure()), (Vec::new(), None));
        assert!(account.whole().is_some());
    }
}
