//! The module files of a guest, in loading order. Packages lack `modules.dep` until they are
//! installed, so each module is read.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use host::user_file;

use crate::error::Error;
use crate::guest::modinfo::{ModuleInfo, module_info, plain_name};
use crate::guest::unpack::{ENDINGS, MOST, unpack};

#[derive(Debug, Default)]
pub(crate) struct Modules {
    files: BTreeMap<String, PathBuf>,
    builtin: BTreeSet<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Module {
    pub(crate) name: String,
    pub(crate) contents: Vec<u8>,
}

/// The modules to load, and the optional ones that are missing.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct ChosenModules {
    pub(crate) load: Vec<Module>,
    /// Requested, but neither built in nor present as a file.
    pub(crate) absent: Vec<String>,
}

impl Modules {
    /// Reads `directory`, a `…/lib/modules/RELEASE`.
    ///
    /// # Errors
    /// When it cannot be read.
    pub(crate) fn read(directory: &Path) -> Result<Self, Error> {
        let mut files = BTreeMap::new();
        let mut pending = vec![directory.to_owned()];
        while let Some(directory) = pending.pop() {
            for entry in fs::read_dir(&directory).map_err(Error::read(&directory))? {
                let entry = entry.map_err(Error::read(&directory))?;
                let path = entry.path();
                // Links (`build`, `source`) lead to headers, not to modules.
                match entry.file_type() {
                    Ok(kind) if kind.is_dir() => pending.push(path),
                    Ok(kind) if kind.is_file() => {
                        if let Some(name) = name_of(&entry.file_name().to_string_lossy()) {
                            files.insert(name, path);
                        }
                    }
                    _ => {}
                }
            }
        }
        // A kernel without the list has nothing built in that is known: what it has shows when the
        // guest runs.
        let builtin = user_file::read(&directory.join("modules.builtin"), MOST).unwrap_or_default();
        Ok(Self { files, builtin: built_in(&String::from_utf8_lossy(&builtin)) })
    }

    /// Whether it is built in or present as a file.
    pub(crate) fn has(&self, name: &str) -> bool {
        let name = plain_name(name);
        self.builtin.contains(&name) || self.files.contains_key(&name)
    }

    /// The modules `wanted` and their dependencies, each after what it needs.
    ///
    /// # Errors
    /// A file that cannot be read or is not a module.
    pub(crate) fn choose(&self, wanted: &[String]) -> Result<ChosenModules, Error> {
        let mut chosen = ChosenModules {
            load: Vec::new(),
            absent: wanted.iter().filter(|name| !self.has(name)).cloned().collect(),
        };
        let mut files = BTreeMap::new();
        let order = order(wanted, |name| -> Result<_, Error> {
            let Some(path) = self.files.get(name) else { return Ok(None) };
            let contents = user_file::read(path, MOST).map_err(Error::read(path))?;
            let broken = |why: String| {
                Error::Failed(format!("cannot use the kernel module {}: {why}", path.display()))
            };
            let contents = unpack(&contents).map_err(broken)?.unwrap_or(contents);
            let info =
                module_info(&contents).ok_or_else(|| broken("it is not a kernel module".to_owned()))?;
            files.insert(name.to_owned(), contents);
            Ok(Some(info))
        })?;
        for name in order {
            let contents = files.remove(&name).unwrap_or_default();
            chosen.load.push(Module { name, contents });
        }
        Ok(chosen)
    }
}

/// The names in a `modules.builtin`: one path a line, such as `kernel/drivers/net/veth.ko`.
pub(crate) fn built_in(text: &str) -> BTreeSet<String> {
    text.lines()
        .filter_map(|line| line.trim().rsplit('/').next()?.strip_suffix(".ko"))
        .map(plain_name)
        .collect()
}

fn name_of(file: &str) -> Option<String> {
    ENDINGS.iter().find_map(|ending| file.strip_suffix(ending)).map(plain_name)
}

