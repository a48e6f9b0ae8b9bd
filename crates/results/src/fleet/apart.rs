//! By what a pair that stands apart differs from the others.

use std::collections::BTreeMap;

use serde::Serialize;
use store::StudyId;

use super::{PairOfFleet, PairStudies};
use crate::data::differences::{StudyDifference, ValuesByPath, between_values, values};

/// A pair that does not belong to the others.
#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "the names of its fields say it")]
pub struct PairApart {
    pub name: String,
    /// Values that are recorded of it and of none of the others, the weightiest first; the others'
    /// value is that of one of them.
    pub differences: Vec<StudyDifference>,
}

// A pair that stands apart is compared with this many of the others.
const OTHERS: usize = 20;

/// Describes pairs by what is recorded of them, which is read only for the pairs that are compared.
pub(super) struct PairsApart<'a, S> {
    pairs: &'a [PairOfFleet],
    studies: &'a S,
    recorded: BTreeMap<usize, ValuesByPath>,
    /// A pair may stand apart in many effects, from the same others.
    known: BTreeMap<(usize, Vec<usize>), Vec<StudyDifference>>,
}

impl<'a, S: PairStudies> PairsApart<'a, S> {
    pub(super) fn new(pairs: &'a [PairOfFleet], studies: &'a S) -> Self {
        Self { pairs, studies, recorded: BTreeMap::new(), known: BTreeMap::new() }
    }

    /// The pair at `place` of those that measured an effect. `all_apart`: the places of all that
    /// stand apart.
    ///
    /// # Errors
    /// Errors of reading a study.
    pub(super) fn describe(
        &mut self,
        place: usize,
        measured: &[usize],
        all_apart: &[usize],
    ) -> Result<PairApart, S::Error> {
        let own = measured[place];
        let others = (0..measured.len()).filter(|other| all_apart.binary_search(other).is_err());
        let others: Vec<usize> = others.map(|other| measured[other]).take(OTHERS).collect();
        let pairs = self.pairs;
        let labels = pairs[own]
            .labels
            .iter()
            .filter(|(key, value)| !others.iter().any(|other| pairs[*other].labels.get(*key) == Some(value)));
        let theirs = |key: &str| others.first().and_then(|other| pairs[*other].labels.get(key));
        let mut differences: Vec<StudyDifference> = labels
            .map(|(key, value)| {
                let other = theirs(key).map(String::as_str);
                StudyDifference::new(format!("label {key}"), other, Some(value))
            })
            .collect();
        differences.extend(self.recorded_of_it_alone(own, others)?);
        Ok(PairApart { name: pairs[own].name.clone(), differences })
    }

    fn recorded_of_it_alone(
        &mut self,
        own: usize,
        others: Vec<usize>,
    ) -> Result<Vec<StudyDifference>, S::Error> {
        let key = (own, others);
        if let Some(known) = self.known.get(&key) {
            return Ok(known.clone());
        }
        for pair in key.1.iter().chain([&own]) {
            if let (false, Some(study)) = (self.recorded.contains_key(pair), self.pairs[*pair].study) {
                let read = self.studies.environments(StudyId(study))?;
                self.recorded.insert(*pair, values(&read));
            }
        }
        let found = |pair: &usize| self.recorded.get(pair);
        let mut from_others = key.1.iter().map(|other| match (found(other), found(&own)) {
            (Some(other), Some(own)) => between_values(other, own),
            _ => Vec::new(),
        });
        let mut recorded = from_others.next().unwrap_or_default();
        for differing in from_others {
            recorded.retain(|one| differing.iter().any(|other| other.what == one.what));
        }
        // Each pair has machines of its own.
        recorded.retain(|one| !(one.what.starts_with("machines ") && one.what.ends_with(" host")));
        // The others are compared with the next pair too.
        self.recorded.remove(&own);
        self.known.insert(key, recorded.clone());
        Ok(recorded)
    }
}
