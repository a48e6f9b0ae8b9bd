//! The machines of a study: named on the command line or in a file, reached, and their interfaces
//! found.

use std::path::Path;

use agent::Interrupt;
use host::Located;
use reach::{Binary, HostSpec, Launcher, Reached};
use serde::Deserialize;
use study::{Assignment, BySide, Scenario, Study};
use testbed::{HostPlace, Hosts};

use crate::cli::{AddressesOf, HostFlags};
use crate::commands::studies::read_text;
use crate::failure::{Failure, say};
use crate::here::PROGRAM;

/// The largest file of hosts, in bytes.
const LARGEST: u64 = 64 << 10;

/// What a file of hosts says.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct HostsFile {
    addresses: Option<AddressesOf>,
    transmitter: Option<HostEntry>,
    receiver: Option<HostEntry>,
}

/// One host of the file: by ssh, or by a command of words.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct HostEntry {
    ssh: Option<String>,
    launch: Option<Vec<String>>,
    interface: Option<String>,
}

/// The machines as they are asked for.
struct Wanted {
    places: BySide<Option<HostSpec>>,
    addresses: AddressesOf,
}

impl Wanted {
    fn read(flags: &HostFlags) -> Result<Option<Self>, Failure> {
        let (file, mut places) = match &flags.hosts {
            Some(path) => {
                let file = read(path)?;
                let place = |entry: Option<&HostEntry>| entry.map(|entry| entry.spec(path)).transpose();
                let places = BySide {
                    transmitter: place(file.transmitter.as_ref())?,
                    receiver: place(file.receiver.as_ref())?,
                };
                (file, places)
            }
            None => {
                let (transmitter, receiver) = (flags.transmitter.clone(), flags.receiver.clone());
                (HostsFile::default(), BySide { transmitter, receiver })
            }
        };
        if places.transmitter.is_none() && places.receiver.is_none() {
            return Ok(None);
        }
        for (_, place) in places.each_mut() {
            if let Some(HostSpec { launcher: Launcher::Ssh { config, .. }, .. }) = place {
                config.clone_from(&flags.ssh_config);
            }
        }
        let addresses = flags.addresses.or(file.addresses).unwrap_or(AddressesOf::There);
        Ok(Some(Self { places, addresses }))
    }
}

fn read(path: &Path) -> Result<HostsFile, Failure> {
    let text = read_text(path, LARGEST, "a file of hosts")?;
    toml::from_str(&text).map_err(|error| {
        Failure::Usage(format!("{}: {}", path.display(), text::lines(&error.to_string()).trim_end()))
    })
}

impl HostEntry {
    fn spec(&self, path: &Path) -> Result<HostSpec, Failure> {
        let wrong = |why: String| Failure::Usage(format!("{}: {why}", path.display()));
        let mut spec = match (&self.ssh, &self.launch) {
            (Some(ssh), None) => ssh.parse::<HostSpec>().map_err(|error| wrong(error.to_string()))?,
            (None, Some(words)) if !words.is_empty() => {
                HostSpec { launcher: Launcher::Words(words.clone()), interface: None }
            }
            _ => {
                return Err(wrong(
                    "a host has either `ssh = \"USER@HOST\"` or `launch = [\"COMMAND\", …]`".to_owned(),
                ));
            }
        };
        if let Some(interface) = &self.interface {
            spec.interface = Some(interface.clone());
        }
        Ok(spec)
    }
}

/// Reaches the machines of a study, and reports what was found. `None`: none were named.
pub(crate) fn reach(flags: &HostFlags, interrupt: &Interrupt) -> Result<Option<Hosts>, Failure> {
    let Some(wanted) = Wanted::read(flags)? else { return Ok(None) };
    let binary = Binary::read(flags.agent_binary.as_deref().unwrap_or(Path::new(PROGRAM)))?;
    let launchers: Vec<&Launcher> =
        wanted.places.each_ref().into_iter().filter_map(|(_, place)| Some(&place.as_ref()?.launcher)).collect();
    let mut reached = Reached::connect_all(&launchers, &binary, flags.keep_agent, interrupt)?.into_iter();
    let places = wanted.places.map(|_, spec| HostPlace {
        by: spec.as_ref().and_then(|_| reached.next()),
        interface: spec.and_then(|spec| spec.interface),
    });
    let mut hosts = Hosts { places, own_addresses: wanted.addresses == AddressesOf::Own };
    let located = hosts.locate(PROGRAM.as_ref(), interrupt)?;
    for (side, place) in hosts.places.each_ref() {
        say(&format!("netassay: {side}: {}", words(place, &located[side], hosts.own_addresses)));
    }
    Ok(Some(hosts))
}

