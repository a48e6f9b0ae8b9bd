//! The guest's first file system: netassay as `/init`, its modules and its settings.

use std::fs;
use std::path::Path;

use agent::init::{MODULES, SETTINGS, Settings};
use host::user_file;
use words::Nic;

use crate::error::Error;
use crate::guest::image::loaded_part;
use crate::guest::kernel::Kernel;
use crate::guest::modules::{ModuleFile, Modules};
use crate::guest::order::GuestOrder;

// The seed of exact mode's random numbers: arbitrary, but always the same.
const SEED: [u8; 32] = *b"netassay: the same at every boot";

// In bytes, of an image and of an initramfs: distributions have about 15 MB.
pub(crate) const LARGEST_IMAGE: u64 = 512 << 20;

pub(crate) fn read_image(kernel: &Kernel) -> Result<Vec<u8>, Error> {
    user_file::read(&kernel.image, LARGEST_IMAGE).map_err(Error::read(&kernel.image))
}

/// The archive, and the names of requested modules that the kernel lacks.
pub(crate) fn pack(order: &GuestOrder) -> Result<(Vec<u8>, Vec<String>), Error> {
    let (loaded, absent) = match &order.kernel.modules {
        Some(directory) => choose(order, directory)?,
        // Init tells what is not built in.
        None => (Vec::new(), Vec::new()),
    };
    let program = fs::read(&order.program).map_err(Error::read(&order.program))?;
    let program = loaded_part(&program)
        .map_err(|why| format!("{} cannot be used as a guest's /init: {why}", order.program.display()))?;
    let settings =
        Settings { ports: order.ports, seed: if order.exact { SEED.to_vec() } else { Vec::new() } };
    let settings =
        agent::encode(&settings).map_err(|error| format!("the {} cannot be started: {error}", order.name))?;

    let mut archive = Archive::default();
    for directory in ["dev", "proc", "sys", "tmp", "netassay", MODULES] {
        archive.directory(directory);
    }
    // The kernel opens it as init's standard streams before anything is mounted.
    archive.device("dev/console", 0o600, 5, 1);
    archive.file(SETTINGS, 0o644, &settings);
    for (index, (name, contents)) in loaded.iter().enumerate() {
        archive.file(&format!("{MODULES}/{index:03}-{name}.ko"), 0o644, contents);
    }
    archive.file("init", 0o755, &program);
    Ok((archive.finish(), absent))
}

fn choose(order: &GuestOrder, directory: &Path) -> Result<(Vec<ModuleFile>, Vec<String>), Error> {
    let modules = Modules::read(directory)?;
    let drivers = drivers(order);
    let mut absent = drivers.iter().filter(|[module, ..]| !modules.has(module));
    let lacking: Vec<String> =
        absent.clone().map(|[module, purpose, _]| format!("{module} ({purpose})")).collect();
    if !lacking.is_empty() {
        return Err(format!(
            "the kernel {} has no {}, which a guest needs: neither built in nor in {}; {}",
            order.kernel.image.display(),
            lacking.join(", "),
            directory.display(),
            absent.next_back().map_or(VIRTIO, |[.., way_out]| way_out)
        )
        .into());
    }
    let drivers = drivers.iter().map(|[module, ..]| *module);
    let wanted: Vec<String> = drivers.chain(order.modules.iter().copied()).map(str::to_owned).collect();
    let absent = wanted.iter().filter(|name| !modules.has(name)).cloned().collect();
    Ok((modules.in_loading_order(&wanted)?, absent))
}

const VIRTIO: &str =
    "use a kernel for virtual machines, such as that of `netassay kernel fetch linux-image-cloud-amd64`";
const E1000E: &str = "use a kernel for all machines, such as that of `netassay kernel fetch linux-image-amd64`, or nic = \"virtio-net\"";

fn drivers(order: &GuestOrder) -> Vec<[&'static str; 3]> {
    let card = match order.nic {
        Nic::VirtioNet => ["virtio_net", "network card", VIRTIO],
        Nic::E1000e => ["e1000e", "network card", E1000E],
    };
    let mut drivers = vec![["virtio_pci", "bus", VIRTIO], ["virtio_console", "ports", VIRTIO]];
    drivers.extend(order.tap.is_some().then_some(card));
    drivers
}

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
    pub fn finish(mut self) -> Vec<u8> {
        self.entry("TRAILER!!!", 0, &[], (0, 0));
        self.bytes
    }

    fn entry(&mut self, path: &str, mode: u32, contents: &[u8], device: (u32, u32)) {
        // A file with more than one link would count as a hard link to another with its number.
        self.entries += 1;
        let size = u32::try_from(contents.len()).unwrap_or(u32::MAX);
        let name = u32::try_from(path.len() + 1).unwrap_or(u32::MAX);
        let fields = [self.entries, mode, 0, 0, 1, 0, size, 0, 0, device.0, device.1, name, 0];
        let fields = fields.map(|field| format!("{field:08x}")).concat();
        self.bytes.extend(format!("070701{fields}{path}\0").bytes());
        self.align();
        self.bytes.extend_from_slice(contents);
        self.align();
    }

    fn align(&mut self) {
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
    }
}

#[cfg(test)]
mod cpio_tests {
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
