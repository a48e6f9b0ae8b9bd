//! The programs' counts, as numbers.

use std::collections::BTreeMap;
use std::io;

use host::bpf::Map;
use serde::{Deserialize, Serialize};

use crate::object::Maps;

/// The most points of a path (`POINTS` in `bpf/journey.h`).
pub const POINTS: usize = 64;
// `WAYS` in `bpf/path.bpf.c`.
const WAYS: u32 = 8;
/// Buckets of a histogram (`BUCKETS` in `bpf/journey.h`).
pub const BUCKETS: usize = 496;
// In ns (`MOST` in `bpf/journey.h`).
const MOST: u64 = u64::MAX >> 1;

/// The counts since the programs were loaded.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProbeCounts {
    /// The ways that packets took, most used first.
    pub ways: Vec<Way>,
    /// The outcomes of the journeys.
    pub journeys: Journeys,
    /// Hits of each point, if places were only tried.
    pub hits: Vec<u64>,
}

/// Packets that passed the same points.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Way {
    /// The time from the first point, which has this number, to the last.
    pub whole: Segment,
    /// The parts of it, in order. Each ends at its point, and begins at the one before.
    pub segments: Vec<Segment>,
}

/// The time from one point to the next one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Segment {
    /// The number of the point at which it ends.
    pub point: u8,
    /// The packets that took it.
    pub count: u64,
    /// Time in ns, without interruptions.
    pub sum: u64,
    /// The shortest, in ns.
    pub least: u64,
    /// The longest, in ns.
    pub most: u64,
    /// Time in ns of interrupts, soft interrupts and other tasks in between.
    pub outside: u64,
    /// The histogram: pairs of a bucket ([`Segment::bucket`]) and a count.
    pub buckets: Vec<(u16, u32)>,
}

host::counted! {
    /// The outcomes of the journeys.
    pub struct Journeys {
        /// Arrived, each point on the way passed once and in order: these are in the ways.
        arrived,
        /// Began, and another one began before they arrived.
        lost,
        /// Hits without a journey: its begin was not seen.
        stray,
        /// Passed a point more than once or out of order: a packet that became several.
        repeated,
        /// Hits within an interrupt that came in between: other packets'.
        inside,
        /// Arrived by a way beyond those that are kept apart.
        crowded,
        /// Came in and arrived nowhere: dropped, merged, an acknowledgement, or not followed.
        unread,
    }
}

// Tallies that are counted anew in each batch: outcomes of hits, and crowded journeys.
const TALLIES: u32 = 9;
// `MISSED` in `bpf/maps.h`: samples without room.
pub(crate) const MISSED: u32 = 10;

pub(crate) fn total(map: &Map, index: u32) -> io::Result<u64> {
    Ok(map.read(&index.to_ne_bytes())?.chunks(map.stride()).map(|cpu| u64_at(cpu, 0)).sum())
}

impl Segment {
    /// The bounds of a bucket, in ns: one ns up to 15, then eight buckets for each power of two.
    pub fn bucket(number: u16) -> (u64, u64) {
        let number = u64::from(number);
        if number < 16 {
            return (number, number);
        }
        let (power, eighth) = (4 + (number - 16) / 8, (number - 16) % 8);
        let least = (8 + eighth) << (power - 3).min(60);
        (least, least + ((1 << (power - 3).min(60)) - 1))
    }

    /// The mean in ns.
    pub fn mean(&self) -> f64 {
        self.sum as f64 / self.count.max(1) as f64
    }

    /// The time that this share of the packets does not exceed, in ns: the upper end of its bucket.
    pub fn quantile(&self, share: f64) -> u64 {
        let wanted = (share * self.count as f64).ceil().max(1.0) as u64;
        let mut seen = 0;
        for (bucket, count) in &self.buckets {
            seen += u64::from(*count);
            if seen >= wanted {
                return Self::bucket(*bucket).1.clamp(self.least, self.most);
            }
        }
        self.most
    }

    /// A cell of `bpf/journey.h`.
    fn from_cell(point: u8, cell: &[u8]) -> Self {
        // Few of the buckets are used, so only these are kept.
        let number = |at: usize| u64_at(cell, at * 8);
        let buckets = cell.get(5 * 8..).unwrap_or_default().chunks_exact(4).take(BUCKETS).zip(0..);
        let counted = buckets.filter_map(|(count, bucket)| {
            let count = u32::from_ne_bytes(count.try_into().ok()?);
            (count > 0).then_some((bucket, count))
        });
        Self {
            point,
            count: number(0),
            sum: number(1),
            // Programs keep the larger number, as a cell begins with zeros: its distance from MOST.
            least: if number(0) > 0 { MOST.saturating_sub(number(2)) } else { 0 },
            most: number(3),
            outside: number(4),
            buckets: counted.collect(),
        }
    }

