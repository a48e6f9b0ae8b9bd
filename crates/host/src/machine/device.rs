//! Settings of interfaces, by netlink: read, written, read back.

use std::collections::BTreeMap;
use std::net::IpAddr;

use words::DeviceSetting;

use super::target::CHOSEN;
use super::value::switch;
use super::{
    Interface, Machine, SettingValue, Target, check_allowed, file_refused, forbidden, no_feature, not_taken,
    read_whole,
};
use crate::error::Error;
use crate::link::device::{DeviceSettings, is_chosen};
use crate::link::entry::{Entry, EntryKind, family};
use crate::link::ethtool::Ethtool;
use crate::link::features::Features;
use crate::link::interface::Link;
use crate::link::ipv6::Ipv6State;
use crate::link::links::Links;

/// Reads several settings, and each list of an interface's features once.
#[derive(Debug)]
pub(crate) struct SettingsReader<'m> {
    machine: &'m Machine,
    features: BTreeMap<Interface, Features>,
    devices: BTreeMap<Interface, DeviceSettings>,
}

impl Machine {
    pub(crate) fn reader(&self) -> SettingsReader<'_> {
        SettingsReader { machine: self, features: BTreeMap::new(), devices: BTreeMap::new() }
    }
}

impl SettingsReader<'_> {
    pub(crate) fn read(&mut self, target: &Target) -> Result<SettingValue, Error> {
        check_allowed(target)?;
        if let Some(path) = self.machine.file(target)? {
            let read = read_whole(&path);
            return read.map_err(|errno| file_refused(format_args!("read {target}"), &path, errno));
        }
        if let Target::Made { name, .. } = target {
            let found = find_made(&mut Links::open()?, name)?;
            return Ok(found.map_or(ABSENT.to_owned(), |link| made(&link)).into());
        }
        let interface = target.interface().ok_or_else(|| forbidden(target, NOT_HERE))?;
        match target {
            Target::Feature { feature, .. } => {
                if !self.features.contains_key(interface) {
                    let name = interface.now(&mut Links::open()?)?.name;
                    self.features.insert(interface.clone(), Ethtool::open()?.features(&name)?);
                }
                let state = self.features[interface].get(feature);
                let state = state.ok_or_else(|| no_feature(&interface.name, feature))?;
                return Ok(switch(state.wanted).into());
            }
            Target::Device { setting, .. } => {
                if !self.devices.contains_key(interface) {
                    let name = interface.now(&mut Links::open()?)?.name;
                    self.devices.insert(interface.clone(), Ethtool::open()?.device(&name)?);
                }
                let all = &self.devices[interface];
                let value = all.get(setting).ok_or_else(|| {
                    format!("interface {interface} has no {setting}: its driver does not have this setting")
                })?;
                let end = if is_chosen(*setting, all) { CHOSEN } else { "" };
                return Ok(format!("{}{end}", setting.text(value.now)).into());
            }
            _ => {}
        }
        let mut links = Links::open()?;
        let link = interface.now(&mut links)?;
        Ok(match target {
            Target::Mtu { .. } => link.mtu.to_string().into(),
            Target::Up { .. } => if link.up { "up" } else { "down" }.into(),
            Target::Address { address, prefix, .. } => {
                if has_address(&mut links, &link, *address, *prefix)? { PRESENT } else { ABSENT }.into()
            }
            target => match target.scope() {
                Some(scope) => Ipv6State::read(&mut links, self.machine, &link, scope)?.to_text().into(),
                None => return Err(forbidden(target, NOT_HERE)),
            },
        })
    }
}

