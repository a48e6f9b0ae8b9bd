//! The device behind an interface, as its bus knows it: taken from its driver, and given back.
//!
//! An interface ends when its device is unbound from the driver, and a new one begins when it is
//! bound again: with another index, and with the driver's own settings.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::kernel::files::Files;
use crate::link::interface::Link;
use crate::link::links::Links;

/// A device with a driver.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Card {
    /// Its bus, such as `pci`.
    pub bus: String,
    /// Its name there, such as `0000:03:00.0`.
    pub device: String,
    /// Its driver, such as `mlx5_core`.
    pub driver: String,
}

/// The longest name, in bytes.
const LONGEST: usize = 128;

/// How long a driver may take to bring its interface back: some load a firmware first.
const TO_COME_BACK: Duration = Duration::from_secs(30);

/// How long udev may take to give an interface its name.
const TO_BE_NAMED: Duration = Duration::from_secs(3);

const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// udev listens here.
const UDEV: &str = "run/udev/control";

impl Card {
    /// The device of an interface that can be taken from its driver, and will come back with
    /// everything that netassay knows of the interface.
    ///
    /// # Errors
    /// Why it cannot.
    pub(crate) fn of(links: &mut Links, link: &Link, root: &Path) -> Result<Self, Error> {
        let name = &link.name;
        let refused = |why: String| {
            Error::from(format!("the driver of interface {name:?} cannot be taken down and up: {why}"))
        };
        if let Some(kind) = &link.kind {
            return Err(refused(format!("it has none, because it is a virtual interface ({kind})")));
        }
        let files = Files::below(root);
        let Some(directory) = link.sysfs(&files) else {
            return Err(refused(
                "/sys/class/net does not show it: mount a sysfs of its network namespace on /sys".to_owned(),
            ));
        };
        let directory = root.join(directory);
        let card = Self::at(&directory.join("device"))
            .ok_or_else(|| refused("no device with a driver is behind it".to_owned()))?;
        card.check().map_err(refused)?;
        if !root.join(OF_FIRST_NAMESPACE).exists() {
            return Err(refused(
                "it is in a network namespace, and would come back in that of the machine".to_owned(),
            ));
        }
        let others: Vec<String> = card.interfaces(root).into_iter().filter(|other| other != name).collect();
        if !others.is_empty() {
            return Err(refused(format!("its device also has {}, which would go too", others.join(", "))));
        }
        let above = files.names(&directory.display().to_string(), ABOVE);
        if let Some(above) = above.first().and_then(|above| above.strip_prefix(ABOVE)) {
            return Err(refused(format!("{above} is made of it, and would lose it: remove that first")));
        }
        let of_device = |file: &str| files.text(&format!("{}/device/{file}", directory.display()));
        if of_device("sriov_numvfs").is_some_and(|number| number != "0") {
            return Err(refused("its device has virtual functions, which would go too".to_owned()));
        }
        // The kernel's own disciplines have no number.
        if let Some(set) = links.disciplines(link)?.iter().find(|one| one.handle != 0) {
            let kind = text::line(&set.kind).into_owned();
            return Err(refused(format!(
                "it has a queueing discipline that was set ({kind}), which would be lost: remove it, and set it again afterwards"
            )));
        }
        Ok(card)
    }

    /// The device of this directory of sysfs.
    fn at(directory: &Path) -> Option<Self> {
        let last = |path: PathBuf| path.file_name().and_then(OsStr::to_str).map(str::to_owned);
        let linked = |name: &str| last(std::fs::read_link(directory.join(name)).ok()?);
        Some(Self {
            bus: linked("subsystem")?,
            device: last(std::fs::canonicalize(directory).ok()?)?,
            driver: linked("driver")?,
        })
    }

