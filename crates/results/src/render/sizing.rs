//! The boots and runs that a study needs to show a difference, and how long they take.

use serde::Serialize;
use stats::Design;
use stats::planning::{Choice, Cost, Family, Goal, Noise, Plan, expected_boots};
use study::{Percent, Protocol, Study};

use crate::data::early_stop::schedule;
use crate::data::error::Error;
use crate::data::pilot::{ASSURANCE, Nearness, PilotSpread, states_of, target};
use crate::words::layout::Layout;
use crate::words::number::{counted, duration_of, percent, times};
use crate::words::table::Table;

// From this share on, the time of one way of measuring is about that of the other.
const ALIKE: f64 = 0.9;

// The most boots and runs that are tried.
const BOOTS: u32 = 1_000;
const RUNS: u32 = 1_000;

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

/// The size of a study.
#[derive(Debug, Serialize)]
pub struct Sizing {
    study: String,
    metric: &'static str,
    baseline: String,
    conditions: usize,
    /// The number of states of the testbed that they need; each has its own boots.
    states: usize,
    detect: Percent,
    power: f64,
    confidence: f64,
    /// Whether conditions take turns in flows that they share.
    in_turns: bool,
    /// The reason why they take no turns although they could.
    #[serde(skip_serializing_if = "Option::is_none")]
    turns_dropped: Option<String>,
    spread: PilotSpread,
    /// The cheapest size; `None` if 1,000 boots of 1,000 runs are not enough.
    cheapest: Option<StudySize>,
    /// The cheapest size for the upper limit of the boots' spread: with 80 % confidence it has the
    /// power.
    assured: Option<StudySize>,
    /// Sizes near the cheapest.
    alternatives: Vec<StudySize>,
    /// The study of the file, and the difference in % that it detects.
    as_written: StudySize,
    as_written_detects: Option<f64>,
    /// For a study that may stop: the expected boots without a difference, and with it.
    expected_boots: Option<(f64, f64)>,
    /// The size of the study that measures the other way, in turns or in runs of their own, if the
    /// pilot measured both.
    other_way: Option<OtherWay>,
}

/// A study's size with runs of their own instead of turns, or the reverse.
#[derive(Debug, Clone, Serialize)]
struct OtherWay {
    in_turns: bool,
    spread: PilotSpread,
    cheapest: Option<StudySize>,
}

/// One size and its power.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct StudySize {
    boots: u32,
    runs: u32,
    /// The duration, in seconds.
    seconds: f64,
    /// The chance that the difference is proven.
    power: f64,
}

impl From<Choice> for StudySize {
    fn from(choice: Choice) -> StudySize {
        StudySize { boots: choice.boots, runs: choice.runs, seconds: choice.cost, power: choice.power }
    }
}

impl Sizing {
    /// Sizes a study.
    ///
    /// # Errors
    /// [`Error::UnknownMetric`]; [`Error::NothingToSize`] for a study that compares nothing, or not
    /// in that metric.
    pub fn new(study: &Study, spread: PilotSpread, request: &SizingRequest) -> Result<Sizing, Error> {
        let target = target(study, request.metric.as_deref())?;
        let conditions = target.conditions.len() + 1;
        let protocol = &study.protocol;
        let early = protocol.stop.map(|stop| schedule(stop, protocol.boots));
        let alpha = 1.0 - request.confidence;
        // Conditions of several states have their own boots; those of one state share them, and
        // count once.
        let states = states_of(&study.plan(), &target);
        let plan = |interaction: f64| Plan {
            design: if states > 1 { Design::Nested } else { Design::Crossed },
            conditions: if states > 1 { states } else { conditions },
            noise: Noise { cell: interaction, run: spread.runs.unwrap_or(0.0) },
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
        let as_written = StudySize {
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
            study: study.name.clone(),
            metric: target.metric.key,
            baseline: study.plan().conditions[target.baseline].label.to_string(),
            conditions,
            states,
            detect: request.detect,
            power: request.power,
            confidence: request.confidence,
            in_turns: protocol.alternate.is_some(),
            turns_dropped: study.turns_dropped.clone(),
            cheapest: cheapest.map(StudySize::from),
            assured: spread
                .interaction_at_most
                .and_then(|most| plan(most).cheapest(goal, cost))
                .map(StudySize::from),
            alternatives: cheapest
                .map(|choice| likely.around(choice, goal, cost).into_iter().map(StudySize::from).collect())
                .unwrap_or_default(),
            as_written,
            as_written_detects: likely.detectable(request.power, protocol.boots, protocol.runs),
            expected_boots: expected,
            other_way: None,
            spread,
        })
    }

