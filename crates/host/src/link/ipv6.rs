//! The IPv6 state of an interface, recorded because Linux removes it when the MTU is too small.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::kernel::files::Machine;
use crate::link::entry::{Entry, EntryKind, IPV6};
use crate::link::interface::Link;
use crate::link::links::Links;

/// The least MTU of IPv6, in bytes (RFC 8200, section 5). Below it, Linux turns IPv6 off on the
/// interface: it removes its addresses, routes and neighbours, and resets its sysctls.
pub const LEAST_IPV6_MTU: u32 = 1_280;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ipv6Part {
    All,
    /// The addresses, which an interface loses when it is set down.
    Addresses,
    /// The sysctl `mtu`, which follows the interface's MTU, and routes with an MTU of their own.
    Mtu,
}

impl Ipv6Part {
    fn has(self, entry: &Entry) -> bool {
        match self {
            Self::All => true,
            Self::Addresses => entry.sort == EntryKind::Address,
            Self::Mtu => entry.has_mtu(),
        }
    }
}

// The directories of an interface's sysctls, below `net/ipv6`.
const DIRECTORIES: [&str; 2] = ["conf", "neigh"];
const MTU: &str = "conf/mtu";

fn path(files: &Machine, sysctl: &str, link: &Link) -> PathBuf {
    let (directory, name) = sysctl.split_once('/').unwrap_or((sysctl, ""));
    files.path(&format!("proc/sys/net/ipv6/{directory}/{}/{name}", link.name))
}

/// The IPv6 state of an interface, or a part of it. Empty if IPv6 is off.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Ipv6State {
    /// Up, and waiting for its first carrier, with which the kernel adds addresses of its own.
    awaits_carrier: bool,
    /// The writable sysctls, such as `conf/mtu`.
    sysctls: BTreeMap<String, String>,
    entries: Vec<Entry>,
}

impl Ipv6State {
    pub(crate) fn read(
        links: &mut Links,
        files: &Machine,
        link: &Link,
        scope: Ipv6Part,
    ) -> Result<Self, Error> {
        if !path(files, "conf", link).is_dir() {
            return Ok(Self::default());
        }
        // Read before the addresses: the kernel's own addresses are there if IPv6 does not wait.
        let awaits_carrier = scope == Ipv6Part::All && awaits_carrier(links, files, link)?;
        let mut state = Self { awaits_carrier, sysctls: sysctls(files, link, scope), entries: Vec::new() };
        for sort in EntryKind::ALL {
            state.entries.extend(links.entries(sort, IPV6, link.index)?);
        }
        state.entries.retain(|entry| scope.has(entry));
        Ok(state)
    }

    /// Also removes entries that the state does not have.
    pub(crate) fn write(
        &self,
        links: &mut Links,
        files: &Machine,
        link: &Link,
        scope: Ipv6Part,
    ) -> Result<(), Error> {
        let name = &link.name;
        // Entries cannot be removed while IPv6 is off, and while it is on the MTU turns it off.
        if *self == Self::default() {
            return Ok(());
        }
        if !path(files, "conf", link).is_dir() {
            return Err(Error::from(format!(
                "IPv6 is off on interface {name:?}, because its MTU is below {LEAST_IPV6_MTU} bytes: raise it, then restore again"
            )));
        }
        // The secret changes how addresses are generated, so the other settings follow it.
        let (secret, others): (Vec<_>, Vec<_>) =
            self.sysctls.iter().partition(|(sysctl, _)| sysctl.ends_with("/stable_secret"));
        for (sysctl, wanted) in secret.into_iter().chain(others) {
            let path = path(files, sysctl, link);
            if value(&path).as_ref() != Some(wanted) {
                let refused = |errno| Error::failed(format!("cannot write {}", path.display()), errno, "");
                std::fs::write(&path, wanted).map_err(refused)?;
            }
        }
        // Until the carrier is there the kernel may still add addresses of its own.
        let may_wait = self.awaits_carrier || scope != Ipv6Part::All;
        let settled = if may_wait { Ok(()) } else { await_carrier(links, files, link) };
        // With IPv6 the kernel makes an address of the interface itself, and checks for a second or
        // two that it is the only one, which it was before.
        if scope == Ipv6Part::All {
            let unsettled = links.entries(EntryKind::Address, IPV6, link.index)?;
            unsettled.iter().filter(|one| one.is_tentative).try_for_each(|one| one.delete(links, name))?;
        }
        let made = links.restore_entries(&self.entries, |entry| scope.has(entry), IPV6, (link.index, name));
        made.and(settled)
    }

