//! The highest load at which trials stay within a bound, as an interval with its confidence.
//!
//! A [`Search`] says which trial to make next and is told how it went; whoever makes the trials
//! knows what the bound is. What is looked for is the load at which half of the trials exceed the
//! bound: below it most stay within, above it most exceed. (MLRsearch, RFC 9971, calls this a goal
//! exceed ratio of one half.)
//!
//! The search has two parts. The first brackets that load by single trials and claims nothing: each
//! of them may have been luck. The second makes new trials at both ends of the bracket until each
//! end is shown, and moves an end outwards where that does not work. An end that had to move may
//! be farther out than it needs: while the ends are too far apart, new trials between them show
//! either end anew, until that does not work.

mod claim;

use crate::search::claim::{Bracket, LoadClaim, Toward};

/// The result of a search. If the search is complete, no `upper` means that nothing that can be
/// offered exceeds the bound, and no `lower` that not even the least load stays within it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SearchAnswer {
    /// A load that was shown to stay within the bound.
    pub lower: Option<f64>,
    /// The load of the trials that showed it.
    pub lower_at: Option<TrialLoad>,
    /// A load that was shown to exceed it.
    pub upper: Option<f64>,
    /// Whether it ended before its trials were used up.
    pub complete: bool,
    /// The number of trials.
    pub trials: usize,
}

/// A search under way.
#[derive(Debug, Clone)]
pub struct Search {
    goal: SearchGoal,
    trials: usize,
    /// The most that can be offered, once tried.
    most: Option<f64>,
    bracket: Bracket,
    lower: LoadClaim,
    upper: LoadClaim,
    /// Further attempts at both ends, the lower and the upper one, by the same trials at one load
    /// between them.
    between: Option<[LoadClaim; 2]>,
}

// The distance of the ends, in widths, above which trials between them are made. At a sharp edge
// they are one or two apart.
const APART: f64 = 2.0;

impl Search {
    /// A search that has seen nothing.
    pub fn new(goal: SearchGoal) -> Self {
        let claim = |toward| LoadClaim::new(toward, goal.confidence);
        Self {
            goal,
            trials: 0,
            most: None,
            bracket: Bracket::default(),
            lower: claim(Toward::Within),
            upper: claim(Toward::Exceeded),
            between: None,
        }
    }

    /// The load of the next trial; `None` if the search is over.
    pub fn next_load(&self) -> Option<TrialLoad> {
        if self.trials >= self.goal.trials {
            return None;
        }
        if self.most.is_none() {
            return Some(TrialLoad::Most);
        }
        if let Some(load) = self.bracket.next {
            return Some(TrialLoad::Of(load));
        }
        self.turn().or(self.between.as_ref().map(|[lower, _]| lower)).map(|claim| claim.load)
    }

    /// The claim whose turn it is.
    fn turn(&self) -> Option<&LoadClaim> {
        let open = [&self.lower, &self.upper].into_iter().filter(|claim| claim.is_open());
        // Claims alternate, so that a drift in time meets both alike.
        open.min_by_key(|claim| claim.made)
    }

    /// Notes how the trial with [`next_load`](Self::next_load) went.
    pub fn record_trial(&mut self, trial: Trial) {
        let Some(asked) = self.next_load() else { return };
        self.trials += 1;
        let reached = match asked {
            TrialLoad::Most => true,
            TrialLoad::Of(load) => trial.offered >= load * (1.0 - self.goal.width),
        };
        let Some(most) = self.most else { return self.begin(trial) };
        if self.bracket.next.is_some() {
            self.bracket.record_trial(reached, trial, &self.goal);
            if self.bracket.next.is_none() {
                self.claim(most);
            }
            return;
        }
        if let Some(between) = self.between.take() {
            return self.narrow(between, reached, trial);
        }
        let lowers = self.turn().is_some_and(|claim| claim.toward == Toward::Within);
        let claim = if lowers { &mut self.lower } else { &mut self.upper };
        claim.record_trial(reached, trial);
        if claim.is_hopeless() {
            self.step_outwards(lowers, most);
        }
        self.look_between();
    }

