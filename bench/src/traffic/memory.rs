//! What a flow takes of the agents' memory, and whether many at once are all counted.

use std::fs;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use load::{Counts, FlowOutcome, Kind, Traffic};
use serde::Serialize;
use study::Scenario;
use testbed::{RunAccount, RunOrder};

use crate::bench::receiver;
use crate::failure::Failure;
use crate::goal::{Bound, Goal};
use crate::report::Report;
use crate::traffic::session::Session;

/// So many flows at once.
const FLOWS: [u32; 3] = [1, 100, 1000];
const SMOKE_FLOWS: [u32; 3] = [1, 4, 16];
/// A flow among the most may take so many times what one among the first takes and still be called
/// the same.
const FLAT: f64 = 1.1;
/// Many threads take a while until all have had their turn.
const RAMP: Duration = Duration::from_secs(1);
const WINDOW: Duration = Duration::from_secs(2);

#[derive(Debug, Clone, Serialize)]
struct Crowd {
    workload: Kind,
    flows: u32,
    /// Largest resident size of the transmitter's and the receiver's agent while the flows ran.
    kib: [u64; 2],
    account: Account,
}

/// What the ends counted over the life of the flows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
struct Account {
    /// Bytes, or transactions, of all flows as the transmitter counted them.
    amount: u64,
    /// Of those, what the flows one by one do not add up to, at either end.
    not_in_flows: u64,
    /// What one end counted and the other did not.
    at_one_end: u64,
    /// Flows that moved nothing.
    idle: u64,
}

/// Measures the memory of few and of many flows.
pub(super) fn run(session: &Session<'_>, report: &mut Report) -> Result<(), Failure> {
    report.note(
        "memory: largest resident size of the agents (VmRSS) while the flows run, each number of flows on a testbed of its own; what the \
         kernel holds for their sockets is not in it",
    );
    let mut all = Vec::new();
    for kind in [Kind::TcpStream, Kind::UdpRr] {
        let mut crowds = Vec::new();
        for flows in session.bench.or_smoke(FLOWS, SMOKE_FLOWS) {
            let what = format!("memory, {kind}, {flows} flows");
            session.bench.say(&what);
            let crowd = gather(session, kind, flows, report);
            crowds.extend(report.or_not_run(&what, crowd)?);
        }
        tell(kind, &crowds, report);
        all.extend(crowds);
    }
    report.result("memory", all);
    Ok(())
}

fn gather(session: &Session<'_>, kind: Kind, flows: u32, report: &mut Report) -> Result<Crowd, Failure> {
    let mut testbed = session.testbed(Scenario::Veth, report)?;
    let (ramp, window) = session.bench.or_smoke((RAMP, WINDOW), (RAMP / 10, WINDOW / 10));
    let (traffic, step) = (Traffic { flows, ..Traffic::new(kind) }, RunOrder::step_of(window));
    let order = RunOrder { traffic, family: study::Family::Ipv4, ramp, window, step };
    let agents = [testbed.transmitter.pid(), receiver(&testbed)?.pid()];
    let (account, largest) = std::thread::scope(|scope| {
        let (over, is_over) = mpsc::channel::<()>();
        let watching = scope.spawn(move || {
            // Before all flows are there, and after, they take less.
            let mut largest = [0; 2];
            while is_over.recv_timeout(window / 4) == Err(RecvTimeoutError::Timeout) {
                largest = [0, 1].map(|side: usize| resident(agents[side]).unwrap_or(0).max(largest[side]));
            }
            largest
        });
        let account = testbed.run(&order, &mut || {});
        drop(over);
        (account, watching.join())
    });
    let account = Account::of(kind, &account?)?;
    match largest {
        Ok(kib) if !kib.contains(&0) => Ok(Crowd { workload: kind, flows, kib, account }),
        _ => Err(Failure::environment("the agents' memory cannot be read in /proc")),
    }
}

/// The resident size of a process in KiB.
fn resident(process: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.split_whitespace().next()?.parse().ok()
}

