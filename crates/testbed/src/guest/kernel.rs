//! Finding a kernel: its image, and the modules that belong to it.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

use host::user_file;
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::guest::apt;
use crate::guest::image::{self, release_of};

/// A kernel to boot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Kernel {
    /// The image, a bzImage.
    pub image: PathBuf,
    /// `…/lib/modules/RELEASE`, if there is such a directory.
    #[serde(skip)]
    pub modules: Option<PathBuf>,
    /// The release, as the image tells it.
    pub release: Option<String>,
}

impl Kernel {
    /// Finds a kernel by the path of its image, a directory with `boot/` and `lib/modules/`, or the
    /// name of a [fetched](super::fetch) package; `None`: the running kernel.
    ///
    /// # Errors
    /// When there is none, or several; each error has a remedy.
    pub fn find(asked: Option<&str>) -> Result<Self, Error> {
        match asked {
            None => running(Path::new("/")),
            Some(asked) => by_name(asked, fetched_kernels().ok().as_deref()),
        }
    }

    fn of_image(image: &Path) -> Result<Self, Error> {
        let mut head = Vec::new();
        user_file::open(image)
            .and_then(|file| file.take(image::HEAD).read_to_end(&mut head))
            .map_err(Error::read(image))?;
        if !image::is_image(&head) {
            let image = image.display();
            return Err(Error::Failed(format!(
                "{image} is no bootable x86 kernel image: give the path of a vmlinuz (bzImage)"
            )));
        }
        let release = release_of(&head);
        let modules = release.as_deref().and_then(|release| modules_of(image, release));
        Ok(Self { image: image.to_owned(), modules, release })
    }

    pub(crate) fn in_directory(directory: &Path) -> Result<Self, Error> {
        let boot = directory.join("boot");
        let mut images: Vec<PathBuf> = fs::read_dir(&boot)
            .map_err(Error::read(&boot))?
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("vmlinuz")))
            .collect();
        images.sort();
        let found = match images.as_slice() {
            [image] => return Self::of_image(image),
            [] => "no vmlinuz-*".to_owned(),
            several => format!("{} kernels", several.len()),
        };
        Err(format!("{} holds {found}: give the path of one kernel image", boot.display()).into())
    }
}

fn by_name(asked: &str, kept: Option<&Path>) -> Result<Kernel, Error> {
    let path = Path::new(asked);
    if path.is_dir() {
        return Kernel::in_directory(path);
    }
    if path.is_file() {
        return Kernel::of_image(path);
    }
    let fetched = kept.filter(|_| apt::is_request(asked)).map(|kept| kept.join(apt::file_name(asked)));
    if let Some(fetched) = fetched.filter(|fetched| fetched.is_dir()) {
        return Kernel::in_directory(&fetched);
    }
    let fetch = words::shell_command(["netassay", "kernel", "fetch", asked]);
    let fetch = if apt::is_request(asked) { format!("; `{fetch}` may download it") } else { String::new() };
    Err(Error::NoKernel(format!(
        "no kernel {asked:?}: neither a file, nor a directory with boot/vmlinuz-*, nor a fetched package (`netassay kernel list` \
         shows those{fetch})"
    )))
}

pub(crate) fn fetched_kernels() -> Result<PathBuf, Error> {
    // XDG base directory specification: relative directories do not count.
    let named = |name: &str| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let base = named("XDG_DATA_HOME").or_else(|| named("HOME").map(|home| home.join(".local/share")));
    let none = "cannot store fetched kernels: neither XDG_DATA_HOME nor HOME is set; set one";
    Ok(base.ok_or_else(|| Error::Failed(none.to_owned()))?.join("netassay/kernels"))
}

