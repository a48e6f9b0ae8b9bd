//! The archive of a kernel's first file system: cpio's "new ASCII" format
//! (Documentation/driver-api/early-userspace/buffer-format.rst).

/// An archive that is being written.
#[derive(Debug, Default)]
pub struct Archive {
    bytes: Vec<u8>,
    entries: u32,
}

const DIRECTORY: u32 = 0o040_000;
const FILE: u32 = 0o100_000;
const CHARACTER_DEVICE: u32 = 0o020_000;

impl Archive {
    /// Adds a directory, after those above it.
    pub fn directory(&mut self, path: &str) {
        self.entry(path, DIRECTORY | 0o755, &[], (0, 0));
    }

    /// Adds a file.
    pub fn file(&mut self, path: &str, mode: u32, contents: &[u8]) {
        self.entry(path, FILE | (mode & 0o7777), contents, (0, 0));
    }

    /// Adds a character device.
    pub fn device(&mut self, path: &str, mode: u32, major: u32, minor: u32) {
        self.entry(path, CHARACTER_DEVICE | (mode & 0o7777), &[], (major, minor));
    }

    /// The whole archive.
    #[must_use]
    pub fn finish(mut self) -> Vec<u8> {
        self.entry("TRAILER!!!", 0, &[], (0, 0));
        self.bytes
    }

    fn entry(&mut self, path: &str, mode: u32, contents: &[u8], device: (u32, u32)) {
        // Directories have two links; a file with more than one would count as a hard link to
        // another with its number.
        self.entries += 1;
        let size = u32::try_from(contents.len()).unwrap_or(u32::MAX);
        let name = u32::try_from(path.len() + 1).unwrap_or(u32::MAX);
        let fields = [self.entries, mode, 0, 0, 1, 0, size, 0, 0, device.0, device.1, name, 0];
        self.bytes.extend_from_slice(b"070701");
        for field in fields {
            self.bytes.extend_from_slice(format!("{field:08x}").as_bytes());
        }
        self.bytes.extend_from_slice(path.as_bytes());
        self.bytes.push(0);
        self.align();
        self.bytes.extend_from_slice(contents);
        self.align();
    }

    fn align(&mut self) {
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::process::{Command, Stdio};

    use proptest::prelude::*;

    use super::*;

    fn read(mut bytes: &[u8]) -> Vec<(String, u32, Vec<u8>)> {
        let mut entries = Vec::new();
        loop {
            let (header, rest) = bytes.split_at(110);
            assert_eq!(&header[..6], b"070701");
            let field = |index: usize| {
                let text = std::str::from_utf8(&header[6 + 8 * index..14 + 8 * index]).unwrap();
                usize::try_from(u32::from_str_radix(text, 16).unwrap()).unwrap()
            };
            let (mode, size, length) = (field(1), field(6), field(11));
            let name = String::from_utf8(rest[..length - 1].to_vec()).unwrap();
            let start = (110 + length).next_multiple_of(4) - 110;
            let contents = rest[start..start + size].to_vec();
            if name == "TRAILER!!!" {
                return entries;
            }
            entries.push((name, u32::try_from(mode).unwrap(), contents));
            bytes = &rest[start + size.next_multiple_of(4)..];
        }
    }

    proptest! {
        #[test]
        fn what_is_packed_is_there(files in prop::collection::vec(("[a-z]{1,20}", prop::collection::vec(any::<u8>(), 0..50)), 0..5)) {
            let mut archive = Archive::default();
            for (path, contents) in &files {
                archive.file(path, 0o644, contents);
            }
            let back: Vec<_> = read(&archive.finish()).into_iter().map(|(name, _, contents)| (name, contents)).collect();
            prop_assert_eq!(back, files);
        }
    }

    #[test]
    fn cpio_itself_reads_it() {
        let mut archive = Archive::default();
        archive.directory("dev");
        archive.device("dev/console", 0o600, 5, 1);
        archive.file("init", 0o755, b"abc");
        let bytes = archive.finish();
        let modes: Vec<u32> = read(&bytes).iter().map(|(_, mode, _)| *mode).collect();
        assert_eq!(modes, [0o040_755, 0o020_600, 0o100_755]);
        let spawned = Command::new("cpio")
            .arg("-t")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn();
        // Check with cpio(1) too, where it exists; guest tests check with the kernel.
        if let Ok(mut cpio) = spawned {
            cpio.stdin.take().unwrap().write_all(&bytes).unwrap();
            let listed = cpio.wait_with_output().unwrap().stdout;
            assert_eq!(String::from_utf8(listed).unwrap(), "dev\ndev/console\ninit\n");
        }
    }
}