/// Sorts modules after their dependencies. `info` returns a module's dependencies, or `None`
/// without a file (built in, or missing); it is called once for each name.
pub(crate) fn order<E>(
    wanted: &[String],
    mut info: impl FnMut(&str) -> Result<Option<ModuleInfo>, E>,
) -> Result<Vec<String>, E> {
    enum Step {
        Enter(String),
        Leave(String),
    }
    let mut order = Vec::new();
    let mut seen = BTreeSet::new();
    // Not recursive: a file decides the depth.
    let mut steps: Vec<Step> = wanted.iter().rev().map(|name| Step::Enter(plain_name(name))).collect();
    while let Some(step) = steps.pop() {
        match step {
            Step::Leave(name) => order.push(name),
            Step::Enter(name) => {
                // A circle ends here: the kernel rejects such modules.
                if !seen.insert(name.clone()) {
                    continue;
                }
                if let Some(info) = info(&name)? {
                    steps.push(Step::Leave(name));
                    steps.extend(info.after.into_iter().chain(info.depends).rev().map(Step::Enter));
                }
            }
        }
    }
    Ok(order)
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use proptest::prelude::*;

    use super::*;

    fn ordered(wanted: &[&str], needs: &BTreeMap<String, Vec<String>>) -> Vec<String> {
        let wanted: Vec<String> = wanted.iter().map(ToString::to_string).collect();
        let info = |name: &str| {
            Ok::<_, Infallible>(
                needs
                    .get(name)
                    .map(|depends| ModuleInfo { depends: depends.clone(), ..ModuleInfo::default() }),
            )
        };
        order(&wanted, info).unwrap()
    }

    #[test]
    fn each_comes_after_what_it_needs_and_once() {
        let needs = [
            ("virtio-net", "net_failover virtio"),
            ("net_failover", "failover"),
            ("failover", ""),
            ("virtio", ""),
            ("b", "virtio"),
        ];
        let needs = needs
            .map(|(name, list)| {
                (plain_name(name), list.split(' ').filter(|n| !n.is_empty()).map(str::to_owned).collect())
            })
            .into();
        assert_eq!(
            ordered(&["virtio-net", "b", "builtin"], &needs),
            ["failover", "net_failover", "virtio", "virtio_net", "b"]
        );
    }

    #[test]
    fn files_of_all_kinds_have_names() {
        assert_eq!(name_of("ip6-tunnel.ko.xz").as_deref(), Some("ip6_tunnel"));
        assert_eq!(name_of("veth.ko").as_deref(), Some("veth"));
        assert_eq!(name_of("modules.dep"), None);
        let text = "kernel/fs/binfmt_elf.ko\nkernel/crypto/crc32c-generic.ko\n\nno module\n";
        assert_eq!(built_in(text).into_iter().collect::<Vec<_>>(), ["binfmt_elf", "crc32c_generic"]);
    }

    proptest! {
        #[test]
        fn any_graph_is_ordered(edges in prop::collection::vec((0u8..12, 0u8..12), 0..40), wanted in prop::collection::vec(0u8..12, 0..5)) {
            let mut needs: BTreeMap<String, Vec<String>> = BTreeMap::new();
            for (from, to) in &edges {
                needs.entry(from.to_string()).or_default().push(to.to_string());
                needs.entry(to.to_string()).or_default();
            }
            let names: Vec<String> = wanted.iter().map(u8::to_string).collect();
            let words: Vec<&str> = names.iter().map(String::as_str).collect();
            let order = ordered(&words, &needs);
            let place = |name: &String| order.iter().position(|other| other == name);
            prop_assert_eq!(order.iter().collect::<BTreeSet<_>>().len(), order.len());
            // Numbers that only grow along the edges mean no circle, and then every edge must hold.
            if edges.iter().all(|(from, to)| from < to) {
                for name in &order {
                    for need in &needs[name] {
                        prop_assert!(place(need) < place(name));
                    }
                }
            }
        }
    }
}
