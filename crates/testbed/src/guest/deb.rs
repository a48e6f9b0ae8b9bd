//! Debian packages: only a kernel's image and modules are written. A package may be hostile, and
//! the user may be root.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::error::Error;
use crate::guest::apt::{self, Candidate, candidate};
use crate::guest::fetch::unfetched;
use crate::guest::tar::{EntryKind, entries};
use crate::guest::tools::Tools;

const PROGRAM: &str = "dpkg-deb";

/// The most bytes of a package unpacked: the largest kernels have about 1 GB.
const MOST_BYTES: u64 = 4 << 30;

/// The most files and directories that are written; the largest kernels have about 7000.
const MOST_ENTRIES: usize = 100_000;

const LONGEST_CONTROL: u64 = 1 << 20;

#[derive(Debug)]
pub(crate) struct Package<'a> {
    pub(crate) name: &'a str,
    /// Absolute, so that it is not read as an option.
    pub(crate) file: &'a Path,
    pub(crate) workplace: &'a Path,
    pub(crate) tools: &'a Tools,
}

impl Package<'_> {
    /// Reads its description.
    ///
    /// # Errors
    /// Without the tool, or for what is no such package.
    pub(crate) fn describe(&self) -> Result<Candidate, Error> {
        let control =
            self.read("--ctrl-tarfile", |stream| control(stream).map_err(|error| self.bad(&error)))?;
        candidate(&control).ok_or_else(|| self.error("it does not contain a package name".to_owned()))
    }

    /// Writes its kernel and its modules into the directory `tree`, beside those of other packages.
    ///
    /// # Errors
    /// Without the tool, for what is no such package, or if nothing can be written.
    pub(crate) fn unpack(&self, tree: &Path) -> Result<(), Error> {
        directory(tree)?;
        self.read("--fsys-tarfile", |stream| unpack(stream, tree, |error| self.bad(error)))
    }

    /// Calls `take` with one of its tar files.
    fn read<T>(&self, part: &str, take: impl FnOnce(&mut dyn Read) -> Result<T, Error>) -> Result<T, Error> {
        let program = self.tools.program(PROGRAM).ok_or(Error::NoTool(PROGRAM))?;
        let said = self.workplace.join("said");
        let mut child = Command::new(program)
            .arg(part)
            .arg(self.file)
            .current_dir(self.workplace)
            .env("LC_ALL", "C")
            .env("PATH", &self.tools.path)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            // To a file, since nobody reads a second pipe meanwhile.
            .stderr(File::create(&said).map_err(Error::write(&said))?)
            .spawn()
            .map_err(|error| self.error(format!("{PROGRAM} cannot be started: {error}")))?;
        let stdout = child.stdout.take().expect("it is piped");
        let mut stream = LimitedInput { input: stdout, left: MOST_BYTES };
        // The tar file ends with padding; the program fails if that is not read.
        let taken = take(&mut stream).and_then(|value| {
            io::copy(&mut stream, &mut io::sink()).map_err(|error| self.bad(&error))?;
            Ok(value)
        });
        let is_whole = taken.is_ok() || matches!(stream.input.read(&mut [0]), Ok(0));
        if !is_whole {
            let _ = child.kill();
        }
        drop(stream);
        let status = child.wait().map_err(|error| self.error(format!("{PROGRAM}: {error}")))?;
        // A failed program explains more than missing data.
        if is_whole && !status.success() {
            let mut text = Vec::new();
            let _ = File::open(&said).map(|file| file.take(1 << 16).read_to_end(&mut text));
            let why = apt::complaint(&String::from_utf8_lossy(&text));
            return Err(self.error(format!("{PROGRAM}: {why}")));
        }
        taken
    }

    fn error(&self, why: String) -> Error {
        unfetched(self.name, why)
    }

    fn bad(&self, error: &io::Error) -> Error {
        self.error(format!("it is not a valid package: {}", words::shortened_reason(&error.to_string())))
    }
}

struct LimitedInput<R> {
    input: R,
    left: u64,
}