    /// Whether its names are names, and no paths elsewhere.
    pub(crate) fn check(&self) -> Result<(), String> {
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | ':' | ' ' | '+');
        let is_name = |name: &&str| {
            (1..=LONGEST).contains(&name.len()) && !name.starts_with('.') && name.chars().all(plain)
        };
        match [&*self.bus, &*self.device, &*self.driver].iter().find(|name| !is_name(name)) {
            Some(name) => Err(format!("{name:?} cannot be the name of a device, its bus or its driver")),
            None => Ok(()),
        }
    }

    fn directory(&self, root: &Path) -> PathBuf {
        root.join("sys/bus").join(&self.bus).join("devices").join(&self.device)
    }

    /// The interfaces of the device.
    pub(crate) fn interfaces(&self, root: &Path) -> Vec<String> {
        Files::below(root).names(&self.directory(root).join("net").display().to_string(), "")
    }

    fn is_bound(&self, root: &Path) -> bool {
        let driver = std::fs::read_link(self.directory(root).join("driver"));
        driver.is_ok_and(|path| path.file_name() == Some(OsStr::new(&self.driver)))
    }

    /// The file that takes the device (`unbind`), or gives it back (`bind`).
    #[must_use]
    pub fn file(&self, action: &str) -> String {
        format!("/sys/bus/{}/drivers/{}/{action}", self.bus, self.driver)
    }

    fn tell(&self, action: &str, root: &Path) -> Result<(), Error> {
        let file = self.file(action);
        std::fs::write(root.join(file.trim_start_matches('/')), &self.device).map_err(|errno| {
            let way_out = match errno.kind() {
                std::io::ErrorKind::PermissionDenied | std::io::ErrorKind::ReadOnlyFilesystem => {
                    "; it needs root, and a /sys that can be written"
                }
                _ => "; the kernel's log (dmesg) has the driver's reason",
            };
            Error::failed(format!("cannot write {} to {file}", self.device), errno, way_out)
        })
    }

    /// Takes the device from its driver: the interface ends.
    ///
    /// # Errors
    /// The kernel refuses.
    pub(crate) fn unbind(&self, root: &Path) -> Result<(), Error> {
        self.tell("unbind", root)
    }

    /// Gives the device to its driver if that does not have it, and waits for its interface.
    fn bind(&self, root: &Path) -> Result<String, Error> {
        if !self.is_bound(root) {
            self.tell("bind", root)?;
        }
        let deadline = Instant::now() + TO_COME_BACK;
        loop {
            if let Some(name) = self.interfaces(root).into_iter().next() {
                return Ok(name);
            }
            if Instant::now() >= deadline {
                return Err(Error::from(format!(
                    "device {} has no interface {} s after its driver {} was given it: look at the kernel's log (dmesg); \
                     `netassay restore` tries again, and a restart of the machine brings it back",
                    self.device,
                    TO_COME_BACK.as_secs(),
                    self.driver
                )));
            }
            std::thread::sleep(LOOK_AGAIN);
        }
    }
}

/// Only the network namespace that the kernel starts with has it (`net_core_table`), and only there
/// do devices come back.
const OF_FIRST_NAMESPACE: &str = "proc/sys/net/core/netdev_budget";

/// Before the name of an interface that is made of another one.
const ABOVE: &str = "upper_";

/// What a new interface of the device lacks of the one before, and no other setting has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Presence {
    /// It has no interface: the device has no driver, or the driver is not ready.
    Absent,
    /// It has one.
    Present(Identity),
}

/// The name, the link-layer address, and the files of sysfs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    name: String,
    up: bool,
    address: Option<String>,
    files: Vec<(String, String)>,
}

/// Files of an interface in sysfs that can be written: its alias, group, length of the queue, and
/// how it waits for more before it interrupts.
const FILES: [&str; 6] =
    ["ifalias", "netdev_group", "tx_queue_len", "gro_flush_timeout", "napi_defer_hard_irqs", "threaded"];

impl Presence {
    pub(crate) fn read(links: &mut Links, card: &Card, root: &Path) -> Result<Self, Error> {
        let Some(name) = card.interfaces(root).into_iter().next() else { return Ok(Self::Absent) };
        let link = links.find(&name)?;
        let directory = root.join("sys/class/net").join(&name);
        let value = |file: &&str| {
            let text = std::fs::read_to_string(directory.join(file)).ok()?;
            let line = text.trim_end_matches('\n');
            (!line.is_empty() && !line.contains('\n')).then(|| ((*file).to_owned(), line.to_owned()))
        };
        let files = FILES.iter().filter_map(value).collect();
        Ok(Self::Present(Identity { name, up: link.up, address: link.address, files }))
    }

