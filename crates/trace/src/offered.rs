//! What a kernel offers to probe.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use crate::btf::Btf;

const SYMBOLS: &str = "proc/kallsyms";
pub(crate) const BTF: &str = "sys/kernel/btf/vmlinux";
/// More than any kernel's list of symbols or types has, in bytes.
const MOST: u64 = 256 << 20;

/// What a kernel offers to probe. A list that cannot be read has its reason in its place.
#[derive(Clone, Debug)]
pub struct Offered {
    /// The functions of the kernel and its modules, with suffixes that the compiler gave.
    pub functions: Result<BTreeSet<String>, String>,
    /// The kernel's own types.
    pub types: Result<Btf, String>,
}

impl Offered {
    /// Reads what the running kernel offers.
    pub fn read() -> Self {
        Self::of(Path::new("/"))
    }

    fn of(root: &Path) -> Self {
        let bytes = |name: &str| {
            let mut bytes = Vec::new();
            let read = File::open(root.join(name)).and_then(|file| file.take(MOST).read_to_end(&mut bytes));
            read.map(|_| bytes).map_err(|error| format!("/{name} cannot be read: {error}"))
        };
        Self {
            functions: bytes(SYMBOLS).map(|list| functions(&String::from_utf8_lossy(&list))),
            types: bytes(BTF)
                .and_then(|bytes| Btf::parse(&bytes).map_err(|error| format!("/{BTF}: {error}"))),
        }
    }
}

/// The functions in the kernel's list of symbols: lines of address, type, name and module.
pub fn functions(list: &str) -> BTreeSet<String> {
    let function = |line: &str| {
        let mut words = line.split_ascii_whitespace().skip(1);
        let (kind, name) = (words.next()?, words.next()?);
        let printable = name.bytes().all(|byte| byte.is_ascii_graphic());
        (matches!(kind, "t" | "T" | "w" | "W") && printable).then(|| name.to_owned())
    };
    list.lines().filter_map(function).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_those_symbols_that_are_code() {
        let list = "ffff0 T udp_sendmsg\nffff1 d jiffies\n0 t veth_xmit\t[veth]\nbad\n0 W a\u{7}b\n";
        assert_eq!(functions(list), ["udp_sendmsg", "veth_xmit"].map(str::to_owned).into());
    }

    #[test]
    fn a_list_that_is_missing_has_its_reason() {
        let root = tempfile::tempdir().unwrap();
        let offered = Offered::of(root.path());
        assert!(offered.functions.unwrap_err().contains("/proc/kallsyms cannot be read"));
        assert!(offered.types.unwrap_err().contains("/sys/kernel/btf/vmlinux cannot be read"));
    }
}
