//! The second part of a search: proof about one load.
//!
//! Each trial is a bet against "at most half of the trials go this way": it multiplies the stake by
//! 1 + `BET` or by 1 - `BET`. If that sentence is true, the stake grows beyond 1/a with a chance of
//! a at most, however long one plays and whenever one stops (Ville's inequality; Shafer, Testing by
//! betting, J. R. Stat. Soc. A 184, 2021). Attempt number k at an end of the interval may be wrong
//! with a chance of e 2^-k, so that all of them together are with e at most; e is half of the error
//! that the confidence allows, because the interval has two ends.

use crate::search::{SearchGoal, Trial, TrialLoad};

// The share of the stake that is put on each trial. Eight trials of the same outcome show a load
// at 95 %; smaller bets need more of them, larger ones do not outlive a contrary trial now and
// then. It and the two below were chosen by the number of trials that simulated paths need; the
// error is bounded with any.
const BET: f64 = 0.8;

// The rest of the stake at which an attempt is given up: two contrary trials at the beginning
// reach it, and three after four others.
const HOPELESS: f64 = 0.1;

// The factor by which each attempt goes farther than the one before.
const FARTHER: f64 = 3.0;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Toward {
    /// Most trials stay within the bound.
    Within,
    /// Most trials exceed it.
    Exceeded,
}

#[derive(Debug, Clone)]
pub(super) struct LoadClaim {
    pub(super) toward: Toward,
    state: ClaimState,
    pub(super) load: TrialLoad,
    error: f64,
    attempts: i32,
    stake: f64,
    pub(super) made: usize,
    /// The load for which all trials speak that speak for it: the least that one sustained, or the
    /// most that one offered.
    spoken_for: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ClaimState {
    Closed,
    Open,
    Shown,
}

impl LoadClaim {
    pub(super) fn new(toward: Toward, confidence: f64) -> Self {
        Self {
            toward,
            state: ClaimState::Closed,
            load: TrialLoad::Most,
            error: (1.0 - confidence) / 2.0,
            attempts: 0,
            stake: 1.0,
            made: 0,
            spoken_for: 0.0,
        }
    }

    pub(super) fn open(&mut self, load: TrialLoad) {
        self.error /= 2.0;
        self.attempts += 1;
        (self.state, self.load) = (ClaimState::Open, load);
        self.stake = 1.0;
        self.spoken_for = if self.toward == Toward::Within { f64::INFINITY } else { 0.0 };
    }

    /// A further attempt at the same end, at a load farther in.
    pub(super) fn farther_in(&self, load: f64) -> Self {
        // This one stays shown if that fails; the error of both is that of one end.
        let mut claim = self.clone();
        claim.open(TrialLoad::Of(load));
        claim
    }

    /// Takes note that a further attempt has used its part of the error.
    pub(super) fn spend_as(&mut self, attempt: &Self) {
        (self.error, self.attempts, self.made) = (attempt.error, attempt.attempts, attempt.made);
    }

    /// The fewest trials that show an end at the next attempt.
    pub(super) fn fewest(&self) -> usize {
        ((2.0 / self.error).ln() / (1.0 + BET).ln()).ceil() as usize
    }

    pub(super) fn close(&mut self) {
        self.state = ClaimState::Closed;
    }

    /// Notes a trial with its load.
    pub(super) fn record_trial(&mut self, reached: bool, trial: Trial) {
        self.made += 1;
        // A trial that did not reach its load cannot speak for staying within the bound there; that
        // it exceeded the bound it can.
        let speaks = if self.toward == Toward::Within { reached && !trial.exceeded } else { trial.exceeded };
        if speaks {
            self.stake *= 1.0 + BET;
            self.spoken_for = match self.toward {
                Toward::Within => self.spoken_for.min(trial.sustained),
                Toward::Exceeded => self.spoken_for.max(trial.offered),
            };
        } else {
            self.stake *= 1.0 - BET;
        }
        if self.stake >= 1.0 / self.error {
            self.state = ClaimState::Shown;
        }
    }

    pub(super) fn is_open(&self) -> bool {
        self.state == ClaimState::Open
    }

    pub(super) fn is_hopeless(&self) -> bool {
        self.is_open() && self.stake < HOPELESS
    }

    /// The distance of the next attempt, in widths.
    pub(super) fn reach(&self) -> f64 {
        FARTHER.powi(self.attempts.saturating_sub(1))
    }

    /// The load for which all its trials speak, if it was shown.
    pub(super) fn shown_load(&self) -> Option<f64> {
        (self.state == ClaimState::Shown).then(|| match (self.load, self.toward) {
            (TrialLoad::Of(load), Toward::Within) => load.min(self.spoken_for),
            (TrialLoad::Of(load), Toward::Exceeded) => load,
            (TrialLoad::Most, _) => self.spoken_for,
        })
    }

    pub(super) fn tried(&self) -> Option<f64> {
        let shown = self.shown_load()?;
        Some(if let TrialLoad::Of(load) = self.load { load } else { shown })
    }
}

// The first part of a search: two loads close to each other, of which single trials say that the
// one stays within the bound and the other exceeds it.

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Bracket {
    pub(super) within: Option<f64>,
    pub(super) exceeded: f64,
    /// The length of the next step, as a share of the load: it doubles.
    step: f64,
    /// The load of the next trial; `None` if the bracket is as narrow as asked for.
    pub(super) next: Option<f64>,
}

impl Bracket {
    /// A bracket below a load that exceeded the bound.
    pub(super) fn below(most: f64, forwarded: f64, goal: &SearchGoal) -> Self {
        let mut bracket = Self { within: None, exceeded: most, step: goal.width, next: None };
        // The load that came through is the first guess: a link that is full forwards as much as it
        // can.
        bracket.down(forwarded, goal);
        bracket
    }

    /// Notes a trial with the load [`next`](Self::next).
    pub(super) fn record_trial(&mut self, reached: bool, trial: Trial, goal: &SearchGoal) {
        let Some(load) = self.next.take() else { return };
        // Where the load could not even be offered, nothing is learned above it.
        if trial.exceeded || !reached {
            self.exceeded = load;
            if self.within.is_none() {
                return self.down(if trial.exceeded { trial.forwarded } else { load }, goal);
            }
        } else {
            self.within = Some(load);
        }
        self.inwards(goal);
    }

    /// Goes below the lowest load that exceeded: to the load that came through, or by steps that
    /// double.
    fn down(&mut self, forwarded: f64, goal: &SearchGoal) {
        if self.exceeded <= goal.least {
            return;
        }
        let by_step = self.exceeded * (1.0 - self.step.min(0.5));
        self.step *= 2.0;
        let guess = forwarded * (1.0 - goal.width / 2.0);
        self.next = Some(if guess > 0.0 { guess.min(by_step) } else { by_step }.max(goal.least));
    }

    /// Between the two, once there are two: upwards by steps that double while that stays below
    /// the upper one, else in the middle.
    fn inwards(&mut self, goal: &SearchGoal) {
        let Some(within) = self.within else { return };
        // Rounding must not cost a trial.
        if self.exceeded <= within * (1.0 + goal.width * 1.01) {
            return;
        }
        let up = within * (1.0 + self.step);
        self.step *= 2.0;
        self.next = Some(if up < self.exceeded { up } else { (within * self.exceeded).sqrt() });
    }
}
