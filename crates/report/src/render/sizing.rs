//! The boots and runs that a study needs to show a difference, and how long they take.

use std::collections::BTreeSet;
use std::time::Duration;

use serde::Serialize;
use stats::planning::{Choice, Cost, Family, Goal, Noise, Plan, expected_boots};
use stats::{Analysis, Component, Components, Design, Question};
use store::{StoredRun, StoredStudy};
use study::{Percent, Protocol, Study};

use crate::data::error::Error;
use crate::data::looks::schedule;
use crate::data::metric::known;
use crate::data::target::{Target, own_targets};
use crate::data::turns::turns;
use crate::words::layout::Layout;
use crate::words::number::{counted, duration, instant, percent};
use crate::words::table::Table;

/// The most boots and runs that are tried.
const BOOTS: u32 = 1_000;
const RUNS: u32 = 1_000;

/// The confidence of a pilot's upper limit of a spread.
const ASSURANCE: f64 = 0.8;

/// The aim of a study.
#[derive(Debug, Clone)]
pub struct SizingRequest {
    /// The difference, in % of the baseline.
    pub detect: Percent,
    /// The chance that it is then proven, between 0 and 1.
    pub power: f64,
    /// The confidence of the intervals, between 0 and 1.
    pub confidence: f64,
    /// The metric's name; `None`: the study's first.
    pub metric: Option<String>,
}

/// Standard deviations in % of the mean, and their source.
#[derive(Debug, Clone, Serialize)]
pub struct Spread {
    /// Of the effects of a boot on one condition alone; where conditions of several states of the
    /// testbed are compared, of all effects of a boot.
    pub interaction: f64,
    /// Its upper limit, with 80 % confidence; `None` if it is not estimated.
    pub interaction_at_most: Option<f64>,
    /// Between runs of a condition in a boot.
    pub runs: f64,
    /// The number of boots of the estimate; `None` if the figures are stated.
    pub boots: Option<u32>,
    /// Their source.
    pub source: String,
}

/// The size of a study.
#[derive(Debug, Serialize)]
pub struct Sizing {
    study: String,
    metric: &'static str,
    baseline: String,
    conditions: usize,
    /// How many states of the testbed they need; each has its own boots.
    states: usize,
    detect: Percent,
    power: f64,
    confidence: f64,
    spread: Spread,
    /// The cheapest size; `None` if 1,000 boots of 1,000 runs are not enough.
    cheapest: Option<Size>,
    /// The cheapest size for the upper limit of the boots' spread: with 80 % confidence it has the
    /// power.
    assured: Option<Size>,
    /// Sizes near the cheapest.
    alternatives: Vec<Size>,
    /// The study of the file, and the difference in % that it detects.
    as_written: Size,
    as_written_detects: Option<f64>,
    /// For a study that may stop: the expected boots without a difference, and with it.
    expected_boots: Option<(f64, f64)>,
}

/// One size and its power.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct Size {
    boots: u32,
    runs: u32,
    /// How long it takes, in seconds.
    seconds: f64,
    /// The chance that the difference is proven.
    power: f64,
}

impl From<Choice> for Size {
    fn from(choice: Choice) -> Size {
        Size { boots: choice.boots, runs: choice.runs, seconds: choice.cost, power: choice.power }
    }
}

impl Spread {
    /// The spread of a stored study in the metric of `study`, if it measured the same kind of
    /// traffic with that metric in the same scenario over two boots or more.
    ///
    /// # Errors
    /// As [`Sizing::new`], and what the statistics refuse.
    pub fn of(stored: &StoredStudy, study: &Study, metric: Option<&str>) -> Result<Option<Spread>, Error> {
        let target = target(study, metric)?;
        let what = |condition: &study::Condition| (condition.workload.traffic.kind, condition.boot.scenario);
        let planned = what(&study.plan().conditions[target.baseline]);
        let alike =
            |condition: usize| stored.plan.conditions.get(condition).is_some_and(|one| what(one) == planned);
        // Where it measured in turns and in runs of their own: as the study to be planned does.
        let takes_turns = study.protocol().alternate.is_some();
        let is_so =
            |run: &&StoredRun| !stored.plan.asked.protocol.apart || turns(run).is_some() == takes_turns;
        let observations: Vec<stats::Observation> = stored
            .measurements()
            .filter(is_so)
            .filter(|run| alike(run.condition))
            .filter_map(|run| {
                let value = *run.metrics.get(target.metric.key)?;
                Some(stats::Observation { condition: run.condition, boot: run.boot, value })
            })
            .collect();
        let Some(baseline) = observations.first().map(|run| run.condition) else { return Ok(None) };
        // The upper end of a 60 % interval is a limit with 80 % confidence.
        let question = Question { level: 2.0 * ASSURANCE - 1.0, ..Question::against(baseline) };
        let analysis = stats::analyse(&observations, &question)?;
        Ok(Self::from(stored, &stored.plan, baseline, &analysis, states_of(&study.plan(), &target) > 1))
    }

