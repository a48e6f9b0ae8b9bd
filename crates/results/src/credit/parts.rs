//! The credit of each offload of a combination, by the kind of the design.

use serde::Serialize;
use stats::effects::{Effect, EffectsError, Estimated, REMARK, factorial, ladder, shapley};
use study::DesignKind;

use super::Credit;
use super::measured::MeasuredCombination;

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
    #[serde(skip)]
    pub(super) switched: Vec<String>,
    /// The reverse change, in % of its base, and the positions; `None` for an average over states.
    #[serde(skip)]
    pub(super) step: Option<(Estimated, [usize; 2])>,
}

/// All on against all off.
#[derive(Debug, Serialize)]
pub struct CombinedGain {
    /// On minus off; percentages are of off.
    pub gain: Estimated,
    /// Off minus on; percentages are of on.
    pub loss: Estimated,
    /// The positions of all off and all on.
    #[serde(skip)]
    pub(super) ends: [usize; 2],
}

/// Orders of switching on.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct SwitchingOrders {
    /// The orders with measured states only: the shares are averaged over them.
    pub used: u64,
    /// The orders with planned states only; the others need states that were not measured.
    pub planned: u64,
    /// All orders.
    pub all: u64,
}

impl SwitchingOrders {
    /// If fewer are measured than planned: `7 of 24 orders`.
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

impl CombinedGain {
    pub(super) fn from_measured(measured: &MeasuredCombination) -> Option<Self> {
        let ends = [measured.combination.place(|_| false)?, measured.combination.place(|_| true)?];
        let [gain, loss] = measured.between(ends[0], ends[1]).ok()?;
        Some(Self { gain, loss, ends })
    }
}

impl CreditPart {
    fn average(factor: &str, base: &'static str, change: Estimated) -> Self {
        Self { name: factor.to_owned(), base, change, switched: vec![factor.to_owned()], step: None }
    }
}

impl DesignEffect {
    fn from_effects(measured: &MeasuredCombination, found: &[Effect]) -> Vec<Self> {
        let factors = &measured.combination.design.factors;
        let view = |effect: &Effect| {
            let names: Vec<&str> = effect.factors.iter().map(|factor| factors[*factor].as_str()).collect();
            Self { name: names.join(" x "), factors: effect.factors.clone(), effect: effect.effect }
        };
        found.iter().map(view).collect()
    }
}

impl Credit {
    pub(super) fn divide(&mut self, measured: &MeasuredCombination) {
        let kind = measured.combination.design.kind;
        let found = match kind {
            DesignKind::Factorial => self.shares(measured),
            DesignKind::Fractional => self.main_effects(measured),
            DesignKind::Ladder => self.steps(measured),
        };
        if let Err(why) = found {
            self.remarks.push(format!("no credit by {kind}: {why}"));
        }
    }

    fn shares(&mut self, measured: &MeasuredCombination) -> Result<(), EffectsError> {
        let MeasuredCombination { combination, runs, .. } = measured;
        // Effects need no order of switching on, so they may be known where shares are not.
        match factorial(runs, &combination.layout(), ORDER, self.level) {
            Ok(found) => self.effects = DesignEffect::from_effects(measured, &found),
            Err(why) => self.remarks.push(format!("no main effects: {why}")),
        }
        if self.whole.is_none() && combination.plans_the_whole() {
            // Reported with the whole.
            return Ok(());
        }
        let shares = shapley(runs, &combination.layout(), self.level)?;
        let names = &combination.design.factors;
        let part = |(name, share): (&String, &Estimated)| CreditPart::average(name, "off", *share);
        self.parts = names.iter().zip(&shares.shares).map(part).collect();
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

    fn main_effects(&mut self, measured: &MeasuredCombination) -> Result<(), EffectsError> {
        let design = &measured.combination.design;
        let found = factorial(&measured.runs, &measured.combination.layout(), ORDER, self.level)?;
        self.effects = DesignEffect::from_effects(measured, &found);
        let main = self.effects.iter().filter(|effect| effect.factors.len() == 1);
        let part =
            |main: &DesignEffect| CreditPart::average(&main.name, "the mean of all states", main.effect);
        self.parts = main.map(part).collect();
        self.remarks.push(
            "main effects: the mean with an offload on less that with it off, over the measured fraction of the states; interactions are taken as zero"
                .to_owned(),
        );
        self.remarks.extend(design.aliases());
        Ok(())
    }

    fn steps(&mut self, measured: &MeasuredCombination) -> Result<(), EffectsError> {
        let MeasuredCombination { combination, runs, .. } = measured;
        let is_measured = |place: &usize| runs.iter().any(|run| run.condition == *place);
        // The gain of a rung that was not measured is in the step over it.
        let rungs: Vec<usize> = (0..=combination.design.factors.len())
            .filter_map(|gone| combination.place(|factor| factor >= gone))
            .filter(is_measured)
            .collect();
        for step in ladder(runs, &rungs, self.level)?.steps {
            let before = combination.names(step.from, false);
            let mut gone = combination.names(step.to, false);
            gone.retain(|name| !before.contains(name));
            let [change, back] = measured.between(step.from, step.to)?;
            self.parts.push(CreditPart {
                name: format!("{} off", gone.join(" and ")),
                base: "the step before",
                change,
                switched: gone.into_iter().map(str::to_owned).collect(),
                step: Some((back, [step.from, step.to])),
            });
        }
        self.adds_up = true;
        self.remarks.push(REMARK.to_owned());
        Ok(())
    }
}
