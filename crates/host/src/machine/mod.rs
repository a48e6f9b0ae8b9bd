//! Settings of the machine outside of our namespaces and guests; [`crate::journal`] undoes them.

#![expect(missing_docs, reason = "most fields and variants are clear by their names")]

mod command;
mod device;
mod effects;
mod interface;
mod requested;
mod steering;
mod target;
mod tuning;
mod value;

use std::fmt::{Arguments, Display};
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

pub use command::{governor, set_device, set_feature, set_link};
pub use interface::Interface;
pub use requested::{FeatureRequest, MachineRequest};
pub use steering::{steer, steer_new};
pub use target::Target;
pub(crate) use target::check_value;
pub use value::SettingValue;

use crate::error::Error;
pub use crate::kernel::files::Machine;

impl Machine {
    pub(crate) fn boot(&self) -> Result<String, Error> {
        const BOOT: &str = "proc/sys/kernel/random/boot_id";
        // An unreadable boot is no reason to believe that the machine was restarted: then journals
        // would be removed.
        self.text(BOOT).ok_or_else(|| self.unidentified(BOOT))
    }

    /// The network namespace of the calling thread, such as `net:[4026531840]`.
    pub(crate) fn network(&self) -> Result<String, Error> {
        const NETWORK: &str = "proc/thread-self/ns/net";
        let link = std::fs::read_link(self.path(NETWORK)).map_err(|_| self.unidentified(NETWORK))?;
        Ok(link.to_string_lossy().into_owned())
    }

    fn unidentified(&self, path: &str) -> Error {
        Error::from(format!(
            "cannot identify this machine and its boot, so nothing is changed or undone: {} cannot be read; mount /proc",
            self.path(path).display()
        ))
    }

    /// The value of a setting.
    ///
    /// # Errors
    /// No such setting here, or it may not be read.
    pub fn read(&self, target: &Target) -> Result<SettingValue, Error> {
        self.reader().read(target)
    }

    /// Writes a value that was read before, and reads it back.
    ///
    /// # Errors
    /// The kernel refuses, or made something else of it.
    pub fn write(&self, target: &Target, value: &SettingValue) -> Result<(), Error> {
        self.put(target, value)?;
        // The kernel takes some values and makes others of them.
        let got = self.read(target)?;
        if target.is_same(&got, value) {
            return Ok(());
        }
        Err(not_taken(target, &target.show(value).into(), &target.show(&got), ROUNDED))
    }

    pub(crate) fn set(&self, target: &Target, asked: &str) -> Result<(), Error> {
        let end = if self.file(target)?.is_some() { "\n" } else { "" };
        self.put(target, &format!("{asked}{end}").into())?;
        let got = self.read(target)?;
        if target.means(asked, &got) {
            return Ok(());
        }
        Err(not_taken(target, &asked.into(), &got.to_string(), ROUNDED))
    }

    /// Whether a setting has the requested value.
    pub fn has(&self, target: &Target, asked: &str) -> bool {
        self.read(target).is_ok_and(|now| target.means(asked, &now))
    }

    pub(crate) fn check_whole(&self, target: &Target, now: &SettingValue) -> Result<(), Error> {
        // An undo writes the name of a governor, and not the settings that some governors have.
        let Target::Governor { cpu } = target else { return Ok(()) };
        let governor = now.words().concat();
        let places = [format!("cpu{cpu}/cpufreq/{governor}"), format!("cpufreq/{governor}")];
        let tunables = places.map(|place| self.path(&format!("sys/devices/system/cpu/{place}")));
        let Some(place) = tunables.into_iter().find(|place| place.is_dir()) else { return Ok(()) };
        let place = place.display();
        let why = format_args!(
            "the governor {governor} has settings of its own ({place}), which the kernel resets when it is changed"
        );
        Err(forbidden(target, why))
    }

    fn put(&self, target: &Target, value: &SettingValue) -> Result<(), Error> {
        check_allowed(target)?;
        check_value(value).map_err(|why| forbidden(target, why))?;
        let Some(path) = self.file(target)? else { return device::write(self, target, value) };
        // In one call, since the kernel takes each write as a whole value.
        let file = OpenOptions::new().write(true).truncate(true).open(&path);
        let written = file.and_then(|mut file| file.write_all(value.text().as_bytes()));
        let action = format_args!("set {target} to {:?}", value.to_string());
        written.map_err(|errno| file_refused(action, &path, errno))
    }

    fn file(&self, target: &Target) -> Result<Option<PathBuf>, Error> {
        let below = match target {
            // No name on the list has a slash, or a dot inside a part.
            Target::Sysctl { name } => format!("proc/sys/{}", name.replace('.', "/")),
            Target::Governor { cpu } => format!("sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_governor"),
            Target::IrqAffinity { irq } => {
                let directory = format!("proc/irq/{irq}");
                if !self.path(&directory).is_dir() {
                    return Err(Error::Gone(format!("there is no interrupt {irq} now")));
                }
                format!("{directory}/smp_affinity_list")
            }
            target => {
                let Some((interface, queue, file)) = target.queue() else { return Ok(None) };
                let directory = format!("{}/queues/{queue}", self.sysfs(interface)?);
                if !self.path(&directory).is_dir() {
                    let name = &interface.name;
                    return Err(Error::Gone(format!("interface {name:?} has no queue {queue} now")));
                }
                format!("{directory}/{file}")
            }
        };
        Ok(Some(self.path(&below)))
    }
}

