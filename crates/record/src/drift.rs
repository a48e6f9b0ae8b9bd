//! Switches that read back differently than before: the interface, the setting, and the requested
//! value.

use std::fmt;

use serde::{Deserialize, Serialize};
use words::{DeviceSetting, Side, TuningKey, feature};

/// Every difference between two states of a testbed that should be the same. It prints as one short
/// sentence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Drift {
    #[serde(rename = "drift")]
    pub differences: Vec<Difference>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Difference {
    pub interface: InterfaceRole,
    pub setting: Setting,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InterfaceRole {
    pub side: Side,
    /// True for the interface under the tunnel.
    pub underlay: bool,
}

/// A setting as asked for (`None`: as the testbed was built), as read back before, and as read back
/// now (`None`: it was not there, or not read).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Setting {
    /// In bytes.
    Mtu { asked: Option<u32>, before: u32, after: u32 },
    /// A setting of the interface's device: a number, or a switch as 0 or 1.
    Device { setting: DeviceSetting, asked: Option<u32>, before: Option<u32>, after: Option<u32> },
    /// A setting of the machine, in words.
    Machine { key: TuningKey, before: Option<String>, after: Option<String> },
    /// An offload feature of the interface.
    Feature {
        /// Its kernel name.
        #[serde(deserialize_with = "words::names::features")]
        name: String,
        asked: Option<bool>,
        before: Option<bool>,
        after: Option<bool>,
    },
}

// The largest number of differences that the sentence names.
const NAMED: usize = 3;

impl fmt::Display for Drift {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // First the offloads that studies are about, and the MTU, then their consequences.
        let mut ordered: Vec<&Difference> = self.differences.iter().collect();
        ordered.sort_by_key(|one| one.setting.rank());
        for (place, difference) in ordered.iter().take(NAMED).enumerate() {
            write!(f, "{}{difference}", if place == 0 { "" } else { "; " })?;
        }
        match self.differences.len().saturating_sub(NAMED) {
            0 => Ok(()),
            more => write!(f, "; and {more} more"),
        }
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the {}'s ", self.interface.side)?;
        if self.interface.underlay {
            f.write_str("underlay's ")?;
        }
        let read_back = |value: Option<String>| value.unwrap_or_else(|| "absent".to_owned());
        let (name, [asked, before, after]) = match &self.setting {
            Setting::Mtu { asked, before, after } => {
                let values = [*asked, Some(*before), Some(*after)];
                ("MTU".to_owned(), values.map(|value| value.map(|mtu| mtu.to_string())))
            }
            Setting::Device { setting, asked, before, after } => {
                let values = [asked, before, after].map(|value| value.map(|value| setting.text(value)));
                (setting.to_string(), values)
            }
            Setting::Machine { key, before, after } => {
                let [before, after] = [before, after].map(|value| read_back(value.clone()));
                return write!(f, "machine's {key} was {before} and is {after}");
            }
            Setting::Feature { name, asked, before, after } => {
                let values = [asked, before, after];
                (name.clone(), values.map(|value| value.map(|on| if on { "on" } else { "off" }.to_owned())))
            }
        };
        let requested =
            asked.map_or_else(|| "not requested".to_owned(), |value| format!("requested: {value}"));
        write!(f, "{name} ({requested}) was {} and is {}", read_back(before), read_back(after))
    }
}

impl Setting {
    fn rank(&self) -> u8 {
        match self {
            Self::Mtu { .. } | Self::Machine { .. } => 0,
            Self::Feature { asked: Some(_), .. } | Self::Device { asked: Some(_), .. } => 1,
            Self::Feature { name, .. } if feature::OFFLOADS.contains(&name.as_str()) => 2,
            Self::Feature { .. } | Self::Device { .. } => 3,
        }
    }
}
