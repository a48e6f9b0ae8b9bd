//! The turns that conditions take in one flow.

use std::collections::HashMap;
use std::time::Duration;

use rand_chacha::ChaCha12Rng;
use words::{MOST_IN_TURNS, Turn};

use crate::model::Alternate;
use crate::plan::schedule::{below, random_of_run};
use crate::plan::{Condition, Plan, PlannedRun};

impl Plan {
    /// The counted turns of a flow of these conditions, as indexes into `together`.
    pub fn turns(&self, together: &[usize], run: &PlannedRun, alternate: Alternate) -> Vec<Turn> {
        let window = together.first().map_or(Duration::ZERO, |one| self.conditions[*one].workload.duration);
        let mut random = random_of_run(self.asked.protocol.seed, run, together.first().copied());
        let blocks = blocks(together.len(), alternate, window);
        (0..blocks).flat_map(|_| block(together.len(), &mut random)).collect()
    }

    /// A condition's equal part of the ramp and all turns; `None` if it has a flow of its own.
    pub fn share_of_flow(&self, index: usize, together: usize) -> Option<Duration> {
        let alternate = self.asked.protocol.alternate?;
        let share = u32::try_from(together).ok().filter(|together| *together > 1)?;
        let workload = &self.conditions[index].workload;
        let turns = length(together, alternate, workload.duration);
        let turns = alternate.turn.saturating_mul(u32::try_from(turns).unwrap_or(u32::MAX));
        Some(workload.ramp.saturating_add(turns) / share)
    }

    /// The conditions by flow: conditions that differ only in keys that can be switched while
    /// traffic flows share one, if any take turns and they are not too many.
    pub fn flows(&self) -> Flows {
        if self.asked.protocol.alternate.is_none() {
            let each = 0..self.conditions.len();
            return Flows { of: each.clone().collect(), flows: each.map(|index| vec![index]).collect() };
        }
        let mut flows = Flows::among(&self.conditions);
        for flow in 0..flows.flows.len() {
            if flows.flows[flow].len() > MOST_IN_TURNS {
                for index in flows.flows[flow].split_off(1) {
                    flows.of[index] = flows.flows.len();
                    flows.flows.push(vec![index]);
                }
            }
        }
        flows
    }
}

pub(crate) fn length(conditions: usize, alternate: Alternate, window: Duration) -> usize {
    let in_block = 2 * conditions * conditions + 1;
    in_block.saturating_mul(blocks(conditions, alternate, window) as usize)
}

/// The number of blocks that give each condition its window.
fn blocks(conditions: usize, alternate: Alternate, window: Duration) -> u32 {
    let in_block = alternate.counted().as_nanos() * 2 * conditions as u128;
    u32::try_from(window.as_nanos().div_ceil(in_block.max(1))).unwrap_or(u32::MAX).max(1)
}

/// A turn that is not counted, then each condition twice after each condition, itself among them.
fn block(conditions: usize, random: &mut ChaCha12Rng) -> Vec<Turn> {
    // Backwards the counted turns are the same, so a turn's traces in the next one, and a linear
    // drift, add the same to every condition.
    let walk = walk(conditions, random);
    let turn = |counts| move |state| Turn { state, counts };
    let lead = walk.first().copied().map(turn(false));
    lead.into_iter().chain(walk.iter().chain(walk.iter().rev()).copied().map(turn(true))).collect()
}

/// A random closed walk from a condition over each pair of them twice, in any direction, and from
/// each other one once to itself (Hierholzer's algorithm).
///
/// Forwards and backwards together it has each ordered pair twice. Its first condition follows
/// itself where the two meet, and after the turn that leads to it.
fn walk(conditions: usize, random: &mut ChaCha12Rng) -> Vec<usize> {
    let mut draw = |bound: usize| below(bound as u64, random) as usize;
    if conditions == 0 {
        return Vec::new();
    }
    let start = draw(conditions);
    let mut left = vec![vec![2_u8; conditions]; conditions];
    for (condition, left) in left.iter_mut().enumerate() {
        left[condition] = u8::from(condition != start);
    }
    let (mut stack, mut walk) = (vec![start], Vec::new());
    while let Some(&at) = stack.last() {
        let open: Vec<usize> = (0..conditions).filter(|next| left[at][*next] > 0).collect();
        if open.is_empty() {
            walk.push(at);
            stack.pop();
            continue;
        }
        let next = open[draw(open.len())];
        left[at][next] -= 1;
        if next != at {
            left[next][at] -= 1;
        }
        stack.push(next);
    }
    walk
}

