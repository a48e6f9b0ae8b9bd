//! Settings of interfaces, by netlink: read, written, read back.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::Path;

use super::error::{forbidden, no_feature, not_taken};
use super::value::switch;
use super::{Interface, Target, Value};
use words::{DeviceForm, DeviceSetting};

use super::target::CHOSEN;
use crate::error::Error;
use crate::kernel::files::Files;
use crate::link::device::{DeviceSettings, is_chosen};
use crate::link::entry::{Entry, EntryKind, IPV4, IPV6};
use crate::link::ethtool::Ethtool;
use crate::link::features::Features;
use crate::link::interface::Link;
use crate::link::ipv6::Ipv6State;
use crate::link::links::Links;

/// Reads settings of interfaces, and remembers them: so a list of an interface's features is read
/// once.
#[derive(Debug, Default)]
pub(super) struct InterfaceReader {
    links: Option<Links>,
    ethtool: Option<Ethtool>,
    features: BTreeMap<Interface, Features>,
    devices: BTreeMap<Interface, DeviceSettings>,
}

impl InterfaceReader {
    /// The value of a setting; `None` for a setting in a file.
    pub(super) fn read(&mut self, target: &Target, root: &Path) -> Option<Result<Value, Error>> {
        if !is_here(target) {
            return None;
        }
        Some(self.value(target, root))
    }

    fn value(&mut self, target: &Target, root: &Path) -> Result<Value, Error> {
        let links = match &mut self.links {
            Some(links) => links,
            none => none.insert(Links::open()?),
        };
        if let Target::Made { name, .. } = target {
            return read_made(links, name);
        }
        let interface = target.interface().ok_or_else(|| forbidden(target, NOT_HERE))?;
        if let Target::Feature { feature, .. } = target {
            if !self.features.contains_key(interface) {
                let name = interface.now(links)?.name;
                let ethtool = match &mut self.ethtool {
                    Some(ethtool) => ethtool,
                    none => none.insert(Ethtool::open()?),
                };
                self.features.insert(interface.clone(), ethtool.features(&name)?);
            }
            let state = self.features[interface].get(feature);
            return Ok(switch(state.ok_or_else(|| no_feature(interface.name(), feature))?.wanted).into());
        }
        if let Target::Device { setting, .. } = target {
            if !self.devices.contains_key(interface) {
                let name = interface.now(links)?.name;
                let ethtool = match &mut self.ethtool {
                    Some(ethtool) => ethtool,
                    none => none.insert(Ethtool::open()?),
                };
                self.devices.insert(interface.clone(), ethtool.device(&name)?);
            }
            return device_value(&self.devices[interface], interface, *setting);
        }
        let link = interface.now(links)?;
        Ok(match target {
            Target::Mtu { .. } => link.mtu.to_string().as_str().into(),
            Target::Up { .. } => if link.up { "up" } else { "down" }.into(),
            Target::Address { address, prefix, .. } => {
                if has_address(links, &link, *address, *prefix)? { PRESENT } else { ABSENT }.into()
            }
            target => match target.scope() {
                Some(scope) => Ipv6State::read(links, root, &link, scope)?.to_text().as_str().into(),
                None => return Err(forbidden(target, NOT_HERE)),
            },
        })
    }
}

/// Writes a value; `None` for a setting in a file.
pub(super) fn write(target: &Target, value: &Value, root: &Path) -> Option<Result<(), Error>> {
    if let Target::Made { name, kind } = target {
        return Some(delete_made(target, name, kind, value));
    }
    is_here(target).then(|| {
        let interface = target.interface().ok_or_else(|| forbidden(target, NOT_HERE))?;
        let mut links = Links::open()?;
        let link = interface.now(&mut links)?;
        let name = &link.name;
        let text = String::from_utf8_lossy(value.bytes());
        let unknown = |expected: &str| forbidden(target, &format!("it is {expected}, not {value}"));
        match target {
            Target::Feature { feature, .. } => write_feature(target, name, feature, value),
            Target::Device { setting, .. } => write_device(target, name, *setting, &text),
            Target::Mtu { .. } => match text.parse() {
                // Some drivers restart their device, even for the MTU that it has.
                Ok(mtu) if mtu == link.mtu => Ok(()),
                Ok(mtu) => links.set_mtu(name, mtu),
                Err(_) => Err(unknown("a number of bytes")),
            },
            Target::Up { .. } => match (&*text, link.up) {
                ("up", true) | ("down", false) => Ok(()),
                ("up", false) => links.set_up(name),
                ("down", true) => links.set_down(name),
                _ => Err(unknown("up or down")),
            },
            Target::Address { address, prefix, .. } => {
                let is_there = has_address(&mut links, &link, *address, *prefix)?;
                match (&*text, is_there) {
                    (PRESENT, true) | (ABSENT, false) => Ok(()),
                    (PRESENT, false) => links.add_address(name, *address, *prefix),
                    (ABSENT, true) => remove_address(&mut links, &link, *address, *prefix),
                    _ => Err(unknown("present or absent")),
                }
            }
            target => match (target.scope(), Ipv6State::of_text(&text)) {
                (Some(scope), Some(state)) => state.write(&mut links, root, &link, scope),
                (Some(_), None) => Err(forbidden(target, "the recorded state cannot be read")),
                (None, _) => Err(forbidden(target, NOT_HERE)),
            },
        }
    })
}

/// Whether a setting is read and written here, and not in a file.
fn is_here(target: &Target) -> bool {
    match target {
        Target::Made { .. } => true,
        Target::Steering { .. } | Target::TransmitSteering { .. } => false,
        target => target.interface().is_some(),
    }
}

