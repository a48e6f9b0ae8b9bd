//! The recommendation of one switch for one goal.

use crate::{
    ChangeOutcome, EffectMethod, FactorLevel, MetricChange, SwitchContext, SwitchEffect, SwitchEffects,
    grouped,
};
use serde::Serialize;
use stats::planning::Pilot;
use study::Side;
use study::metric::Metric;

use crate::advice::advise::AdviceRequest;
use crate::advice::command::HostCommand;
use crate::advice::goal::{AdviceGoal, side};
use crate::advice::judge::{Standing, judge, levels, winner};

// The chance that a difference is then proven, if it exists.
const POWER: f64 = 0.8;
// The search for a number of boots ends here.
const BOOTS: u32 = 10_000;
// The boots that a study without a spread between boots needs to have one.
const FIRST: u32 = 3;

/// The recommendation of one switch for one goal, or the reason why there is none.
#[derive(Debug, Clone, Serialize)]
#[expect(missing_docs, reason = "the names of its fields say it")]
pub struct Recommendation {
    /// The factors of the study that are switched together: `transmitter.tso`.
    pub factors: Vec<String>,
    /// The host on which it is set; `None`: both.
    pub side: Option<Side>,
    /// The level to set, or, where none is recommended, the one that figures are about.
    pub to: String,
    pub from: String,
    pub standing: Standing,
    /// The way in which the change of the goal was found.
    pub how: EffectMethod,
    /// The change of the goal's metric, or of both sides' metrics.
    pub expected: Vec<MetricChange>,
    /// The change with all else as this advice leaves it; `None` if unproven or as `expected`.
    pub as_left: Option<AsLeft>,
    /// Switches at whose other level this one is not proven to serve the goal.
    pub depends_on: Vec<DependsOn>,
    pub elsewhere: Vec<MetricChange>,
    /// The commands that set it; empty if nothing is recommended.
    pub apply: Vec<HostCommand>,
    /// The commands that set it back to `from`.
    pub undo: Vec<HostCommand>,
    /// A study that would settle an open question; `None` if none is open or boots would not.
    pub more: Option<SettlingStudy>,
}

/// A change with all other switches as advice leaves them: on, but for those that it sets off.
#[derive(Debug, Clone, Serialize)]
pub struct AsLeft {
    /// The other factors that the advice sets off.
    pub off: Vec<String>,
    /// The change of the goal's metric, or of both sides'; empty where this state was not measured.
    pub changes: Vec<MetricChange>,
}

/// A switch on which the effect of another one depends: its changes at both levels of this one are
/// proven to differ, and one of them is not proven to serve the goal.
#[derive(Debug, Clone, Serialize)]
#[expect(missing_docs, reason = "the names of its fields say it")]
pub struct DependsOn {
    pub factor: String,
    /// The level at which the advice leaves it.
    pub left: String,
    pub other: String,
    /// The changes with it at `left`, each the mean over the states of all remaining switches.
    pub with_left: Vec<MetricChange>,
    pub with_other: Vec<MetricChange>,
}

/// A larger study that would settle an open question.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SettlingStudy {
    /// Boots of each state of the testbed, those measured included.
    pub boots: u32,
    /// The duration of these boots, in seconds, with the factors of `set` held at one level.
    pub seconds: f64,
    /// The levels at which factors are held; empty for the whole study.
    pub set: Vec<FactorLevel>,
    /// The difference that they prove with 80 % power, in % of the base; `None` if unknown.
    pub detects: Option<f64>,
}

impl Recommendation {
    pub(crate) fn for_context(
        context: &SwitchContext,
        goal: AdviceGoal,
        study: &SwitchEffects,
        request: &AdviceRequest,
    ) -> Vec<Self> {
        let switches = grouped(context.effects.iter().map(|effect| (&effect.factors, effect.clone())));
        let for_switch =
            |(_, effects): (_, Vec<_>)| Self::for_switch(&effects, context, goal, study, request);
        let mut all: Vec<Self> = switches.into_iter().map(for_switch).collect();
        Self::sort(&mut all);
        all
    }

    pub(crate) fn sort(all: &mut [Self]) {
        let is_open = |one: &Self| !one.standing.is_proven();
        all.sort_by(|one, other| is_open(one).cmp(&is_open(other)).then(other.size().total_cmp(&one.size())));
    }

