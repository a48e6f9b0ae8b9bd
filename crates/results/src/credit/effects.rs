//! The credit of a design as effects of its switches, in every metric of advice.

use stats::effects::{Estimated, Ladder, ladder};
use store::StoredStudy;
use study::DesignKind;
use study::metric::Metric;

use super::Credit;
use super::combination::Combination;
use super::parts::CreditPart;
use crate::data::limits;
use crate::switches::switch_effect::{
    ChangeEstimate, ChangeOutcome, EffectMethod, MetricChange, SwitchContext, SwitchEffect, metrics,
};

/// The effects of each combination of the levels of the other factors.
pub(crate) fn contexts(stored: &StoredStudy, level: f64) -> Vec<SwitchContext> {
    Combination::from_plan(&stored.plan).iter().map(|one| context(stored, one, level)).collect()
}

fn context(stored: &StoredStudy, combination: &Combination, level: f64) -> SwitchContext {
    let mut effects: Vec<SwitchEffect> = Vec::new();
    for metric in metrics(combination.kind, stored.plan.exact) {
        let Some(credit) = Credit::for_combination(stored, combination, metric, level) else { continue };
        let mut found: Vec<(Vec<String>, EffectMethod, MetricChange)> = Vec::new();
        for part in &credit.parts {
            let how = how(combination.design.kind);
            found.push((part.switched.clone(), how, credit.change(stored, combination, part, metric)));
        }
        if combination.design.kind == DesignKind::Factorial {
            for (place, factor) in combination.design.factors.iter().enumerate() {
                let change = credit.change_in_state(stored, combination, &[place], |_| true, metric);
                found.extend(change.map(|change| (vec![factor.clone()], EffectMethod::OthersOn, change)));
            }
        }
        for (factors, how, change) in found {
            match effects.iter_mut().find(|one| (&one.factors, one.how) == (&factors, how)) {
                Some(known) => known.changes.push(change),
                None => effects.push(SwitchEffect {
                    factors,
                    from: "off".to_owned(),
                    to: "on".to_owned(),
                    how,
                    features: Vec::new(),
                    changes: vec![change],
                }),
            }
        }
    }
    let condition = &stored.plan.conditions[combination.conditions[0]];
    let is_other = |name: &str| !["workload", "scenario"].contains(&name) && !combination.has_factor(name);
    let at = condition.levels.iter().filter(|(name, _)| is_other(name)).cloned().collect();
    SwitchContext::new(stored, &combination.conditions, at, effects)
}

fn how(kind: DesignKind) -> EffectMethod {
    match kind {
        DesignKind::Factorial => EffectMethod::Share,
        DesignKind::Fractional => EffectMethod::MainEffect,
        DesignKind::Ladder => EffectMethod::Step,
    }
}

// The base of a share's percentages.
const ALL_OFF: &str = "all off";

impl Credit {
    /// A part as the change of switching its factors on.
    fn change(
        &self,
        stored: &StoredStudy,
        combination: &Combination,
        part: &CreditPart,
        metric: Metric,
    ) -> MetricChange {
        let (there, back) = match &part.back {
            None => {
                let base = if part.base == "off" { ALL_OFF } else { part.base };
                let there = ChangeEstimate::from_estimated(&part.change, base);
                let back = there.negated();
                (there, back)
            }
            Some(back) => {
                let [one, other] =
                    part.ends.unwrap_or_default().map(|condition| combination.words_of(condition));
                // A step of a ladder switches off.
                (
                    ChangeEstimate::from_estimated(back, &other),
                    ChangeEstimate::from_estimated(&part.change, &one),
                )
            }
        };
        let saturated = match part.ends {
            Some([one, other]) => limits::set_from_outside(stored, metric, one, other),
            // A share is of the whole.
            None => self.saturated,
        };
        self.judged(&part.change, there, back, saturated, metric)
    }

    /// The change of some factors with the others on or off as `is_on` says; `None` if one of both
    /// states was not measured.
    pub(super) fn change_in_state(
        &self,
        stored: &StoredStudy,
        combination: &Combination,
        factors: &[usize],
        is_on: impl Fn(usize) -> bool,
        metric: Metric,
    ) -> Option<MetricChange> {
        let off = combination.place(|one| !factors.contains(&one) && is_on(one))?;
        let on = combination.place(|one| factors.contains(&one) || is_on(one))?;
        let runs = combination.observations(stored, metric);
        let Ladder { total, back, .. } = ladder(&runs, &[off, on], self.level).ok()?;
        let (there, back) = (total.of_non_negative(), back.of_non_negative());
        let [before, after] = [off, on].map(|place| combination.base(place));
        let [one, other] = [off, on].map(|place| combination.conditions[place]);
        let saturated = limits::set_from_outside(stored, metric, one, other);
        let ends =
            (ChangeEstimate::from_estimated(&there, &before), ChangeEstimate::from_estimated(&back, &after));
        Some(self.judged(&there, ends.0, ends.1, saturated, metric))
    }

    pub(super) fn judged(
        &self,
        change: &Estimated,
        there: ChangeEstimate,
        back: ChangeEstimate,
        saturated: Option<&'static str>,
        metric: Metric,
    ) -> MetricChange {
        let outcome = match saturated {
            Some(limit) => ChangeOutcome::Saturated(limit.to_owned()),
            None if !self.unlike.is_empty() => {
                ChangeOutcome::Unknown("its counts do not repeat from boot to boot".to_owned())
            }
            None if self.is_proven(change) => ChangeOutcome::Proven,
            None if change.interval.is_none() && !self.exact => {
                ChangeOutcome::Unknown("an interval needs two boots or more".to_owned())
            }
            None => ChangeOutcome::NotProven,
        };
        // What was set from outside proves nothing, so it takes no share of the error rate.
        let p = change.p.filter(|_| !self.exact && saturated.is_none());
        let (standard_error, df, mean) = (change.standard_error, change.df, self.mean);
        MetricChange { metric, there, back, outcome, mean, standard_error, df, p }
    }
}
