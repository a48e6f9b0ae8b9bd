//! The probe points that a kernel offers.

use std::collections::{BTreeSet, HashSet};
use std::fs::File;
use std::io::Read;
use std::path;

use crate::btf::Btf;
use crate::path::TracePath;

const SYMBOLS: &str = "proc/kallsyms";
pub(crate) const BTF: &str = "sys/kernel/btf/vmlinux";
/// More than any kernel's list of symbols or types has, in bytes.
const MOST: u64 = 256 << 20;

/// The probe points that a kernel offers, of those that paths name. A list that cannot be read is
/// replaced by the reason.
#[derive(Clone, Debug)]
pub struct OfferedProbes {
    /// The functions of the kernel and its modules, with suffixes that the compiler gave.
    pub functions: Result<BTreeSet<String>, String>,
    /// The kernel's own types.
    pub types: Result<Btf, String>,
}

impl OfferedProbes {
    /// Reads what the running kernel offers for these paths.
    pub fn read(paths: &[TracePath]) -> Self {
        Self::read_from(path::Path::new("/"), paths)
    }

    fn read_from(root: &path::Path, paths: &[TracePath]) -> Self {
        let bytes = |name: &str| {
            let mut bytes = Vec::new();
            let read = File::open(root.join(name)).and_then(|file| file.take(MOST).read_to_end(&mut bytes));
            read.map(|_| bytes).map_err(|error| format!("/{name} cannot be read: {error}"))
        };
        let stages = paths.iter().flat_map(|path| &path.stages);
        let names = stages.flat_map(|stage| [&stage.ipv4, &stage.ipv6, &stage.tracepoints]).flatten();
        let names: HashSet<&str> = names.map(String::as_str).collect();
        // A compiler's copy of a function has a dot behind the name.
        let wanted = |symbol: &str| symbol.split('.').next().is_some_and(|name| names.contains(name));
        Self {
            functions: bytes(SYMBOLS).map(|list| functions(&String::from_utf8_lossy(&list), wanted)),
            types: bytes(BTF)
                .and_then(|bytes| Btf::parse(&bytes, wanted).map_err(|error| format!("/{BTF}: {error}"))),
        }
    }
}

/// The functions that are `wanted` by name in the kernel's list of symbols: lines of address, type,
/// name and module. More than 100,000 lines.
pub fn functions(list: &str, wanted: impl Fn(&str) -> bool) -> BTreeSet<String> {
    let function = |line: &str| {
        let mut words = line.split_ascii_whitespace().skip(1);
        let (kind, name) = (words.next()?, words.next()?);
        let is_code = matches!(kind, "t" | "T" | "w" | "W");
        let printable = || name.bytes().all(|byte| byte.is_ascii_graphic());
        (is_code && wanted(name) && printable()).then(|| name.to_owned())
    };
    list.lines().filter_map(function).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_those_symbols_that_are_code() {
        let list = "ffff0 T udp_sendmsg\nffff1 d jiffies\n0 t veth_xmit\t[veth]\nbad\n0 W a\u{7}b\n";
        assert_eq!(functions(list, |_| true), ["udp_sendmsg", "veth_xmit"].map(str::to_owned).into());
    }

    #[test]
    fn copies_of_what_paths_name_are_kept() {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir(root.path().join("proc")).unwrap();
        let list = "0 T udp_sendmsg\n0 t udp_sendmsg.part.0\n0 t udp_sendmsg_x\n0 t ip_output\n";
        std::fs::write(root.path().join(SYMBOLS), list).unwrap();
        let stage = "lane = \"ip\"\nfunctions";
        let text = format!(
            "about = \"x\"\nworkload = \"udp_rr\"\n[[stage]]\nlabel = \"a\"\n{stage} = [\"udp_sendmsg\"]\n\
             [[stage]]\nlabel = \"b\"\n{stage} = [\"b\"]\n"
        );
        let offered = OfferedProbes::read_from(root.path(), &[TracePath::parse("a path", &text).unwrap()]);
        assert_eq!(
            offered.functions.unwrap(),
            ["udp_sendmsg", "udp_sendmsg.part.0"].map(str::to_owned).into()
        );
    }

    #[test]
    fn a_list_that_is_missing_has_its_reason() {
        let root = tempfile::tempdir().unwrap();
        let offered = OfferedProbes::read_from(root.path(), &[]);
        assert!(offered.functions.unwrap_err().contains("/proc/kallsyms cannot be read"));
        assert!(offered.types.unwrap_err().contains("/sys/kernel/btf/vmlinux cannot be read"));
    }
}
