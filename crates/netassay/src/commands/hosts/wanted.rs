//! The machines as they are asked for: options of the command line, or a file of hosts.

use std::path::Path;
use std::time::Duration;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use testbed::reach::{HostSpec, Launcher};

use crate::cli::{AddressesOf, HostFlags, lease};
use crate::commands::study_files::read_text;
use crate::failure::{Failure, bail};

/// The largest file of hosts, in bytes.
const LARGEST: u64 = 64 << 10;

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct HostsFile {
    addresses: Option<AddressesOf>,
    #[serde(deserialize_with = "lease_of_file")]
    lease: Option<Duration>,
    #[serde(deserialize_with = "host_of_file")]
    transmitter: Option<HostSpec>,
    #[serde(deserialize_with = "host_of_file")]
    receiver: Option<HostSpec>,
}

/// One host of the file: by ssh, or by a command of words; this machine by its interface alone.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct HostEntry {
    ssh: Option<String>,
    launch: Option<Vec<String>>,
    interface: Option<String>,
}

/// `None`: no machine is named.
pub(super) fn read(flags: &HostFlags) -> Result<Option<HostFlags>, Failure> {
    let mut wanted = flags.clone();
    if let Some(path) = &flags.hosts {
        let text = read_text(path, LARGEST, "a file of hosts")?;
        let file: HostsFile = toml::from_str(&text).map_err(|error| {
            let error = error.to_string();
            Failure::Usage(format!("{}: {}", path.display(), words::sanitised_lines(&error).trim_end()))
        })?;
        (wanted.transmitter, wanted.receiver) = (file.transmitter, file.receiver);
        wanted.addresses = flags.addresses.or(file.addresses);
        wanted.lease = flags.lease.or(file.lease);
    }
    if wanted.transmitter.is_none() && wanted.receiver.is_none() {
        return Ok(None);
    }
    let mut is_elsewhere = false;
    for place in [&mut wanted.transmitter, &mut wanted.receiver].into_iter().flatten() {
        is_elsewhere |= place.launcher.is_some();
        if let Some(Launcher::Ssh { config, .. }) = &mut place.launcher {
            config.clone_from(&flags.login.ssh_config);
        }
    }
    if !is_elsewhere {
        let file = flags.hosts.as_deref().unwrap_or(Path::new("hosts")).display();
        bail!(Usage, "{file}: both ends are this machine: name another, as in --receiver root@b:ens1f0");
    }
    Ok(Some(wanted))
}

fn lease_of_file<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Duration>, D::Error> {
    lease(&String::deserialize(from)?).map(Some).map_err(D::Error::custom)
}

fn host_of_file<'de, D: Deserializer<'de>>(from: D) -> Result<Option<HostSpec>, D::Error> {
    let HostEntry { ssh, launch, interface } = HostEntry::deserialize(from)?;
    let mut spec = match (ssh, launch) {
        (Some(ssh), None) => ssh.parse::<HostSpec>().map_err(D::Error::custom)?,
        (None, Some(words)) if !words.is_empty() => {
            HostSpec { launcher: Some(Launcher::Words(words)), interface: None }
        }
        (None, None) if interface.is_some() => HostSpec { launcher: None, interface: None },
        _ => {
            return Err(D::Error::custom(
                "a host has either `ssh = \"USER@HOST\"` or `launch = [\"COMMAND\", …]`; this machine has `interface` alone",
            ));
        }
    };
    spec.interface = interface.or(spec.interface);
    Ok(Some(spec))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::cli::Login;

    fn file(text: &str) -> Result<Option<HostFlags>, String> {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("hosts.toml");
        fs::write(&path, text).unwrap();
        let login = Login { ssh_config: Some("/etc/other".into()), agent_binary: None };
        let flags = HostFlags { hosts: Some(path), login, ..HostFlags::default() };
        read(&flags).map_err(|failure| failure.to_string())
    }

    #[test]
    fn a_file_of_hosts_names_them_by_ssh_or_by_any_command() {
        let wanted = file(
            "addresses = \"own\"\nlease = \"5s\"\n[transmitter]\nssh = \"root@a:eth0\"\n[receiver]\nlaunch = [\"docker\", \"exec\", \"-i\", \"c1\"]\ninterface = \"eth1\"\n",
        )
        .unwrap()
        .unwrap();
        assert_eq!(wanted.addresses, Some(AddressesOf::Own));
        assert_eq!(wanted.lease, Some(Duration::from_secs(5)));
        let transmitter = wanted.transmitter.unwrap();
        let config = Some("/etc/other".into());
        assert_eq!(transmitter.launcher, Some(Launcher::Ssh { destination: "root@a".into(), config }));
        let receiver = wanted.receiver.unwrap();
        assert_eq!(
            (receiver.launcher.unwrap().to_string().as_str(), receiver.interface.as_deref()),
            ("docker exec -i c1", Some("eth1"))
        );
        assert!(file("").unwrap().is_none());
        let wanted = file("[transmitter]\ninterface = \"eth0\"\n[receiver]\nssh = \"b\"\n").unwrap().unwrap();
        assert!(wanted.transmitter.unwrap().launcher.is_none());
    }

    #[test]
    fn a_wrong_file_of_hosts_is_named_with_what_is_wrong() {
        for (text, why) in [
            ("[transmitter]\n", "a host has either"),
            ("[transmitter]\nssh = \"a\"\nlaunch = [\"x\"]\n", "a host has either"),
            ("[receiver]\nlaunch = []\n", "a host has either"),
            ("[receiver]\ninterface = \"eth0\"\n", "both ends are this machine"),
            ("[receiver]\nssh = \"-oProxyCommand=x\"\n", "begins with \"-\""),
            ("[sender]\nssh = \"a\"\n", "unknown field"),
            ("addresses = \"mine\"\n", "unknown variant"),
            ("lease = \"1s\"\n[receiver]\nssh = \"a\"\n", "a lease is 2 to 30 s"),
        ] {
            let error = file(text).map(|_| ()).unwrap_err();
            assert!(error.contains("hosts.toml") && error.contains(why), "{text}: {error}");
        }
    }
}
