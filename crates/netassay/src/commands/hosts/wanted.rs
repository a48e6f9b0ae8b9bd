//! The machines as they are asked for: options of the command line, or a file of hosts.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use study::Side;
use testbed::ManagementCommands;
use testbed::reach::{HostSpec, Launcher};
use words::names::check_interface;

use crate::cli::{AddressesOf, HostFlags, lease};
use crate::commands::study_files::read_text;
use crate::failure::{Failure, bail};

/// The largest file of hosts, in bytes: some ten thousand pairs.
pub(crate) const LARGEST: u64 = 4 << 20;

/// In bytes: the name of a file and the word of a table.
const LONGEST_NAME: usize = 64;

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
    #[serde(rename = "pair")]
    pairs: Vec<PairOfHosts>,
}

/// A `[[pair]]` of a file of hosts.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table of a pair")]
pub(crate) struct PairOfHosts {
    pub(crate) name: String,
    #[serde(deserialize_with = "host_of_file")]
    transmitter: Option<HostSpec>,
    #[serde(deserialize_with = "host_of_file")]
    receiver: Option<HostSpec>,
    #[serde(default)]
    pub(crate) labels: BTreeMap<String, String>,
    /// Measured again throughout the campaign, so that a drift of the site shows.
    #[serde(default)]
    pub(crate) reference: bool,
}

impl PairOfHosts {
    /// The places of its machines, this one included.
    pub(crate) fn machines(&self) -> [String; 2] {
        let place = |host: &Option<HostSpec>| match host.as_ref().and_then(|host| host.launcher.as_ref()) {
            Some(launcher) => launcher.to_string(),
            None => "this machine".to_owned(),
        };
        [place(&self.transmitter), place(&self.receiver)]
    }

    /// Its hosts.
    pub(crate) fn ends(&self) -> impl Iterator<Item = (Side, &HostSpec)> {
        let ends = [(Side::Transmitter, &self.transmitter), (Side::Receiver, &self.receiver)];
        ends.into_iter().filter_map(|(side, host)| Some((side, host.as_ref()?)))
    }

    /// Its ends, if the file says which machines they are: a launcher may choose them itself.
    fn known_ends(&self) -> Option<String> {
        let (one, other) = (&self.transmitter, &self.receiver);
        let mut launchers = [one, other].into_iter().flatten().map(|host| &host.launcher);
        let is_known = launchers.all(|one| !matches!(one, Some(Launcher::Words(_))));
        is_known.then(|| format!("{:?} {:?}", end(one.as_ref()), end(other.as_ref())))
    }

    fn fault(&self) -> Option<String> {
        let Self { name, transmitter, receiver, labels, .. } = self;
        let allowed = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '.' | '_' | '-');
        let is_name = (1..=LONGEST_NAME).contains(&name.len())
            && name.chars().all(allowed)
            && !name.starts_with(['-', '.']);
        if !is_name {
            return Some(format!(
                "a name has 1 to {LONGEST_NAME} letters, digits, '.', '_' and '-', and begins with none of '-' and '.'"
            ));
        }
        if end(transmitter.as_ref()) == end(receiver.as_ref()) {
            return Some(
                "its transmitter and its receiver are the same: name another machine or interface".to_owned(),
            );
        }
        let is_long = |(key, value): (&String, &String)| key.len().max(value.len()) > LONGEST_LABEL;
        let long = labels.iter().find(|label| is_long(*label));
        long.map(|(key, _)| format!("its label {:?} is longer than {LONGEST_LABEL} bytes", begin(key)))
    }
}

/// The keys that identify an end of a path: neither its console nor its power.
fn end(host: Option<&HostSpec>) -> Option<(Option<&Launcher>, Option<&str>)> {
    host.map(|host| (host.launcher.as_ref(), host.interface.as_deref()))
}

/// The begin of a name that may be long, for a message.
fn begin(name: &str) -> String {
    name.chars().take(LONGEST_NAME).collect()
}

const LONGEST_LABEL: usize = 256; // bytes

/// One host of the file: by ssh, or by a command of words; this machine by its interface alone.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table of a host")]
struct HostEntry {
    ssh: Option<String>,
    launch: Option<Vec<String>>,
    interface: Option<String>,
    #[serde(default, deserialize_with = "command_of_file")]
    console: Vec<String>,
    #[serde(default, deserialize_with = "command_of_file")]
    power: Vec<String>,
}

fn command_of_file<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    let words = Vec::<String>::deserialize(from)?;
    let names_program = words.first().is_some_and(|program| !program.is_empty());
    let is_command = names_program && !words.iter().any(|word| word.contains('\0'));
    let example = "write [\"ipmitool\", \"-H\", \"bmc\", …]";
    is_command.then_some(words).ok_or_else(|| D::Error::custom(format!("this is no command: {example}")))
}

