//! An interface whose settings are changed, distinguished from any later one of its name.

use std::fmt;

use serde::{Deserialize, Serialize};
use words::names::check_interface;

use crate::error::Error;
use crate::link::interface::Link;
use crate::link::links::Links;

/// An interface that netassay did not make. Its settings are undone on this device only: under its
/// new name if it was renamed, and on no other device that has its name now.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(from = "InterfaceForm", into = "InterfaceForm")]
pub struct Interface {
    name: String,
    /// `None` in journals of format 2, which have the name only.
    identity: Option<DeviceIdentity>,
}

/// The identity of a device during one boot, in one network namespace.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct DeviceIdentity {
    /// The kernel does not give an index again, but a program may choose it for a new interface.
    index: u32,
    /// The permanent link-layer address of hardware, else the kind of a virtual interface: the
    /// current address of a bridge changes with its ports.
    device: String,
}

/// The form in journals and messages.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum InterfaceForm {
    Name(String),
    Device(Device),
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Device {
    name: String,
    index: u32,
    device: String,
}

impl From<InterfaceForm> for Interface {
    fn from(form: InterfaceForm) -> Self {
        match form {
            InterfaceForm::Name(name) => Self { name, identity: None },
            InterfaceForm::Device(Device { name, index, device }) => {
                Self { name, identity: Some(DeviceIdentity { index, device }) }
            }
        }
    }
}

impl From<Interface> for InterfaceForm {
    fn from(interface: Interface) -> Self {
        let Interface { name, identity } = interface;
        match identity {
            None => Self::Name(name),
            Some(DeviceIdentity { index, device }) => Self::Device(Device { name, index, device }),
        }
    }
}

// The longest identity, in bytes: a link-layer address has 32 at most (`MAX_ADDR_LEN`), a kind 15.
const LONGEST: usize = 100;

impl Interface {
    /// The interface that has this name now.
    pub fn find(name: &str) -> Result<Self, Error> {
        let (link, permanent) = Links::open()?.find_with_permanent_address(name)?;
        let identity = Some(identity(&link, permanent));
        Ok(Self { name: link.name, identity })
    }

    /// The name when the interface was found.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The interface as it is now, perhaps renamed.
    ///
    /// # Errors
    /// [`Error::NoInterface`] if it was removed, or moved to another network namespace.
    pub(crate) fn now(&self, links: &mut Links) -> Result<Link, Error> {
        let Some(known) = &self.identity else { return links.find(&self.name) };
        let (link, permanent) = links.find_by_index(known.index, &self.name)?;
        if identity(&link, permanent) == *known {
            return Ok(link);
        }
        Err(Error::NoInterface {
            action: format!(
                "find interface {:?} again: another device has its index {}",
                self.name, known.index
            ),
            name: self.name.clone(),
        })
    }

    pub(super) fn check(&self) -> Result<(), String> {
        check_interface(&self.name)?;
        match &self.identity {
            Some(DeviceIdentity { index, device }) if *index == 0 || device.len() > LONGEST => {
                Err(format!("{index} {device:?} cannot identify an interface"))
            }
            _ => Ok(()),
        }
    }
}

fn identity(link: &Link, permanent: Option<String>) -> DeviceIdentity {
    let device = permanent.or_else(|| link.kind.clone()).unwrap_or_default();
    DeviceIdentity { index: link.index, device }
}

impl fmt::Display for Interface {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interface_is_written_with_its_identity_and_read_without_too() {
        let known: Interface =
            serde_json::from_str(r#"{"name":"eth0","index":5,"device":"02:00:5e:00:53:01"}"#).unwrap();
        assert_eq!(
            serde_json::to_string(&known).unwrap(),
            r#"{"name":"eth0","index":5,"device":"02:00:5e:00:53:01"}"#
        );
        let old: Interface = serde_json::from_str(r#""eth0""#).unwrap();
        assert_eq!((old.name(), serde_json::to_string(&old).unwrap().as_str()), ("eth0", "\"eth0\""));
        assert_ne!(known, old);
        for wrong in [
            r#"{"name":"eth0","index":5}"#,
            r#"{"name":"eth0","index":5,"device":"x","more":1}"#,
            "5",
            "null",
        ] {
            assert!(serde_json::from_str::<Interface>(wrong).is_err(), "{wrong}");
        }
        for wrong in [r#""../x""#, r#"{"name":"eth0","index":0,"device":"veth"}"#] {
            assert!(serde_json::from_str::<Interface>(wrong).unwrap().check().is_err(), "{wrong}");
        }
    }

    #[test]
    fn another_device_of_the_same_name_or_index_is_not_it() {
        let mut links = Links::open().unwrap();
        let lo = Interface::find("lo").unwrap();
        assert_eq!(lo.now(&mut links).unwrap().name, "lo");
        let renamed = Interface { name: "before".to_owned(), ..lo.clone() };
        assert_eq!(renamed.now(&mut links).unwrap().name, "lo");
        let identity = DeviceIdentity { device: "veth".to_owned(), ..lo.identity.unwrap() };
        let other = Interface { name: "lo".to_owned(), identity: Some(identity.clone()) };
        assert!(matches!(other.now(&mut links), Err(Error::NoInterface { .. })));
        let gone = DeviceIdentity { index: 1 << 30, ..identity };
        let gone = Interface { name: "lo".to_owned(), identity: Some(gone) };
        assert!(matches!(gone.now(&mut links), Err(Error::NoInterface { .. })));
    }
}
