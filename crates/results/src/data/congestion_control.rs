//! The congestion control of the runs, as their sockets read it back.

use store::StoredStudy;
use study::{Condition, CongestionControl};

use crate::words::lists::{distinct, grouped};
use crate::words::phrases::of_some;

/// The congestion controls of the TCP runs, each with its conditions; empty without TCP.
pub(crate) fn of_runs(stored: &StoredStudy) -> Vec<(String, Vec<usize>)> {
    let tcp = stored.plan.conditions.iter().enumerate().filter(|(_, one)| one.workload.traffic.kind.is_tcp());
    let of_condition = |(index, _)| {
        let runs = stored.measurements_of(index);
        let sockets = runs.flat_map(|run| run.detail.applied()).filter_map(|socket| socket.tcp.as_ref());
        let names = distinct(sockets.map(|tcp| tcp.congestion_control.as_str()));
        names.into_iter().map(|name| (name.to_owned(), index)).collect::<Vec<_>>()
    };
    grouped(tcp.flat_map(of_condition))
}

pub(crate) fn notes(stored: &StoredStudy) -> Vec<String> {
    let is_tcp = |one: &&Condition| one.workload.traffic.kind.is_tcp();
    let all = stored.plan.conditions.iter().filter(is_tcp).count();
    let found = of_runs(stored);
    // All but those whose rate the window alone sets may pace by a timer.
    let pacing = found.iter().filter(|(name, _)| !CongestionControl::UNPACED.contains(&name.as_str()));
    pacing
        .map(|(name, members)| {
            let of = of_some(members.iter().map(|index| stored.label(*index)), all);
            format!("{of}TCP ran with {name}, not cubic: if it paces, a timer sets the rate as much as the switches do")
        })
        .collect()
}
