//! The reports that the tests wrote, opened in a browser by the scripts of `tests/browser`.

use crate::Result;
use crate::program::run;
use crate::session::{Session, has_program, make_directory};

pub(crate) fn check(session: &mut Session) -> Result {
    if let Some(program) = ["node", "npm", "chromium"].into_iter().find(|program| !has_program(program)) {
        let remedy = "`cargo xtask test --all needs` installs it";
        session.report.skips.push(format!("browser: {program} is missing: {remedy}"));
        return Ok(());
    }
    let reports = session.built.join("tmp/reports");
    let is_unwritten = |name: &String| !reports.join(format!("{name}.html")).exists();
    let study = |file: String| file.strip_prefix("studies/")?.strip_suffix(".toml").map(str::to_owned);
    let studies = session.tracked_files()?.into_iter().filter_map(study);
    let unwritten: Vec<String> = studies.filter(is_unwritten).collect();
    if !unwritten.is_empty() {
        let remedy = "`cargo xtask test --all tests` writes them";
        return Err(format!("{} has no report of {}: {remedy}", reports.display(), unwritten.join(", ")));
    }
    // Libraries are installed beside a copy of the scripts: nothing is written into the repository.
    let place = session.target.join("browser");
    make_directory(&place)?;
    run(session.command("cp").args(["--recursive", "tests/browser/."]).arg(&place))?;
    let mut npm = session.command("npm");
    run(npm.args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"]).current_dir(&place))?;
    let mut node = session.command("node");
    run(node.arg(place.join("check.mjs")).arg(&reports).arg(session.target.join("browser-pictures")))
}