    /// Puts the interface back, with the device's driver if that was taken. Its other settings are
    /// the driver's, or nothing, until they are put back too.
    ///
    /// # Errors
    /// It does not come back in time, or the kernel refuses a part.
    pub(crate) fn write(&self, links: &mut Links, card: &Card, root: &Path) -> Result<(), Error> {
        let Self::Present(wanted) = self else {
            return Err(Error::from(format!("device {} had no interface before", card.device)));
        };
        let mut now = card.bind(root)?;
        // Its name comes from udev, if that runs. It is given here to an interface that had another
        // one, and where nobody else does it.
        let named_by = Instant::now() + if root.join(UDEV).exists() { TO_BE_NAMED } else { Duration::ZERO };
        while now != wanted.name && Instant::now() < named_by {
            std::thread::sleep(LOOK_AGAIN);
            now = card.interfaces(root).into_iter().next().unwrap_or(now);
        }
        let link = links.find(&now)?;
        let name = &wanted.name;
        if now != *name || link.address != wanted.address {
            // The kernel changes neither of an interface that is up, with some drivers.
            if link.up {
                links.set_down(&now)?;
            }
            if now != *name {
                links.rename(&now, name)?;
            }
            if let Some(address) = wanted.address.as_ref().filter(|_| link.address != wanted.address) {
                links.set_link_address(name, address)?;
            }
        }
        let directory = root.join("sys/class/net").join(name);
        for (file, value) in &wanted.files {
            let path = directory.join(file);
            if std::fs::read_to_string(&path).is_ok_and(|now| now.trim_end_matches('\n') == value) {
                continue;
            }
            let written = std::fs::write(&path, value);
            written.map_err(|errno| Error::failed(format!("cannot write {}", path.display()), errno, ""))?;
        }
        match (wanted.up, links.find(name)?.up) {
            (true, false) => links.set_up(name)?,
            (false, true) => links.set_down(name)?,
            _ => {}
        }
        Ok(())
    }

    /// As text: a line for each part.
    pub(crate) fn to_text(&self) -> String {
        let Self::Present(Identity { name, up, address, files }) = self else { return ABSENT.to_owned() };
        let state = if *up { "up" } else { "down" };
        let address = address.iter().map(|address| ("address", &**address));
        let files = files.iter().map(|(file, value)| (&**file, &**value));
        let parts = [("name", &**name), ("state", state)].into_iter().chain(address).chain(files);
        parts.map(|(part, value)| format!("{part} {value}\n")).collect()
    }

    /// Reads the text; `None` if it is none.
    pub(crate) fn of_text(text: &str) -> Option<Self> {
        if text == ABSENT {
            return Some(Self::Absent);
        }
        let (mut name, mut up, mut address, mut files) = (None, None, None, Vec::new());
        for line in text.lines() {
            let (part, value) = line.split_once(' ')?;
            match part {
                "name" => name = Some(value.to_owned()),
                "state" => up = Some(value == "up"),
                "address" => address = Some(value.to_owned()),
                file if FILES.contains(&file) => files.push((file.to_owned(), value.to_owned())),
                _ => return None,
            }
        }
        Some(Self::Present(Identity { name: name?, up: up?, address, files }))
    }

    /// For people.
    pub(crate) fn summary(&self) -> String {
        match self {
            Self::Absent => "taken down".to_owned(),
            Self::Present(Identity { name, up, .. }) => {
                format!("at work for {name}, which is {}", if *up { "up" } else { "down" })
            }
        }
    }
}

