//! Kernels of distributions: fetched and unpacked, never installed.

use std::ffi::OsStr;
use std::fmt::Display;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use host::user_file::{self, if_present};

use crate::error::Error;
use crate::guest::apt::{self, Candidate, candidate};
use crate::guest::deb;
use crate::guest::kernel::{Kernel, fetched_kernels};
use crate::guest::tools::Tools;

/// A fetched kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names of its fields say it")]
pub struct Fetched {
    pub package: String,
    /// Other names: packages that refer to it.
    pub aliases: Vec<String>,
    pub version: Option<String>,
    pub directory: PathBuf,
    pub kernel: Kernel,
}

/// Fetches a kernel package with Debian's tools, and unpacks it, unless that version is present.
/// Accepts "PACKAGE/RELEASE", a package that refers to the newest kernel, and a `.deb` file.
///
/// # Errors
/// Without these tools, when a tool fails (with its message), or without a kernel in the package.
pub fn fetch(package: &str) -> Result<Fetched, Error> {
    fetch_into(&fetched_kernels()?, package, &Tools::of_this_machine())
}

/// The fetched kernels, by name.
///
/// # Errors
/// When their directory cannot be read.
pub fn fetched() -> Result<Vec<Fetched>, Error> {
    let kept = fetched_kernels()?;
    if !kept.exists() {
        return Ok(Vec::new());
    }
    let mut found = Vec::new();
    let mut links = Vec::new();
    for entry in fs::read_dir(&kept).map_err(Error::read(&kept))? {
        let path = entry.map_err(Error::read(&kept))?.path();
        if name_of(&path).starts_with('.') {
            continue;
        }
        match fs::read_link(&path) {
            Ok(target) => links.push((name_of(&path), name_of(&target))),
            Err(_) => found.extend(Fetched::read(&path)),
        }
    }
    links.sort();
    found.sort_by(|one: &Fetched, other| one.package.cmp(&other.package));
    for fetched in &mut found {
        let own = links.iter().filter(|(_, target)| *target == fetched.package);
        fetched.aliases = own.map(|(name, _)| apt::from_file_name(name)).collect();
    }
    Ok(found)
}

pub(crate) fn fetch_into(kept: &Path, package: &str, tools: &Tools) -> Result<Fetched, Error> {
    fs::create_dir_all(kept).map_err(Error::write(kept))?;
    sweep(kept)?;
    let workplace = kept.join(format!("{WORKPLACE}{}", std::process::id()));
    remove(&workplace)?;
    fs::create_dir(&workplace).map_err(Error::write(&workplace))?;
    let fetched = if package.ends_with(".deb") {
        unpack_local(kept, &workplace, package, tools)
    } else {
        download(kept, &workplace, package, tools)
    };
    remove(&workplace)?;
    fetched
}

const WORKPLACE: &str = ".fetching-";
const TREE: &str = "tree";

fn sweep(kept: &Path) -> Result<(), Error> {
    for entry in fs::read_dir(kept).map_err(Error::read(kept))? {
        let path = entry.map_err(Error::read(kept))?.path();
        let process = name_of(&path).strip_prefix(WORKPLACE).map(str::to_owned);
        if process.is_some_and(|process| !Path::new("/proc").join(process).exists()) {
            remove(&path)?;
        }
    }
    Ok(())
}

fn unpack_local(kept: &Path, workplace: &Path, name: &str, tools: &Tools) -> Result<Fetched, Error> {
    let file = Path::new(name);
    if !file.is_file() {
        return Err(unfetched(name, "the file does not exist"));
    }
    // Absolute, so that it is not read as an option.
    let file = file.canonicalize().map_err(Error::read(file))?;
    let arguments = ["--field".as_ref(), file.as_ref()];
    let control = run(tools, workplace, DPKG_DEB, name, &arguments, read_text)?;
    let package = candidate(&control).ok_or_else(|| unfetched(name, "it does not contain a package name"))?;
    unpack(tools, workplace, name, &file)?;
    keep(kept, workplace, &package)
}

fn download(kept: &Path, workplace: &Path, asked: &str, tools: &Tools) -> Result<Fetched, Error> {
    if !apt::is_request(asked) {
        return Err(unfetched(asked, "this is not a package name: write PACKAGE or PACKAGE/RELEASE"));
    }
    let mut package = describe(tools, workplace, asked)?;
    // From "linux-image-amd64", perhaps through "linux-image-6.1-amd64", to the one with the image.
    for _ in 0..4 {
        match package.image() {
            Some(real) => package = describe(tools, workplace, &apt::in_same_release(asked, real))?,
            None => break,
        }
    }
    let present = Fetched::read(&kept.join(&package.package));
    let fetched = match present {
        Some(present) if present.version.as_deref() == Some(package.version.as_str()) => present,
        _ => {
            for name in [package.package.as_str()].into_iter().chain(package.modules()) {
                let name = apt::in_same_release(asked, name);
                let arguments = ["-q", "download", &name].map(OsStr::new);
                run(tools, workplace, "apt-get", &name, &arguments, read_text)?;
                let mut files = fs::read_dir(workplace).map_err(Error::read(workplace))?;
                let is_package = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "deb");
                let file = files.find_map(|file| Some(file.ok()?.path()).filter(is_package));
                let file = file.ok_or_else(|| unfetched(&name, "apt-get downloaded no file"))?;
                unpack(tools, workplace, &name, &file)?;
                fs::remove_file(&file).map_err(Error::write(&file))?;
            }
            keep(kept, workplace, &package)?
        }
    };
    let alias = apt::file_name(asked);
    if alias != fetched.package {
        link(kept, &alias, &fetched.package)?;
    }
    Ok(fetched)
}