    fn add(&mut self, more: &Self) {
        if more.count == 0 {
            return;
        }
        // The zero of an empty segment is no time.
        self.least = if self.count == 0 { more.least } else { self.least.min(more.least) };
        self.most = self.most.max(more.most);
        self.count = self.count.saturating_add(more.count);
        self.sum = self.sum.saturating_add(more.sum);
        self.outside = self.outside.saturating_add(more.outside);
        let mut all: BTreeMap<u16, u32> = self.buckets.iter().copied().collect();
        for (bucket, count) in &more.buckets {
            let sum = all.entry(*bucket).or_default();
            *sum = sum.saturating_add(*count);
        }
        self.buckets = all.into_iter().collect();
    }
}

impl ProbeCounts {
    pub(crate) fn clear(maps: &Maps) -> io::Result<()> {
        // Ways have their numbers by CPU: one of another CPU may stand behind it.
        let ways = if Self::read(maps)?.ways.len() > 1 { WAYS } else { 1 };
        // Only these: each cell is a call, and the cells of unused ways are zero.
        let cells = ways * POINTS as u32;
        for (map, keys) in [("ways", 1), ("cells", cells), ("tallies", TALLIES), ("hits", POINTS as u32)] {
            (0..keys).try_for_each(|key| maps[map].clear(&key.to_ne_bytes()))?;
        }
        Ok(())
    }

    pub(crate) fn read(maps: &Maps) -> io::Result<Self> {
        let [ways, cells, tallies, hits] = ["ways", "cells", "tallies", "hits"].map(|map| &maps[map]);
        let known = ways.read(&[0; 4])?;
        let mut reading = Self::default();
        for way in 0..WAYS {
            for (cpu, known) in known.chunks(ways.stride()).enumerate() {
                let passed = u64_at(known, way as usize * 8);
                if passed == 0 {
                    continue;
                }
                let segment = |point: u8| -> io::Result<Segment> {
                    let all = cells.read(&(way * POINTS as u32 + u32::from(point)).to_ne_bytes())?;
                    let cell = all.chunks(cells.stride()).nth(cpu).unwrap_or_default();
                    Ok(Segment::from_cell(point, cell))
                };
                let mut points = (0..POINTS as u8).filter(|point| passed >> point & 1 == 1);
                let whole = segment(points.next().unwrap_or_default())?;
                let segments = points.map(segment).collect::<io::Result<_>>()?;
                reading.add_way(Way { whole, segments });
            }
        }
        // The order of `enum came_to` in `bpf/journey.h`.
        let (arrived, repeated) = (total(tallies, 2)?, total(tallies, 5)?);
        reading.journeys = Journeys {
            arrived,
            lost: total(tallies, 3)?,
            stray: total(tallies, 4)?,
            repeated,
            inside: total(tallies, 6)?,
            crowded: total(tallies, 8)?,
            // Sums are read one after the other: a packet may be in one, and not yet in another.
            unread: total(tallies, 7)?.saturating_sub(arrived + repeated),
        };
        reading.hits = (0..POINTS as u32).map(|point| total(hits, point)).collect::<io::Result<_>>()?;
        Ok(reading)
    }

    /// The way that most packets took, of those that do not pass a point; without one, of all.
    pub fn most_used(&self, avoiding: Option<u8>) -> Option<&Way> {
        let avoids = |way: &&Way| avoiding.is_none_or(|point| !way.passes(point));
        self.ways.iter().find(avoids).or_else(|| self.ways.first())
    }

    /// Adds what was counted at another time.
    pub fn add(&mut self, more: Self) {
        more.ways.into_iter().for_each(|way| self.add_way(way));
        self.journeys = self.journeys.plus(&more.journeys);
        self.hits.resize(self.hits.len().max(more.hits.len()), 0);
        self.hits.iter_mut().zip(more.hits).for_each(|(sum, more)| *sum = sum.saturating_add(more));
    }

    fn add_way(&mut self, more: Way) {
        if more.whole.count == 0 {
            return;
        }
        match self.ways.iter_mut().find(|way| way.points().eq(more.points())) {
            None => self.ways.push(more),
            Some(way) => {
                way.whole.add(&more.whole);
                way.segments.iter_mut().zip(&more.segments).for_each(|(sum, more)| sum.add(more));
            }
        }
        self.ways.sort_by_key(|way| std::cmp::Reverse(way.whole.count));
    }
}

impl Way {
    /// Whether it passes this point.
    pub fn passes(&self, point: u8) -> bool {
        self.points().any(|passed| passed == point)
    }

    /// The points that it passes, in order.
    pub fn points(&self) -> impl Iterator<Item = u8> {
        std::iter::once(self.whole.point).chain(self.segments.iter().map(|segment| segment.point))
    }
}

pub(crate) fn u64_at(bytes: &[u8], at: usize) -> u64 {
    bytes.get(at..).and_then(<[u8]>::first_chunk).map_or(0, |number| u64::from_ne_bytes(*number))
}

#[cfg(test)]
mod tests;