impl Account {
    fn of(kind: Kind, account: &RunAccount) -> Result<Self, Failure> {
        let received = account.receiver.as_ref().map(|side| &side.whole.outcome);
        let received = received.ok_or_else(|| Failure::failed("nobody received"))?;
        let sent = &account.transmitter.whole.outcome;
        let counted = |counts: &Counts| if kind.is_rr() { counts.transactions } else { counts.bytes };
        let sum = |flows: &[FlowOutcome]| flows.iter().map(|flow| counted(&flow.counts)).sum::<u64>();
        let (asked, answered) = (counted(&sent.sent), counted(&received.received));
        // An answer that never came, or came too late, was given all the same; and one more of each
        // flow when it ended.
        let slack = if kind.is_rr() { sent.sent.timeouts + sent.flows.len() as u64 } else { 0 };
        let more = answered.saturating_sub(asked);
        Ok(Self {
            amount: asked,
            not_in_flows: asked.abs_diff(sum(&sent.flows)) + answered.abs_diff(sum(&received.flows)),
            at_one_end: asked.saturating_sub(answered) + more.saturating_sub(slack),
            idle: sent.flows.iter().filter(|flow| counted(&flow.counts) == 0).count() as u64,
        })
    }
}

/// KiB for each flow between two crowds, of both agents together.
fn slope(few: &Crowd, many: &Crowd) -> f64 {
    let total = |crowd: &Crowd| crowd.kib.iter().sum::<u64>() as f64;
    (total(many) - total(few)) / f64::from(many.flows - few.flows)
}

/// How much more a flow takes among many than among few, from what it takes in KiB. Less than a
/// page for each flow is what two processes differ by anyway, and may be negative.
fn growth(few: f64, many: f64) -> f64 {
    const PAGE: f64 = 4.0;
    many.max(0.0) / few.max(PAGE)
}

fn tell(kind: Kind, crowds: &[Crowd], report: &mut Report) {
    for Crowd { flows, kib: [transmitter, receiver], account, .. } in crowds {
        let Account { amount, not_in_flows, at_one_end, idle } = account;
        let unit = if kind.is_rr() { "transactions" } else { "bytes" };
        report.note(format!(
            "{kind}, {flows} flows: {transmitter} KiB (transmitter), {receiver} KiB (receiver); {amount} {unit} counted, {not_in_flows} \
             of them not in the flows, {at_one_end} at one end only, {idle} flows idle"
        ));
    }
    let [one, some, many] = crowds else { return };
    let (first, last) = (slope(one, some), slope(some, many));
    report.note(format!(
        "{kind}: a flow takes {first:.1} KiB of both agents ({} to {} flows), {last:.1} KiB ({} to {})",
        one.flows, some.flows, some.flows, many.flows
    ));
    let what = format!("{kind}: memory of a flow among {} by that among {}", many.flows, some.flows);
    report.goals.push(Goal::new(what, growth(first, last), Bound::AtMost(FLAT), ""));
    let Account { not_in_flows, at_one_end, idle, .. } = many.account;
    let what = format!("{kind}: of {} flows at once, what was not counted", many.flows);
    report.goals.push(Goal::new(what, (not_in_flows + at_one_end + idle) as f64, Bound::AtMost(0.0), ""));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flow_takes_what_more_flows_take_more() {
        let (workload, account) = (Kind::TcpStream, Account::default());
        let crowd = |flows, kib| Crowd { workload, flows, kib: [kib; 2], account };
        assert_eq!(slope(&crowd(1, 1000), &crowd(101, 6000)), 100.0);
        // It is no ratio of noise.
        for (few, many, ratio) in [(100.0, 110.0, 1.1), (-0.6, 0.8, 0.2), (2.0, -1.0, 0.0), (1.0, 8.0, 2.0)] {
            assert_eq!(growth(few, many), ratio);
        }
        assert!(resident(std::process::id()).unwrap() > 100);
        assert_eq!(resident(0), None);
    }
}
