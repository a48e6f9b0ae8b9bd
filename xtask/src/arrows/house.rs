//! A crate's modules, and which of them uses which.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use super::graph::Arrows;
use super::module::Module;
use crate::failure::Failure;

/// The files of a crate and the arrows between them: from a file to one that has what its code
/// names.
///
/// A `mod` line draws no arrow, and neither does handing a name on (`pub use`) if the file does
/// nothing else with it: who uses that name has an arrow to the file that defines it. What only
/// macros write, and methods of values that a file got from elsewhere, are not seen.
pub(super) struct House {
    /// Relative to `src`, without `.rs`; `a/mod` is `a`.
    pub(super) files: Vec<String>,
    /// For each file those that it uses, and the names.
    pub(super) arrows: Vec<BTreeMap<usize, BTreeSet<String>>>,
}

/// A module in its crate.
struct Node {
    module: Module,
    /// Its place in [`House::files`].
    file: usize,
    parent: Option<usize>,
    children: BTreeMap<String, usize>,
}

/// Where a path leads.
struct Target {
    node: usize,
    /// The module itself, not something in it.
    is_module: bool,
}

impl House {
    /// Reads the crate whose sources are in `src`.
    pub(super) fn read(src: &Path) -> Result<House, Failure> {
        let root = ["lib.rs", "main.rs"].map(|name| src.join(name)).into_iter().find(|path| path.is_file());
        let root = root.ok_or_else(|| Failure::Check(format!("no crate in {}", src.display())))?;
        let mut plan = Plan { src, files: Vec::new(), nodes: Vec::new() };
        plan.file(&root, src, None)?;
        let mut house = House { arrows: vec![BTreeMap::new(); plan.files.len()], files: plan.files };
        house.draw(&plan.nodes);
        Ok(house)
    }

    /// What stands directly under `src`: files, and each folder as one. The file that hands all
    /// names on is in it only where it does more.
    pub(super) fn rooms(&self) -> House {
        let room = |file: usize| self.files[file].split('/').next().unwrap_or_default();
        let numbers = 0..self.files.len();
        let is_face = |file: &usize| *file == 0 && self.arrows[0].is_empty();
        let names: BTreeSet<&str> = numbers.clone().filter(|file| !is_face(file)).map(room).collect();
        let number: BTreeMap<&str, usize> = names.iter().copied().zip(0..).collect();
        let mut arrows = vec![BTreeMap::<usize, BTreeSet<String>>::new(); names.len()];
        for from in numbers {
            for (to, words) in self.arrows[from].iter().filter(|(to, _)| room(**to) != room(from)) {
                let to = number.get(room(*to)).copied();
                if let Some(to) = to {
                    arrows[number[room(from)]].entry(to).or_default().extend(words.iter().cloned());
                }
            }
        }
        House { files: names.into_iter().map(str::to_owned).collect(), arrows }
    }

    /// The arrows without their names.
    pub(super) fn bare(&self) -> Arrows {
        self.arrows.iter().map(|to| to.keys().copied().collect()).collect()
    }

    /// The arrows between `files`, one a line, with the names that they are drawn for.
    pub(super) fn shown(&self, files: &[usize]) -> String {
        let mut text = String::new();
        for from in files {
            for (to, names) in self.arrows[*from].iter().filter(|(to, _)| files.contains(to)) {
                let names: Vec<&str> = names.iter().map(String::as_str).collect();
                text.push_str(&format!(
                    "  {} -> {}: {}\n",
                    self.files[*from],
                    self.files[*to],
                    names.join(", ")
                ));
            }
        }
        text
    }

    fn draw(&mut self, nodes: &[Node]) {
        for (from, node) in nodes.iter().enumerate() {
            let is_used = |name: &String| node.module.words.contains(name);
            let uses = node.module.uses.iter();
            let uses = uses.filter(|one| !one.is_handed_on || one.name.as_ref().is_some_and(is_used));
            let uses = uses.map(|one| (&one.path, one.name.is_none()));
            let paths = node.module.paths.iter().map(|path| (path, false));
            for (path, is_whole_module) in uses.chain(paths) {
                if let Some(target) = resolve(nodes, from, path, &mut BTreeSet::new())
                    && (!target.is_module || is_whole_module)
                    && let (from, to) = (node.file, nodes[target.node].file)
                    && from != to
                {
                    self.arrows[from].entry(to).or_default().extend(path.last().cloned());
                }
            }
        }
    }
}

/// The files as they are found.
struct Plan<'a> {
    src: &'a Path,
    files: Vec<String>,
    nodes: Vec<Node>,
}

