//! The states of the pairs of a fleet, by the files of their tasks: this is the JSON of
//! `netassay fleet status`.

use std::collections::BTreeMap;

use serde::Serialize;

words::vocabulary! {
    /// The progress of a pair.
    #[derive(PartialOrd, Ord)]
    pub enum PairState: "a state of a pair" {
        /// No file holds anything of it.
        Missing = "never came";
        /// It ended before anything was measured.
        Failed = "failed";
        /// Some of its runs are there.
        Partial = "partly";
        /// A process measures it now.
        Running = "running";
        /// Every planned run was made.
        Complete = "complete";
    }
}

/// A measurement of a pair, as far as a file holds it.
#[derive(Debug, Clone, Serialize)]
#[expect(missing_docs, reason = "the names of its fields say it")]
pub struct PairStatus {
    /// `rack1`, and `rack1#2` for the second measurement of the reference pair.
    pub name: String,
    pub state: PairState,
    /// The file of its task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub study: Option<i64>,
    /// Recorded runs, and all that are planned, without warm-ups.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runs: Option<(u32, usize)>,
    /// Why it is not complete, as far as it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

impl PairStatus {
    /// A pair of which nothing more is known.
    pub fn new(name: impl Into<String>, state: PairState) -> Self {
        Self { name: name.into(), state, file: None, study: None, runs: None, why: None }
    }
}

/// The pairs of a fleet.
#[derive(Debug, Serialize)]
pub struct FleetStatus {
    /// `None` if no file names one.
    pub campaign: Option<String>,
    /// In the order of the file of hosts.
    pub pairs: Vec<PairStatus>,
    /// Pairs of the files that the file of hosts does not name.
    pub unknown: Vec<String>,
}

impl FleetStatus {
    /// `found`: the pairs of all files; of one that is in several files the furthest counts.
    pub fn new(campaign: Option<String>, named: &[String], found: Vec<PairStatus>) -> Self {
        let mut furthest: BTreeMap<String, PairStatus> = BTreeMap::new();
        let distance = |one: &PairStatus| (one.state, one.runs);
        for one in found {
            if furthest.get(&one.name).is_none_or(|known| distance(known) < distance(&one)) {
                furthest.insert(one.name.clone(), one);
            }
        }
        let missing = |name: &String| PairStatus::new(name, PairState::Missing);
        let pairs = named.iter().map(|name| furthest.remove(name).unwrap_or_else(|| missing(name)));
        let pairs = pairs.collect();
        Self { campaign, pairs, unknown: furthest.into_keys().collect() }
    }

    /// Whether every pair is complete.
    pub fn is_complete(&self) -> bool {
        self.pairs.iter().all(|pair| pair.state == PairState::Complete)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_several_files_of_a_pair_the_furthest_counts() {
        let named = ["a", "b", "c"].map(str::to_owned);
        let partly =
            |recorded| PairStatus { runs: Some((recorded, 8)), ..PairStatus::new("a", PairState::Partial) };
        let found = vec![
            partly(2),
            PairStatus::new("a", PairState::Failed),
            partly(6),
            PairStatus::new("other", PairState::Complete),
            PairStatus::new("c", PairState::Complete),
            PairStatus::new("c", PairState::Failed),
        ];
        let status = FleetStatus::new(None, &named, found);
        let states: Vec<_> = status.pairs.iter().map(|pair| (pair.state, pair.runs)).collect();
        assert_eq!(
            states,
            [(PairState::Partial, Some((6, 8))), (PairState::Missing, None), (PairState::Complete, None)]
        );
        assert_eq!((status.unknown.as_slice(), status.is_complete()), (&["other".to_owned()][..], false));
    }
}
