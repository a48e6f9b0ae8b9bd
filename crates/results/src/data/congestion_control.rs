//! The congestion control of the runs, as their sockets read it back.

use store::StoredStudy;
use study::CongestionControl;

use crate::words::lists::{distinct, grouped};

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
    let conditions = &stored.plan.conditions;
    let found = of_runs(stored);
    // All but those whose rate the window alone sets may pace by a timer.
    let pacing = found.iter().filter(|(name, _)| !CongestionControl::UNPACED.contains(&name.as_str()));
    pacing
        .map(|(name, members)| {
            let of_all = members.len() == conditions.iter().filter(|one| one.workload.traffic.kind.is_tcp()).count();
            let labels: Vec<&str> = members.iter().map(|index| conditions[*index].label.as_str()).collect();
            let of = if of_all { String::new() } else { format!("{}: ", labels.join(", ")) };
            format!("{of}TCP ran with {name}, not cubic: if it paces, a timer sets the rate as much as the switches do")
        })
        .collect()
}