impl<R: Read> Read for LimitedInput<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(into)?;
        self.left = self
            .left
            .checked_sub(read as u64)
            .ok_or_else(|| io::Error::other(format!("it holds more than {} GiB", MOST_BYTES >> 30)))?;
        Ok(read)
    }
}

pub(crate) fn control(stream: &mut dyn Read) -> io::Result<String> {
    for entry in entries(&mut tar::Archive::new(stream))? {
        let entry = entry?;
        if entry.kind == EntryKind::File && matches!(entry.name.as_slice(), b"./control" | b"control") {
            let mut text = Vec::new();
            entry.contents.take(LONGEST_CONTROL).read_to_end(&mut text)?;
            return Ok(String::from_utf8_lossy(&text).into_owned());
        }
    }
    Ok(String::new())
}

/// Writes a kernel's files, each new, into a tree in which nothing else makes links.
pub(crate) fn unpack(
    stream: &mut dyn Read,
    tree: &Path,
    bad: impl Fn(&io::Error) -> Error,
) -> Result<(), Error> {
    let mut archive = tar::Archive::new(stream);
    let mut written = 0;
    for entry in entries(&mut archive).map_err(|error| bad(&error))? {
        let mut entry = entry.map_err(|error| bad(&error))?;
        let Some(path) = wanted(&entry.name).map(|path| tree.join(path)) else { continue };
        written += 1;
        if written > MOST_ENTRIES {
            return Err(bad(&io::Error::other(format!("it holds more than {MOST_ENTRIES} files"))));
        }
        match entry.kind {
            EntryKind::Directory => directory(&path)?,
            EntryKind::File => {
                directory(path.parent().unwrap_or(tree))?;
                let mode = if entry.is_executable { 0o755 } else { 0o644 };
                let mut file = OpenOptions::new()
                    .write(true)
                    .create_new(true)
                    .mode(mode)
                    .open(&path)
                    .map_err(Error::write(&path))?;
                copy(&mut entry.contents, &mut file, &path, &bad)?;
            }
            // `build` and `source` link to headers, which no guest needs.
            EntryKind::Other => {}
        }
    }
    Ok(())
}

fn copy(
    from: &mut impl Read,
    into: &mut File,
    path: &Path,
    bad: impl Fn(&io::Error) -> Error,
) -> Result<(), Error> {
    let mut buffer = vec![0; 1 << 16];
    loop {
        match from.read(&mut buffer).map_err(|error| bad(&error))? {
            0 => return Ok(()),
            length => io::Write::write_all(into, &buffer[..length]).map_err(Error::write(path))?,
        }
    }
}

fn directory(path: &Path) -> Result<(), Error> {
    DirBuilder::new().recursive(true).mode(0o755).create(path).map_err(Error::write(path))
}

