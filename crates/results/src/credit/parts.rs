//! The credit of each offload of a combination, by the kind of the design.

use serde::Serialize;
use stats::Observation;
use stats::effects::{Effect, EffectsError, Estimated, Ladder, REMARK, factorial, ladder, shapley};
use study::DesignKind;

use super::Credit;
use super::combination::Combination;

// The most factors of an estimated interaction: larger ones are hard to read and to separate.
const ORDER: usize = 2;

/// The credit of one offload, or one step.
#[derive(Debug, Serialize)]
pub struct CreditPart {
    /// `tso`, `tso off`.
    pub name: String,
    /// The base of the percentage: `off`, `the step before`, `the mean of all states`.
    pub base: &'static str,
    /// The change with its interval.
    #[serde(flatten)]
    pub change: Estimated,
    /// The factors that are switched.
    #[serde(skip)]
    pub switched: Vec<String>,
    /// The reverse change, in % of the other end; `None` for an average over several states.
    #[serde(skip)]
    pub back: Option<Estimated>,
    /// The conditions at both ends, by their index in the plan: what is changed from, what to.
    /// `None` for an average over several.
    #[serde(skip)]
    pub ends: Option<[usize; 2]>,
}

/// All on against all off.
#[derive(Debug, Serialize)]
pub struct CombinedGain {
    /// On minus off; percentages are of off.
    pub gain: Estimated,
    /// Off minus on; percentages are of on.
    pub loss: Estimated,
    /// The conditions by their index in the plan: off, on.
    #[serde(skip)]
    pub ends: [usize; 2],
}

/// Orders of switching on.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct SwitchingOrders {
    /// The orders with measured states only: the shares are averaged over them.
    pub used: u64,
    /// The orders with planned states only. The others need states that are unreachable or were not
    /// requested.
    pub planned: u64,
    /// All orders.
    pub all: u64,
}

impl SwitchingOrders {
    /// If fewer are measured than planned: `7 of 24 orders`.
    #[must_use]
    pub fn lacking(&self) -> Option<String> {
        let of = if self.planned == self.all {
            format!("{} orders", self.all)
        } else {
            format!("the {} orders (of {}) that can be reached", self.planned, self.all)
        };
        (self.used < self.planned).then(|| format!("{} of {of}", self.used))
    }
}

/// A main effect, or an interaction of several factors.
#[derive(Debug, Serialize)]
pub struct DesignEffect {
    /// `tso`, `tso x gro`.
    pub name: String,
    /// The factors, by their place in the design.
    #[serde(skip)]
    pub factors: Vec<usize>,
    /// Percentages are of the mean of all states.
    #[serde(flatten)]
    pub effect: Estimated,
}

impl Credit {
    /// Divides the credit among offloads or steps, as the kind of the design allows.
    pub(super) fn divide(&mut self, combination: &Combination, runs: &[Observation]) {
        let found = match combination.design.kind {
            DesignKind::Factorial => self.shares(combination, runs),
            DesignKind::Fractional => self.main_effects(combination, runs),
            DesignKind::Ladder => self.steps(combination, runs),
        };
        if let Err(why) = found {
            self.remarks.push(format!("no credit by {}: {why}", combination.design.kind));
        }
        self.remarks.extend(self.remark_on_fewer(combination.design.kind));
    }

    fn shares(&mut self, combination: &Combination, runs: &[Observation]) -> Result<(), EffectsError> {
        // Effects need no order of switching on, so they may be known where shares are not.
        match factorial(runs, &combination.layout(), ORDER, self.level) {
            Ok(found) => self.effects = effects(combination, &found),
            Err(why) => self.remarks.push(format!("no main effects: {why}")),
        }
        if self.whole.is_none() && combination.plans_the_whole() {
            // Reported with the whole.
            return Ok(());
        }
        let shares = shapley(runs, &combination.layout(), self.level)?;
        self.parts = shares
            .shares
            .iter()
            .map(|share| CreditPart {
                name: combination.design.factors[share.factor].clone(),
                base: "off",
                change: share.share,
                switched: vec![combination.design.factors[share.factor].clone()],
                back: None,
                ends: None,
            })
            .collect();
        self.adds_up = true;
        let orders =
            SwitchingOrders { used: shares.orders, planned: shares.planned_orders, all: shares.all_orders };
        let over = match orders.lacking() {
            Some(orders) => format!("{orders}, those through measured states"),
            None if orders.used == orders.all => format!("all {} orders", orders.all),
            None => format!("the {} of {} orders whose every step can be reached", orders.used, orders.all),
        };
        self.remarks.push(format!(
            "Shapley shares: what switching an offload on brings, averaged over {over}; they add up to the whole"
        ));
        self.orders = Some(orders);
        Ok(())
    }