fn read_whole(path: &Path) -> io::Result<SettingValue> {
    let mut file = File::open(path)?;
    // In one call: the kernel cuts some values to the requested size, then returns nothing more.
    let mut bytes = vec![0; target::LONGEST_VALUE + 1];
    let mut length = 0;
    while length < bytes.len() {
        match file.read(&mut bytes[length..])? {
            0 => {
                bytes.truncate(length);
                let text = String::from_utf8(bytes).map_err(|_| io::ErrorKind::InvalidData)?;
                return Ok(text.into());
            }
            more => length += more,
        }
    }
    Err(io::Error::new(io::ErrorKind::InvalidData, "its value is too long to be undone"))
}

fn check_allowed(target: &Target) -> Result<(), Error> {
    target.check().map_err(|why| forbidden(target, why))
}

fn forbidden(target: &Target, why: impl Display) -> Error {
    format!("cannot change {target}: {why}").into()
}

fn not_taken(target: &Target, value: &SettingValue, got: &str, why: &str) -> Error {
    format!("{target} was set to {:?} and reads back {got:?}: {why}", value.to_string()).into()
}

// The usual reason for a value that reads back differently.
const ROUNDED: &str = "the kernel rounds it, or bounds it";

fn no_feature(interface: &str, names: &str) -> Error {
    Error::from(format!(
        "interface {interface:?} cannot switch {names}: its driver does not allow it, or this kernel does not know it"
    ))
}

fn file_refused(action: Arguments<'_>, path: &Path, errno: io::Error) -> Error {
    let way_out = match errno.kind() {
        io::ErrorKind::PermissionDenied => "; it needs root, outside of any user namespace",
        io::ErrorKind::ReadOnlyFilesystem => {
            "; it is mounted for reading only, as in most containers: run outside of it"
        }
        io::ErrorKind::NotFound => "; this kernel, or this network namespace, does not have it",
        io::ErrorKind::InvalidInput => "; the kernel rejects this value",
        _ => "",
    };
    Error::failed(format_args!("cannot {action}: {}", path.display()), errno, way_out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::files::fixture::files;

    fn sysctl(name: &str) -> Target {
        Target::Sysctl { name: name.to_owned() }
    }

    #[test]
    fn a_value_is_read_and_written_back_byte_for_byte() {
        for value in ["", "\n", "4096\t131072\t6291456\n", &"1,3,".repeat(9000)] {
            let (keep, _) = files(&[("proc/sys/net/ipv4/tcp_rmem", value)]);
            let machine = Machine::below(keep.path());
            let target = sysctl("net.ipv4.tcp_rmem");
            let before = machine.read(&target).unwrap();
            assert_eq!(before, value.into());
            machine.set(&target, "1  2 3").unwrap();
            assert_eq!(machine.read(&target).unwrap(), "1  2 3\n".into());
            machine.write(&target, &before).unwrap();
            assert_eq!(
                std::fs::read(keep.path().join("proc/sys/net/ipv4/tcp_rmem")).unwrap(),
                value.as_bytes()
            );
        }
    }

    #[test]
    fn what_is_not_there_or_not_allowed_is_named_with_the_way_out() {
        let (keep, _) = files(&[("proc/sys/net/core/rmem_max", "1")]);
        let machine = Machine::below(keep.path());
        let text = machine.read(&sysctl("net.core.wmem_max")).unwrap_err().to_string();
        assert!(text.contains("net.core.wmem_max") && text.contains("does not have it"), "{text}");
        let text = machine.write(&sysctl("kernel.core_pattern"), &"|x".into()).unwrap_err().to_string();
        assert!(text.contains("not on the list of sysctls"), "{text}");
        let long = "1".repeat(300_000);
        let text =
            machine.write(&sysctl("net.core.rmem_max"), &long.as_str().into()).unwrap_err().to_string();
        assert!(text.contains("at most 262144"), "{text}");
    }

    #[test]
    fn a_governor_with_its_own_settings_is_left() {
        let governor = "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor";
        let (keep, _) = files(&[
            (governor, "schedutil\n"),
            ("sys/devices/system/cpu/cpufreq/schedutil/rate_limit_us", "1"),
        ]);
        let machine = Machine::below(keep.path());
        let target = Target::Governor { cpu: 0 };
        let refused = machine.check_whole(&target, &machine.read(&target).unwrap()).unwrap_err().to_string();
        assert!(refused.contains("settings of its own"), "{refused}");
        assert!(machine.check_whole(&target, &"powersave\n".into()).is_ok());
    }
}