fn running(root: &Path) -> Result<Kernel, Error> {
    let release = fs::read_to_string("/proc/sys/kernel/osrelease")
        .map_err(Error::read("/proc/sys/kernel/osrelease"))?;
    let release = release.trim();
    // The paths of Debian and most others, of Fedora, and of systemd's boot loader specification.
    let places = [
        format!("boot/vmlinuz-{release}"),
        format!("lib/modules/{release}/vmlinuz"),
        format!("usr/lib/modules/{release}/vmlinuz"),
    ]
    .map(|place| root.join(place));
    if let Some(image) = places.iter().find(|place| place.is_file()) {
        return Kernel::of_image(image);
    }
    let looked = places.map(|place| place.display().to_string()).join(", ");
    Err(format!(
        "no image of the running kernel {release} (looked for {looked}): give one with kernel = \"PATH\" in [guest], or fetch a \
         distribution's with `netassay kernel fetch linux-image-cloud-amd64` and give kernel = \"linux-image-cloud-amd64\""
    )
    .into())
}

fn modules_of(image: &Path, release: &str) -> Option<PathBuf> {
    let image = image.canonicalize().ok()?;
    let directory = image.parent()?;
    // Fedora's image is `lib/modules/RELEASE/vmlinuz`.
    if directory.file_name().is_some_and(|name| name == release) {
        return Some(directory.to_owned());
    }
    // The tree of an unpacked package has `boot/` beside `lib/`; else this machine may have them.
    let roots = directory.parent().into_iter().chain([Path::new("/")]);
    let candidates =
        roots.flat_map(|root| ["lib/modules", "usr/lib/modules"].map(|part| root.join(part).join(release)));
    candidates.into_iter().find(|path| path.is_dir())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guest::image::tests::image;

    fn tree(release: &str) -> tempfile::TempDir {
        let tree = tempfile::tempdir().unwrap();
        fs::create_dir_all(tree.path().join("boot")).unwrap();
        fs::create_dir_all(tree.path().join("usr/lib/modules").join(release)).unwrap();
        fs::write(tree.path().join(format!("boot/vmlinuz-{release}")), image(release.as_bytes())).unwrap();
        tree
    }

    #[test]
    fn an_unpacked_package_is_found_by_its_directory_its_image_and_its_name() {
        let tree = tree("6.1.0-x");
        let found = by_name(tree.path().to_str().unwrap(), None).unwrap();
        assert_eq!(found.release.as_deref(), Some("6.1.0-x"));
        assert!(found.modules.as_ref().unwrap().ends_with("usr/lib/modules/6.1.0-x"));
        assert_eq!(by_name(found.image.to_str().unwrap(), None).unwrap(), found);
        let kept = tree.path().parent().unwrap().to_owned();
        let name = tree.path().file_name().unwrap().to_str().unwrap();
        if !name.starts_with('.') {
            assert_eq!(by_name(name, Some(&kept)).unwrap(), found);
        }
        assert!(by_name("..", Some(&kept)).is_err_and(|error| !error.to_string().contains("no kernel")));
    }

    #[test]
    fn what_is_not_there_is_reported_with_the_way_out() {
        let error = by_name("linux-image-none", None).unwrap_err().to_string();
        assert!(error.contains("netassay kernel fetch linux-image-none"), "{error}");
        let error = by_name("/boot/vmlinuz-none", None).unwrap_err().to_string();
        assert!(error.ends_with("nor a fetched package (`netassay kernel list` shows those)"), "{error}");
        let empty = tempfile::tempdir().unwrap();
        let error = running(empty.path()).unwrap_err().to_string();
        assert!(
            error.contains("no image of the running kernel") && error.contains("kernel fetch"),
            "{error}"
        );
        let text = empty.path().join("vmlinuz");
        fs::write(&text, "text").unwrap();
        let error = by_name(text.to_str().unwrap(), None).unwrap_err().to_string();
        assert!(error.contains("is no bootable x86 kernel image"), "{error}");
        let tree = tree("6.1.0-x");
        fs::write(tree.path().join("boot/vmlinuz-2"), "").unwrap();
        let error = Kernel::in_directory(tree.path()).unwrap_err().to_string();
        assert!(error.contains("holds 2 kernels"), "{error}");
    }
}