/// `None`: no machine is named.
pub(super) fn read(flags: &HostFlags) -> Result<Option<HostFlags>, Failure> {
    let mut wanted = flags.clone();
    if let Some(path) = &flags.hosts {
        let file = read_file(path)?;
        let pair = chosen(path, &file.pairs, flags.pair.as_deref())?;
        (wanted.transmitter, wanted.receiver) = match pair {
            Some(pair) => (pair.transmitter.clone(), pair.receiver.clone()),
            None => (file.transmitter, file.receiver),
        };
        wanted.addresses = flags.addresses.or(file.addresses);
        wanted.lease = flags.lease.or(file.lease);
    }
    if wanted.transmitter.is_none() && wanted.receiver.is_none() {
        let Some(path) = &flags.hosts else { return Ok(None) };
        bail!(Usage, "{} names no machine: add [transmitter] and [receiver]", path.display());
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

/// The pairs of the file of hosts; empty if it names two machines alone, or there is none.
pub(crate) fn pairs(flags: &HostFlags) -> Result<Vec<PairOfHosts>, Failure> {
    flags.hosts.as_ref().map_or(Ok(Vec::new()), |path| Ok(read_file(path)?.pairs))
}

fn chosen<'p>(
    path: &Path,
    pairs: &'p [PairOfHosts],
    name: Option<&str>,
) -> Result<Option<&'p PairOfHosts>, Failure> {
    let file = path.display();
    match (pairs, name) {
        ([], None) => Ok(None),
        ([], Some(_)) => bail!(Usage, "{file} has no [[pair]]: leave --pair out"),
        ([one], None) => Ok(Some(one)),
        (_, None) => {
            bail!(Usage, "{file} names {} pairs: choose one with --pair {}", pairs.len(), pairs[0].name)
        }
        (_, Some(name)) => match pairs.iter().find(|pair| pair.name == name) {
            Some(pair) => Ok(Some(pair)),
            None => bail!(Usage, "{file} has no pair {name:?}: its first one is {:?}", pairs[0].name),
        },
    }
}

fn read_file(path: &Path) -> Result<HostsFile, Failure> {
    let text = read_text(path, LARGEST, "a file of hosts")?;
    let file: HostsFile = toml::from_str(&text).map_err(|error| {
        let error = error.to_string();
        Failure::Usage(format!("{}: {}", path.display(), words::sanitised_lines(&error).trim_end()))
    })?;
    let (mut names, mut ends, mut reference) = (BTreeSet::new(), BTreeMap::new(), None);
    for pair in &file.pairs {
        let twice = "two pairs have this name: give each a name of its own";
        let twice = (!names.insert(&pair.name)).then(|| twice.to_owned());
        let first = pair.known_ends().and_then(|own| ends.insert(own, &pair.name));
        let again = first.map(|first| {
            format!(
                "its machines are those of pair {first:?}, and would count twice: remove one of the two; `reference = true` measures a pair again and again"
            )
        });
        let first = if pair.reference { reference.replace(&pair.name) } else { None };
        let second = first
            .map(|first| format!("`reference = true` stands at pair {first:?} too: keep one of the two"));
        if let Some(fault) = pair.fault().or(twice).or(again).or(second) {
            bail!(Usage, "{}: pair {:?}: {fault}", path.display(), begin(&pair.name));
        }
    }
    if !file.pairs.is_empty() && (file.transmitter.is_some() || file.receiver.is_some()) {
        let path = path.display();
        bail!(Usage, "{path}: [[pair]] stands beside [transmitter] or [receiver]: make those a pair too");
    }
    Ok(file)
}

fn lease_of_file<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Duration>, D::Error> {
    lease(&String::deserialize(from)?).map(Some).map_err(D::Error::custom)
}

fn host_of_file<'de, D: Deserializer<'de>>(from: D) -> Result<Option<HostSpec>, D::Error> {
    let HostEntry { ssh, launch, interface, console, power } = HostEntry::deserialize(from)?;
    interface.as_deref().map_or(Ok(()), check_interface).map_err(D::Error::custom)?;
    let management = ManagementCommands { console, power };
    let mut spec = match (ssh, launch) {
        (Some(ssh), None) => HostSpec { management, ..ssh.parse::<HostSpec>().map_err(D::Error::custom)? },
        (None, Some(words)) if !words.is_empty() => {
            HostSpec { launcher: Some(Launcher::Words(words)), interface: None, management }
        }
        (None, None) if interface.is_some() => HostSpec { launcher: None, interface: None, management },
        _ => {
            return Err(D::Error::custom(
                "a host has `ssh = \"USER@HOST\"` or `launch = [\"COMMAND\", …]`, not both; for this machine give `interface` alone",
            ));
        }
    };
    if spec.launcher.is_none() && spec.management != ManagementCommands::default() {
        return Err(D::Error::custom("this machine has neither `console` nor `power`: netassay runs on it"));
    }
    spec.interface = interface.or(spec.interface);
    Ok(Some(spec))
}

#[cfg(test)]
mod tests;