    fn main_effects(&mut self, combination: &Combination, runs: &[Observation]) -> Result<(), EffectsError> {
        let found = factorial(runs, &combination.layout(), ORDER, self.level)?;
        self.parts = found
            .iter()
            .filter(|effect| effect.factors.len() == 1)
            .map(|effect| CreditPart {
                name: name(combination, effect),
                base: "the mean of all states",
                change: effect.effect,
                switched: effect.factors.iter().map(|one| combination.design.factors[*one].clone()).collect(),
                back: None,
                ends: None,
            })
            .collect();
        self.effects = effects(combination, &found);
        self.remarks.push(
            "main effects: the mean with an offload on less that with it off, over the measured fraction of the states; interactions are taken as zero"
                .to_owned(),
        );
        self.remarks.extend(combination.design.aliases());
        Ok(())
    }

    fn steps(&mut self, combination: &Combination, runs: &[Observation]) -> Result<(), EffectsError> {
        let measured = |place: &usize| runs.iter().any(|run| run.condition == *place);
        let rungs: Vec<usize> = (0..=combination.design.factors.len())
            .filter_map(|gone| combination.place(|factor| factor >= gone))
            .filter(measured)
            .collect();
        let Ladder { steps, .. } = ladder(runs, &rungs, self.level)?;
        for step in &steps {
            let before = combination.names(step.from, false);
            let mut gone = combination.names(step.to, false);
            gone.retain(|name| !before.contains(name));
            let back = ladder(runs, &[step.to, step.from], self.level)?.total;
            self.parts.push(CreditPart {
                name: format!("{} off", gone.join(" and ")),
                base: "the step before",
                change: step.change.of_non_negative(),
                switched: gone.into_iter().map(str::to_owned).collect(),
                back: Some(back.of_non_negative()),
                ends: Some([step.from, step.to].map(|place| combination.conditions[place])),
            });
        }
        self.adds_up = true;
        self.remarks.push(REMARK.to_owned());
        Ok(())
    }

    /// A note on parts that rest on fewer states than planned; shares report their orders instead.
    fn remark_on_fewer(&self, kind: DesignKind) -> Option<String> {
        let planned = self.planned_states;
        let measured = planned - self.missing.len();
        match kind {
            _ if self.missing.is_empty() => None,
            DesignKind::Factorial | DesignKind::Fractional => Some(format!(
                "main effects and interactions are estimated from {measured} of {planned} states, by least squares"
            )),
            DesignKind::Ladder => Some(
                "a step over a state that was not measured contains all that is switched off between its neighbours"
                    .to_owned(),
            ),
        }
    }
}

/// All on against all off, if both were measured.
pub(super) fn combined_gain(
    combination: &Combination,
    runs: &[Observation],
    level: f64,
) -> Option<CombinedGain> {
    let (off, on) = (combination.place(|_| false)?, combination.place(|_| true)?);
    let Ladder { total, back, .. } = ladder(runs, &[off, on], level).ok()?;
    Some(CombinedGain {
        gain: total.of_non_negative(),
        loss: back.of_non_negative(),
        ends: [off, on].map(|place| combination.conditions[place]),
    })
}

fn effects(combination: &Combination, found: &[Effect]) -> Vec<DesignEffect> {
    let view = |effect: &Effect| DesignEffect {
        name: name(combination, effect),
        factors: effect.factors.clone(),
        effect: effect.effect,
    };
    found.iter().map(view).collect()
}

fn name(combination: &Combination, effect: &Effect) -> String {
    let names: Vec<&str> =
        effect.factors.iter().map(|factor| combination.design.factors[*factor].as_str()).collect();
    names.join(" x ")
}
