//! The conditions of a trial: if one of them changes, the trial is repeated.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use serde_json::{Value, json};

use crate::guest::kernel::Kernel;
use crate::guest::tools::Tools;

/// A file or directory in its current state: path, device, number, size and time of change.
#[must_use]
pub fn file(path: &Path) -> Value {
    let Ok(path) = path.canonicalize() else { return Value::Null };
    let Ok(about) = fs::metadata(&path) else { return Value::Null };
    let changed = [about.mtime(), about.mtime_nsec(), about.ctime(), about.ctime_nsec()];
    json!([path, about.dev(), about.ino(), about.size(), changed])
}

/// A kernel: its image and the directory of its modules.
#[must_use]
pub fn kernel(kernel: &Kernel) -> Value {
    json!([file(&kernel.image), kernel.modules.as_deref().map(file)])
}

/// QEMU and its firmware.
#[must_use]
pub fn qemu(tools: &Tools) -> Value {
    json!([tools.qemu().ok().map(|path| file(&path)), tools.firmware().map(|path| file(&path))])
}

/// This machine since its boot: its kernel, settings and hypervisor may differ after the next boot.
#[must_use]
pub fn machine() -> Value {
    fs::read_to_string("/proc/sys/kernel/random/boot_id").map_or(Value::Null, |id| id.trim().into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_another_when_it_is_replaced_or_changed() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("vmlinuz");
        assert_eq!(file(&path), Value::Null);
        fs::write(&path, "one").unwrap();
        let before = file(&path);
        assert_eq!(file(&path), before);
        let times = fs::metadata(&path).unwrap().modified().unwrap();
        fs::write(directory.path().join("new"), "two").unwrap();
        fs::File::open(directory.path().join("new")).unwrap().set_modified(times).unwrap();
        fs::rename(directory.path().join("new"), &path).unwrap();
        assert_ne!(file(&path), before);
        assert!(machine().as_str().is_some_and(|id| id.len() == 36));
    }
}
