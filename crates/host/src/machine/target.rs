//! One setting of the machine that a study may change.

use std::net::IpAddr;

use serde::{Deserialize, Deserializer, Serialize};
use words::names::{check_feature, check_interface, check_sysctl_name};
use words::{DeviceSetting, parse_cpu_list};

use super::{Interface, SettingValue};
use crate::cpu::affinity::parse_cpu_mask;
use crate::error::Error;
use crate::link::ipv6::{Ipv6Part, Ipv6State};

/// One setting of the machine, outside of our namespaces and guests, that a study may change.
// It is no error: thiserror gives each variant its words.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Target {
    /// A sysctl of [`words::sysctls`].
    #[error("{name}")]
    Sysctl { name: String },
    #[error("the frequency governor of CPU {cpu}")]
    Governor { cpu: u32 },
    #[error("the CPUs of interrupt {irq}")]
    IrqAffinity { irq: u32 },
    /// The requested state of an interface's feature.
    #[error("{feature} of {interface}")]
    Feature { interface: Interface, feature: String },
    /// A setting of an interface's device: its number, `on` or `off`.
    #[error("{setting} of {interface}")]
    Device { interface: Interface, setting: DeviceSetting },
    /// The MTU of an interface, in bytes.
    #[error("the MTU of {interface}")]
    Mtu { interface: Interface },
    /// Whether an interface is `up` or `down`.
    #[error("the state of {interface}")]
    Up { interface: Interface },
    /// Whether an interface has an address: `present` or `absent`.
    #[error("the address {address}/{prefix} of {interface}")]
    Address { interface: Interface, address: IpAddr, prefix: u8 },
    /// All of IPv6 on an interface, which an MTU below 1280 bytes removes.
    #[error("IPv6 on {interface}")]
    Ipv6 { interface: Interface },
    /// The IPv6 addresses of an interface, which it loses when it is set down.
    #[error("the IPv6 addresses of {interface}")]
    Ipv6Addresses { interface: Interface },
    /// The sysctl `mtu` of IPv6, and routes with an MTU, which follow an interface's MTU.
    #[error("the MTUs of IPv6 on {interface}")]
    Ipv6Mtu { interface: Interface },
    /// The CPUs that do the receive work of a queue of an interface (`rps_cpus`).
    #[error("the CPUs of receive queue {queue} of {interface}")]
    Steering { interface: Interface, queue: u32 },
    /// The CPUs that use a transmit queue of an interface (`xps_cpus`).
    #[error("the CPUs of transmit queue {queue} of {interface}")]
    TransmitSteering { interface: Interface, queue: u32 },
    /// An interface that netassay makes: `absent`, or its index and kind. Undone by its deletion.
    #[error("the {kind} interface {name}")]
    Made { name: String, kind: String },
}

// Features that depend on rules, keys or rings, which switching them removes, by prefix.
const CARRIERS: &[&str] = &[
    "esp-hw-offload",
    "esp-tx-csum-hw-offload",
    "hsr-",
    "hw-tc-offload",
    "l2-fwd-offload",
    "macsec-hw-offload",
    "rx-ntuple-filter",
    "tls-hw-",
];

// The longest kind of an interface, in bytes.
const LONGEST: usize = 256;

// In bytes: `net.ipv4.ip_local_reserved_ports` with every second port has 190 KB.
pub(super) const LONGEST_VALUE: usize = 256 << 10;

impl Target {
    /// Whether the setting may be changed, and its names are names.
    ///
    /// # Errors
    /// The reason, as the end of a sentence.
    pub fn check(&self) -> Result<(), Error> {
        self.check_names()?;
        match self {
            Self::Sysctl { name } => Ok(words::check_sysctl(name)?),
            Self::Feature { feature, .. } if CARRIERS.iter().any(|begin| feature.starts_with(begin)) => {
                Err("it also removes rules, keys or rings, so it could not be undone".into())
            }
            Self::Address { address, prefix, .. } if *prefix > if address.is_ipv4() { 32 } else { 128 } => {
                Err(format!("{address} has no prefix of {prefix} bits").into())
            }
            _ => Ok(()),
        }
    }