impl Plan<'_> {
    /// Reads `path`; the files of its child modules are in `below`.
    fn file(&mut self, path: &Path, below: &Path, parent: Option<usize>) -> Result<usize, Failure> {
        let text =
            fs::read_to_string(path).map_err(Failure::io(format!("cannot read {}", path.display())))?;
        let name = path.strip_prefix(self.src).unwrap_or(path).with_extension("");
        let name = name.to_string_lossy();
        self.files.push(name.strip_suffix("/mod").unwrap_or(&name).to_owned());
        self.node(Module::of(&text), self.files.len() - 1, below, parent)
    }

    fn node(
        &mut self,
        mut module: Module,
        file: usize,
        below: &Path,
        parent: Option<usize>,
    ) -> Result<usize, Failure> {
        let (me, inline) = (self.nodes.len(), std::mem::take(&mut module.inline));
        let names = module.files.clone();
        self.nodes.push(Node { module, file, parent, children: BTreeMap::new() });
        for (name, child) in inline {
            let at = self.node(child, file, &below.join(&name), Some(me))?;
            self.nodes[me].children.insert(name, at);
        }
        for name in names {
            let places = [below.join(format!("{name}.rs")), below.join(&name).join("mod.rs")];
            let path: &PathBuf = places
                .iter()
                .find(|path| path.is_file())
                .ok_or_else(|| Failure::Check(format!("no file for `mod {name}` in {}", below.display())))?;
            let at = self.file(path, &below.join(&name), Some(me))?;
            self.nodes[me].children.insert(name, at);
        }
        Ok(me)
    }
}

/// Follows `path` as it is written in the module `from`, through names that are handed on. None: it
/// leads out of the crate.
fn resolve(
    nodes: &[Node],
    from: usize,
    path: &[String],
    seen: &mut BTreeSet<(usize, String)>,
) -> Option<Target> {
    let mut place = Target { node: from, is_module: true };
    for (number, segment) in path.iter().enumerate() {
        let node = &nodes[place.node];
        place = match segment.as_str() {
            "crate" => Target { node: 0, is_module: true },
            "self" => place,
            "super" => Target { node: node.parent?, is_module: true },
            name => {
                if let Some(child) = node.children.get(name) {
                    Target { node: *child, is_module: true }
                } else if let Some(one) =
                    node.module.uses.iter().find(|one| one.name.as_deref() == Some(name))
                    // A derive may have the name of what it is derived for.
                    && !node.module.items.contains(name)
                    && seen.insert((place.node, segment.clone()))
                {
                    resolve(nodes, place.node, &one.path, seen)?
                } else if number == 0 {
                    return None;
                } else {
                    Target { node: place.node, is_module: false }
                }
            }
        };
        if !place.is_module {
            break;
        }
    }
    Some(place)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A crate of these files, written to a directory of the test's own.
    fn house(test: &str, files: &[(&str, &str)]) -> House {
        let src = std::env::temp_dir().join(format!("xtask-{test}-{}", std::process::id()));
        for (name, text) in files {
            let path = src.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let house = House::read(&src);
        fs::remove_dir_all(&src).unwrap();
        house.unwrap()
    }

    #[test]
    fn arrows_lead_to_where_a_name_is_defined() {
        let files = [
            ("lib.rs", "mod a; mod b; mod c; mod d; pub use a::A; pub use b::*;"),
            (
                "a.rs",
                "use crate::b::{self, B, deep}; use serde::C; fn f() { b::deep::g(); C::d(); deep::h() }",
            ),
            ("b/mod.rs", "mod deep; pub use deep::B; pub(crate) fn x(b: other::B) {}"),
            ("b/deep.rs", "use super::x; mod inner { use super::super::x; use crate::A; }"),
            (
                "c.rs",
                "#[cfg(test)] mod tests { use crate::A; } use thiserror::Error; enum Error {} fn f(e: crate::d::Error) {}",
            ),
            ("d.rs", "use thiserror::Error; pub enum Error {}"),
        ];
        let house = house("arrows", &files);
        assert_eq!(house.files, ["lib", "a", "b", "b/deep", "c", "d"]);
        let all: Vec<usize> = (0..6).collect();
        let expected = "  a -> b/deep: B, g, h\n  b/deep -> a: A\n  b/deep -> b: x\n  c -> d: Error\n";
        assert_eq!(house.shown(&all), expected);
        let rooms = house.rooms();
        assert_eq!(rooms.shown(&[0, 1, 2]), "  a -> b: B, g, h\n  b -> a: A\n");
    }

    #[test]
    fn a_missing_file_is_named() {
        let missing = std::env::temp_dir().join("xtask-no-such-crate");
        assert!(House::read(&missing).is_err());
    }
}
