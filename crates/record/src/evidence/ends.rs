//! Evidence from the ends: their threads, their CPUs, their hosts.

use serde::{Deserialize, Serialize};
use words::Side;

use crate::disturbance::CpuTaken;
use crate::figure::percent;

/// An end's wait for a CPU.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wait {
    /// The share in which it was ready but without a CPU.
    pub share: f64,
    pub behind: WaitedFor,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum WaitedFor {
    #[error("other processes used {0}: stop them, or keep them off these CPUs")]
    Others(CpuTaken),
    /// Nobody who was seen. `explained`: the part of the share that the guests' own threads
    /// explain.
    #[error(
        "the guests' own threads explain {} at most: processes outside this process namespace used the CPUs, or a cgroup quota kept \
         the guest off them",
        percent(*.explained)
    )]
    Unexplained { explained: f64 },
}

pub(super) fn busy_threads(sending: bool, threads: usize, running: f64) -> String {
    let does = if sending { "sending" } else { "receiving" };
    match threads {
        1 => format!("{does} thread {} busy", percent(running)),
        many => format!("{many} {does} threads {} busy on average", percent(running)),
    }
}

pub(super) fn without_a_cpu(waiting: f64) -> String {
    // Below a hundredth it is the cost of wake-ups.
    if waiting < 0.01 {
        return String::new();
    }
    format!(", and ready but without a CPU {} of the time", percent(waiting))
}

pub(super) fn kept_off(side: Side, waited: Option<&Wait>, stolen: Option<f64>) -> String {
    let waited = waited.map(|Wait { share, behind }| {
        format!("{side} was ready but without a CPU {} of the time while {behind}", percent(*share))
    });
    let stolen = stolen.map(|share| {
        format!(
            "the hypervisor gave {} of the time of {side}'s CPUs to others (steal): measure on a dedicated machine",
            percent(share)
        )
    });
    waited.into_iter().chain(stolen).collect::<Vec<_>>().join("; ")
}
