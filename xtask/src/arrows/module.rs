//! What one module says of others: its `mod` lines, its `use` lines, and the paths in its code.

use std::collections::BTreeSet;

use super::source;

/// A module as its source has it, before any path is followed.
#[derive(Debug, Default)]
pub(super) struct Module {
    /// `mod name;`
    pub(super) files: Vec<String>,
    /// `mod name { … }`
    pub(super) inline: Vec<(String, Module)>,
    pub(super) uses: Vec<Use>,
    /// Paths of two words or more outside `use` lines.
    pub(super) paths: BTreeSet<Vec<String>>,
    /// Items of its own, but for those inside others.
    pub(super) items: BTreeSet<String>,
    /// Words outside `use` lines.
    pub(super) words: BTreeSet<String>,
}

/// One name that a `use` line brings in.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Use {
    pub(super) path: Vec<String>,
    /// What it is called here; none for `_` and `*`.
    pub(super) name: Option<String>,
    /// It is handed on to other modules.
    pub(super) is_handed_on: bool,
}

impl Module {
    pub(super) fn of(text: &str) -> Module {
        let mut reader = Reader { tokens: source::tokens(text), at: 0 };
        reader.module()
    }
}

/// What stands before the name of an item.
const ITEMS: [&str; 8] = ["struct", "enum", "union", "trait", "type", "fn", "const", "static"];

struct Reader<'a> {
    tokens: Vec<&'a str>,
    at: usize,
}

impl<'a> Reader<'a> {
    fn peek(&self) -> &'a str {
        self.tokens.get(self.at).copied().unwrap_or("")
    }

    fn before(&self, back: usize) -> &'a str {
        self.at.checked_sub(back).map_or("", |at| self.tokens[at])
    }

    fn next(&mut self) -> &'a str {
        let token = self.peek();
        self.at += 1;
        token
    }

    /// A module up to the brace that closes it, or to the end.
    fn module(&mut self) -> Module {
        let (mut module, mut depth) = (Module::default(), 0);
        while self.at < self.tokens.len() {
            match self.peek() {
                "{" => depth += 1,
                "}" if depth == 0 => return module,
                "}" => depth -= 1,
                "mod" => {
                    self.at += 1;
                    let name = self.next().to_owned();
                    if self.peek() == "{" {
                        self.at += 1;
                        module.inline.push((name, self.module()));
                    } else {
                        module.files.push(name);
                    }
                }
                "use" => {
                    let is_handed_on = matches!(self.before(1), "pub" | ")");
                    self.at += 1;
                    self.tree(&mut Vec::new(), is_handed_on, &mut module.uses);
                }
                word if is_name(word) => {
                    if depth == 0 && ITEMS.contains(&self.before(1)) {
                        module.items.insert(word.to_owned());
                    }
                    self.path(&mut module);
                    continue;
                }
                _ => {}
            }
            self.at += 1;
        }
        module
    }

    /// Words joined by `::`. Those of `pub(in …)` name no item, and those behind `.` or `::` are
    /// members.
    fn path(&mut self, module: &mut Module) {
        let is_start = !matches!(self.before(1), "." | "::") && self.before(3) != "pub";
        let mut path = vec![self.next().to_owned()];
        while self.peek() == "::" && self.tokens.get(self.at + 1).is_some_and(|word| is_name(word)) {
            self.at += 1;
            path.push(self.next().to_owned());
        }
        if is_start {
            module.words.insert(path[0].clone());
            if path.len() > 1 {
                module.paths.insert(path);
            }
        }
    }

    /// What stands behind `use`, or between the braces of it; stops at the token behind it.
    fn tree(&mut self, prefix: &mut Vec<String>, is_handed_on: bool, uses: &mut Vec<Use>) {
        let length = prefix.len();
        loop {
            match self.next() {
                "{" => {
                    while self.peek() != "}" && !self.peek().is_empty() {
                        self.tree(prefix, is_handed_on, uses);
                        if self.peek() == "," {
                            self.at += 1;
                        }
                    }
                    self.at += 1;
                    break;
                }
                "*" => {
                    uses.push(Use { path: prefix.clone(), name: None, is_handed_on });
                    break;
                }
                word => prefix.push(word.to_owned()),
            }
            if self.peek() == "::" {
                self.at += 1;
                continue;
            }
            if prefix.len() > 1 && prefix.last().is_some_and(|last| last == "self") {
                prefix.pop();
            }
            let mut name = prefix.last().cloned();
            if self.peek() == "as" {
                self.at += 1;
                name = Some(self.next().to_owned()).filter(|name| name != "_");
            }
            uses.push(Use { path: prefix.clone(), name, is_handed_on });
            break;
        }
        prefix.truncate(length);
    }
}

fn is_name(token: &str) -> bool {
    token.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(module: &Module) -> Vec<String> {
        let of = |one: &Use| {
            let name = one.name.as_deref().unwrap_or("-");
            format!("{} {name}{}", one.path.join("::"), if one.is_handed_on { " on" } else { "" })
        };
        module.uses.iter().map(of).collect()
    }

    #[test]
    fn use_lines() {
        let module = Module::of(
            "use a::{b, c::{self, d as e, f as _}, g::*}; pub use super::h; pub(crate) use self::i::J; use k;",
        );
        let expected = [
            "a::b b",
            "a::c c",
            "a::c::d e",
            "a::c::f -",
            "a::g -",
            "super::h h on",
            "self::i::J J on",
            "k k",
        ];
        assert_eq!(shown(&module), expected);
        assert!(module.words.iter().all(|word| matches!(word.as_str(), "pub" | "crate")), "{module:?}");
    }

    #[test]
    fn modules_and_paths() {
        let module = Module::of(
            "mod a; pub(in crate::z) mod b { use super::X; fn f() {} } struct S { t: u8 } fn g(x: &'_ Y) -> crate::c::D<e::F> { x.h::i() }",
        );
        assert_eq!(module.files, ["a"]);
        assert_eq!(shown(&module.inline[0].1), ["super::X X"]);
        let paths: Vec<_> = module.paths.iter().map(|path| path.join("::")).collect();
        assert_eq!(paths, ["crate::c::D", "e::F"]);
        assert_eq!(module.items.iter().collect::<Vec<_>>(), ["S", "g"]);
        assert!(module.words.contains("Y") && !module.words.contains("X"));
    }
}
