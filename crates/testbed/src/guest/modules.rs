//! A guest's modules in loading order, read from the module files: packages lack `modules.dep`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{Cursor, Read};
use std::path::{Path, PathBuf};

use host::user_file;

use crate::error::Error;
use crate::guest::image::section;

#[derive(Debug, Default)]
pub(crate) struct Modules {
    files: BTreeMap<String, PathBuf>,
    builtin: BTreeSet<String>,
}

/// The name and the unpacked contents.
pub(crate) type ModuleFile = (String, Vec<u8>);

impl Modules {
    /// `directory`: a `…/lib/modules/RELEASE`.
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
                        let name = name_of(&entry.file_name().to_string_lossy());
                        files.extend(name.map(|name| (name, path)));
                    }
                    _ => {}
                }
            }
        }
        // Drivers of a kernel without the list show when the guest runs.
        let builtin = user_file::read(&directory.join("modules.builtin"), MOST).unwrap_or_default();
        Ok(Self { files, builtin: built_in(&String::from_utf8_lossy(&builtin)) })
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        let name = plain_name(name);
        self.builtin.contains(&name) || self.files.contains_key(&name)
    }

    pub(crate) fn in_loading_order(&self, wanted: &[String]) -> Result<Vec<ModuleFile>, Error> {
        let mut files = BTreeMap::new();
        let order = order(wanted, |name| -> Result<_, Error> {
            let Some(path) = self.files.get(name) else { return Ok(None) };
            let contents = user_file::read(path, MOST).map_err(Error::read(path))?;
            let broken = |why: String| {
                Error::Failed(format!("cannot use the kernel module {}: {why}", path.display()))
            };
            let unpacked = unpack(&contents).map_err(|error| broken(error.to_string()))?;
            let contents = unpacked.unwrap_or(contents);
            let needs =
                dependencies(&contents).ok_or_else(|| broken("it is not a kernel module".to_owned()))?;
            files.insert(name.to_owned(), contents);
            Ok(Some(needs))
        })?;
        Ok(order.into_iter().filter_map(|name| files.remove_entry(&name)).collect())
    }
}

/// One path a line, such as `kernel/drivers/net/veth.ko`.
pub(crate) fn built_in(text: &str) -> BTreeSet<String> {
    text.lines()
        .filter_map(|line| line.trim().rsplit('/').next()?.strip_suffix(".ko"))
        .map(plain_name)
        .collect()
}

fn name_of(file: &str) -> Option<String> {
    ENDINGS.iter().find_map(|ending| file.strip_suffix(ending)).map(plain_name)
}

/// `needs` is called once for each name; `None`: no file (built in, or missing).
pub(crate) fn order<E>(
    wanted: &[String],
    mut needs: impl FnMut(&str) -> Result<Option<Vec<String>>, E>,
) -> Result<Vec<String>, E> {
    enum VisitStep {
        Enter(String),
        Leave(String),
    }
    let mut order = Vec::new();
    let mut seen = BTreeSet::new();
    // Not recursive: a file decides the depth.
    let mut steps: Vec<VisitStep> =
        wanted.iter().rev().map(|name| VisitStep::Enter(plain_name(name))).collect();
    while let Some(step) = steps.pop() {
        match step {
            VisitStep::Leave(name) => order.push(name),
            VisitStep::Enter(name) => {
                // A circle ends here: the kernel rejects such modules.
                if !seen.insert(name.clone()) {
                    continue;
                }
                if let Some(needs) = needs(&name)? {
                    steps.push(VisitStep::Leave(name));
                    steps.extend(needs.into_iter().rev().map(VisitStep::Enter));
                }
            }
        }
    }
    Ok(order)
}

/// The `.modinfo` holds texts of the form `key=value`, each ended by a zero byte.
pub(crate) fn dependencies(file: &[u8]) -> Option<Vec<String>> {
    let entries = section(file, ".modinfo")?.split(|&byte| byte == 0);
    let lists = entries.filter_map(|entry| str::from_utf8(entry).ok()?.strip_prefix("depends="));
    let names = lists.flat_map(|list| list.split(',')).filter(|name| !name.is_empty());
    Some(names.map(plain_name).collect())
}

pub(crate) fn plain_name(name: &str) -> String {
    name.replace('-', "_")
}

// Limit of an unpacked module, in bytes: the largest ones (graphics drivers) have about 20 MB.
const MOST: u64 = 128 << 20;

const ENDINGS: [&str; 4] = [".ko", ".ko.xz", ".ko.gz", ".ko.zst"];

/// Why a module cannot be unpacked.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{format}: {why}")]
pub(crate) struct UnpackError {
    format: &'static str,
    why: String,
}