fn describe(tools: &Tools, workplace: &Path, asked: &str) -> Result<Candidate, Error> {
    let arguments = ["--no-all-versions", "show", asked].map(OsStr::new);
    let shown = run(tools, workplace, "apt-cache", asked, &arguments, read_text);
    match shown.map(|shown| candidate(&shown)) {
        Ok(Some(found)) => Ok(found),
        Err(error) if tools.program("apt-cache").is_none() => Err(error),
        // It fails for an unknown package, and prints nothing for an unknown release.
        Ok(None) | Err(_) => Err(unfetched(
            asked,
            "apt knows no such package (of this release); `apt-get update` updates the package lists of apt, and \
             `apt-cache search --names-only '^linux-image'` lists the kernels that it knows",
        )),
    }
}

fn keep(kept: &Path, workplace: &Path, package: &Candidate) -> Result<Fetched, Error> {
    let tree = workplace.join(TREE);
    let no_kernel = || unfetched(&package.package, "it holds no kernel image (boot/vmlinuz-*)");
    Kernel::in_directory(&tree).map_err(|_| no_kernel())?;
    fs::write(tree.join(VERSION), &package.version).map_err(Error::write(tree.join(VERSION)))?;
    let place = kept.join(&package.package);
    if place.symlink_metadata().is_ok() {
        fs::rename(&place, workplace.join("old")).map_err(Error::write(&place))?;
    }
    fs::rename(&tree, &place).map_err(Error::write(&place))?;
    Fetched::read(&place).ok_or_else(no_kernel)
}

fn link(kept: &Path, name: &str, package: &str) -> Result<(), Error> {
    let (link, beside) = (kept.join(name), kept.join(format!(".{name}-{}", std::process::id())));
    std::os::unix::fs::symlink(package, &beside).map_err(Error::write(&beside))?;
    fs::rename(&beside, &link).map_err(Error::write(&link))
}

fn unfetched(package: &str, why: impl Display) -> Error {
    Error::Failed(format!("cannot fetch {package}: {why}"))
}

const VERSION: &str = ".version";
const LONGEST_VERSION: u64 = 4096;

impl Fetched {
    fn read(directory: &Path) -> Option<Self> {
        let package = name_of(directory);
        let kernel = Kernel::in_directory(directory).ok()?;
        let version = user_file::read(&directory.join(VERSION), LONGEST_VERSION).ok();
        let version = version.map(|text| String::from_utf8_lossy(&text).trim().to_owned());
        Some(Self { package, aliases: Vec::new(), version, directory: directory.to_owned(), kernel })
    }
}

const DPKG_DEB: &str = "dpkg-deb";

// The most bytes of a package unpacked: the largest kernels have about 1 GB.
const MOST_BYTES: u64 = 4 << 30;

const LONGEST_TEXT: u64 = 1 << 20;

fn unpack(tools: &Tools, workplace: &Path, package: &str, file: &Path) -> Result<(), Error> {
    let arguments = ["--fsys-tarfile".as_ref(), file.as_ref()];
    run(tools, workplace, DPKG_DEB, package, &arguments, |stream| deb::unpack(stream, &workplace.join(TREE)))
}

fn read_text(stream: &mut dyn Read) -> io::Result<String> {
    let mut text = Vec::new();
    stream.take(LONGEST_TEXT).read_to_end(&mut text)?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}

