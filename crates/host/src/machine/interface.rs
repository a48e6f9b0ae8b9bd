//! An interface whose settings are changed, distinguished from any later one of its name.

use serde::{Deserialize, Serialize};
use words::names::check_interface;

use crate::error::Error;
use crate::link::interface::Link;
use crate::link::links::Links;

/// An interface that netassay did not make, by its identity during one boot, in one network
/// namespace. Its settings are undone on this device only, under whatever name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, thiserror::Error)]
#[serde(from = "StoredInterface")]
#[error("{name}")]
pub struct Interface {
    /// The name when the interface was found.
    pub name: String,
    /// The kernel does not give an index again, but a program may choose it for a new interface.
    index: u32,
    /// The permanent link-layer address of hardware, else the kind of a virtual interface.
    device: String,
}

// Accounts of the first builds have its name alone, by which its settings cannot be undone.
#[derive(Deserialize)]
#[serde(untagged, deny_unknown_fields)]
enum StoredInterface {
    Name(String),
    Device { name: String, index: u32, device: String },
}

impl From<StoredInterface> for Interface {
    fn from(stored: StoredInterface) -> Self {
        match stored {
            StoredInterface::Name(name) => Self { name, index: 0, device: String::new() },
            StoredInterface::Device { name, index, device } => Self { name, index, device },
        }
    }
}

// The longest identity, in bytes: a link-layer address has 32 at most (`MAX_ADDR_LEN`), a kind 15.
const LONGEST: usize = 100;

impl Interface {
    /// The interface that has this name now.
    pub fn find(name: &str) -> Result<Self, Error> {
        let link = Links::open()?.find(name)?;
        let device = device(&link).to_owned();
        Ok(Self { name: link.name, index: link.index, device })
    }

    /// The interface now, perhaps renamed; [`Error::NoInterface`] if it was removed or moved away.
    pub(crate) fn now(&self, links: &mut Links) -> Result<Link, Error> {
        let Self { name, index, .. } = self;
        let link = links.find_by_index(*index, name)?;
        if device(&link) == self.device {
            return Ok(link);
        }
        let action = format!("find interface {name:?} again: another device has its index {index}");
        Err(Error::NoInterface { action, name: name.clone() })
    }

    pub(super) fn check(&self) -> Result<(), Error> {
        check_interface(&self.name)?;
        // As accounts of the first builds have it.
        let is_name_alone = self.index == 0 && self.device.is_empty();
        if (self.index == 0 && !is_name_alone) || self.device.len() > LONGEST {
            return Err(format!("{} {:?} cannot identify an interface", self.index, self.device).into());
        }
        Ok(())
    }
}

fn device(link: &Link) -> &str {
    // Hardware keeps its address. The address of a virtual interface may change: that of a bridge
    // does with its ports.
    link.permanent_address.as_deref().or(link.kind.as_deref()).unwrap_or_default()
}

#[cfg(test)]
impl Interface {
    pub(crate) fn named(name: &str) -> Self {
        Self { name: name.to_owned(), index: 5, device: "veth".to_owned() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interface_is_written_with_its_identity() {
        let known: Interface =
            serde_json::from_str(r#"{"name":"eth0","index":5,"device":"02:00:5e:00:53:01"}"#).unwrap();
        assert_eq!(
            serde_json::to_string(&known).unwrap(),
            r#"{"name":"eth0","index":5,"device":"02:00:5e:00:53:01"}"#
        );
        for wrong in [
            r#"{"name":"eth0","index":5}"#,
            r#"{"name":"eth0","index":5,"device":"x","more":1}"#,
            "5",
            "null",
        ] {
            assert!(serde_json::from_str::<Interface>(wrong).is_err(), "{wrong}");
        }
        let of_first_builds: Interface = serde_json::from_str(r#""eth0""#).unwrap();
        of_first_builds.check().unwrap();
        assert!(of_first_builds.now(&mut Links::open().unwrap()).is_err(), "it is undone nowhere");
        for wrong in
            [r#"{"name":"../x","index":5,"device":"veth"}"#, r#"{"name":"eth0","index":0,"device":"veth"}"#]
        {
            assert!(serde_json::from_str::<Interface>(wrong).unwrap().check().is_err(), "{wrong}");
        }
    }

    #[test]
    fn another_device_of_the_same_name_or_index_is_not_it() {
        let mut links = Links::open().unwrap();
        let lo = Interface::find("lo").unwrap();
        assert_eq!(lo.now(&mut links).unwrap().name, "lo");
        let Interface { index, device, .. } = lo;
        let named = |name: &str, index: u32, device: &str| Interface {
            name: name.to_owned(),
            index,
            device: device.to_owned(),
        };
        assert_eq!(named("before", index, &device).now(&mut links).unwrap().name, "lo");
        let other = named("lo", index, "veth");
        assert!(matches!(other.now(&mut links), Err(Error::NoInterface { .. })));
        let gone = named("lo", 1 << 30, &device);
        assert!(matches!(gone.now(&mut links), Err(Error::NoInterface { .. })));
    }
}