const NOT_HERE: &str = "it is not a setting of an interface";
const PRESENT: &str = "present";
const ABSENT: &str = "absent";

pub(super) fn sysfs(files: &Files, interface: &Interface) -> Result<String, Error> {
    let link = interface.now(&mut Links::open()?)?;
    link.sysfs(files).ok_or_else(|| {
        format!("/sys/class/net does not show interface {interface}: mount a sysfs of its network namespace on /sys")
            .into()
    })
}

fn family(address: IpAddr) -> (u8, Vec<u8>) {
    match address {
        IpAddr::V4(address) => (IPV4, address.octets().to_vec()),
        IpAddr::V6(address) => (IPV6, address.octets().to_vec()),
    }
}

fn has_address(links: &mut Links, link: &Link, address: IpAddr, prefix: u8) -> Result<bool, Error> {
    let (family, bytes) = family(address);
    let all = links.entries(EntryKind::Address, family, link.index)?;
    Ok(all.iter().any(|one| one.is_address(&bytes, prefix)))
}

/// Removes an address. With the first IPv4 address of a network the kernel removes the others of
/// that network (unless `promote_secondaries` is set): they are put back.
fn remove_address(links: &mut Links, link: &Link, address: IpAddr, prefix: u8) -> Result<(), Error> {
    let (family, bytes) = family(address);
    let before = links.entries(EntryKind::Address, family, link.index)?;
    let (removed, others): (Vec<_>, Vec<_>) =
        before.into_iter().partition(|one| one.is_address(&bytes, prefix));
    removed.iter().try_for_each(|one| one.delete(links, &link.name))?;
    let after = links.entries(EntryKind::Address, family, link.index)?;
    let is_lost = |one: &&Entry| !after.iter().any(|left| left.message == one.message);
    others.iter().filter(is_lost).try_for_each(|one| one.add(links, &link.name))
}

fn read_made(links: &mut Links, name: &str) -> Result<Value, Error> {
    match links.find(name) {
        Ok(link) => Ok(made(&link).as_str().into()),
        Err(Error::NoInterface { .. }) => Ok(ABSENT.into()),
        Err(error) => Err(error),
    }
}

// Stands between kinds of which the first that the kernel has is made.
const OR: &str = " or ";

/// The text that distinguishes an interface that was made from any later interface of its name.
fn made(link: &Link) -> String {
    format!("{} {}", link.index, link.kind.as_deref().unwrap_or("device"))
}

fn delete_made(target: &Target, name: &str, kind: &str, value: &Value) -> Result<(), Error> {
    if value.bytes() != ABSENT.as_bytes() {
        return Err(forbidden(target, "an interface that was there before is not made again"));
    }
    let mut links = Links::open()?;
    let (link, is_ours) = match links.find_with_origin(name) {
        Ok(found) => found,
        Err(Error::NoInterface { .. }) => return Ok(()),
        Err(error) => return Err(error),
    };
    // A session that was killed early did not note the index.
    if !is_ours || !kind.split(OR).any(|kind| link.kind.as_deref() == Some(kind)) {
        return Err(forbidden(
            target,
            &format!("the interface of this name is {}, and not netassay's", made(&link)),
        ));
    }
    links.delete(name)
}

fn device_value(all: &DeviceSettings, interface: &Interface, setting: DeviceSetting) -> Result<Value, Error> {
    let Some(value) = all.get(&setting) else {
        return Err(
            format!("interface {interface} has no {setting}: its driver does not have this setting").into()
        );
    };
    let end = if is_chosen(setting, all) { CHOSEN } else { "" };
    Ok(format!("{}{end}", setting.text(value.now)).as_str().into())
}

/// Writes a device setting. For a number that the driver chose by itself this is its start value;
/// it matters only to a driver that leaves its numbers alone.
fn write_device(target: &Target, interface: &str, setting: DeviceSetting, text: &str) -> Result<(), Error> {
    let number = text.strip_suffix(CHOSEN).unwrap_or(text);
    let Some(value) = setting.of_text(number) else {
        let expected = match setting.form() {
            DeviceForm::Number => "a number",
            DeviceForm::Switch => "on or off",
            DeviceForm::Fields => "letters of fields",
        };
        return Err(forbidden(target, &format!("it is {expected}, not {text:?}")));
    };
    let change = Ethtool::open()?.set_device(interface, &BTreeMap::from([(setting, value)]))?;
    match change.refused.get(&setting) {
        Some(why) if number == text => Err(format!("cannot set {target} to {number}: {why}").into()),
        _ => Ok(()),
    }
}

fn write_feature(target: &Target, interface: &str, feature: &str, value: &Value) -> Result<(), Error> {
    let on = match value.bytes() {
        b"on" => true,
        b"off" => false,
        _ => {
            return Err(forbidden(target, &format!("a feature is on or off, not {value}")));
        }
    };
    let change = Ethtool::open()?.set(interface, &BTreeMap::from([(feature.to_owned(), on)]))?;
    let now = change.after.get(feature);
    // The requested state counts: the kernel keeps it, and applies it when the features that it
    // depends on allow it.
    if now.is_some_and(|state| state.wanted == on) {
        return Ok(());
    }
    let got = now.map_or("nothing", |state| switch(state.wanted));
    let why = change.refused.values().next().map_or_else(String::new, ToString::to_string);
    Err(not_taken(target, value, got, &why))
}
