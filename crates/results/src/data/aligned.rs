//! Traces of one path beside each other: the places that all of them passed, and what lies between
//! these. Kernels differ in the places that they show, so a stage of one may hold two of another.

use std::collections::BTreeSet;

use record::{PassedPlace, PathTrace};
use serde::Serialize;
use stats::parts::range;

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct AlignedTraces {
    pub(crate) places: Vec<PassedPlace>,
    /// Whether packets wait for their reader from each of these to the next.
    pub(crate) waits: Vec<bool>,
    /// The places that were removed because costs move across them, each with how much.
    joined: Vec<(PassedPlace, f64)>,
}

/// A stage that is not seen at one place in all traces, and so bounds no compared stage.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct UnmatchedStage {
    /// The stage.
    pub stage: String,
    /// The functions by which it was seen, in each group of traces; none if it was not.
    pub seen_at: Vec<BTreeSet<String>>,
    /// The stages between which its cost is; `None` beyond the ends of what is compared.
    pub within: Option<(String, String)>,
    /// The spread, from run to run, of the cost that moves across it, if seen at one place in all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub moved: Option<f64>,
}

impl UnmatchedStage {
    /// The place of its cost, as a clause.
    pub fn cost(&self) -> String {
        match &self.within {
            Some((from, to)) => format!("its cost is in {from} to {to}"),
            None => "its cost is in no stage".to_owned(),
        }
    }
}

// No path has more places; each is compared with each.
const MOST_PLACES: usize = 64;

pub(crate) fn is_usable(trace: &PathTrace) -> bool {
    trace.is_sound() && trace.places.len() <= MOST_PLACES
}

pub(crate) fn stage(place: &PassedPlace) -> String {
    let end = if place.returns { " return" } else { "" };
    format!("{}{end}", place.label)
}

fn function(place: &PassedPlace) -> &str {
    // A copy that the compiler made (`.constprop.0`) is the same function.
    place.seen_at.split('.').next().unwrap_or_default()
}

fn is_same(one: &PassedPlace, other: &PassedPlace) -> bool {
    (&one.label, one.returns, function(one)) == (&other.label, other.returns, function(other))
}

fn position(trace: &PathTrace, place: &PassedPlace) -> Option<usize> {
    trace.places.iter().position(|own| is_same(own, place))
}

impl AlignedTraces {
    pub(crate) fn from_traces(traces: &[&PathTrace]) -> Self {
        let mut places = traces.first().map(|trace| trace.places.clone()).unwrap_or_default();
        for trace in traces {
            let mut last = None;
            places.retain(|place| {
                // Places that a trace passed in another order bound no stage.
                let found = position(trace, place).filter(|found| last.is_none_or(|last| *found > last));
                last = found.or(last);
                found.is_some()
            });
        }
        let waits = vec![false; places.len().saturating_sub(1)];
        let mut aligned = Self { waits, places, joined: Vec::new() };
        for trace in traces {
            for (place, (_, waits)) in aligned.segments(trace).into_iter().enumerate() {
                aligned.waits[place] |= waits;
            }
        }
        aligned
    }

    pub(crate) fn costs(&self, trace: &PathTrace) -> Vec<f64> {
        self.segments(trace).into_iter().map(|(cost, _)| cost).collect()
    }

    /// Joins neighbouring stages whose costs do not repeat within `most` in each group of traces,
    /// while their sum does, or does far better.
    pub(crate) fn join(&mut self, groups: &[Vec<&PathTrace>], most: f64) {
        // The cost moves between the two from run to run. A joined stage may move against the next.
        while let Some((place, moved)) = self.moving(groups, most) {
            self.waits.remove(place);
            self.joined.push((self.places.remove(place), moved));
        }
    }

    fn moving(&self, groups: &[Vec<&PathTrace>], most: f64) -> Option<(usize, f64)> {
        let costs: Vec<Vec<Vec<f64>>> =
            groups.iter().map(|traces| traces.iter().map(|trace| self.costs(trace)).collect()).collect();
        let furthest = |of: &dyn Fn(&[f64]) -> f64| -> f64 {
            costs.iter().map(|runs| range(runs.iter().map(|run| of(run)))).fold(0.0, f64::max)
        };
        // Across a wait nothing moves.
        let works = |place: &usize| !self.waits[place - 1] && !self.waits[*place];
        let moving = (1..self.waits.len()).filter(works).filter_map(|place| {
            let alone = [place - 1, place].map(|stage| furthest(&|run| run[stage]));
            let alone = alone[0].max(alone[1]);
            let joined = furthest(&|run| run[place - 1] + run[place]);
            (alone > most && joined <= most.max(alone / 2.0)).then_some((place, alone - joined))
        });
        moving.max_by(|one, other| one.1.total_cmp(&other.1))
    }

