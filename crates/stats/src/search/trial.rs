//! The goal of a search, and its trials.

/// The goal of a search.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Goal {
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
pub enum Load {
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
    /// The load that the trial shows to stay within the bound, if it did: the offered load, or
    /// less.
    pub sustained: f64,
    /// Whether it exceeded the bound.
    pub exceeded: bool,
}