    /// From the runs of `stored`; `None` if a component is unknown. `is_apart`: the conditions to
    /// be compared have their own boots.
    fn from(
        stored: &StoredStudy,
        plan: &study::Plan,
        baseline: usize,
        analysis: &Analysis,
        is_apart: bool,
    ) -> Option<Spread> {
        let mean = stats::mean(&analysis.conditions.iter().map(|one| one.mean).collect::<Vec<_>>());
        let Components { boots, interaction: Some(interaction), runs: Some(runs) } = analysis.components
        else {
            return None;
        };
        // Differences between states of the testbed are also between boots.
        let boots = boots.filter(|_| is_apart);
        let with_boots = |of: fn(&Component) -> Option<f64>| {
            Some(of(&interaction)?.hypot(boots.as_ref().map_or(Some(0.0), of)?))
        };
        let cell = with_boots(|component| Some(component.sd))?;
        let cell_at_most = with_boots(|component| Some(component.interval?.1));
        let share = |value: f64| 100.0 * value / mean.abs();
        let window = plan.conditions.get(baseline)?.workload.duration;
        let source = format!(
            "study {} ({}, {}, {}, windows of {})",
            stored.row.id.0,
            stored.row.name,
            instant(stored.row.started_unix_ms),
            counted(stored.row.boots as usize, "boot"),
            study::format_duration(window)
        );
        (mean != 0.0).then(|| Spread {
            interaction: share(cell),
            interaction_at_most: cell_at_most.map(share),
            runs: share(runs.sd),
            boots: Some(stored.row.boots),
            source,
        })
    }
}

impl Sizing {
    /// Sizes a study.
    ///
    /// # Errors
    /// [`Error::UnknownMetric`]; [`Error::NothingToSize`] for a study that compares nothing, or not
    /// in that metric.
    pub fn new(study: &Study, spread: Spread, request: &SizingRequest) -> Result<Sizing, Error> {
        let target = target(study, request.metric.as_deref())?;
        let conditions = target.conditions.len() + 1;
        let protocol = study.protocol();
        let early = protocol.stop.map(|stop| schedule(stop, protocol.boots));
        let alpha = 1.0 - request.confidence;
        // Conditions of several states have their own boots; those of one state share them, and
        // count once.
        let states = states_of(&study.plan(), &target);
        let plan = |interaction: f64| Plan {
            design: if states > 1 { Design::Nested } else { Design::Crossed },
            conditions: if states > 1 { states } else { conditions },
            noise: Noise { cell: interaction, run: spread.runs },
            family: Family::Baseline,
            alpha,
            looks: early.map(|early| (early.bounds, early.looks)),
        };
        let goal = Goal {
            delta: request.detect.value(),
            power: request.power,
            boots_at_most: BOOTS,
            runs_at_most: RUNS,
        };
        let cost = cost(study, conditions, states);
        let likely = plan(spread.interaction);
        let cheapest = likely.cheapest(goal, cost);
        let as_written = Size {
            boots: protocol.boots,
            runs: protocol.runs,
            seconds: likely.cost(cost, protocol.boots, protocol.runs),
            power: likely.power(goal.delta, protocol.boots, protocol.runs).unwrap_or(0.0),
        };
        let expected = early.and_then(|early| {
            let error = likely.standard_error(protocol.boots, protocol.runs);
            Some((expected_boots(early, alpha, 0.0)?, expected_boots(early, alpha, goal.delta / error)?))
        });
        Ok(Sizing {
            study: study.name().to_owned(),
            metric: target.metric.key,
            baseline: study.plan().conditions[target.baseline].label.to_string(),
            conditions,
            states,
            detect: request.detect,
            power: request.power,
            confidence: request.confidence,
            cheapest: cheapest.map(Size::from),
            assured: spread
                .interaction_at_most
                .and_then(|most| plan(most).cheapest(goal, cost))
                .map(Size::from),
            alternatives: cheapest
                .map(|choice| likely.around(choice, goal, cost).into_iter().map(Size::from).collect())
                .unwrap_or_default(),
            as_written,
            as_written_detects: likely.detectable(request.power, protocol.boots, protocol.runs),
            expected_boots: expected,
            spread,
        })
    }