pub(super) fn write(machine: &Machine, target: &Target, value: &SettingValue) -> Result<(), Error> {
    if let Target::Made { name, kind } = target {
        return delete_made(target, name, kind, value);
    }
    let interface = target.interface().ok_or_else(|| forbidden(target, NOT_HERE))?;
    let mut links = Links::open()?;
    let link = interface.now(&mut links)?;
    let name = &link.name;
    let text = value.text();
    let unknown = |expected: &str| Err(forbidden(target, format_args!("it is {expected}, not {value}")));
    match target {
        Target::Feature { feature, .. } => write_feature(target, name, feature, value),
        Target::Device { setting, .. } => write_device(target, name, *setting, text),
        Target::Mtu { .. } => match text.parse() {
            // Some drivers restart their device, even for the MTU that it has.
            Ok(mtu) if mtu == link.mtu => Ok(()),
            Ok(mtu) => links.set_mtu(name, mtu),
            Err(_) => unknown("a number of bytes"),
        },
        Target::Up { .. } => match (text, link.up) {
            ("up", true) | ("down", false) => Ok(()),
            ("up" | "down", is_up) => links.set_state(name, !is_up),
            _ => unknown("up or down"),
        },
        Target::Address { address, prefix, .. } => {
            match (text, has_address(&mut links, &link, *address, *prefix)?) {
                (PRESENT, true) | (ABSENT, false) => Ok(()),
                (PRESENT, false) => links.add_address(name, *address, *prefix),
                (ABSENT, true) => remove_address(&mut links, &link, *address, *prefix),
                _ => unknown("present or absent"),
            }
        }
        target => match (target.scope(), Ipv6State::of_text(text)) {
            (Some(scope), Some(state)) => state.write(&mut links, machine, &link, scope),
            (Some(_), None) => Err(forbidden(target, "the recorded state cannot be read")),
            (None, _) => Err(forbidden(target, NOT_HERE)),
        },
    }
}

const NOT_HERE: &str = "it is not a setting of an interface";
const PRESENT: &str = "present";
const ABSENT: &str = "absent";

fn has_address(links: &mut Links, link: &Link, address: IpAddr, prefix: u8) -> Result<bool, Error> {
    let (family, bytes) = family(address);
    let all = links.entries(EntryKind::Address, family, link.index)?;
    Ok(all.iter().any(|one| one.is_address(&bytes, prefix)))
}

fn remove_address(links: &mut Links, link: &Link, address: IpAddr, prefix: u8) -> Result<(), Error> {
    // With the first IPv4 address of a network the kernel removes the others of that network
    // (unless `promote_secondaries` is set): they are put back.
    let (family, bytes) = family(address);
    let mut others = links.entries(EntryKind::Address, family, link.index)?;
    others.retain(|one| !one.is_address(&bytes, prefix));
    let is_address = |one: &Entry| one.sort == EntryKind::Address;
    links.restore_entries(&others, is_address, family, (link.index, &link.name))
}

fn find_made(links: &mut Links, name: &str) -> Result<Option<Link>, Error> {
    match links.find(name) {
        Err(Error::NoInterface { .. }) => Ok(None),
        found => found.map(Some),
    }
}

fn made(link: &Link) -> String {
    format!("{} {}", link.index, link.kind.as_deref().unwrap_or("device"))
}

fn delete_made(target: &Target, name: &str, kind: &str, value: &SettingValue) -> Result<(), Error> {
    if value.text() != ABSENT {
        return Err(forbidden(target, "an interface that was there before is not made again"));
    }
    let mut links = Links::open()?;
    let Some(found) = find_made(&mut links, name)? else { return Ok(()) };
    // A session that was killed early did not note the index.
    if !found.is_ours || found.kind.as_deref() != Some(kind) {
        let why = format_args!("the interface of this name is {}, and not netassay's", made(&found));
        return Err(forbidden(target, why));
    }
    links.delete(name)
}

fn write_device(target: &Target, interface: &str, setting: DeviceSetting, text: &str) -> Result<(), Error> {
    // A number that the driver chose by itself is written as its start value.
    let number = text.strip_suffix(CHOSEN).unwrap_or(text);
    let Some(value) = setting.of_text(number) else {
        return Err(forbidden(target, format_args!("it cannot be {text:?}")));
    };
    let change = Ethtool::open()?.set_device(interface, &BTreeMap::from([(setting, value)]))?;
    match change.refused.get(&setting) {
        // The driver has chosen another value by now.
        Some(why) if number == text => Err(format!("cannot set {target} to {number}: {why}").into()),
        _ => Ok(()),
    }
}

fn write_feature(target: &Target, interface: &str, feature: &str, value: &SettingValue) -> Result<(), Error> {
    let on = match value.text() {
        "on" => true,
        "off" => false,
        _ => return Err(forbidden(target, format_args!("a feature is on or off, not {value}"))),
    };
    let change = Ethtool::open()?.set(interface, &BTreeMap::from([(feature.to_owned(), on)]))?;
    let now = change.after.get(feature);
    // The kernel keeps the requested state, and applies it when other features allow it.
    if now.is_some_and(|state| state.wanted == on) {
        return Ok(());
    }
    let got = now.map_or("nothing", |state| switch(state.wanted));
    let why = change.refused.values().next().map_or_else(String::new, ToString::to_string);
    Err(not_taken(target, value, got, &why))
}
