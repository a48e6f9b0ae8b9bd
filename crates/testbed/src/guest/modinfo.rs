//! Reads the description in a kernel module.

use crate::guest::elf::section;

/// The fields of a module's `.modinfo` that are needed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ModuleInfo {
    /// The modules whose symbols it uses.
    pub(crate) depends: Vec<String>,
    /// Optional modules that must be loaded before it.
    pub(crate) after: Vec<String>,
    /// The release that it was built for.
    pub(crate) release: Option<String>,
}

/// Reads the `.modinfo` of a module file (unpacked): texts of the form `key=value`, each ended by a
/// zero byte. `None` if `file` is not a module.
pub(crate) fn module_info(file: &[u8]) -> Option<ModuleInfo> {
    let mut info = ModuleInfo::default();
    for entry in section(file, ".modinfo")?.split(|&byte| byte == 0) {
        let Ok(entry) = std::str::from_utf8(entry) else { continue };
        match entry.split_once('=') {
            Some(("depends", list)) => info.depends.extend(names(list.split(','))),
            Some(("softdep", text)) => info.after.extend(names(before(text))),
            Some(("vermagic", text)) => info.release = text.split(' ').next().map(str::to_owned),
            _ => {}
        }
    }
    Some(info)
}

/// The words between "pre:" and "post:" of "pre: a b post: c".
fn before(text: &str) -> impl Iterator<Item = &str> {
    let mut pre = false;
    text.split_whitespace().filter(move |word| {
        if let Some(place) = word.strip_suffix(':') {
            pre = place == "pre";
            return false;
        }
        pre
    })
}

fn names<'a>(words: impl Iterator<Item = &'a str>) -> Vec<String> {
    words.filter(|word| !word.is_empty()).map(plain_name).collect()
}

/// A module's name in the kernel: file names may have dashes instead.
pub(crate) fn plain_name(name: &str) -> String {
    name.replace('-', "_")
}

#[cfg(test)]
pub(crate) mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A file with one section besides that of the names.
    pub(crate) fn module(modinfo: &[u8]) -> Vec<u8> {
        let names = b"\0.modinfo\0";
        let mut file = vec![0u8; 64];
        file[..7].copy_from_slice(b"\x7fELF\x02\x01\x01");
        file.extend_from_slice(names);
        file.extend_from_slice(modinfo);
        let sections = file.len() as u64;
        file[0x28..0x30].copy_from_slice(&sections.to_le_bytes());
        file[0x3a] = 64;
        file[0x3c] = 3;
        file[0x3e] = 1;
        for (name, offset, size) in [(0u32, 0, 0), (0, 64, names.len()), (1, 64 + names.len(), modinfo.len())]
        {
            let mut header = [0u8; 64];
            header[..4].copy_from_slice(&name.to_le_bytes());
            header[0x18..0x20].copy_from_slice(&(offset as u64).to_le_bytes());
            header[0x20..0x28].copy_from_slice(&(size as u64).to_le_bytes());
            file.extend_from_slice(&header);
        }
        file
    }

    #[test]
    fn dependencies_are_read_with_the_names_that_the_kernel_uses() {
        let text = b"license=GPL\0depends=udp_tunnel,ip6-udp-tunnel\0softdep=pre: crc32c a-b post: x\0vermagic=6.1.0 SMP\0";
        let info = module_info(&module(text)).unwrap();
        assert_eq!(info.depends, ["udp_tunnel", "ip6_udp_tunnel"]);
        assert_eq!(info.after, ["crc32c", "a_b"]);
        assert_eq!(info.release.as_deref(), Some("6.1.0"));
        assert_eq!(module_info(&module(b"depends=\0")).unwrap(), ModuleInfo::default());
        assert_eq!(module_info(b"text"), None);
    }

    proptest! {
        #[test]
        fn any_section_is_read(text in prop::collection::vec(any::<u8>(), 0..200)) {
            prop_assert!(module_info(&module(&text)).is_some());
        }
    }
}