    pub(crate) fn with_mtu_of(mut self, other: &Self) -> Self {
        if let (Some(own), Some(other)) = (self.sysctls.get_mut(MTU), other.sysctls.get(MTU)) {
            own.clone_from(other);
        }
        self
    }

    pub(crate) fn to_text(&self) -> String {
        // Texts, numbers and switches serialize without errors; no text counts as no state.
        serde_json::to_string(self).unwrap_or_default()
    }

    pub(crate) fn of_text(text: &str) -> Option<Self> {
        let state: Self = serde_json::from_str(text).ok()?;
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        let is_sysctl = |sysctl: &String| {
            let parts = sysctl.split_once('/').filter(|(directory, _)| DIRECTORIES.contains(directory));
            parts.is_some_and(|(_, name)| !name.is_empty() && name.chars().all(plain))
        };
        state.sysctls.keys().all(is_sysctl).then_some(state)
    }

    pub(crate) fn is_same(&self, before: &Self) -> bool {
        fn entries(state: &Ipv6State) -> Vec<(EntryKind, &[u8])> {
            let mut all: Vec<_> = state.entries.iter().map(|one| (one.sort, &*one.message)).collect();
            all.sort_unstable();
            all
        }
        // Lifetimes run on, entries change places, and a carrier may have come meanwhile.
        (before.awaits_carrier || !self.awaits_carrier)
            && self.sysctls == before.sysctls
            && entries(self) == entries(before)
    }

    pub(crate) fn summary(&self) -> String {
        if *self == Self::default() {
            return "none".to_owned();
        }
        let count = |sort: EntryKind| self.entries.iter().filter(|entry| entry.sort == sort).count();
        let [addresses, routes, neighbours] = EntryKind::ALL.map(count);
        let sysctls = self.sysctls.len();
        format!(
            "{addresses} address(es), {routes} route(s), {neighbours} permanent neighbour(s), {sysctls} sysctl(s)"
        )
    }
}

fn awaits_carrier(links: &mut Links, files: &Machine, link: &Link) -> Result<bool, Error> {
    let is_on = value(&path(files, "conf/disable_ipv6", link)).as_deref() == Some("0");
    // The kernel answers between two changes, so that its own addresses are there by then.
    let now = links.find_by_index(link.index, &link.name)?;
    Ok(is_on && now.up && !now.has_ipv6_ready)
}

fn await_carrier(links: &mut Links, files: &Machine, link: &Link) -> Result<(), Error> {
    // [`Links::await_running`] may return before the driver has told the kernel of its carrier.
    let deadline = Instant::now() + FOR_CARRIER;
    while awaits_carrier(links, files, link)? {
        if Instant::now() >= deadline {
            return Err(Error::from(format!(
                "interface {:?} has no carrier, and the kernel will add IPv6 addresses of its own with the next one: connect \
                 its other end or set that up, then restore again",
                link.name
            )));
        }
        std::thread::sleep(LOOK_AGAIN);
    }
    Ok(())
}

// The longest agreement on a speed. An undo waits three times so long, its controller 30 s.
const FOR_CARRIER: Duration = Duration::from_secs(8);
const LOOK_AGAIN: Duration = Duration::from_millis(20);

fn sysctls(files: &Machine, link: &Link, scope: Ipv6Part) -> BTreeMap<String, String> {
    let names = |directory: &'static str| {
        let names = files.names(&format!("proc/sys/net/ipv6/{directory}/{}", link.name), "");
        names.into_iter().map(move |name| format!("{directory}/{name}"))
    };
    let read = |sysctl: String| {
        let path = path(files, &sysctl, link);
        let is_writable = path.metadata().is_ok_and(|about| about.permissions().mode() & 0o200 != 0);
        // Read-only sysctls tell a state, and cannot be written back.
        let value = if is_writable { value(&path) } else { None };
        Some((sysctl, value?))
    };
    let all = DIRECTORIES.into_iter().flat_map(names);
    let is_of = |sysctl: &String| scope == Ipv6Part::All || (scope == Ipv6Part::Mtu && sysctl == MTU);
    all.filter(is_of).filter_map(read).collect()
}

fn value(path: &Path) -> Option<String> {
    let text = std::fs::read_to_string(path).ok()?;
    let line = text.strip_suffix('\n').unwrap_or(&text);
    (!line.is_empty() && !line.contains('\n')).then(|| line.to_owned())
}

#[cfg(test)]
mod tests;
