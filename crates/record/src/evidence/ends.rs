//! Evidence from the ends: their threads, their CPUs, their hosts.

use std::fmt;

use serde::{Deserialize, Serialize};
use words::Side;

use crate::disturbance::CpuTaken;
use crate::figure::percent;

/// Load of an end's threads; shares are means of the threads.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Threads {
    /// The side of the threads.
    pub side: Side,
    /// Whether they send; else they receive.
    pub sending: bool,
    /// Their number.
    pub threads: usize,
    /// The share in which they ran.
    pub running: f64,
    /// The share in which they were ready but without a CPU.
    pub waiting: f64,
    /// The part of their CPU time in user space, if known.
    pub user: Option<f64>,
}

/// Reasons why an end did not get its CPUs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Contended {
    /// The end.
    pub side: Side,
    /// The end's wait for a CPU; `None` if it was short.
    pub waited: Option<Wait>,
    /// The share of its CPUs' time that the hypervisor gave to others; `None` if that was little.
    pub stolen: Option<f64>,
}

/// An end's wait for a CPU.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wait {
    /// The share in which it was ready but without a CPU.
    pub share: f64,
    /// The work that had the CPU meanwhile.
    pub behind: WaitedFor,
}

/// The work that an end waited for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[expect(missing_docs, reason = "the sentences of its variants say it")]
pub enum WaitedFor {
    /// Other processes.
    #[error("other processes used {0}: stop them, or keep them off these CPUs")]
    Others(CpuTaken),
    /// Nobody who was seen. `explained`: the part of the share that the guests' own threads explain.
    #[error(
        "the guests' own threads explain {} at most: processes outside this process namespace used the CPUs, or a cgroup quota kept \
         the guest off them",
        percent(*.explained)
    )]
    Unexplained { explained: f64 },
}

/// CPU time of a virtual machine on its host; shares are of one CPU.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OnHost {
    /// Its side; `None`: both sides are in it.
    pub side: Option<Side>,
    /// CPU time to run the guest.
    pub ran: f64,
    /// CPU time to move its packets.
    pub moved: f64,
    /// The time in which a virtual CPU was ready but without a CPU.
    pub waited: f64,
    /// The share that the guest's kernel reports; 0 without a report.
    pub reported: f64,
    /// The time in which the threads that move its packets were ready but without a CPU.
    pub moving_waited: f64,
}

impl fmt::Display for Threads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { side, running, .. } = self;
        let does = if self.sending { "sending" } else { "receiving" };
        match self.threads {
            1 => write!(f, "{side}'s {does} thread {} busy", percent(*running))?,
            many => write!(f, "{side}'s {many} {does} threads {} busy on average", percent(*running))?,
        }
        if let Some(user) = self.user {
            write!(f, ", {} of it in user space", percent(user))?;
        }
        // Below a hundredth it is the cost of wake-ups.
        if self.waiting >= 0.01 {
            write!(f, ", and ready but without a CPU {} of the time", percent(self.waiting))?;
        }
        Ok(())
    }
}

impl fmt::Display for Contended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let side = self.side;
        if let Some(Wait { share, behind }) = &self.waited {
            write!(f, "{side} was ready but without a CPU {} of the time while {behind}", percent(*share))?;
        }
        if self.waited.is_some() && self.stolen.is_some() {
            f.write_str("; ")?;
        }
        self.stolen.map_or(Ok(()), |share| {
            write!(
                f,
                "the hypervisor gave {} of the time of {side}'s CPUs to others (steal): measure on a dedicated machine",
                percent(share)
            )
        })
    }
}

impl fmt::Display for OnHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.side {
            Some(side) => write!(f, "{side}'s virtual machine")?,
            None => f.write_str("the virtual machine")?,
        }
        let told = if self.reported > 0.0 {
            format!(" (its kernel reports {})", percent(self.reported))
        } else {
            String::new()
        };
        write!(
            f,
            " took {} of a CPU of its host to run and {} to move its packets; of the time a virtual CPU was ready but without a CPU for \
             {}{told}, what moves its packets for {}",
            percent(self.ran),
            percent(self.moved),
            percent(self.waited),
            percent(self.moving_waited)
        )
    }
}
