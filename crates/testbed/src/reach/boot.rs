//! A host's boot (its identity and kernel), its installed kernels, and ways to boot one once.

use std::time::Duration;

use crate::error::Error;
use crate::reach::script::{BOOT, KERNELS};
use crate::reach::session::{RootShell, TO_ANSWER, unexpected_answer};

/// A boot of a host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostBoot {
    /// Its identity, a UUID.
    pub id: String,
    /// The release of its kernel, as `uname -r` tells it.
    pub release: String,
    /// The release that it boots by default, as noted before another was chosen for one boot.
    pub default: String,
}

impl HostBoot {
    /// Whether the kernel that runs is the default one.
    pub fn is_of_default(&self) -> bool {
        self.release == self.default
    }
}

const LENGTH: usize = 36;

pub(crate) fn present_boot(shell: &RootShell<'_>, within: Duration) -> Result<HostBoot, Error> {
    read(&shell.launcher.to_string(), &shell.start(BOOT, &[], within)?.line()?)
}

pub(crate) fn read(host: &str, line: &str) -> Result<HostBoot, Error> {
    let plain =
        |id: &str| id.len() == LENGTH && id.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    let parts: Vec<&str> = line.trim_end().split(' ').collect();
    let (id, release, default) = match parts[..] {
        ["boot", id, release] => (id, release, release),
        ["boot", id, release, noted] => (id, release, noted),
        _ => return Err(unexpected_answer(host, line, "")),
    };
    if !plain(id) || !is_release(release) || !is_release(default) {
        return Err(unexpected_answer(host, line, ""));
    }
    Ok(HostBoot { id: id.to_owned(), release: release.to_owned(), default: default.to_owned() })
}

pub(crate) fn is_release(text: &str) -> bool {
    // `utsname` has 64 bytes for a release. It becomes part of a path and of a command.
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._+~-".contains(&byte);
    (1..=64).contains(&text.len()) && !text.starts_with(['.', '-']) && text.bytes().all(plain)
}

// The most lines that are read: a menu of GRUB has some 300 of these.
const MOST: usize = 4096;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Kernels {
    installed: Vec<String>,
    grub: Option<String>,
    grub_obeys: bool,
    // A storage that GRUB cannot write: it would boot the chosen kernel again and again.
    unwritable: Option<String>,
    entries: Vec<(String, String)>,
    has_kexec: bool,
}

// GRUB reads these and cannot write them: abstractions (`grub-reboot` warns) and file systems
// (Debian and Ubuntu leave out what must be written at each start).
const UNWRITABLE: [&str; 10] =
    ["diskfilter", "lvm", "btrfs", "cpiofs", "newc", "odc", "romfs", "squash4", "tarfs", "zfs"];

/// `grub` or `grub2` and the entry of its menu, or `kexec` and the release.
pub(crate) type KernelChoice = [String; 2];

impl Kernels {
    pub(crate) fn ask(shell: &RootShell<'_>) -> Result<Self, Error> {
        let mut session = shell.start(KERNELS, &[], TO_ANSWER)?;
        let mut lines = Vec::new();
        while lines.len() < MOST {
            match session.line()? {
                end if end == "end" => return Ok(Self::read(&lines)),
                line => lines.push(line),
            }
        }
        let what = "more kernels and entries of GRUB's menu than any machine has";
        Err(unexpected_answer(&shell.launcher.to_string(), what, ""))
    }

    fn read(lines: &[String]) -> Self {
        let mut all = Self::default();
        let mut menu = Vec::new();
        for line in lines {
            match line.split_once(' ').unwrap_or((line, "")) {
                ("kernel", release) if is_release(release) => all.installed.push(release.to_owned()),
                ("grub", words) => {
                    let mut words = words.split(' ').map(str::to_owned);
                    all.grub = words.next().filter(|name| ["grub", "grub2"].contains(&name.as_str()));
                    all.unwritable = words.find(|on| UNWRITABLE.contains(&on.as_str()));
                }
                ("menu", line) => menu.push(line),
                ("kexec", _) => all.has_kexec = true,
                _ => {}
            }
        }
        all.grub_obeys = menu.iter().any(|line| line.contains("next_entry"));
        all.entries = entries(&menu);
        all
    }

