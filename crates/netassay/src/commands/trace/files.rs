//! The files that a trace writes beside its text.

use std::path::Path;

use results::PathTraceReport;

use super::chart::flow_chart;
use super::flame::{self, Flames};
use super::packets::trace_events;
use crate::cli::Trace;
use crate::failure::{Failure, say};
use crate::output::{self, MayReplace, drawing, named};

pub(super) fn check(flags: &Trace) -> Result<(), Failure> {
    let mut charts = flags.chart.iter().filter(|path| !is_of_packets(path));
    charts.try_for_each(|path| drawing(path).map(drop))?;
    flags.flame.iter().try_for_each(|path| flame::check(path))
}

pub(super) fn is_of_packets(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "json")
}

pub(super) fn write(found: &PathTraceReport, flags: &Trace) -> Result<(), Failure> {
    for path in &flags.chart {
        let (text, content) = if is_of_packets(path) {
            trace_events(found, flags.every)?
        } else {
            let chart = flow_chart(found)
                .ok_or_else(|| Failure::Nothing("no packet was followed: there is no chart".to_owned()))?;
            (drawing(path)?(&chart), "the chart".to_owned())
        };
        output::write(path, &text, MayReplace::OwnFile)?;
        say(&format!("wrote {content} to {}", named(path)));
    }
    flags.flame.iter().try_for_each(|path| Flames::of_path(found).write(path))
}