fn run<T>(
    tools: &Tools,
    workplace: &Path,
    program: &'static str,
    package: &str,
    arguments: &[&OsStr],
    read: impl FnOnce(&mut dyn Read) -> io::Result<T>,
) -> Result<T, Error> {
    let path = tools.program(program).ok_or_else(|| {
        Error::Failed(format!(
            "no {program} in the PATH: netassay fetches packages with Debian's tools; on other systems unpack a kernel package by hand and give \
             kernel = \"DIRECTORY\", which holds boot/vmlinuz-* and lib/modules"
        ))
    })?;
    let failed = |why: String| unfetched(package, format_args!("{program}: {why}"));
    let said = workplace.join("said");
    let mut child = Command::new(path)
        .args(arguments)
        .current_dir(workplace)
        .env("LC_ALL", "C")
        .env("PATH", &tools.path)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        // To a file, since nobody reads a second pipe meanwhile.
        .stderr(File::create(&said).map_err(Error::write(&said))?)
        .spawn()
        .map_err(|error| failed(format!("it cannot be started: {error}")))?;
    let mut output = child.stdout.take().expect("it is piped").take(MOST_BYTES);
    // A tar file ends with padding; the tool fails if that is not read.
    let result = read(&mut output).and_then(|value| io::copy(&mut output, &mut io::sink()).map(|_| value));
    let is_whole = matches!(output.get_mut().read(&mut [0]), Ok(0));
    if !is_whole {
        let _ = child.kill();
    }
    drop(output);
    let status = child.wait().map_err(|error| failed(error.to_string()))?;
    // A failed tool explains more than missing data.
    if is_whole && !status.success() {
        let mut text = Vec::new();
        let _ = File::open(&said).map(|file| file.take(1 << 16).read_to_end(&mut text));
        return Err(failed(apt::complaint(&String::from_utf8_lossy(&text))));
    }
    let shortened = |error: io::Error| words::shortened_reason(&error.to_string());
    let value =
        result.map_err(|error| unfetched(package, format_args!("cannot unpack it: {}", shortened(error))))?;
    if !is_whole {
        return Err(unfetched(package, format_args!("it holds more than {} GiB", MOST_BYTES >> 30)));
    }
    Ok(value)
}

fn name_of(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

fn remove(directory: &Path) -> Result<(), Error> {
    if_present(fs::remove_dir_all(directory)).map(drop).map_err(Error::write(directory))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guest::image::tests::image;
    use crate::guest::tar::tests::{END, entry};

    /// A package as in deb(5): an ar file with the format's version and two tar files.
    fn deb(entries: &[Vec<u8>]) -> Vec<u8> {
        let control = b"Package: linux-image-t\nVersion: 1.2\nArchitecture: amd64\nMaintainer: t <t@t>\nDescription: t\n";
        let control = [entry("./control", b'0', "0000644", "", control), END.to_vec()].concat();
        let data = [entries.concat(), END.to_vec()].concat();
        let mut bytes = b"!<arch>\n".to_vec();
        let members: [(&str, &[u8]); 3] =
            [("debian-binary", b"2.0\n"), ("control.tar", &control), ("data.tar", &data)];
        for (name, contents) in members {
            let length = contents.len();
            bytes.extend(format!("{name:<16}{:<12}{:<6}{:<6}{:<8}{length:<10}`\n", 0, 0, 0, 100_644).bytes());
            bytes.extend(contents);
        }
        bytes
    }

    #[test]
    fn a_package_cannot_write_through_its_own_link() {
        let tools = Tools::of_this_machine();
        if tools.program("dpkg-deb").is_none() {
            let _ = io::Write::write_all(&mut io::stderr(), b"SKIPPED: fetch: no dpkg-deb in the PATH\n");
            return;
        }
        let place = tempfile::tempdir().unwrap();
        let (kept, victim) = (place.path().join("kept"), place.path().join("victim"));
        fs::create_dir(&victim).unwrap();
        let file = place.path().join("evil.deb");
        let package = deb(&[
            entry("./boot/vmlinuz-6.1.0-t", b'0', "0004755", "", &image(b"6.1.0-t (")),
            entry("./lib/modules/6.1.0-t", b'2', "0000777", victim.to_str().unwrap(), b""),
            entry("./lib/modules/6.1.0-t/evil.ko", b'0', "0000644", "", b"evil"),
            entry("./.version", b'2', "0000777", victim.join("version").to_str().unwrap(), b""),
            entry("./usr/bin/evil", b'0', "0004755", "", b"evil"),
        ]);
        fs::write(&file, &package).unwrap();
        let fetched = fetch_into(&kept, file.to_str().unwrap(), &tools).unwrap();
        assert_eq!((fetched.package.as_str(), fetched.version.as_deref()), ("linux-image-t", Some("1.2")));
        assert_eq!(fs::read_dir(&victim).unwrap().count(), 0, "it wrote through a link");
        let tree = kept.join("linux-image-t");
        assert!(!tree.join("lib/modules/6.1.0-t").is_symlink(), "a link was unpacked");
        assert_eq!(fs::read(tree.join("lib/modules/6.1.0-t/evil.ko")).unwrap(), b"evil");
        let mut names: Vec<_> =
            fs::read_dir(&tree).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, [".version", "boot", "lib"]);

        for (length, words) in [(package.len() - 3000, "evil.deb: dpkg-deb: "), (60, "evil.deb: dpkg-deb: ")]
        {
            fs::write(&file, &package[..length]).unwrap();
            let error = fetch_into(&kept, file.to_str().unwrap(), &tools).unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        }
    }
}