    pub(crate) fn choice(&self, release: &str) -> Result<KernelChoice, KernelChoiceError> {
        let wanted = release.to_owned();
        if !self.installed.iter().any(|known| known == release) {
            return Err(match self.installed.as_slice() {
                [] => KernelChoiceError::Empty(wanted),
                all => KernelChoiceError::Absent(wanted, all.join(", ")),
            });
        }
        let entry = self.entries.iter().find(|(of, _)| of == release);
        let grub = match (&self.grub, &self.unwritable, entry) {
            (None, ..) => "there is no grub-reboot, or no environment of GRUB (grubenv)".to_owned(),
            _ if !self.grub_obeys => "GRUB's menu does not read what grub-reboot chooses".to_owned(),
            (_, Some(on), _) => {
                format!(
                    "GRUB cannot write to its environment on {on}, so it would boot {release} again and again"
                )
            }
            (Some(grub), None, Some((_, entry))) => return Ok([grub.clone(), entry.clone()]),
            (Some(_), None, None) => format!("GRUB's menu has no entry for {release}"),
        };
        if self.has_kexec {
            return Ok(["kexec".to_owned(), release.to_owned()]);
        }
        Err(KernelChoiceError::NotBootable(wanted, grub))
    }
}

/// Why a release cannot be chosen for one boot.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum KernelChoiceError {
    #[error("there is no kernel {0}: /boot has no vmlinuz-RELEASE at all")]
    Empty(String),
    #[error("there is no kernel {0}: /boot has those of {1}")]
    Absent(String, String),
    #[error(
        "{0} cannot be chosen for one boot: {1}, and there is no kexec, or its kernel does not allow it: install kexec-tools, or GRUB with its grub-reboot"
    )]
    NotBootable(String, String),
}

/// Each entry has its release and the names that lead to it.
fn entries(menu: &[&str]) -> Vec<(String, String)> {
    let mut open: Vec<(bool, String)> = Vec::new();
    let mut found = Vec::new();
    for line in menu.iter().map(|line| line.trim()) {
        let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        if line == "}" {
            open.pop();
        } else if line.ends_with('{') {
            let is_of_menu = matches!(word, "menuentry" | "submenu");
            open.push((is_of_menu, is_of_menu.then(|| name_of(rest)).flatten().unwrap_or_default()));
        } else if matches!(word, "linux" | "linux16" | "linuxefi") {
            let mut words = rest.split_whitespace();
            let image = words.next().unwrap_or_default().rsplit('/').next().unwrap_or_default();
            // An entry for repairs starts the same kernel without the rest of the system.
            let repairs = words.any(|word| matches!(word, "single" | "recovery" | "1" | "rescue"));
            let path: Vec<&str> =
                open.iter().filter(|(is_of_menu, _)| *is_of_menu).map(|(_, name)| &**name).collect();
            // In a name of several, this sign separates them; a first `-` makes an option of it.
            let is_plain = |name: &&str| !name.is_empty() && !name.contains('>') && !name.starts_with('-');
            let is_named = !path.is_empty() && path.iter().all(is_plain);
            if let Some(release) = image.strip_prefix("vmlinuz-").filter(|_| is_named && !repairs) {
                found.push((release.to_owned(), path.join(">")));
            }
        }
    }
    found
}

fn name_of(rest: &str) -> Option<String> {
    let quoted = |text: &str| {
        let quote = text.chars().next().filter(|c| matches!(c, '\'' | '"'))?;
        let (name, _) = text[1..].split_once(quote)?;
        Some(name.to_owned())
    };
    let identity = ["$menuentry_id_option ", "--id "].iter().find_map(|before| rest.split_once(before));
    identity.and_then(|(_, text)| quoted(text.trim_start())).or_else(|| quoted(rest))
}

#[cfg(test)]
mod tests;
