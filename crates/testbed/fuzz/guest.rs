//! (fuzzing) Readers of packages, kernels and consoles: no input may make them panic or use
//! unbounded memory.

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use crate::console::Text;
use crate::guest::apt::{candidate, complaint, file_name, from_file_name, is_request};
use crate::guest::deb;
use crate::guest::image::{loaded_part, release_of};
use crate::guest::initramfs::Archive;
use crate::guest::modules::{built_in, dependencies, order, unpack};

/// Reads a kernel's image, a module, a program or a package's description, and packs the bytes.
pub fn file(bytes: &[u8]) {
    if let Some(release) = release_of(bytes) {
        // It becomes part of a path.
        assert!(!release.is_empty() && !release.contains('/'));
    }
    if let Some(needs) = dependencies(bytes) {
        assert!(needs.iter().all(|name| !name.is_empty() && !name.contains('-')));
    }
    if let Ok(part) = loaded_part(bytes) {
        assert!(part.len() <= bytes.len());
        // The part is loaded as the whole file was.
        assert_eq!(loaded_part(&part).as_deref(), Ok(&part[..]));
    }
    if let Some(candidate) = candidate(&String::from_utf8_lossy(bytes)) {
        // They become arguments and the names of directories.
        let plain = |name: &String| !name.is_empty() && !name.starts_with(['-', '.']) && !name.contains('/');
        assert!(plain(&candidate.package) && candidate.depends.iter().all(plain));
    }
    let mut archive = Archive::default();
    archive.file("module", 0o644, bytes);
    assert_eq!(archive.finish().len() % 4, 0);
}

/// Reads a file of a package: a module, packed or not.
pub fn package_file(bytes: &[u8]) {
    if let Ok(unpacked) = unpack(bytes)
        && let Some(needs) = dependencies(unpacked.as_deref().unwrap_or(bytes))
    {
        assert!(needs.iter().all(|name| !name.is_empty()));
    }
}

/// Reads a package's tar file, whose contents are written into the directory `tree`, alone in the
/// directory `place`. Only a kernel's image and modules are written, inside of the tree.
pub fn package_archive(tar: &[u8], place: &Path, tree: &Path) {
    let _ = deb::unpack(&mut &*tar, tree);
    let (mut pending, mut bytes) = (vec![place.to_owned()], 0);
    while let Some(directory) = pending.pop() {
        for entry in std::fs::read_dir(&directory).expect("a directory of ours").flatten() {
            let (path, about) = (entry.path(), entry.metadata().expect("it was listed"));
            assert!(about.is_dir() || about.is_file(), "{} is a link or worse", path.display());
            assert_eq!(about.permissions().mode() & 0o7022, 0, "{}", path.display());
            let inside = path.strip_prefix(tree).unwrap_or_else(|_| panic!("{} is outside", path.display()));
            let parts = ["boot", "lib", "lib/modules", "usr", "usr/lib", "usr/lib/modules"].map(Path::new);
            let is_kernels = |above: &Path| [parts[0], parts[2], parts[5]].contains(&above);
            assert!(
                inside == PathBuf::new()
                    || parts.contains(&inside)
                    || inside.ancestors().skip(1).any(is_kernels),
                "{}",
                inside.display()
            );
            bytes += if about.is_file() { about.len() } else { 0 };
            pending.extend(about.is_dir().then_some(path));
        }
    }
    assert!(bytes <= tar.len() as u64, "{bytes} bytes came out of {}", tar.len());
}

/// Reads the texts beside a kernel's modules, and apt's output.
pub fn package_texts(text: &str) {
    let _ = complaint(text);
    assert!(built_in(text).iter().all(|name| !name.contains(['/', '-'])));
    if let Some(asked) = text.lines().next().filter(|asked| is_request(asked)) {
        assert_eq!(from_file_name(&file_name(asked)), asked);
    }
    // Each line: a module and its dependencies. Any such graph has an order with each module once.
    let needs = |name: &str| {
        let line = text.lines().find(|line| line.split(' ').next() == Some(name));
        let needs = line.map(|line| line.split(' ').skip(1).map(str::to_owned).collect());
        Ok::<_, std::convert::Infallible>(needs)
    };
    let wanted: Vec<String> =
        text.lines().take(4).filter_map(|line| line.split(' ').next()).map(str::to_owned).collect();
    let Ok(order) = order(&wanted, needs);
    assert_eq!(order.iter().collect::<BTreeSet<_>>().len(), order.len());
}

/// Reads a console's bytes, whole and in two pieces; returns its last lines as an error shows them.
pub fn console(bytes: &[u8], cut: usize) -> String {
    let read = |pieces: &[&[u8]]| {
        let mut text = Text::default();
        pieces.iter().for_each(|piece| text.add(piece));
        let pending = text.tail();
        text.close();
        (pending, text.tail())
    };
    let (first, rest) = bytes.split_at(cut.min(bytes.len()));
    let (pending, whole) = read(&[bytes]);
    assert_eq!((pending, whole.clone()), read(&[first, rest]));
    whole
}