    fn segments(&self, trace: &PathTrace) -> Vec<(f64, bool)> {
        let at: Vec<usize> = self.places.iter().filter_map(|place| position(trace, place)).collect();
        let segment = |ends: &[usize]| {
            let steps = trace.steps.get(ends[0]..ends[1]).unwrap_or_default();
            let works = steps.iter().filter(|step| !step.waits);
            (works.clone().map(|step| step.cost).sum(), works.count() == 0)
        };
        at.windows(2).map(segment).collect()
    }

    pub(crate) fn stages(&self) -> Vec<(String, String)> {
        self.places.windows(2).map(|ends| (stage(&ends[0]), stage(&ends[1]))).collect()
    }

    pub(crate) fn unmatched(&self, groups: &[Vec<&PathTrace>]) -> Vec<UnmatchedStage> {
        let mut found: Vec<UnmatchedStage> = Vec::new();
        for (group, traces) in groups.iter().enumerate() {
            for trace in traces {
                for (at, place) in trace.places.iter().enumerate() {
                    if self.places.iter().any(|common| is_same(common, place)) {
                        continue;
                    }
                    let name = stage(place);
                    let known = found.iter().position(|one| one.stage == name).unwrap_or_else(|| {
                        let within = self.around(trace, at);
                        let joined = self.joined.iter().find(|(joined, _)| is_same(joined, place));
                        found.push(UnmatchedStage {
                            stage: name,
                            seen_at: vec![BTreeSet::new(); groups.len()],
                            within,
                            moved: joined.map(|(_, moved)| *moved),
                        });
                        found.len() - 1
                    });
                    found[known].seen_at[group].insert(function(place).to_owned());
                }
            }
        }
        found
    }