    /// Reads a setting from another machine, or from a database, and checks its names.
    pub(crate) fn read<'de, D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let target = Self::deserialize(from)?;
        target.check_names().map_err(serde::de::Error::custom)?;
        Ok(target)
    }

    fn check_names(&self) -> Result<(), Error> {
        match self {
            Self::Sysctl { name } => check_sysctl_name(name)?,
            Self::Feature { feature, .. } => check_feature(feature)?,
            Self::Made { name, kind } => {
                if kind.is_empty() || kind.len() > LONGEST || !kind.chars().all(|c| c.is_ascii_alphanumeric())
                {
                    return Err(format!("{kind:?} cannot be the kind of an interface").into());
                }
                check_interface(name)?;
            }
            _ => {}
        }
        self.interface().map_or(Ok(()), Interface::check)
    }

    /// The interface whose setting this is, if netassay did not make that interface.
    pub fn interface(&self) -> Option<&Interface> {
        match self {
            Self::Feature { interface, .. }
            | Self::Mtu { interface }
            | Self::Up { interface }
            | Self::Address { interface, .. }
            | Self::Ipv6 { interface }
            | Self::Ipv6Addresses { interface }
            | Self::Ipv6Mtu { interface }
            | Self::Device { interface, .. }
            | Self::Steering { interface, .. }
            | Self::TransmitSteering { interface, .. } => Some(interface),
            _ => None,
        }
    }

    /// Whether every network namespace of the machine shares the setting, and may set it.
    pub fn is_of_whole_machine(&self) -> bool {
        match self {
            Self::Sysctl { name } => !name.starts_with("net."),
            Self::Governor { .. } => true,
            _ => false,
        }
    }

    pub(crate) fn scope(&self) -> Option<Ipv6Part> {
        match self {
            Self::Ipv6 { .. } => Some(Ipv6Part::All),
            Self::Ipv6Addresses { .. } => Some(Ipv6Part::Addresses),
            Self::Ipv6Mtu { .. } => Some(Ipv6Part::Mtu),
            _ => None,
        }
    }

    /// The place in an undo: causes are undone before their effects.
    pub(crate) fn rank(&self) -> u8 {
        // The IPv6 state at a larger MTU includes addresses that were added before, so these are
        // removed after it is restored; setting an interface down removes addresses, and the MTU of
        // IPv6 depends on all of these.
        match self {
            Self::Made { .. } => 0,
            Self::Device { .. } => 1,
            Self::Mtu { .. } => 3,
            Self::Ipv6 { .. } => Self::RANK_OF_IPV6,
            Self::Address { .. } => 5,
            Self::Up { .. } => 6,
            Self::Ipv6Addresses { .. } => 7,
            Self::Ipv6Mtu { .. } => 8,
            _ => 2,
        }
    }

    pub(crate) const RANK_OF_IPV6: u8 = 4;

    /// Whether a write of `cause` changes this setting, which is then written after it.
    pub(crate) fn follows(&self, cause: &Self) -> bool {
        let is_followed = match self {
            Self::Ipv6 { .. } => matches!(cause, Self::Mtu { .. }),
            Self::Address { address, .. } => address.is_ipv6() && matches!(cause, Self::Ipv6 { .. }),
            Self::Ipv6Addresses { .. } => matches!(cause, Self::Up { .. }),
            // A removed queue loses its CPUs, and a driver may choose them again.
            Self::Steering { .. } | Self::TransmitSteering { .. } => {
                matches!(cause, Self::Device { setting, .. } if setting.is_count_of_queues())
            }
            Self::Ipv6Mtu { .. } => matches!(cause, Self::Mtu { .. } | Self::Up { .. }),
            _ => false,
        };
        is_followed && self.interface() == cause.interface()
    }

    pub(crate) fn queue(&self) -> Option<(&Interface, String, &'static str)> {
        match self {
            Self::Steering { interface, queue } => Some((interface, format!("rx-{queue}"), "rps_cpus")),
            Self::TransmitSteering { interface, queue } => {
                Some((interface, format!("tx-{queue}"), "xps_cpus"))
            }
            _ => None,
        }
    }

    /// Whether a driver may change it when it restarts its device.
    pub fn is_placement(&self) -> bool {
        self.queue().is_some() || matches!(self, Self::IrqAffinity { .. })
    }

    pub(crate) fn is_same(&self, now: &SettingValue, before: &SettingValue) -> bool {
        if now == before {
            return true;
        }
        if let Self::Device { .. } = self {
            // The driver chose both values itself.
            return [now, before].iter().all(|value| value.text().ends_with(CHOSEN));
        }
        let state = |value: &SettingValue| Ipv6State::of_text(value.text());
        let states = self.scope().and_then(|_| state(now).zip(state(before)));
        states.is_some_and(|(now, before)| now.is_same(&before))
    }

    pub(crate) fn show(&self, value: &SettingValue) -> String {
        let state = self.scope().and_then(|_| Ipv6State::of_text(value.text()));
        state.map_or_else(|| value.to_string(), |state| state.summary())
    }

    /// Equal, or as the kernel writes it: ranges of CPUs and ports.
    pub(super) fn means(&self, asked: &str, got: &SettingValue) -> bool {
        let got = got.words();
        match self {
            Self::IrqAffinity { .. } => same_list(asked, &got),
            Self::Steering { .. } | Self::TransmitSteering { .. } => {
                let mask = parse_cpu_mask(asked);
                mask.is_some() && mask == parse_cpu_mask(&got.concat())
            }
            Self::Sysctl { name } if name == "net.ipv4.ip_local_reserved_ports" => same_list(asked, &got),
            _ => {
                // `net.ipv4.tcp_rmem` and others are several numbers.
                let same = |(asked, got): (&str, &String)| {
                    asked == got || number(asked).is_some_and(|asked| number(got) == Some(asked))
                };
                asked.split_whitespace().count() == got.len() && asked.split_whitespace().zip(&got).all(same)
            }
        }
    }
}

