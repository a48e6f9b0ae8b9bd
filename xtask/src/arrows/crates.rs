//! The crates of the workspace, which of them each knows, and which it may know.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use crate::failure::Failure;
use crate::workspace::Workspace;

/// A crate of the workspace.
pub(super) struct Crate {
    /// Its name without the product's (`host`, not `netassay-host`).
    pub(super) name: String,
    pub(super) src: PathBuf,
    /// The crates of the workspace that its manifest names, for its tests too.
    pub(super) knows: BTreeSet<String>,
}

/// All crates, by name.
pub(super) fn all(workspace: &Workspace) -> Result<Vec<Crate>, Failure> {
    let mut manifests: Vec<String> = workspace.tracked_files()?;
    manifests.retain(|name| name.ends_with("/Cargo.toml") && !name.starts_with("fuzz/"));
    let mut texts = Vec::new();
    for manifest in manifests {
        let path = workspace.root.join(&manifest);
        let text =
            fs::read_to_string(&path).map_err(Failure::io(format!("cannot read {}", path.display())))?;
        let folder = manifest.trim_end_matches("/Cargo.toml").to_owned();
        texts.push((folder, text));
    }
    let name = |folder: &str| folder.rsplit('/').next().unwrap_or(folder).to_owned();
    let names: BTreeSet<String> = texts.iter().map(|(folder, _)| name(folder)).collect();
    let read = |(folder, text): &(String, String)| Crate {
        name: name(folder),
        src: workspace.root.join(folder).join("src"),
        knows: dependencies(text).filter(|name| names.contains(*name)).map(str::to_owned).collect(),
    };
    Ok(texts.iter().map(read).collect())
}

/// What a manifest names under `[dependencies]` and `[dev-dependencies]`.
fn dependencies(manifest: &str) -> impl Iterator<Item = &str> {
    let mut is_inside = false;
    manifest.lines().filter_map(move |line| {
        if line.starts_with('[') {
            is_inside = line.ends_with("dependencies]");
        }
        let end = line.find(|c: char| !(c.is_alphanumeric() || c == '-' || c == '_'))?;
        (is_inside && end > 0).then(|| &line[..end])
    })
}

/// The table of the crates in `ARCHITECTURE.md`: name, job, what it may know. None: everything.
pub(super) fn allowed(text: &str) -> BTreeMap<String, Option<BTreeSet<String>>> {
    let rows = text.lines().skip_while(|line| !line.starts_with("| crate |")).skip(2);
    let rows = rows.take_while(|line| line.starts_with('|'));
    let row = |line: &str| {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let names = |cell: &str| cell.split('`').skip(1).step_by(2).map(str::to_owned).collect();
        let knows = cells.last()?;
        Some((cells[0].trim_matches('`').to_owned(), (*knows != "all").then(|| names(knows))))
    };
    rows.filter_map(row).collect()
}

/// Where manifests and table differ.
pub(super) fn offences(
    crates: &[Crate],
    allowed: &BTreeMap<String, Option<BTreeSet<String>>>,
) -> Vec<String> {
    let mut offences = Vec::new();
    for one in crates {
        let name = &one.name;
        match allowed.get(name) {
            None => offences.push(format!("the crate `{name}` is not in the table of the crates")),
            Some(None) => {}
            Some(Some(may)) => {
                let more = one.knows.difference(may).map(|other| format!("`{name}` may not know `{other}`"));
                let less = may.difference(&one.knows).map(|other| {
                    format!("`{name}` may know `{other}`, but does not: take it out of the table")
                });
                offences.extend(more.chain(less));
            }
        }
    }
    let is_gone = |name: &&String| crates.iter().all(|one| one.name != **name);
    offences.extend(allowed.keys().filter(is_gone).map(|name| format!("no crate is called `{name}`")));
    offences
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "| a | b |\n\n| crate | its one job | knows |\n|---|---|---|\n| `x` | `y` it | nothing |\n\
        | `y` | it | `x`, `z` |\n| `z` | it | all |\n\n| w |\n";

    #[test]
    fn manifests_name_dependencies() {
        let text = "[package]\nname = \"n\"\n[dependencies]\na.workspace = true\nb-c = { workspace = true }\n\n\
            [dev-dependencies]\nd = \"1\"\n[lints]\nworkspace = true\n";
        assert_eq!(dependencies(text).collect::<Vec<_>>(), ["a", "b-c", "d"]);
    }

    #[test]
    fn the_table_and_the_manifests_say_the_same() {
        let of = |name: &str, knows: &[&str]| Crate {
            name: name.into(),
            src: PathBuf::new(),
            knows: knows.iter().map(|name| (*name).to_owned()).collect(),
        };
        let allowed = allowed(TABLE);
        assert_eq!(allowed.len(), 3);
        let house = |x: &[&str], y: &[&str]| [of("x", x), of("y", y), of("z", &["x", "y"])];
        assert!(offences(&house(&[], &["x", "z"]), &allowed).is_empty());
        assert_eq!(offences(&house(&["y"], &["x", "z"]), &allowed), ["`x` may not know `y`"]);
        let stale = "`y` may know `z`, but does not: take it out of the table";
        assert_eq!(offences(&house(&[], &["x"]), &allowed), [stale]);
        assert_eq!(offences(&[of("v", &[])], &allowed).len(), 4);
    }
}
