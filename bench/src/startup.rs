//! How long `netassay --help` takes, beside a program that does nothing.

use std::path::Path;

use crate::bench::Bench;
use crate::failure::Failure;
use crate::figures::{Ratios, cells};
use crate::goal::{Bound, Goal};
use crate::process::timed;
use crate::report::{Report, heading};

/// `netassay --help`, in ms.
const GOAL: f64 = 5.0;

pub(crate) fn run(bench: &Bench) -> Result<Report, Failure> {
    let mut report = Report::begin("startup", &heading("program", "ms"));
    report.note("from before the fork until the process is reaped; the programs take turns; ratios are those of neighbours");
    let programs: [(&Path, &[&str]); 2] = [(Path::new("/bin/true"), &[]), (&bench.netassay, &["--help"])];
    let [nothing, help] = bench.in_turn("startup", (1, bench.rounds(50, 3)), |which| {
        let (program, arguments) = programs[which];
        Ok(timed(program, arguments, Path::new("/"))?.0.wall_ms)
    })?;
    report.figures("/bin/true", &nothing, 2);
    let all = report.figures("netassay --help", &help, 2);
    report
        .goals
        .extend(all.map(|all| Goal::new("netassay --help, median", all.median, Bound::Under(GOAL), "ms")));
    let ratios = Ratios::of(&help, &nothing).map(|ratios| cells(&ratios.all, 2));
    report.row(["netassay --help / /bin/true".to_owned()].into_iter().chain(ratios.into_iter().flatten()));
    Ok(report.finish())
}