    /// Says which way is cheaper; `other` is the same study measured the other way.
    #[must_use]
    pub fn beside(self, other: Sizing) -> Sizing {
        let Sizing { in_turns, spread, cheapest, .. } = other;
        Sizing { other_way: Some(OtherWay { in_turns, spread, cheapest }), ..self }
    }

    /// The sizing for people, with lines to paste into the study.
    #[must_use]
    pub fn text(&self, layout: Layout) -> String {
        let mut text = format!(
            "{}: to prove a difference of {} in {} ({} against {}) with {:.0} % power\n\
             spread, in % of the mean: {}; from {}\n{}\n",
            self.study,
            self.detect,
            self.metric,
            counted(self.conditions - 1, "condition"),
            self.baseline,
            100.0 * self.power,
            shown(&self.spread, self.states),
            self.spread.source,
            self.spread
                .near
                .and_then(Nearness::remark)
                .map_or_else(String::new, |remark| format!("Note: {remark}.\n")),
        );
        let mut table = Table::new(&["size", "boots", "runs", "time", "power %"]);
        let mut row = |name: &str, size: &StudySize| {
            let time = duration_of(size.seconds);
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
        text.push_str(&self.ways());
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
    /// The way of measuring that takes less time here.
    fn ways(&self) -> String {
        let Some(other) = &self.other_way else { return self.one_way() };
        let named = |in_turns| if in_turns { "In turns" } else { "In runs of their own" };
        let needed = |cheapest: &Option<StudySize>| {
            cheapest.map_or("no size that was tried is enough".to_owned(), |size| {
                let time = duration_of(size.seconds);
                format!(
                    "{time} with {} of {}",
                    counted(size.boots as usize, "boot"),
                    counted(size.runs as usize, "run")
                )
            })
        };
        let ways =
            [(self.in_turns, &self.spread, &self.cheapest), (other.in_turns, &other.spread, &other.cheapest)];
        let mut text = "\nThe pilot measured both ways:\n".to_owned();
        for (in_turns, spread, cheapest) in ways {
            text.push_str(&format!(
                "{}: {}; spread: {}\n",
                named(in_turns),
                needed(cheapest),
                shown(spread, self.states)
            ));
        }
        if let (Some(this), Some(that)) = (self.cheapest, other.cheapest) {
            let (in_turns, share) = if this.seconds <= that.seconds {
                (self.in_turns, this.seconds / that.seconds)
            } else {
                (other.in_turns, that.seconds / this.seconds)
            };
            let boots = counted(self.spread.boots.unwrap_or(0) as usize, "boot");
            let way = if in_turns { "Turns" } else { "Runs of their own" };
            text.push_str(&if share > ALIKE {
                format!("Both take about as long here, as far as {boots} tell.\n")
            } else {
                format!(
                    "{way} are cheaper here: they take {} of the time, as far as {boots} tell.\n",
                    times(share)
                )
            });
        }
        text
    }

    /// The condition under which the study's way of measuring pays, if the pilot did not measure
    /// both.
    fn one_way(&self) -> String {
        match &self.turns_dropped {
            Some(why) => format!("\nConditions have runs of their own: {why}.\n"),
            None if self.in_turns => "\nConditions take turns, which pays where runs of one condition differ from flow to flow: `netassay run STUDY --aa --set apart=true` measures both ways, and tells which takes less time here.\n".to_owned(),
            None => String::new(),
        }
    }

    /// The limits of a pilot's knowledge, and the allowance for them in the assured size.
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
            format!("As {boots} tell, boots differ by at most {most} % with {sure} confidence.")
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

/// A spread, in words.
fn shown(spread: &PilotSpread, states: usize) -> String {
    let boots = if states > 1 { "between boots" } else { "condition x boot" };
    let at_most = spread.interaction_at_most.map_or(String::new(), |most| {
        format!(" (with {:.0} % confidence at most {})", 100.0 * ASSURANCE, percent(most))
    });
    let one = if spread.in_turns { "flow" } else { "run" };
    let runs = match spread.runs {
        None => format!(", that of the one {one} of each boot included"),
        Some(runs) if spread.in_turns => format!(", condition x flow {}", percent(runs)),
        Some(runs) => format!(", between runs {}", percent(runs)),
    };
    format!("{boots} {}{at_most}{runs}", percent(spread.interaction))
}

/// The duration of boots and runs of the compared conditions, in seconds: with several states, of a
/// boot of each and its runs.
fn cost(study: &Study, conditions: usize, states: usize) -> Cost {
    let plan = study.plan();
    let time = |boots: u32, runs: u32| {
        let protocol = Protocol { boots, runs, ..study.protocol.clone() };
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
