//! Which modules a kernel has built in.

use std::collections::BTreeSet;

use crate::modinfo::plain_name;

/// The names in the text of a `modules.builtin`: one path a line, such as
/// `kernel/drivers/net/veth.ko`.
pub(crate) fn names(text: &str) -> BTreeSet<String> {
    text.lines()
        .filter_map(|line| line.trim().rsplit('/').next()?.strip_suffix(".ko"))
        .map(plain_name)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_become_names() {
        let text = "kernel/fs/binfmt_elf.ko\nkernel/crypto/crc32c-generic.ko\n\nno module\n";
        assert_eq!(names(text).into_iter().collect::<Vec<_>>(), ["binfmt_elf", "crc32c_generic"]);
    }
}