const ABSENT: &str = "absent";

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    /// A made-up `/sys` with a card and its interface, in the first network namespace.
    struct Sys {
        directory: tempfile::TempDir,
        link: Link,
    }

    impl Sys {
        fn make() -> Self {
            let directory = tempfile::tempdir().unwrap();
            let at = |path: &str| directory.path().join(path);
            let link = Links::open().unwrap().find("lo").unwrap();
            for path in [
                "proc/sys/net/core",
                "sys/devices/pci0/0000:03:00.0/net/lo",
                "sys/bus/pci/drivers/fast_nic",
                "sys/bus/pci/devices",
                "sys/class/net",
            ] {
                fs::create_dir_all(at(path)).unwrap();
            }
            for (link, to) in [
                ("sys/class/net/lo", "../../devices/pci0/0000:03:00.0/net/lo"),
                ("sys/devices/pci0/0000:03:00.0/net/lo/device", "../.."),
                ("sys/devices/pci0/0000:03:00.0/subsystem", "../../../bus/pci"),
                ("sys/devices/pci0/0000:03:00.0/driver", "../../../bus/pci/drivers/fast_nic"),
                ("sys/bus/pci/devices/0000:03:00.0", "../../../devices/pci0/0000:03:00.0"),
            ] {
                symlink(to, at(link)).unwrap();
            }
            let own = Self { directory, link };
            own.write("proc/sys/net/core/netdev_budget", "300");
            own.write("sys/class/net/lo/ifindex", &own.link.index.to_string());
            own.write("sys/class/net/lo/address", own.link.address.as_deref().unwrap_or_default());
            own.write("sys/bus/pci/drivers/fast_nic/unbind", "");
            own
        }

        fn at(&self, path: &str) -> PathBuf {
            self.directory.path().join(path)
        }

        fn write(&self, path: &str, text: &str) {
            fs::write(self.at(path), text).unwrap();
        }

        fn card(&self) -> Result<Card, String> {
            let card = Card::of(&mut Links::open().unwrap(), &self.link, self.directory.path());
            card.map_err(|error| error.to_string())
        }
    }

    #[test]
    fn a_card_is_told_its_own_name_by_its_own_driver() {
        let sys = Sys::make();
        let card = sys.card().unwrap();
        assert_eq!((&*card.bus, &*card.device, &*card.driver), ("pci", "0000:03:00.0", "fast_nic"));
        assert_eq!(card.file("bind"), "/sys/bus/pci/drivers/fast_nic/bind");
        assert!(card.is_bound(sys.directory.path()));
        card.unbind(sys.directory.path()).unwrap();
        let told = fs::read_to_string(sys.at("sys/bus/pci/drivers/fast_nic/unbind")).unwrap();
        assert_eq!(told, "0000:03:00.0");
        // Bound, with its interface: there is nothing to wait for.
        assert_eq!(card.bind(sys.directory.path()).unwrap(), "lo");
        fs::remove_file(sys.at("sys/devices/pci0/0000:03:00.0/driver")).unwrap();
        let error = card.bind(sys.directory.path()).map(|_| sys.at("sys/bus/pci/drivers/fast_nic/bind"));
        assert!(error.is_ok_and(|bind| fs::read_to_string(bind).unwrap() == "0000:03:00.0"));
    }

    #[test]
    fn a_driver_is_taken_down_only_where_it_comes_back() {
        let refused = |change: &dyn Fn(&mut Sys), why: &str| {
            let mut sys = Sys::make();
            change(&mut sys);
            let error = sys.card().unwrap_err();
            assert!(error.contains("cannot be taken down and up") && error.contains(why), "{error}");
        };
        let device = "sys/devices/pci0/0000:03:00.0";
        refused(&|sys| sys.link.kind = Some("veth".to_owned()), "virtual interface (veth)");
        refused(&|sys| sys.link.index += 1, "does not show it");
        refused(&|sys| fs::remove_file(sys.at(device).join("driver")).unwrap(), "no device with a driver");
        refused(&|sys| fs::remove_dir_all(sys.at("proc")).unwrap(), "in a network namespace");
        refused(&|sys| fs::create_dir(sys.at(device).join("net/lo2")).unwrap(), "also has lo2");
        refused(&|sys| sys.write("sys/class/net/lo/upper_bond0", ""), "bond0 is made of it");
        refused(&|sys| sys.write("sys/class/net/lo/device/sriov_numvfs", "4\n"), "virtual functions");
    }

    #[test]
    fn names_of_a_device_that_lead_elsewhere_are_none() {
        let card = |bus: &str, device: &str| Card {
            bus: bus.to_owned(),
            device: device.to_owned(),
            driver: "e1000e".to_owned(),
        };
        for (bus, device) in [("pci", "0000:03:00.0"), ("virtio", "virtio1"), ("usb", "1-1.2:1.0")] {
            assert_eq!(card(bus, device).check(), Ok(()));
        }
        for (bus, device) in [("..", "x"), ("pci", "../x"), ("pci", ""), ("pci", "a\nb"), ("p/q", "x")] {
            assert!(card(bus, device).check().is_err(), "{bus:?} {device:?}");
        }
        assert!(card("pci", &"x".repeat(200)).check().is_err());
    }

    #[test]
    fn a_presence_is_read_as_it_was_written() {
        let present = Presence::Present(Identity {
            name: "ens1f0".to_owned(),
            up: true,
            address: Some("02:00:5e:00:53:01".to_owned()),
            files: vec![("ifalias".to_owned(), "the rack below".to_owned())],
        });
        for presence in [present, Presence::Absent] {
            assert_eq!(Presence::of_text(&presence.to_text()), Some(presence));
        }
        for text in ["", "name x\n", "name x\nstate up\n../x 1\n", "name"] {
            assert_eq!(Presence::of_text(text), None, "{text:?}");
        }
    }
}
