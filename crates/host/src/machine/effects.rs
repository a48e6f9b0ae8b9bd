//! Side effects of changing an interface, in the order of announcements: an undo goes backwards.

use words::DeviceSetting;

use super::{Interface, Machine, Target};
use crate::error::Error;
use crate::link::ethtool::Ethtool;
use crate::link::ipv6::LEAST_IPV6_MTU;
use crate::link::links::Links;

// In bytes (`IPV4_MIN_MTU` of the kernel). Below it, Linux removes IPv4 from the interface.
const LEAST_IPV4_MTU: u32 = 68;

impl Machine {
    /// The settings that a change of an interface's MTU to `mtu` bytes changes: below 1280 bytes
    /// Linux removes IPv6 from the interface; otherwise IPv6 follows the MTU.
    ///
    /// # Errors
    /// The interface does not exist; the MTU would remove IPv4 too.
    pub fn affected_by_mtu(&self, interface: &Interface, mtu: u32) -> Result<Vec<Target>, Error> {
        let now = interface.now(&mut Links::open()?)?.mtu;
        if mtu < LEAST_IPV4_MTU {
            return Err(Error::from(format!(
                "cannot set the MTU of interface {:?} to {mtu} bytes: below {LEAST_IPV4_MTU} bytes the kernel removes its \
                 addresses and routes",
                interface.name
            )));
        }
        let interface = interface.clone();
        let ipv6 = if now >= LEAST_IPV6_MTU && mtu < LEAST_IPV6_MTU {
            Target::Ipv6 { interface: interface.clone() }
        } else {
            Target::Ipv6Mtu { interface: interface.clone() }
        };
        Ok(vec![ipv6, Target::Mtu { interface }])
    }

    /// At set-up the kernel resets the MTU of IPv6, and the undo removes IPv6 addresses.
    pub fn affected_by_up(&self, interface: &Interface) -> Vec<Target> {
        let interface = interface.clone();
        vec![
            Target::Ipv6Addresses { interface: interface.clone() },
            Target::Ipv6Mtu { interface: interface.clone() },
            Target::Up { interface },
        ]
    }

    /// All features that can be changed: a driver may request others with those of a change.
    pub fn affected_by_features(&self, interface: &Interface) -> Result<Vec<Target>, Error> {
        let name = interface.now(&mut Links::open()?)?.name;
        let features = Ethtool::open()?.features(&name)?;
        let changeable = features.into_iter().filter(|(_, state)| state.changeable);
        let target = |feature| Target::Feature { interface: interface.clone(), feature };
        // The other features are not undone, so they are not changed either.
        Ok(changeable.map(|(feature, _)| target(feature)).filter(|target| target.check().is_ok()).collect())
    }

    /// Drivers change other settings too, and restart the device; a removed queue loses its CPUs.
    /// The settings themselves are announced last, so that they are undone first.
    pub fn affected_by_device(&self, interface: &Interface) -> Result<Vec<Target>, Error> {
        let name = interface.now(&mut Links::open()?)?.name;
        let device = Ethtool::open()?.device(&name)?;
        let mut all = self.affected_by_features(interface)?;
        // If /sys shows another network namespace, no process has steered the queues.
        if let Ok(directory) = self.sysfs(interface) {
            all.extend(self.affected_by_steering(interface)?);
            // A device with one queue has no choice of CPUs for it, and refuses to be read.
            let readable = self.texts(&format!("{directory}/queues"), "tx-", "/xps_cpus");
            let queues = readable.keys().filter_map(|name| name.strip_prefix("tx-")?.parse().ok());
            all.extend(queues.map(|queue| Target::TransmitSteering { interface: interface.clone(), queue }));
        }
        // Drivers choose the CPUs of their interrupts when the number of queues changes.
        all.extend(super::requested::interrupts(self, &name).unwrap_or_default());
        let target = |setting| Target::Device { interface: interface.clone(), setting };
        all.extend(as_announced(device.into_keys()).map(target));
        Ok(all)
    }

    // The machine's own `eth0` must not be changed instead of a testbed's.
    pub(super) fn sysfs(&self, interface: &Interface) -> Result<String, Error> {
        let link = interface.now(&mut Links::open()?)?;
        link.sysfs(self).ok_or_else(|| {
            Error::from(format!(
                "/sys/class/net shows another network namespace than that of interface {interface}: mount a sysfs of its own on /sys"
            ))
        })
    }

    /// The CPUs of each receive queue of an interface.
    ///
    /// # Errors
    /// The interface does not exist, or sysfs does not show it.
    pub fn affected_by_steering(&self, interface: &Interface) -> Result<Vec<Target>, Error> {
        let queues = format!("{}/queues", self.sysfs(interface)?);
        let names = self.names(&queues, "rx-");
        let numbers = names.iter().filter_map(|name| name.strip_prefix("rx-")?.parse().ok());
        Ok(numbers.map(|queue| Target::Steering { interface: interface.clone(), queue }).collect())
    }
}

fn as_announced(settings: impl Iterator<Item = DeviceSetting>) -> impl Iterator<Item = DeviceSetting> {
    // An undo goes backwards: numbers are written back before a switch lets the driver choose them.
    let (switches, numbers): (Vec<_>, Vec<_>) = settings.partition(|setting| setting.is_switch());
    switches.into_iter().chain(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_written_back_before_the_switch_that_leaves_it_to_the_driver() {
        let announced: Vec<DeviceSetting> = as_announced(DeviceSetting::ALL.into_iter()).collect();
        assert_eq!(announced.len(), DeviceSetting::ALL.len());
        let place = |of: DeviceSetting| announced.iter().position(|setting| *setting == of).unwrap();
        for setting in DeviceSetting::ALL {
            // An undo goes through the announcements backwards.
            let is_first = setting.chosen_by().is_none_or(|switch| place(switch) < place(setting));
            assert!(is_first, "{setting}");
        }
    }
}