    fn for_switch(
        effects: &[SwitchEffect],
        context: &SwitchContext,
        goal: AdviceGoal,
        study: &SwitchEffects,
        request: &AdviceRequest,
    ) -> Self {
        let metrics = goal.metrics(context.kind, study.exact, &effects[0]);
        let matters = request.matters.value();
        let (mut standing, ends) = if levels(effects).len() > 2 {
            among(effects, &metrics, matters)
        } else {
            judge(effects.to_vec(), &metrics, matters)
        };
        if let (Standing::Unknown { why }, Some(missing)) =
            (&mut standing, goal.missing(context.kind, study.exact))
        {
            *why = missing.to_owned();
        }
        // Where only a later way proves it, that one is what is expected.
        let proves =
            |effect: &&SwitchEffect| effect.changes_of(&metrics).any(|one| one.is_better() == Some(true));
        let main = ends.iter().find(proves).unwrap_or(&ends[0]);
        let [apply, undo] = if standing.is_proven() {
            [HostCommand::for_effect(main), HostCommand::for_effect(&main.reversed())]
        } else {
            [Vec::new(), Vec::new()]
        };
        let (expected, elsewhere): (Vec<MetricChange>, Vec<MetricChange>) =
            main.changes.iter().cloned().partition(|change| metrics.contains(&change.metric));
        let more = |change: &MetricChange| settling_study(change, context, study, matters);
        let is_open = matches!(standing, Standing::NoEvidence | Standing::Unknown { .. });
        let more = expected.iter().filter(|_| is_open).filter_map(more);
        Self {
            side: side(&main.factors),
            factors: main.factors.clone(),
            from: main.from.clone(),
            to: main.to.clone(),
            how: main.how,
            as_left: None,
            depends_on: Vec::new(),
            elsewhere,
            more: more.max_by_key(|more| more.boots),
            expected,
            standing,
            apply,
            undo,
        }
    }

    /// In % of the base, or of the mean of all runs where the base is not known well enough.
    pub(crate) fn size(&self) -> f64 {
        // Of both sides' metrics the larger change counts.
        let size =
            |change: &MetricChange| change.there.relative.unwrap_or(100.0 * change.there.value / change.mean);
        self.expected.iter().map(|change| size(change).abs()).fold(0.0, f64::max)
    }
}

fn among(effects: &[SwitchEffect], metrics: &[Metric], matters: f64) -> (Standing, Vec<SwitchEffect>) {
    let size = |effect: &SwitchEffect| {
        let changes = effect.changes_of(metrics).filter_map(|change| change.there.relative);
        changes.map(f64::abs).fold(0.0, f64::max)
    };
    let by_size = |one: &SwitchEffect, other: &SwitchEffect| size(one).total_cmp(&size(other));
    if let Some(level) = winner(effects, metrics) {
        let own = effects.iter().filter(|one| one.from == level || one.to == level);
        let to_it = own.map(|one| if one.to == level { one.clone() } else { one.reversed() });
        // The least gain is what the winner is sure of.
        if let Some(nearest) = to_it.min_by(by_size) {
            return judge(vec![nearest], metrics, matters);
        }
    }
    // Without a winner, the figures are those of the pair that is furthest apart.
    let widest = effects.iter().max_by(|one, other| by_size(one, other)).cloned();
    let each: Vec<Standing> =
        effects.iter().map(|one| judge(vec![one.clone()], metrics, matters).0).collect();
    let standing = match each.iter().find(|one| !one.is_proven() && **one != Standing::Tie) {
        Some(open) => open.clone(),
        None if each.contains(&Standing::Tie) => Standing::Tie,
        None => Standing::Depends,
    };
    (standing, widest.into_iter().collect())
}

/// `None` where more boots would not settle it: saturated rates, counts that do not repeat, boots
/// that were enough already, proven changes.
fn settling_study(
    change: &MetricChange,
    context: &SwitchContext,
    study: &SwitchEffects,
    matters: f64,
) -> Option<SettlingStudy> {
    let boots = context.boots;
    match &change.outcome {
        // Of the whole study nothing is known yet.
        ChangeOutcome::Unknown(_) if boots < 2 => Some(SettlingStudy {
            boots: FIRST,
            seconds: study.seconds_per_boot * f64::from(FIRST),
            set: Vec::new(),
            detects: None,
        }),
        ChangeOutcome::NotProven => {
            let pilot = Pilot { boots, standard_error: change.standard_error?, df: change.df };
            let needed = pilot.boots_needed(matters / 100.0 * base(change), study.level, POWER, BOOTS)?;
            (needed > boots).then(|| SettlingStudy {
                boots: needed,
                seconds: context.seconds_per_boot * f64::from(needed),
                set: context.narrowed.clone(),
                detects: Some(matters),
            })
        }
        _ => None,
    }
}

/// In the metric's unit.
fn base(change: &MetricChange) -> f64 {
    // The mean of all runs stands for a base that is not known well enough for a percentage.
    let relative = change.there.relative.filter(|relative| *relative != 0.0);
    relative.map_or(change.mean, |relative| 100.0 * change.there.value / relative).abs()
}