fn words(place: &HostPlace, located: &Located, own: bool) -> String {
    let addresses: Vec<String> =
        located.addresses.iter().map(|(address, prefix)| format!("{address}/{prefix}")).collect();
    let addresses = match (own, addresses.is_empty()) {
        (true, _) => "addresses of netassay's for the time of the study".to_owned(),
        (false, true) => "no address".to_owned(),
        (false, false) => addresses.join(", "),
    };
    let privileges = if place.is_root() { "" } else { "; without root, so that nothing can be changed there" };
    let sent = match place.by.as_ref().map(|reached| reached.sent) {
        Some(0) => "; the program was there".to_owned(),
        Some(bytes) => format!("; {:.1} MB sent", bytes as f64 / 1e6),
        None => String::new(),
    };
    format!("{place}, interface {} (MTU {}, {addresses}){privileges}{sent}", located.interface, located.mtu)
}

/// The changes that move a study to the machines: its veth pair becomes their network. `None` if it
/// runs on machines already.
///
/// # Errors
/// A study in a scenario that has no counterpart there.
pub(crate) fn moved(study: &Study) -> Result<Option<Assignment>, Failure> {
    let mut scenarios: Vec<Scenario> =
        study.plan().conditions.iter().map(|condition| condition.boot.scenario).collect();
    scenarios.dedup();
    let to = match scenarios[..] {
        [scenario] if scenario.has_machines() => return Ok(None),
        [Scenario::Veth] => Scenario::Ssh,
        [Scenario::Vxlan] => Scenario::SshVxlan,
        _ if scenarios.iter().any(|scenario| scenario.has_machines()) => return Ok(None),
        _ => {
            let names: Vec<&str> = scenarios.iter().map(|scenario| scenario.word()).collect();
            return Err(Failure::Usage(format!(
                "{:?} runs in the scenario {}, and between machines there are ssh and ssh-vxlan only: choose with --set scenario=ssh",
                study.name(),
                names.join(" and ")
            )));
        }
    };
    let assignment = format!("scenario={to}");
    assignment.parse().map(Some).map_err(|error| Failure::Internal(format!("{assignment}: {error}")))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn file(text: &str) -> Result<Option<Wanted>, String> {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("hosts.toml");
        fs::write(&path, text).unwrap();
        let flags = HostFlags {
            transmitter: None,
            receiver: None,
            hosts: Some(path),
            addresses: None,
            ssh_config: Some("/etc/other".into()),
            agent_binary: None,
            keep_agent: false,
        };
        Wanted::read(&flags).map_err(|failure| failure.to_string())
    }

    #[test]
    fn a_file_of_hosts_names_them_by_ssh_or_by_any_command() {
        let wanted = file(
            "addresses = \"own\"\n[transmitter]\nssh = \"root@a:eth0\"\n[receiver]\nlaunch = [\"docker\", \"exec\", \"-i\", \"c1\"]\ninterface = \"eth1\"\n",
        )
        .unwrap()
        .unwrap();
        assert_eq!(wanted.addresses, AddressesOf::Own);
        let transmitter = wanted.places.transmitter.unwrap();
        let config = Some("/etc/other".into());
        assert_eq!(transmitter.launcher, Launcher::Ssh { destination: "root@a".into(), config });
        let receiver = wanted.places.receiver.unwrap();
        assert_eq!((receiver.launcher.to_string().as_str(), receiver.interface.as_deref()), ("docker exec -i c1", Some("eth1")));
        assert!(file("").unwrap().is_none());
    }

    #[test]
    fn a_wrong_file_of_hosts_is_named_with_what_is_wrong() {
        for (text, why) in [
            ("[transmitter]\n", "a host has either"),
            ("[transmitter]\nssh = \"a\"\nlaunch = [\"x\"]\n", "a host has either"),
            ("[receiver]\nlaunch = []\n", "a host has either"),
            ("[receiver]\nssh = \"-oProxyCommand=x\"\n", "begins with \"-\""),
            ("[sender]\nssh = \"a\"\n", "unknown field"),
            ("addresses = \"mine\"\n", "unknown variant"),
        ] {
            let error = file(text).map(|_| ()).unwrap_err();
            assert!(error.contains("hosts.toml") && error.contains(why), "{text}: {error}");
        }
    }
}
