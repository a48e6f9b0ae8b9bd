//! The machines of a study, and the programs on its path.

use record::{Environment, NamedMachine};
use store::StoredStudy;
use study::Side;

/// The machines of a study's user at the first boot, a line for each; empty for other studies.
pub fn machines(stored: &StoredStudy) -> Vec<String> {
    let Some(first) = stored.boots.first().map(|boot| &boot.environment) else { return Vec::new() };
    let Some(named) = &first.machines else { return Vec::new() };
    let line = |side: Side| {
        let NamedMachine { host, interface, changed: _ } = &named[side];
        let about = described(first, side, interface);
        let [host, interface] = [host, interface].map(|name| words::sanitised_line(name));
        format!("{side}: {host}, interface {interface}{about}")
    };
    let is_there = |side: &Side| *side == Side::Transmitter || first.receiver.is_some();
    Side::BOTH.into_iter().filter(is_there).map(line).collect()
}

/// Programs and filters of others that packets passed, in a sentence for each interface.
pub fn programs(stored: &StoredStudy) -> Vec<String> {
    let mut told = Vec::new();
    for both in stored.boots.iter().map(|boot| &boot.environment) {
        let sides = [(Side::Transmitter, Some(&both.transmitter)), (Side::Receiver, both.receiver.as_ref())];
        for (side, host) in sides {
            for (name, interface) in host.iter().flat_map(|host| &host.interfaces) {
                let programs = interface.iter().flat_map(|interface| &interface.programs);
                let named: Vec<String> = programs
                    .map(|(place, names)| format!("{} ({place})", words::sanitised_line(&names.join(", "))))
                    .collect();
                let sentence = format!(
                    "at the {side} each packet of {} passed {}, which costs time and may fix offloads",
                    words::sanitised_line(name),
                    named.join(", ")
                );
                if !named.is_empty() && !told.contains(&sentence) {
                    told.push(sentence);
                }
            }
        }
    }
    told
}

fn described(both: &Environment, side: Side, interface: &str) -> String {
    let receiver = both.receiver.as_ref().filter(|_| side == Side::Receiver);
    let host = receiver.unwrap_or(&both.transmitter);
    let about = host.interfaces.get(interface).and_then(Option::as_ref);
    let driver = about.and_then(|one| one.driver.as_ref().or(one.link.kind.as_ref()));
    let parts = [
        driver.map(|driver| format!("driver {}", words::sanitised_line(driver))),
        about.map(|one| format!("MTU {}", one.link.mtu)),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    let of_interface = if parts.is_empty() { String::new() } else { format!(" ({})", parts.join(", ")) };
    let also = |name: &str, value: Option<&str>| {
        value.map_or_else(String::new, |value| format!("; {name} {}", words::sanitised_line(value)))
    };
    let kernel = also("kernel", host.kernel.release.as_deref());
    format!("{of_interface}{kernel}{}", also("CPU", host.cpu.model.as_deref()))
}