/// The conditions of a plan, or of its draft, by the flow that they can share: each is in one.
#[derive(Debug, Clone)]
pub struct Flows {
    of: Vec<usize>,
    flows: Vec<Vec<usize>>,
}

impl Flows {
    pub(crate) fn among(conditions: &[Condition]) -> Self {
        let mut known: HashMap<String, usize> = HashMap::new();
        let mut all = Self { of: Vec::with_capacity(conditions.len()), flows: Vec::new() };
        for (index, condition) in conditions.iter().enumerate() {
            let new = all.flows.len();
            let flow = condition.flow_key().map_or(new, |kept| *known.entry(kept).or_insert(new));
            if flow == new {
                all.flows.push(Vec::new());
            }
            all.flows[flow].push(index);
            all.of.push(flow);
        }
        all
    }

    /// The conditions that share a flow with this one, itself among them, in order.
    pub fn containing(&self, index: usize) -> &[usize] {
        self.of.get(index).map_or(&[], |flow| &self.flows[*flow])
    }

    /// The flows that conditions share, by the first of each.
    pub fn shared(&self) -> impl Iterator<Item = &[usize]> {
        self.flows.iter().map(Vec::as_slice).filter(|flow| flow.len() > 1)
    }
}

impl Condition {
    /// As text: conditions with equal text can share a flow. `None` for a search for a rate.
    pub(crate) fn flow_key(&self) -> Option<String> {
        let [transmitter, receiver] = [&self.transmitter, &self.receiver];
        let kept = (
            self.workload.fixed_in_flow(),
            (self.family, self.mtu, &self.underlay, &self.boot),
            (&transmitter.device, transmitter.tuning.fixed_in_flow()),
            (&receiver.device, receiver.tuning.fixed_in_flow()),
        );
        let kept = serde_json::to_string(&kept).ok();
        kept.filter(|_| !self.workload.traffic.find_rate)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rand_chacha::rand_core::SeedableRng;
    use words::MOST_IN_TURNS;

    use super::*;

    fn random(seed: u64) -> ChaCha12Rng {
        ChaCha12Rng::seed_from_u64(seed)
    }

    proptest! {
        #[test]
        fn each_condition_follows_each_equally_often(conditions in 1..=MOST_IN_TURNS, seed in any::<u64>()) {
            let block = block(conditions, &mut random(seed));
            prop_assert_eq!(block.len(), 2 * conditions * conditions + 1);
            prop_assert!(!block[0].counts && block[1..].iter().all(|turn| turn.counts));
            let mut follows = vec![vec![0; conditions]; conditions];
            for pair in block.windows(2) {
                follows[pair[0].state][pair[1].state] += 1;
            }
            prop_assert!(follows.iter().flatten().all(|count| *count == 2), "{:?}", follows);
        }

        #[test]
        fn linear_drift_and_what_a_turn_leaves_cancel(
            conditions in 2..=MOST_IN_TURNS,
            seed in any::<u64>(),
            drift in -10.0..10.0,
            left in prop::collection::vec(-10.0..10.0, MOST_IN_TURNS),
        ) {
            let block = block(conditions, &mut random(seed));
            let mut sums = vec![0.0_f64; conditions];
            for (at, pair) in block.windows(2).enumerate() {
                sums[pair[1].state] += drift * at as f64 + left[pair[0].state];
            }
            prop_assert!(sums.iter().all(|sum| (sum - sums[0]).abs() < 1e-6), "{:?}", sums);
        }
    }

    #[test]
    fn two_conditions_begin_with_either_and_change_at_random() {
        let starts: Vec<Vec<usize>> = (0..100)
            .map(|seed| block(2, &mut random(seed)).iter().map(|turn| turn.state).collect())
            .collect();
        assert!(starts.contains(&vec![0, 0, 1, 1, 0, 0, 1, 1, 0]));
        assert!(starts.contains(&vec![1, 1, 0, 0, 1, 1, 0, 0, 1]));
        let orders: std::collections::BTreeSet<Vec<usize>> =
            (0..100).map(|seed| walk(4, &mut random(seed))).collect();
        assert!(orders.len() > 90, "{}", orders.len());
    }

    #[test]
    fn a_flow_has_as_many_blocks_as_its_window_needs() {
        let alternate = Alternate::with_turn(Duration::from_millis(100), None);
        assert_eq!(alternate.counted(), Duration::from_millis(80));
        let blocks = |window| blocks(2, alternate, Duration::from_millis(window));
        assert_eq!([1, 320, 321, 1000].map(blocks), [1, 1, 2, 4]);
        assert_eq!(length(2, alternate, Duration::from_millis(1000)), 36);
    }
}