/// `None` for anything that is not packed.
pub(crate) fn unpack(packed: &[u8]) -> Result<Option<Vec<u8>>, UnpackError> {
    let failed = |format, why| UnpackError { format, why };
    let (format, reader): (_, Box<dyn Read + '_>) = match packed {
        [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => {
            ("xz", Box::new(xz4rust::XzReader::new(Cursor::new(packed.to_vec()))))
        }
        [0x1f, 0x8b, ..] => ("gzip", Box::new(flate2::bufread::GzDecoder::new(packed))),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => {
            let decoder = ruzstd::decoding::StreamingDecoder::new(packed);
            ("zstd", Box::new(decoder.map_err(|error| failed("zstd", error.to_string()))?))
        }
        _ => return Ok(None),
    };
    let mut unpacked = Vec::new();
    let read = reader.take(MOST + 1).read_to_end(&mut unpacked);
    read.map_err(|error| failed(format, error.to_string()))?;
    if unpacked.len() as u64 > MOST {
        return Err(failed(format, "larger than any module unpacked".to_owned()));
    }
    Ok(Some(unpacked))
}

#[cfg(test)]
mod tests;

#[cfg(test)]
pub(crate) mod modinfo_tests {
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
        let text =
            b"license=GPL\0depends=udp_tunnel,ip6-udp-tunnel\0softdep=pre: crc32c\0vermagic=6.1.0 SMP\0";
        assert_eq!(dependencies(&module(text)).unwrap(), ["udp_tunnel", "ip6_udp_tunnel"]);
        assert_eq!(dependencies(&module(b"depends=\0")).unwrap(), [""; 0]);
        assert_eq!(dependencies(b"text"), None);
    }

    proptest! {
        #[test]
        fn any_section_is_read(text in prop::collection::vec(any::<u8>(), 0..200)) {
            prop_assert!(dependencies(&module(&text)).is_some());
        }
    }
}

#[cfg(test)]
pub(crate) mod unpack_tests {
    use super::*;

    /// "kernel module " twenty times, as xz (with the CRC-32 that the kernel's build asks for),
    /// gzip (with a file's name) and zstd write it.
    pub(crate) const PACKED: [&[u8]; 3] = [
        &[
            0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00, 0x00, 0x01, 0x69, 0x22, 0xde, 0x36, 0x02, 0x00, 0x21, 0x01,
            0x16, 0x00, 0x00, 0x00, 0x74, 0x2f, 0xe5, 0xa3, 0xe0, 0x01, 0x17, 0x00, 0x15, 0x5d, 0x00, 0x35,
            0x99, 0x4a, 0xab, 0xa2, 0xe2, 0xaf, 0x1f, 0xda, 0xb8, 0x1c, 0x42, 0x4d, 0x2d, 0x49, 0x0c, 0x08,
            0x08, 0x45, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x9f, 0x81, 0x90, 0x5d, 0x00, 0x01, 0x2d, 0x98,
            0x02, 0x00, 0x00, 0x00, 0x6f, 0x66, 0x18, 0x33, 0x3e, 0x30, 0x0d, 0x8b, 0x02, 0x00, 0x00, 0x00,
            0x00, 0x01, 0x59, 0x5a,
        ],
        &[
            0x1f, 0x8b, 0x08, 0x08, 0x00, 0x00, 0x00, 0x00, 0x02, 0xff, 0x6d, 0x2e, 0x6b, 0x6f, 0x00, 0xcb,
            0x4e, 0x2d, 0xca, 0x4b, 0xcd, 0x51, 0xc8, 0xcd, 0x4f, 0x29, 0xcd, 0x49, 0x55, 0xc8, 0x1e, 0xe5,
            0x41, 0x79, 0x00, 0x9f, 0x81, 0x90, 0x5d, 0x18, 0x01, 0x00, 0x00,
        ],
        &[
            0x28, 0xb5, 0x2f, 0xfd, 0x04, 0x68, 0xad, 0x00, 0x00, 0x70, 0x6b, 0x65, 0x72, 0x6e, 0x65, 0x6c,
            0x20, 0x6d, 0x6f, 0x64, 0x75, 0x6c, 0x65, 0x20, 0x01, 0x00, 0x07, 0xa1, 0x4e, 0x25, 0x6d, 0xda,
            0x8e, 0xf3,
        ],
    ];

    #[test]
    fn all_that_distributions_use_is_unpacked() {
        let plain = b"kernel module ".repeat(20);
        for packed in PACKED {
            assert_eq!(unpack(packed).unwrap().unwrap(), plain);
        }
        assert_eq!(unpack(&plain), Ok(None));
    }

    #[test]
    fn what_is_damaged_cut_short_or_endless_is_refused_in_words() {
        for (packed, word) in PACKED.into_iter().zip(["xz", "gzip", "zstd"]) {
            let error = unpack(&packed[..packed.len() - 12]).unwrap_err().to_string();
            assert!(error.starts_with(word), "{error}");
        }
        let mut gzip = PACKED[1].to_vec();
        let checksum = gzip.len() - 8;
        gzip[checksum] ^= 1;
        assert!(unpack(&gzip).unwrap_err().to_string().contains("checksum"));
        // A frame of zstd with a window of 128 KiB, and blocks that repeat one byte as often (RFC
        // 8878, section 3.1.1).
        let block = [&(((128_u32 << 10) << 3) | (1 << 1)).to_le_bytes()[..3], &[0]].concat();
        let frame = [&PACKED[2][..4], &[0x00, 0x38], &block.repeat(4096)].concat();
        let error = unpack(&frame).unwrap_err().to_string();
        assert!(error.contains("larger than any"), "{error}");
    }
}
