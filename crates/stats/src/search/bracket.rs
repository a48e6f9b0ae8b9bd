//! The first part of a search: two loads close to each other, of which single trials say that the
//! one stays within the bound and the other exceeds it.

use super::trial::{Goal, Trial};

/// The bounds shown by single trials.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Bracket {
    /// The highest load that stayed within the bound.
    pub(super) within: Option<f64>,
    /// The lowest load that exceeded it.
    pub(super) exceeded: f64,
    /// The length of the next step, as a share of the load: it doubles.
    step: f64,
    next: Option<f64>,
}

impl Bracket {
    /// A bracket below a load that exceeded the bound. The load that came through is the first
    /// guess: a link that is full forwards as much as it can.
    pub(super) fn below(most: f64, forwarded: f64, goal: &Goal) -> Self {
        let mut bracket = Self { within: None, exceeded: most, step: goal.width, next: None };
        bracket.down(forwarded, goal);
        bracket
    }

    pub(super) fn next_load(&self) -> Option<f64> {
        self.next
    }

    /// Notes a trial with [`next_load`](Self::next_load). Where the load could not even be offered,
    /// nothing is learned above it.
    pub(super) fn record_trial(&mut self, reached: bool, trial: Trial, goal: &Goal) {
        let Some(load) = self.next.take() else { return };
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
    fn down(&mut self, forwarded: f64, goal: &Goal) {
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
    fn inwards(&mut self, goal: &Goal) {
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
