//! `ARCHITECTURE.md` is true: the crates that each crate uses, and the files that its tables name.

use std::collections::{BTreeMap, BTreeSet};

use crate::Result;
use crate::program::output;
use crate::session::Session;

const PAGE: &str = "ARCHITECTURE.md";
const CRATES: &str = "| crate | its one job | uses |";
/// Tables whose last two columns are a file, and a text in it.
const PLACES: [&str; 3] = [
    "| step | file | look for |",
    "| type | what it is | file | look for |",
    "| question | file | look for |",
];

/// Crates by name, each with the names of the crates that it uses, in its tests too.
type Uses = BTreeMap<String, BTreeSet<String>>;

pub(crate) fn check(session: &mut Session) -> Result {
    let page = session.read(PAGE)?;
    let mut tree = session.cargo(&["tree", "--workspace", "--depth", "1", "--no-dedupe", "--target", "all"]);
    tree.args(["--edges", "normal,build,dev", "--all-features", "--prefix", "depth", "--format", " {p}"]);
    let mut offences = crates_offences(&page, &uses(&output(&mut tree)?));
    for head in PLACES {
        let mut rows = rows(&page, head).peekable();
        if rows.peek().is_none() {
            offences.push(format!("no table begins with {head}"));
        }
        for row in rows {
            match row[..] {
                [.., file, word] if session.read(file).is_ok_and(|text| text.contains(word)) => {}
                _ => offences.push(format!("not true: {}", row.join(" | "))),
            }
        }
    }
    if offences.is_empty() { Ok(()) } else { Err(format!("{PAGE}:\n{}", offences.join("\n"))) }
}

/// From lines `DEPTH PACKAGE VERSION (PLACE)`; the packages of the workspace have depth 0, and
/// packages of a registry have no place.
fn uses(tree: &str) -> Uses {
    let (mut uses, mut user) = (Uses::new(), "");
    for line in tree.lines() {
        let mut words = line.split_whitespace();
        let (Some(depth), Some(package)) = (words.next(), words.next()) else { continue };
        let name = package.strip_prefix("netassay-").unwrap_or(package);
        if depth == "0" {
            user = name;
        }
        let used = uses.entry(user.to_owned()).or_default();
        if depth != "0" && words.any(|word| word.starts_with("(/")) {
            used.insert(name.to_owned());
        }
    }
    uses
}

/// The cells of a table without its head.
fn rows<'a>(page: &'a str, head: &'a str) -> impl Iterator<Item = Vec<&'a str>> {
    let rows = page.lines().skip_while(move |line| *line != head).skip(2);
    let rows = rows.take_while(|line| line.starts_with('|'));
    rows.map(|line| line.trim_matches('|').split('|').map(|cell| cell.trim().trim_matches('`')).collect())
}

fn crates_offences(page: &str, uses: &Uses) -> Vec<String> {
    let mut offences = Vec::new();
    let mut listed = BTreeSet::new();
    for row in rows(page, CRATES) {
        let (name, cell) = (row[0], format!("`{}`", row[row.len() - 1]));
        listed.insert(name.to_owned());
        let used =
            uses.get(name).map(|used| used.iter().map(|other| format!("`{other}`")).collect::<Vec<_>>());
        match used.map(|used| used.join(", ")) {
            None => offences.push(format!("no crate is called `{name}`")),
            Some(_) if cell == "`all`" => {}
            Some(used) if used == cell || used.is_empty() && cell == "`nothing`" => {}
            Some(used) => offences.push(format!("`{name}` uses {used}, and may use {cell}")),
        }
    }
    let unlisted = uses.keys().filter(|name| !listed.contains(*name));
    offences.extend(unlisted.map(|name| format!("the crate `{name}` is not in the table of the crates")));
    offences
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_crates_use_what_the_table_says() {
        let uses = uses("0 netassay-x v0 (/a)\n1 serde v1\n1 netassay-y v0 (/b)\n\n0 netassay-y v0 (/b)\n");
        let offences = |x: &str, y: &str| {
            let rows = format!("| `x` | one | {x} |\n| `{y}` | two | nothing |\n\n| `z` | | |");
            crates_offences(&format!("{CRATES}\n|---|---|---|\n{rows}"), &uses)
        };
        assert!(offences("`y`", "y").is_empty() && offences("all", "y").is_empty());
        assert_eq!(offences("nothing", "y"), ["`x` uses `y`, and may use `nothing`"]);
        assert_eq!(offences("`w`, `y`", "y"), ["`x` uses `y`, and may use `w`, `y`"]);
        let unknown = ["no crate is called `w`", "the crate `y` is not in the table of the crates"];
        assert_eq!(offences("`y`", "w"), unknown);
    }
}