    fn around(&self, trace: &PathTrace, at: usize) -> Option<(String, String)> {
        let is_common = |place: &&PassedPlace| self.places.iter().any(|common| is_same(common, place));
        let before = trace.places[..at].iter().rfind(is_common)?;
        let behind = trace.places[at..].iter().find(is_common)?;
        Some((stage(before), stage(behind)))
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use proptest::prelude::*;
    use record::PathStep;
    use study::{KernelPath, Waiting};

    use super::*;

    /// A trace of places with these labels, each of which is its function too, and costs between.
    pub(crate) fn trace(labels: &[&str], costs: &[f64]) -> PathTrace {
        let place = |label: &&str| {
            let (label, seen_at) = label.split_once('@').unwrap_or((label, label));
            PassedPlace { label: label.to_owned(), returns: false, seen_at: seen_at.to_owned() }
        };
        let step = |cost: &f64| PathStep { cost: cost.abs(), outside: 0.0, waits: *cost < 0.0 };
        let works = costs.iter().filter(|cost| **cost > 0.0);
        PathTrace {
            path: KernelPath::UdpTx,
            reader: Waiting::Awake,
            places: labels.iter().map(place).collect(),
            steps: costs.iter().map(step).collect(),
            whole: Some(works.sum()),
            packets: 100,
            profile: None,
        }
    }

    #[test]
    fn a_stage_that_one_kernel_inlines_is_in_the_one_before() {
        let one = trace(&["a", "b", "c", "d"], &[10.0, 20.0, 30.0]);
        let other = trace(&["a", "c", "d"], &[25.0, 35.0]);
        let aligned = AlignedTraces::from_traces(&[&one, &other]);
        let pair = |from: &str, to: &str| (from.to_owned(), to.to_owned());
        assert_eq!(aligned.stages(), [pair("a", "c"), pair("c", "d")]);
        assert_eq!((aligned.costs(&one), aligned.costs(&other)), (vec![30.0, 30.0], vec![25.0, 35.0]));
        let unmatched = aligned.unmatched(&[vec![&one], vec![&other]]);
        assert_eq!(unmatched.len(), 1);
        assert_eq!((unmatched[0].stage.as_str(), &unmatched[0].within), ("b", &Some(pair("a", "c"))));
        assert!(unmatched[0].seen_at[0].contains("b") && unmatched[0].seen_at[1].is_empty());
    }

    #[test]
    fn the_same_label_at_another_function_is_another_place() {
        let one = trace(&["a", "b@f", "c"], &[10.0, 20.0]);
        let other = trace(&["a", "b@g", "c"], &[15.0, 20.0]);
        let aligned = AlignedTraces::from_traces(&[&one, &other]);
        assert_eq!((aligned.costs(&one), aligned.costs(&other)), (vec![30.0], vec![35.0]));
        let unmatched = aligned.unmatched(&[vec![&one], vec![&other]]);
        assert!(unmatched[0].seen_at[0].contains("f") && unmatched[0].seen_at[1].contains("g"));
        // A copy that the compiler made is the same function.
        let copy = trace(&["a", "b@f.constprop.0", "c"], &[11.0, 20.0]);
        assert_eq!(AlignedTraces::from_traces(&[&one, &copy]).costs(&copy), [11.0, 20.0]);
    }

    #[test]
    fn a_wait_is_no_cost() {
        let one = trace(&["a", "b", "c", "d"], &[10.0, -500.0, 30.0]);
        let aligned = AlignedTraces::from_traces(&[&one]);
        assert_eq!((aligned.costs(&one), aligned.waits), (vec![10.0, 0.0, 30.0], vec![false, true, false]));
        let other = trace(&["a", "d"], &[45.0]);
        let aligned = AlignedTraces::from_traces(&[&one, &other]);
        assert_eq!((aligned.costs(&one), aligned.waits), (vec![40.0], vec![false]));
    }

    #[test]
    fn stages_are_joined_where_costs_move_between_them() {
        const STAGES: [&str; 5] = ["a", "b", "c", "d", "e"];
        let joined = |runs: &[[f64; 4]]| {
            let traces: Vec<PathTrace> = runs.iter().map(|costs| trace(&STAGES, costs)).collect();
            let groups = vec![traces.iter().collect::<Vec<_>>()];
            let mut aligned = AlignedTraces::from_traces(&groups[0]);
            aligned.join(&groups, 1.0);
            let kept: Vec<String> = aligned.places.iter().map(stage).collect();
            let moved: Vec<(String, Option<f64>)> =
                aligned.unmatched(&groups).into_iter().map(|one| (one.stage, one.moved)).collect();
            (kept.concat(), moved)
        };
        let at = |stage: &str, moved: f64| (stage.to_owned(), Some(moved));
        // All repeat; one moves; a chain moves; one varies by itself; across a wait nothing moves.
        for (runs, kept, moved) in [
            (vec![[10.0, 20.0, 30.0, 40.0], [10.9, 20.0, 29.5, 40.0]], "abcde", vec![]),
            (vec![[10.0, 20.0, 30.0, 40.0], [10.0, 25.0, 25.5, 40.0]], "abde", vec![at("c", 4.5)]),
            (
                vec![[10.0, 20.0, 30.0, 40.0], [20.0, 14.0, 26.0, 40.0]],
                "ade",
                vec![at("b", 6.0), at("c", 4.0)],
            ),
            (vec![[10.0, 20.0, 30.0, 40.0], [10.0, 28.0, 30.0, 40.0]], "abcde", vec![]),
            (vec![[10.0, 20.0, -30.0, 40.0], [10.0, 25.0, -30.0, 35.0]], "abcde", vec![]),
            (vec![[10.0, 20.0, 30.0, 40.0]], "abcde", vec![]),
        ] {
            assert_eq!(joined(&runs), (kept.to_owned(), moved), "{runs:?}");
        }
    }

    /// Traces that each skip some of six places.
    fn any_traces() -> impl Strategy<Value = Vec<PathTrace>> {
        let one =
            (any::<[bool; 4]>(), proptest::collection::vec(1.0..100.0f64, 5)).prop_map(|(skips, costs)| {
                let kept = ["b", "c", "d", "e"].into_iter().zip(skips).filter(|(_, skip)| !skip);
                let labels: Vec<&str> =
                    ["a"].into_iter().chain(kept.map(|(label, _)| label)).chain(["f"]).collect();
                trace(&labels, &costs[..labels.len() - 1])
            });
        proptest::collection::vec(one, 1..6)
    }

    proptest! {
        #[test]
        fn what_lies_between_the_common_places_is_the_whole(traces in any_traces()) {
            let all: Vec<&PathTrace> = traces.iter().collect();
            let aligned = AlignedTraces::from_traces(&all);
            for trace in &all {
                let costs = aligned.costs(trace);
                prop_assert_eq!(costs.len(), aligned.places.len() - 1);
                let whole: f64 = trace.steps.iter().map(|step| step.cost).sum();
                prop_assert!((costs.iter().sum::<f64>() - whole).abs() < 1e-9);
            }
            // Each place is a boundary or told, once.
            let told = aligned.unmatched(std::slice::from_ref(&all));
            for place in all.iter().flat_map(|trace| &trace.places) {
                let name = stage(place);
                let is_told = told.iter().filter(|one| one.stage == name).count();
                let is_common = usize::from(aligned.places.iter().any(|common| stage(common) == name));
                prop_assert_eq!(is_told + is_common, 1);
            }
        }

        #[test]
        fn any_traces_are_aligned(
            labels in proptest::collection::vec(proptest::collection::vec("[a-d]", 0..6), 1..4),
        ) {
            let traces: Vec<PathTrace> = labels
                .iter()
                .map(|labels| {
                    let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
                    trace(&labels, &vec![1.0; labels.len().saturating_sub(1)])
                })
                .collect();
            let all: Vec<&PathTrace> = traces.iter().collect();
            let aligned = AlignedTraces::from_traces(&all);
            let lengths: Vec<usize> = all.iter().map(|trace| aligned.costs(trace).len()).collect();
            prop_assert!(lengths.iter().all(|length| *length == aligned.places.len().saturating_sub(1)));
        }
    }
}
