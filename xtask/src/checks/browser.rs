//! The reports that the tests wrote, opened in a browser by the scripts of `tests/browser`.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use crate::failure::Failure;
use crate::process::run;
use crate::report::{Ending, Report};
use crate::workspace::{Workspace, find_program};

/// The scripts and the list of the libraries that they use, in the repository.
const SCRIPTS: &str = "tests/browser";
/// The versions of the libraries, with the sums of their packages.
const LOCK: &str = "package-lock.json";
/// The studies that come with netassay: of each the tests write a report.
const STUDIES: &str = "studies";

/// Opens them all.
pub(crate) fn check(workspace: &Workspace, report: &mut Report) -> Result<Ending, Failure> {
    let missing = ["node", "npm", "chromium"].into_iter().find(|program| find_program(program).is_none());
    if let Some(program) = missing {
        report.skip("browser", format!("{program} is not there: `cargo xtask test needs` installs it"));
        return Ok(Ending::NotRun);
    }
    let reports = workspace.built.join("tmp/reports");
    let unwritten = unwritten(&workspace.root.join(STUDIES), &reports)?;
    if !unwritten.is_empty() {
        return Err(Failure::Check(format!(
            "{} has no report of {}: `cargo xtask test tests` writes them",
            reports.display(),
            unwritten.join(", ")
        )));
    }
    let place = installed(workspace)?;
    let pictures = workspace.target.join("browser-pictures");
    let mut node = workspace.command("node");
    run(node.arg(place.join("check.mjs")).arg(&reports).arg(&pictures))?;
    eprintln!("screenshots: {}", pictures.display());
    Ok(Ending::Ok)
}

/// The names of studies without a report.
fn unwritten(studies: &Path, reports: &Path) -> Result<Vec<String>, Failure> {
    let names = files(studies)?;
    let names = names.iter().filter(|path| path.extension() == Some(OsStr::new("toml")));
    let names = names.filter_map(|path| Some(path.file_stem()?.to_string_lossy().into_owned()));
    Ok(names.filter(|name| !reports.join(format!("{name}.html")).exists()).collect())
}

/// The scripts beside their libraries, outside the repository; installed again when their list
/// changes.
fn installed(workspace: &Workspace) -> Result<PathBuf, Failure> {
    let (scripts, place) = (workspace.root.join(SCRIPTS), workspace.target.join("browser"));
    let lock = place.join(LOCK);
    let is_installed = fs::read(&lock).ok() == fs::read(scripts.join(LOCK)).ok();
    fs::create_dir_all(&place).map_err(Failure::io(format!("cannot make {}", place.display())))?;
    let copy = |path: &Path| {
        let name = path.file_name().unwrap_or_default();
        fs::copy(path, place.join(name)).map_err(Failure::io(format!("cannot copy {}", path.display())))
    };
    for path in files(&scripts)?.iter().filter(|path| !path.ends_with(LOCK)) {
        copy(path)?;
    }
    if !is_installed {
        // The list is copied under its name when all is there: what is interrupted begins again.
        let shrinkwrap = place.join("npm-shrinkwrap.json");
        fs::copy(scripts.join(LOCK), &shrinkwrap)
            .map_err(Failure::io(format!("cannot write {}", shrinkwrap.display())))?;
        let mut npm = workspace.command("npm");
        run(npm.args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"]).current_dir(&place))?;
        copy(&scripts.join(LOCK))?;
    }
    Ok(place)
}

fn files(directory: &Path) -> Result<Vec<PathBuf>, Failure> {
    let failure = || Failure::io(format!("cannot read {}", directory.display()));
    let mut paths = Vec::new();
    for entry in fs::read_dir(directory).map_err(failure())? {
        let path = entry.map_err(failure())?.path();
        if path.is_file() {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_study_without_a_report_is_named() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let nowhere = root.join("no such directory");
        let names = unwritten(&root.join(STUDIES), &nowhere).unwrap();
        assert!(names.contains(&"quick".to_owned()), "{names:?}");
        let failure = unwritten(&nowhere, &nowhere).unwrap_err().to_string();
        assert!(failure.contains("no such directory"), "{failure}");
    }
}
