//! The account of a search for a rate.

use serde::{Deserialize, Serialize};

/// A search for the highest rate that keeps loss within a bound. Rates are of payload, all flows
/// and directions together, in bits/s.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RateSearch {
    /// The share of datagrams that may be lost.
    pub bound: f64,
    /// The confidence of the interval: 0.95.
    pub confidence: f64,
    /// The rate that was shown to keep loss within the bound: the least that its trials sustained,
    /// which may be less than was asked for. `None` if none was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lower: Option<f64>,
    /// The rate that was shown to exceed it; `None` if none was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub upper: Option<f64>,
    /// Whether it ended before its trials were used up.
    pub complete: bool,
    /// The trials, in their order.
    pub trials: Vec<RateTrial>,
    /// Why trials failed that were made again: on a busy machine an agent is sometimes too late.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<String>,
}

/// One trial.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RateTrial {
    /// The rate that was asked for; `None`: as much as the sender can.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked: Option<f64>,
    /// The rate that was offered in the window.
    pub offered: f64,
    /// The rate that arrived in the window.
    pub forwarded: f64,
    /// The share of the datagrams of the whole trial that was lost.
    pub loss: f64,
    /// Whether the bound was exceeded.
    pub exceeded: bool,
    /// Whether something disturbed it; then another trial was made in its place.
    pub disturbed: bool,
}