/// The path of an entry in the tree, if it belongs to a kernel: the image, or a file beside the
/// modules.
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
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;
    use crate::guest::tar::tests::{END, entry};

    fn unpacked(entries: &[Vec<u8>], tree: &Path) -> Result<(), String> {
        let bytes = [entries.concat(), END.to_vec()].concat();
        let bad = |error: &io::Error| Error::Failed(error.to_string());
        unpack(&mut bytes.as_slice(), tree, bad).map_err(|error| error.to_string())
    }

    fn files_below(directory: &Path) -> Vec<String> {
        let mut found = Vec::new();
        let mut pending = vec![directory.to_owned()];
        while let Some(next) = pending.pop() {
            for entry in fs::read_dir(next).unwrap().flatten() {
                found.push(entry.path().strip_prefix(directory).unwrap().display().to_string());
                pending.extend(entry.file_type().unwrap().is_dir().then(|| entry.path()));
            }
        }
        found.sort();
        found
    }

    #[test]
    fn only_the_image_and_the_modules_are_written_and_no_mode_but_two() {
        let place = tempfile::tempdir().unwrap();
        let entries = [
            entry("./boot/vmlinuz-1", b'0', "0006777", "", b"image"),
            entry("./boot/System.map-1", b'0', "0000644", "", b"no"),
            entry("./etc/cron.d/job", b'0', "0000644", "", b"no"),
            entry("./lib/modules/1/kernel/a.ko", b'0', "0000666", "", b"a"),
            entry("./usr/lib/modules/1/b.ko", b'0', "0000000", "", b"b"),
            entry("./lib/modules/1/build", b'2', "0000777", "/usr/src", b""),
            entry("./lib/modules/1/hard", b'1', "0000644", "./boot/vmlinuz-1", b""),
            entry("./lib/modules/1/pipe", b'6', "0000644", "", b""),
            entry("./lib/modules/1/device", b'4', "0000644", "", b""),
            entry("./lib/modules/1/empty/", b'5', "0007777", "", b""),
        ];
        unpacked(&entries, place.path()).unwrap();
        let directories =
            ["boot", "lib", "lib/modules", "lib/modules/1", "lib/modules/1/empty", "lib/modules/1/kernel"];
        let merged = ["usr", "usr/lib", "usr/lib/modules", "usr/lib/modules/1"];
        let files = ["boot/vmlinuz-1", "lib/modules/1/kernel/a.ko", "usr/lib/modules/1/b.ko"];
        let mut expected = [directories.as_slice(), &merged, &files].concat();
        expected.sort_unstable();
        assert_eq!(files_below(place.path()), expected);
        for path in expected {
            let about = fs::symlink_metadata(place.path().join(path)).unwrap();
            assert_eq!(about.is_file(), files.contains(&path), "{path}");
            let most = if about.is_dir() || path == files[0] { 0o755 } else { 0o644 };
            assert_eq!(about.permissions().mode() & 0o7777 & !most, 0, "{path}");
        }
    }

    #[test]
    fn no_name_leads_out_and_no_link_is_followed() {
        let place = tempfile::tempdir().unwrap();
        let (tree, victim) = (place.path().join("tree"), place.path().join("victim"));
        fs::create_dir_all(&tree).unwrap();
        fs::create_dir(&victim).unwrap();
        let out = victim.to_str().unwrap();
        let entries = [
            entry("./lib/modules/out", b'2', "0000777", out, b""),
            entry("./lib/modules/out/a", b'0', "0000644", "", b"evil"),
            entry("./boot", b'2', "0000777", out, b""),
            entry("./boot/vmlinuz-1", b'0', "0000644", "", b"image"),
            entry("./lib/modules/../../../victim/b", b'0', "0000644", "", b"evil"),
            entry(&format!("{out}/lib/modules/c"), b'0', "0000644", "", b"evil"),
            entry("/lib/modules/d", b'0', "0000644", "", b"evil"),
            entry("lib/modules//d", b'0', "0000644", "", b"evil"),
            entry("./boot/vmlinuz-/../../x", b'0', "0000644", "", b"evil"),
        ];
        unpacked(&entries, &tree).unwrap();
        assert_eq!(files_below(&victim), [""; 0]);
        let inside = ["boot", "boot/vmlinuz-1", "lib", "lib/modules", "lib/modules/out", "lib/modules/out/a"];
        assert_eq!(files_below(&tree), inside);
        assert_eq!(files_below(place.path()).len(), inside.len() + 2);
    }

    #[test]
    fn a_file_is_written_once_and_a_package_has_an_end() {
        let place = tempfile::tempdir().unwrap();
        let file = entry("./boot/vmlinuz-1", b'0', "0000644", "", b"image");
        let error = unpacked(&[file.clone(), file.clone()], place.path()).unwrap_err();
        assert!(error.contains("File exists"), "{error}");

        let mut endless = LimitedInput { input: file.as_slice().chain(io::repeat(0)), left: 1 << 20 };
        let error = io::copy(&mut endless, &mut io::sink()).unwrap_err();
        assert!(error.to_string().contains("GiB"), "{error}");

        let mut entries = Vec::new();
        for number in 0..=MOST_ENTRIES {
            entries.extend(entry(&format!("./lib/modules/{number}"), b'2', "0000777", "x", b""));
        }
        let error = unpacked(&[entries], place.path()).unwrap_err();
        assert!(error.contains("more than 100000 files"), "{error}");
    }
}
