//! Which conditions can share a flow.

use std::collections::HashMap;

use words::MOST_IN_TURNS;

use crate::plan::Plan;
use crate::plan::condition::Condition;

/// The conditions of a plan, or of its draft, by the flow that they can share: each is in one.
#[derive(Debug, Clone)]
pub struct Flows {
    /// The flow of each condition.
    of: Vec<usize>,
    flows: Vec<Vec<usize>>,
}

impl Flows {
    pub(crate) fn among(conditions: &[Condition]) -> Self {
        let mut known: HashMap<String, usize> = HashMap::new();
        let mut all = Self { of: Vec::with_capacity(conditions.len()), flows: Vec::new() };
        for (index, condition) in conditions.iter().enumerate() {
            let new = all.flows.len();
            let flow = condition.of_flow().map_or(new, |kept| *known.entry(kept).or_insert(new));
            if flow == new {
                all.flows.push(Vec::new());
            }
            all.flows[flow].push(index);
            all.of.push(flow);
        }
        all
    }

    /// Each condition in one of its own.
    fn separate(conditions: usize) -> Self {
        Self { of: (0..conditions).collect(), flows: (0..conditions).map(|index| vec![index]).collect() }
    }

    /// The conditions that share a flow with this one, itself among them, in order; none of a
    /// condition that is not in the plan.
    #[must_use]
    pub fn containing(&self, index: usize) -> &[usize] {
        self.of.get(index).map_or(&[], |flow| &self.flows[*flow])
    }

    /// The flows that conditions share, by the first of each.
    pub fn shared(&self) -> impl Iterator<Item = &[usize]> {
        self.flows.iter().map(Vec::as_slice).filter(|flow| flow.len() > 1)
    }
}

impl Plan {
    /// The conditions by flow: conditions that differ only in keys that can be switched while
    /// traffic flows share one, if any take turns and they are not too many.
    #[must_use]
    pub fn flows(&self) -> Flows {
        if self.asked.protocol.alternate.is_none() {
            return Flows::separate(self.conditions.len());
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

impl Condition {
    /// Its settings that cannot change while a flow lasts, as text: conditions with equal text can
    /// take turns in one flow. `None` for a search for a rate, which is several flows.
    pub(crate) fn of_flow(&self) -> Option<String> {
        let [transmitter, receiver] = [&self.transmitter, &self.receiver];
        let kept = (
            self.workload.of_flow(),
            (self.family, self.mtu, &self.underlay, &self.boot),
            (&transmitter.device, transmitter.tuning.of_flow()),
            (&receiver.device, receiver.tuning.of_flow()),
        );
        let kept = serde_json::to_string(&kept).ok();
        kept.filter(|_| !self.workload.traffic.find_rate)
    }
}
