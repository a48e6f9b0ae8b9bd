//! Unpacks kernels of Debian packages, which may be hostile, while the user may be root.

use std::fs::{DirBuilder, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use tar::EntryType;

use crate::guest::tar::entries;

// The most files and directories that are written; the largest kernels have about 7000.
const MOST_ENTRIES: usize = 100_000;

/// No other program may make links in `tree`.
pub(crate) fn unpack(stream: &mut dyn Read, tree: &Path) -> io::Result<()> {
    directory(tree)?;
    let mut written = 0;
    for entry in entries(&mut tar::Archive::new(stream))? {
        let (name, mut entry) = entry?;
        let Some(path) = wanted(&name).map(|path| tree.join(path)) else { continue };
        written += 1;
        if written > MOST_ENTRIES {
            return Err(io::Error::other(format!("it holds more than {MOST_ENTRIES} files")));
        }
        match entry.header().entry_type() {
            // Other packages of the kernel may have made it.
            EntryType::Directory => directory(&path)?,
            EntryType::Regular => {
                directory(path.parent().unwrap_or(tree))?;
                let is_executable = entry.header().mode().is_ok_and(|mode| mode & 0o100 != 0);
                let mode = if is_executable { 0o755 } else { 0o644 };
                let mut file = OpenOptions::new().write(true).create_new(true).mode(mode).open(&path)?;
                io::copy(&mut entry, &mut file)?;
            }
            // `build` and `source` link to headers, which no guest needs.
            _ => {}
        }
    }
    Ok(())
}

fn directory(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o755).create(path)
}

fn wanted(name: &[u8]) -> Option<PathBuf> {
    let name = str::from_utf8(name).ok()?;
    let name = name.strip_prefix("./").unwrap_or(name);
    let parts: Vec<&str> = name.strip_suffix('/').unwrap_or(name).split('/').collect();
    let is_plain = |part: &&str| !matches!(*part, "" | "." | "..");
    let is_kernels = match parts.as_slice() {
        ["boot", image] => image.starts_with("vmlinuz-"),
        ["lib", "modules", rest @ ..] | ["usr", "lib", "modules", rest @ ..] => !rest.is_empty(),
        _ => false,
    };
    (is_kernels && parts.iter().all(is_plain)).then(|| parts.iter().collect())
}

#[cfg(test)]
mod tests;