    /// The sizing for people, with lines to paste into the study.
    #[must_use]
    pub fn text(&self, layout: Layout) -> String {
        let mut text = format!(
            "{}: to prove a difference of {} in {} ({} against {}) with {:.0} % power\n\
             spread, in % of the mean: {} {}{}, between runs {}; from {}\n\n",
            self.study,
            self.detect,
            self.metric,
            counted(self.conditions - 1, "condition"),
            self.baseline,
            100.0 * self.power,
            if self.states > 1 { "between boots" } else { "condition x boot" },
            percent(self.spread.interaction),
            self.spread.interaction_at_most.map_or(String::new(), |most| {
                format!(" (with {:.0} % confidence at most {})", 100.0 * ASSURANCE, percent(most))
            }),
            percent(self.spread.runs),
            self.spread.source,
        );
        let mut table = Table::new(&["size", "boots", "runs", "time", "power %"]);
        let mut row = |name: &str, size: &Size| {
            let time = duration(Duration::try_from_secs_f64(size.seconds).unwrap_or_default());
            let power = format!("{:.1}", 100.0 * size.power);
            table.row(&[name, &size.boots.to_string(), &size.runs.to_string(), &time, &power]);
        };
        if let Some(size) = &self.cheapest {
            row("cheapest", size);
        }
        for size in self.alternatives.iter().filter(|size| Some(**size) != self.cheapest) {
            row("or", size);
        }
        if let Some(size) = &self.assured {
            row("assured", size);
        }
        row("as the file has it", &self.as_written);
        text.push_str(&table.fit(layout));
        if self.states > 1 {
            text.push_str(&format!("Boots are of each of {} states of the testbed.\n", self.states));
        }
        text.push_str(&self.assurance());
        if let Some(detects) = self.as_written_detects {
            text.push_str(&format!("\nAs the file has it, the study detects {} %.\n", percent(detects)));
        }
        if let Some((none, there)) = self.expected_boots {
            text.push_str(&format!(
                "It may stop early: expect at most {none:.1} of {} boots if nothing differs, {there:.1} if {} does.\n",
                self.as_written.boots, self.detect
            ));
        }
        match &self.cheapest {
            Some(size) => {
                text.push_str(&format!("\n[protocol]\nboots = {}\nruns = {}\n", size.boots, size.runs));
            }
            None => text.push_str(&format!(
                "\nNo size within {BOOTS} boots of {RUNS} runs is enough: state a larger difference, or lengthen the window, which narrows the spread between runs.\n"
            )),
        }
        text
    }
}

impl Sizing {
    /// What a pilot cannot know, and how the assured size allows for it.
    fn assurance(&self) -> String {
        let (Some(boots), Some(most)) = (self.spread.boots, self.spread.interaction_at_most) else {
            return String::new();
        };
        let (boots, most, sure) =
            (counted(boots as usize, "boot"), percent(most), format!("{:.0} %", 100.0 * ASSURANCE));
        let unknown = if self.spread.interaction == 0.0 {
            format!(
                "{boots} showed no difference between boots beyond what runs explain. That does not mean that there is none: with {sure} confidence it is at most {most} %."
            )
        } else {
            format!("{boots} tell little of how boots differ: with {sure} confidence at most by {most} %.")
        };
        let size = match &self.assured {
            Some(_) => format!(
                "The assured size has its power with {sure} confidence; the others have theirs if boots differ as the estimate says."
            ),
            None => format!(
                "No size within {BOOTS} boots of {RUNS} runs is assured of its power: measure a longer pilot."
            ),
        };
        format!("\n{unknown}\n{size}\n")
    }
}

/// What is sized: the study's first comparison, or its first in the given metric.
fn target(study: &Study, metric: Option<&str>) -> Result<Target, Error> {
    let metric = metric.map(known).transpose()?;
    let plan = study.plan();
    let nothing = || Error::NothingToSize { study: study.name().to_owned() };
    let mut target = own_targets(&plan).into_iter().next().ok_or_else(nothing)?;
    if let Some(metric) = metric {
        target.metric = metric;
    }
    let kind = plan.conditions[target.baseline].workload.traffic.kind;
    if kind.produces(target.metric) { Ok(target) } else { Err(nothing()) }
}

/// The number of states of the testbed for the conditions of a comparison.
fn states_of(plan: &study::Plan, target: &Target) -> usize {
    let of_conditions = plan.states_of_conditions();
    let compared = target.conditions.iter().chain([&target.baseline]);
    let states: BTreeSet<usize> = compared.filter_map(|one| of_conditions.get(*one).copied()).collect();
    states.len()
}

/// How long boots and runs of the compared conditions take, in seconds: with several states, a boot
/// of each and its runs.
fn cost(study: &Study, conditions: usize, states: usize) -> Cost {
    let plan = study.plan();
    let time = |boots: u32, runs: u32| {
        let protocol = Protocol { boots, runs, ..study.protocol().clone() };
        study::expected_duration(&plan, &protocol).as_secs_f64()
    };
    // All conditions of the study run in each boot, not only the compared ones.
    let block = time(1, 2) - time(1, 1);
    if states > 1 {
        let all = plan.states().len() as f64;
        return Cost { boot: (time(1, 1) - block) / all, run: block / all };
    }
    Cost { boot: time(1, 1) - block, run: block / conditions as f64 }
}
