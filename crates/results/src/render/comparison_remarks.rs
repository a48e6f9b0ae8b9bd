//! Remarks on a single comparison: a run that decides its percentage, a robust check that
//! disagrees.

use stats::{Comparison, Farthest};

use crate::data::subject::Subject;
use crate::words::number::figure;

/// Sentences without full stops.
pub(crate) fn comparison_remarks(subject: &Subject, one: &Comparison) -> Vec<String> {
    let mut remarks = Vec::new();
    if let Some(run) = one.wild {
        remarks.push(format!(
            "one run is why there is no percentage: {}, where the median of its condition is {}. It counts all the same; check what else ran at that time, and repeat the study if something was wrong",
            value(subject, &run),
            figure(run.median)
        ));
    }
    let is_proven = one.interval.is_some_and(|(low, high)| low > 0.0 || high < 0.0);
    for check in one.checks.iter().filter(|check| !check.agrees) {
        let farthest = check.farthest.as_ref().map_or_else(String::new, |far| {
            let whole = if far.run.is_some() { "its boot" } else { "its condition's boots" };
            format!(
                "; the farthest is {}, where the median of {whole} is {}",
                value(subject, far),
                figure(far.median)
            )
        });
        remarks.push(format!("{}{farthest}", check.sentence(is_proven)));
    }
    remarks
}

/// Each remark once, with its conditions: a run of the baseline affects all its comparisons.
pub(crate) fn once<'a>(rows: impl Iterator<Item = (&'a str, &'a [String])>) -> Vec<(String, &'a str)> {
    let mut told: Vec<(&str, Vec<&str>)> = Vec::new();
    for (label, remark) in rows.flat_map(|(label, all)| all.iter().map(move |remark| (label, remark))) {
        match told.iter_mut().find(|(other, _)| other == remark) {
            Some((_, labels)) => labels.push(label),
            None => told.push((remark, vec![label])),
        }
    }
    let whose = |labels: &[&str]| match labels {
        [one] => (*one).to_owned(),
        [one, other] => format!("{one} and {other}"),
        [one, others @ ..] => format!("{one} and {} others", others.len()),
        [] => String::new(),
    };
    told.into_iter().map(|(remark, labels)| (whose(&labels), remark)).collect()
}

/// `run 2 of boot 3 of tso=off with 812.0`.
fn value(subject: &Subject, far: &Farthest) -> String {
    let run = far.run.map_or_else(String::new, |run| format!("run {run} of "));
    format!("{run}{} of {} with {}", subject.boot(far.boot), subject.label(far.condition), figure(far.value))
}
