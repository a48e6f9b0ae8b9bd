//! Requirements of tracing on a kernel and on this process, and whether they are met. Reads files
//! only.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use host::{CapabilitySet, Privileges};

use crate::btf::MAGIC;
use crate::resolve::BTF;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Need {
    /// The kernel's own types: by them the programs find the fields that they read.
    Types,
    /// The capabilities for programs that trace.
    Privilege,
    /// A lockdown that lets programs read the kernel's memory.
    Unlocked,
    /// An option of the kernel's config. One that cannot be read refuses nothing.
    Option(&'static str),
    /// A switch of the running kernel, in this file: 0 is off.
    Switch(&'static str),
    /// The source of events at functions.
    KprobeEvents,
}

#[derive(Clone, Debug)]
pub(crate) struct Facts {
    root: PathBuf,
    privileges: Privileges,
    /// The file of the kernel's config, and the options that are set in it.
    config: Option<(String, BTreeSet<String>)>,
}

const LOCKDOWN: &str = "sys/kernel/security/lockdown";
const KPROBE: &str = "sys/bus/event_source/devices/kprobe/type";
const RELEASE: &str = "proc/sys/kernel/osrelease";
/// More than any kernel's config has, in bytes.
const MOST: u64 = 4 << 20;

pub(crate) const FTRACE: &str = "proc/sys/kernel/ftrace_enabled";
pub(crate) const KPROBES: &str = "sys/kernel/debug/kprobes/enabled";

impl Facts {
    pub(crate) fn read() -> Self {
        Self::read_from(Path::new("/"), &Privileges::read())
    }

    pub(crate) fn read_from(root: &Path, privileges: &Privileges) -> Self {
        Self { root: root.to_owned(), privileges: privileges.clone(), config: config(root) }
    }

    /// Why this need is not met; `None` if it is.
    pub(crate) fn lacks(&self, need: Need) -> Option<String> {
        match need {
            Need::Types => types(&self.root).err(),
            Need::Privilege => privilege(&self.privileges).err(),
            Need::Unlocked => lockdown(text(&self.root, LOCKDOWN).as_deref()).err(),
            Need::Option(option) => {
                let (file, _) = self.config.as_ref().filter(|(_, set)| !set.contains(option))?;
                Some(format!("CONFIG_{option} is not set in the kernel's config (/{file})"))
            }
            Need::Switch(file) => {
                let is_off = text(&self.root, file).is_some_and(|text| text.trim() == "0");
                is_off.then(|| format!("it is switched off: /{file} is 0; as root, write 1 to it"))
            }
            Need::KprobeEvents => (!self.root.join(KPROBE).exists()).then(|| {
                "the kernel has no event source \"kprobe\": it needs CONFIG_KPROBE_EVENTS".to_owned()
            }),
        }
    }
}

fn text(root: &Path, file: &str) -> Option<String> {
    std::fs::read_to_string(root.join(file)).ok()
}

fn types(root: &Path) -> Result<(), String> {
    let read = || -> io::Result<[u8; 2]> {
        let mut magic = [0; 2];
        File::open(root.join(BTF))?.read_exact(&mut magic)?;
        Ok(magic)
    };
    match read() {
        Ok(magic) if u16::from_ne_bytes(magic) == MAGIC => Ok(()),
        Ok(_) => Err(format!("/{BTF} is not in the format BTF")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err(format!(
            "no /{BTF}: the kernel does not describe its types (BTF); it needs CONFIG_DEBUG_INFO_BTF"
        )),
        Err(error) => Err(format!("/{BTF} cannot be read: {error}")),
    }
}

fn privilege(privileges: &Privileges) -> Result<(), String> {
    let has = |capabilities| privileges.capabilities.contains(capabilities);
    if privileges.in_user_namespace == Some(true) {
        return Err("this process is in a user namespace, whose capabilities do not count for tracing: it \
                    needs CAP_BPF and CAP_PERFMON (root has them) in the machine's first one"
            .to_owned());
    }
    if has(CapabilitySet::BPF | CapabilitySet::PERFMON) || has(CapabilitySet::SYS_ADMIN) {
        return Ok(());
    }
    Err("this process has no CAP_BPF and CAP_PERFMON (root has them)".to_owned())
}

/// The file names all modes, the one that holds in brackets. Integrity refuses no reading.
fn lockdown(modes: Option<&str>) -> Result<(), String> {
    if !modes.is_some_and(|modes| modes.contains("[confidentiality]")) {
        return Ok(());
    }
    Err(format!(
        "kernel lockdown is \"confidentiality\" (/{LOCKDOWN}): boot with lockdown=integrity, or without"
    ))
}

fn config(root: &Path) -> Option<(String, BTreeSet<String>)> {
    let release = text(root, RELEASE).unwrap_or_default();
    let release = release.trim();
    let packed = "proc/config.gz".to_owned();
    let files = [packed, format!("boot/config-{release}"), format!("lib/modules/{release}/config")];
    files.into_iter().find_map(|file| {
        let opened = File::open(root.join(&file)).ok()?;
        let mut text = String::new();
        if file.ends_with(".gz") {
            GzDecoder::new(opened).take(MOST).read_to_string(&mut text).ok()?;
        } else {
            opened.take(MOST).read_to_string(&mut text).ok()?;
        }
        let set = text.lines().filter_map(|line| {
            let (name, value) = line.strip_prefix("CONFIG_")?.split_once('=')?;
            matches!(value, "y" | "m").then(|| name.to_owned())
        });
        let set: BTreeSet<String> = set.collect();
        // An empty file is no config.
        (!set.is_empty()).then_some((file, set))
    })
}

#[cfg(test)]
pub(crate) mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    pub(crate) fn machine(files: &[(&str, &[u8])]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for (path, bytes) in files {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, bytes).unwrap();
        }
        root
    }

    fn lacks(files: &[(&str, &[u8])], need: Need) -> Option<String> {
        Facts::read_from(machine(files).path(), &Privileges::read()).lacks(need)
    }

    #[test]
    fn types_need_a_file_with_the_right_magic() {
        let magic = MAGIC.to_ne_bytes();
        assert_eq!(lacks(&[(BTF, &magic)], Need::Types), None);
        assert!(lacks(&[(BTF, b"xx")], Need::Types).unwrap().contains("not in the format"));
        assert!(lacks(&[(BTF, b"x")], Need::Types).unwrap().contains("cannot be read"));
        assert!(lacks(&[], Need::Types).unwrap().contains("CONFIG_DEBUG_INFO_BTF"));
    }

    #[test]
    fn an_option_is_looked_up_where_the_kernel_or_its_package_keeps_them() {
        let options = b"CONFIG_A=y\nCONFIG_B=m\n# CONFIG_C is not set\nCONFIG_D=\"y\"\n";
        let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
        packed.write_all(options).unwrap();
        let packed = packed.finish().unwrap();
        let own = [("proc/config.gz", packed.as_slice())];
        let of_package: [(&str, &[u8]); 3] =
            [(RELEASE, b"6.1\n"), ("proc/config.gz", b"junk"), ("boot/config-6.1", options)];
        for (files, named) in [(&own[..], "/proc/config.gz"), (&of_package[..], "/boot/config-6.1")] {
            assert_eq!(lacks(files, Need::Option("A")), None);
            assert_eq!(lacks(files, Need::Option("B")), None);
            for option in ["C", "D", "E"] {
                let reason = lacks(files, Need::Option(option)).unwrap();
                assert!(reason.contains(&format!("CONFIG_{option} is not set")), "{reason}");
                assert!(reason.contains(named), "{reason}");
            }
        }
        assert_eq!(lacks(&[], Need::Option("C")), None, "what is not known refuses nothing");
    }

    #[test]
    fn what_the_machine_forbids_is_named_with_its_file() {
        let modes = |modes: &'static [u8]| lacks(&[(LOCKDOWN, modes)], Need::Unlocked);
        assert_eq!(modes(b"none [integrity] confidentiality\n"), None);
        let reason = modes(b"none integrity [confidentiality]\n").unwrap();
        assert!(reason.contains("/sys/kernel/security/lockdown"), "{reason}");
        assert_eq!(lacks(&[(FTRACE, b"1\n")], Need::Switch(FTRACE)), None);
        assert_eq!(lacks(&[], Need::Switch(FTRACE)), None);
        let reason = lacks(&[(FTRACE, b"0\n")], Need::Switch(FTRACE)).unwrap();
        assert!(reason.contains("/proc/sys/kernel/ftrace_enabled is 0"), "{reason}");
    }

    #[test]
    fn the_source_of_events_is_found_where_it_is() {
        assert_eq!(lacks(&[(KPROBE, b"8\n")], Need::KprobeEvents), None);
        assert!(lacks(&[], Need::KprobeEvents).unwrap().contains("CONFIG_KPROBE_EVENTS"));
    }

    #[test]
    fn a_process_without_the_capabilities_is_told_which() {
        let own = Privileges::read();
        let mut inside = own.clone();
        inside.in_user_namespace = Some(true);
        assert!(privilege(&inside).unwrap_err().contains("user namespace"));
        let has = |capabilities| own.capabilities.contains(capabilities);
        let capable = has(CapabilitySet::SYS_ADMIN) || has(CapabilitySet::BPF | CapabilitySet::PERFMON);
        if !capable {
            let mut first = own;
            first.in_user_namespace = Some(false);
            assert!(privilege(&first).unwrap_err().contains("no CAP_BPF and CAP_PERFMON"));
        }
    }
}
