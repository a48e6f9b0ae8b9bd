//! Licences, duplicates, sources and known vulnerabilities of the crates that are used. RustSec's
//! advisories on them are checked in, for machines whose network does not have its database.

use std::collections::BTreeSet;
use std::fs;

use crate::Result;
use crate::fuzz;
use crate::program::{output, run as program};
use crate::session::{Session, make_directory, write};

const DATABASE: &str = "https://github.com/RustSec/advisory-db";
/// `db-path` of `deny.toml`, and the name that cargo-deny gives the database from there.
const PLACE: &str = "target/advisories/advisory-db-3157b0e258782691";

/// The advisories that are checked in, laid out as in the database.
const KEPT: &str = "advisories/crates";
/// All crates that were looked up, most of which have no advisory.
const LOOKED_UP: &str = "advisories/looked-up.txt";

const LOCK_FILES: [&str; 2] = ["Cargo.lock", "fuzz/Cargo.lock"];
const MANIFESTS: [&str; 2] = ["Cargo.toml", fuzz::MANIFEST];

/// `cargo xtask advisories [FROM]`: from a clone of the database, or from where it is at home.
pub(crate) fn run(session: &mut Session, arguments: &[String]) -> Result {
    let from = arguments.first().map_or(DATABASE, String::as_str);
    let (clone, kept) = (session.target.join("advisory-db"), session.root.join(KEPT));
    // Mostly there are some, of the time before.
    let _ = (fs::remove_dir_all(&clone), fs::remove_dir_all(&kept));
    program(session.command("git").args(["clone", "--quiet", "--depth=1", from]).arg(&clone))?;
    let names = crates(session)?;
    for name in &names {
        let Ok(entries) = fs::read_dir(clone.join("crates").join(name)) else { continue };
        make_directory(&kept.join(name))?;
        for entry in entries.flatten() {
            let text = fs::read_to_string(entry.path()).map_err(|error| error.to_string())?;
            write(&kept.join(name).join(entry.file_name()), facts(&text))?;
        }
    }
    let mut git = session.command("git");
    let date = output(git.current_dir(&clone).args(["log", "-1", "--format=RustSec's database of %cs"]))?;
    write(&session.root.join(LOOKED_UP), &names.into_iter().fold(date, |text, name| text + &name + "\n"))?;
    println!("{KEPT}\n{LOOKED_UP}");
    Ok(())
}

/// The gate's check: no crate came without a look at its advisories.
pub(crate) fn check(session: &Session) -> Result {
    let looked_up = session.read(LOOKED_UP)?;
    match crates(session)?.iter().find(|name| !looked_up.lines().any(|line| line == *name)) {
        None => Ok(()),
        Some(name) => Err(format!("{LOOKED_UP} does not have {name}; run `cargo xtask advisories`, commit")),
    }
}

/// The step `deny`.
pub(crate) fn all(session: &mut Session) -> Result {
    let asked = ["20", "git", "ls-remote", "--exit-code", DATABASE, "HEAD"];
    let is_reached = program(session.command("timeout").args(asked)).is_ok();
    if !is_reached {
        lay_out(session)?;
        let date = session.read(LOOKED_UP)?.lines().next().unwrap_or_default().to_owned();
        session.report.notes.push(format!("no network has {DATABASE}: advisories are those of {date}"));
    }
    for manifest in MANIFESTS {
        program(&mut session.cargo(&["fetch", "--locked", "--manifest-path", manifest]))?;
        let mut deny = session.cargo(&["deny", "--manifest-path", manifest]);
        deny.args((!is_reached).then_some("--offline"));
        program(deny.args(["check", "--hide-inclusion-graph"]))?;
    }
    Ok(())
}

/// Makes a database of what is checked in. A repository of its own: cargo-deny would else reset
/// ours.
fn lay_out(session: &Session) -> Result {
    let place = session.root.join(PLACE);
    let _ = fs::remove_dir_all(&place);
    program(session.command("git").args(["init", "--quiet"]).arg(&place))?;
    program(session.command("git").current_dir(&place).args(["remote", "add", "origin", DATABASE]))?;
    program(session.command("cp").args(["-R", KEPT]).arg(&place))?;
    // By its age cargo-deny knows how old a database is.
    write(&place.join(".git/FETCH_HEAD"), "")
}

/// The crates of all lock files that come from a registry.
fn crates(session: &Session) -> Result<BTreeSet<String>> {
    let mut names = BTreeSet::new();
    for file in LOCK_FILES {
        names.extend(foreign(&session.read(file)?).map(str::to_owned));
    }
    Ok(names)
}

fn foreign(lock_file: &str) -> impl Iterator<Item = &str> {
    let packages = lock_file.split("[[package]]").filter(|package| package.contains("\nsource = "));
    packages.filter_map(|package| package.split('"').nth(1))
}

/// An advisory without its prose: the block of TOML (in which a comment may stand), and the title.
fn facts(advisory: &str) -> &str {
    let mut end = 0;
    for mark in ["\n```", "\n# ", "\n"] {
        end = advisory[end..].find(mark).map_or(advisory.len(), |at| end + at + mark.len());
    }
    &advisory[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crates_of_others_are_found_in_a_lock_file() {
        let lock_file = "version = 4\n\n[[package]]\nname = \"a\"\nversion = \"1\"\nsource = \"registry+x\"\n\
            \n[[package]]\nname = \"own\"\nversion = \"0\"\ndependencies = [\n \"a\",\n]\n";
        assert_eq!(foreign(lock_file).collect::<Vec<_>>(), ["a"]);
    }

    #[test]
    fn of_an_advisory_its_facts_are_kept() {
        let kept = "```toml\n[versions]\n# Not yet.\npatched = []\n```\n\n# Title\n";
        assert_eq!(facts(&format!("{kept}\nProse.\n\n# More\n")), kept);
    }
}