pub(super) const CHOSEN: &str = " (adaptive)";

pub(crate) fn check_value(value: &SettingValue) -> Result<(), Error> {
    let bytes = value.text().len();
    if bytes > LONGEST_VALUE {
        return Err(format!("a value of {bytes} bytes: at most {LONGEST_VALUE} are known").into());
    }
    Ok(())
}

fn same_list(asked: &str, got: &[String]) -> bool {
    parse_cpu_list(asked).is_ok_and(|asked| parse_cpu_list(&got.concat()).is_ok_and(|got| got == asked))
}

/// A number in the kernel's notation: `0x` begins a hexadecimal, `0` an octal one.
fn number(text: &str) -> Option<i128> {
    let (sign, digits) = text.strip_prefix('-').map_or((1, text), |digits| (-1, digits));
    let (digits, radix) = match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        Some(digits) => (digits, 16),
        None if digits.len() > 1 && digits.starts_with('0') => (&digits[1..], 8),
        None => (digits, 10),
    };
    let number = i128::from_str_radix(digits, radix).ok()?;
    (!digits.starts_with(['+', '-'])).then(|| sign * number)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sysctl(name: &str) -> Result<(), String> {
        Target::Sysctl { name: name.to_owned() }.check().map_err(|error| error.to_string())
    }

    #[test]
    fn names_that_lead_elsewhere_or_run_programs_may_not() {
        assert_eq!(sysctl("net.core.rmem_max"), Ok(()));
        for name in ["", "net core", "/etc/pass\nwd", "net.x\n"] {
            assert!(sysctl(name).unwrap_err().contains("cannot be the name"), "{name:?}");
        }
        for name in ["net", "net..core", "net/core/rmem_max", "../x", "kernel.core_pattern", "fs.file-max"] {
            let why = sysctl(name).unwrap_err();
            assert!(why.contains("not on the list of sysctls"), "{why}");
        }
        let feature = |interface: &str, feature: &str| {
            let interface = Interface::named(interface);
            Target::Feature { interface, feature: feature.to_owned() }.check()
        };
        assert!(feature("eth0", "tx-tcp-segmentation").is_ok());
        assert!(feature("eth0", "hw-tc-offload").unwrap_err().to_string().contains("rules"));
        assert!(feature("../x", "tx-tcp-segmentation").is_err());
        assert!(feature("eth0", "").is_err());
    }

    #[test]
    fn equal_values_are_equal_however_the_kernel_writes_them() {
        let ttl = Target::Sysctl { name: "net.ipv4.ip_default_ttl".to_owned() };
        let ports = Target::Sysctl { name: "net.ipv4.ip_local_reserved_ports".to_owned() };
        let steering = Target::Steering { interface: Interface::named("eth0"), queue: 0 };
        for (target, asked, got, equal) in [
            (&ttl, "0x20", "32\n", true),
            (&ttl, "040", "32\n", true),
            (&ttl, "1  2 3", "1\t2\t3\n", true),
            (&ttl, "1000", "1024\n", false),
            (&ttl, "1 2", "1\n", false),
            (&ttl, "--1", "1\n", false),
            (&ports, "8080,8081,8082", "8080-8082\n", true),
            (&ports, "", "\n", true),
            (&ports, "1", "\n", false),
            (&Target::IrqAffinity { irq: 1 }, "1,0", "0-1\n", true),
            (&steering, "0000000a", "a\n", true),
            (&steering, "00000001,00000000", "1,00000000\n", true),
            (&steering, "00000001", "3\n", false),
        ] {
            assert_eq!(target.means(asked, &SettingValue::from(got)), equal, "{asked:?} and {got:?}");
        }
    }
}