    /// If both are shown, too far apart, and there are trials enough to show one.
    fn look_between(&mut self) {
        if self.lower.is_open() || self.upper.is_open() {
            return;
        }
        let (Some(lower), Some(upper)) = (self.lower.tried(), self.upper.tried()) else { return };
        let left = self.goal.trials.saturating_sub(self.trials);
        // Rounding must not cost trials.
        let is_apart = upper > lower * (1.0 + APART * self.goal.width * 1.01);
        if is_apart && left >= self.lower.fewest().min(self.upper.fewest()) {
            let load = (lower * upper).sqrt();
            self.between = Some([&self.lower, &self.upper].map(|claim| claim.farther_in(load)));
        }
    }

    /// Notes a trial between the ends. The first that is shown is the new end; if neither can be,
    /// the edge is as wide as that.
    fn narrow(&mut self, mut between: [LoadClaim; 2], reached: bool, trial: Trial) {
        between.iter_mut().for_each(|claim| claim.record_trial(reached, trial));
        let [is_lower, is_upper] = between.each_ref().map(|claim| claim.shown_load().is_some());
        if is_lower || is_upper {
            let [lower, upper] = between;
            self.lower.spend_as(&lower);
            self.upper.spend_as(&upper);
            if is_lower {
                self.lower = lower;
            } else {
                self.upper = upper;
            }
            self.look_between();
        } else if !between.iter().all(LoadClaim::is_hopeless) {
            self.between = Some(between);
        }
    }

    /// Records the first trial: if it does not exceed the bound, that is to be shown.
    fn begin(&mut self, trial: Trial) {
        let most = trial.offered.max(self.goal.least);
        self.most = Some(most);
        if trial.exceeded {
            self.bracket = Bracket::below(most, trial.forwarded, &self.goal);
            if self.bracket.next.is_none() {
                self.claim(most);
            }
        } else {
            self.lower.open(TrialLoad::Most);
        }
    }

    fn claim(&mut self, most: f64) {
        if let Some(within) = self.bracket.within {
            self.lower.open(TrialLoad::Of(within));
        }
        let exceeded = self.bracket.exceeded;
        self.upper.open(if exceeded < most { TrialLoad::Of(exceeded) } else { TrialLoad::Most });
    }

    /// A load that could not be shown to be an end is moved outwards: it may be shown there.
    fn step_outwards(&mut self, lowers: bool, most: f64) {
        let claim = if lowers { &mut self.lower } else { &mut self.upper };
        let step = (self.goal.width * claim.reach()).min(0.5);
        let from = claim.load;
        claim.close();
        match (from, lowers) {
            (TrialLoad::Of(load), true) => {
                let next = load * (1.0 - step);
                if next >= self.goal.least {
                    self.lower.open(TrialLoad::Of(next));
                }
            }
            (TrialLoad::Most, true) => {
                self.lower.open(TrialLoad::Of((most * (1.0 - step)).max(self.goal.least)));
                self.upper.open(TrialLoad::Most);
            }
            (TrialLoad::Of(load), false) => {
                let next = load * (1.0 + step);
                self.upper.open(if next < most { TrialLoad::Of(next) } else { TrialLoad::Most });
            }
            (TrialLoad::Most, false) => {}
        }
    }

    /// The result so far; complete once there is no [`next_load`](Self::next_load).
    pub fn answer(&self) -> SearchAnswer {
        let is_open = self.bracket.next.is_some() || self.lower.is_open() || self.upper.is_open();
        SearchAnswer {
            lower: self.lower.shown_load(),
            lower_at: self.lower.shown_load().map(|_| self.lower.load),
            upper: self.upper.shown_load(),
            // Both ends are shown while there are attempts between them.
            complete: self.most.is_some() && !is_open,
            trials: self.trials,
        }
    }
}

/// The goal of a search.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SearchGoal {
    /// The chance that the interval holds the load that is looked for, such as 0.95.
    pub confidence: f64,
    /// The width of the interval where trials allow it, as a share of the load.
    pub width: f64,
    /// No load below it is tried.
    pub least: f64,
    /// The most trials that are made.
    pub trials: usize,
}

/// A load that a trial is made with.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum TrialLoad {
    /// The most that can be offered.
    Most,
    /// This much.
    Of(f64),
}

/// The outcome of a trial.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Trial {
    /// The load that was offered, which may be less than was asked for.
    pub offered: f64,
    /// The load that came through.
    pub forwarded: f64,
    /// A load that the trial shows to stay within the bound, if any: at most the offered one.
    pub sustained: f64,
    /// Whether it exceeded the bound.
    pub exceeded: bool,
}
