//! Names that machines, databases and files bring along. They are checked where they are read, so
//! that no path and no command is made of anything else.

use std::collections::BTreeMap;

use serde::de::{Deserialize, Deserializer, Error as _};

use crate::suggest::quoted;

/// Bytes of an alternative name without its final zero (`ALTIFNAMSIZ` of linux/if.h).
const LONGEST_INTERFACE: usize = 127;

const LONGEST: usize = 256;

/// Why a text cannot be a name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages of its variants say it")]
pub enum NameError {
    #[error("`{name}` cannot be the name of {what}")]
    Impossible { name: String, what: &'static str },
    /// The end of a sentence.
    #[error(
        "it is not on the list of sysctls that a study may change (docs/studies.md): writing it may change more than its own value"
    )]
    UnlistedSysctl,
}

type Checked = Result<(), NameError>;

/// Whether an interface can have this name or alternative name: the kernel's rule
/// (`dev_valid_name`), and it is neither an option of a program nor a command of a terminal.
///
/// # Errors
/// The reason.
pub fn check_interface(name: &str) -> Checked {
    let forbidden = |c: char| matches!(c, '/' | ':') || c.is_whitespace() || c.is_control();
    let is_name = name.len() <= LONGEST_INTERFACE && !matches!(name, "." | "..") && !name.contains(forbidden);
    check(name, is_name, "an interface")
}

/// Whether a feature of an interface can have this name.
///
/// # Errors
/// The reason.
pub fn check_feature(name: &str) -> Checked {
    check(name, is_made_of(name, "-_"), "a feature")
}

/// Whether a sysctl can have this name.
///
/// # Errors
/// The reason.
pub fn check_sysctl_name(name: &str) -> Checked {
    check(name, is_made_of(name, "./_-@:"), "a sysctl")
}

fn is_made_of(name: &str, marks: &str) -> bool {
    name.len() <= LONGEST && name.chars().all(|c| c.is_ascii_alphanumeric() || marks.contains(c))
}

fn check(name: &str, is_name: bool, what: &'static str) -> Checked {
    // With a leading hyphen it would be an option of a program.
    if is_name && !name.is_empty() && !name.starts_with('-') {
        return Ok(());
    }
    Err(NameError::Impossible { name: quoted(name), what })
}

/// Names of interfaces, for `#[serde(deserialize_with)]`.
///
/// # Errors
/// As [`check_interface`].
pub fn interfaces<'de, D: Deserializer<'de>, N: Names + Deserialize<'de>>(from: D) -> Result<N, D::Error> {
    read(from, check_interface)
}

/// Names of features, for `#[serde(deserialize_with)]`.
///
/// # Errors
/// As [`check_feature`].
pub fn features<'de, D: Deserializer<'de>, N: Names + Deserialize<'de>>(from: D) -> Result<N, D::Error> {
    read(from, check_feature)
}

/// Names of sysctls, for `#[serde(deserialize_with)]`.
///
/// # Errors
/// As [`check_sysctl_name`].
pub fn sysctls<'de, D: Deserializer<'de>, N: Names + Deserialize<'de>>(from: D) -> Result<N, D::Error> {
    read(from, check_sysctl_name)
}

fn read<'de, D: Deserializer<'de>, N: Names + Deserialize<'de>>(
    from: D,
    check: fn(&str) -> Checked,
) -> Result<N, D::Error> {
    let names = N::deserialize(from)?;
    names.check_each(check).map_err(D::Error::custom)?;
    Ok(names)
}

/// A value that is a name, or holds names: the keys of a map.
pub trait Names {
    /// Checks each name.
    ///
    /// # Errors
    /// The first one's.
    fn check_each(&self, check: fn(&str) -> Result<(), NameError>) -> Result<(), NameError>;
}

impl Names for String {
    fn check_each(&self, check: fn(&str) -> Checked) -> Checked {
        check(self)
    }
}

impl<V> Names for BTreeMap<String, V> {
    fn check_each(&self, check: fn(&str) -> Checked) -> Checked {
        self.keys().try_for_each(|name| check(name))
    }
}

impl<N: Names> Names for Option<N> {
    fn check_each(&self, check: fn(&str) -> Checked) -> Checked {
        self.as_ref().map_or(Ok(()), |names| names.check_each(check))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_could_be_a_command_an_option_or_a_path_is_no_name() {
        type Check = fn(&str) -> Checked;
        let [long_interface, long] = [LONGEST_INTERFACE + 1, LONGEST + 1].map(|length| "x".repeat(length));
        let rows: [(Check, &[&str], &[&str]); 3] = [
            (
                check_interface,
                &["lo", "enp0s31f6", "br-1.2", "eth0@if3", "enx001122334455-left"],
                &["a/b", "a:1", "a\0b", &long_interface, ".", ".."],
            ),
            (
                check_feature,
                &["tso", "tx-udp_tnl-segmentation"],
                &["a/b", "a$(id)", "a'b", "a\"b", "a`id`", &long],
            ),
            (
                check_sysctl_name,
                &["net.core.rmem_max", "net/ipv4/conf/eth0.1/rp_filter"],
                &["a$(id)", "a'b", "net.x=1", "net.x\0", &long],
            ),
        ];
        for (check, names, others) in rows {
            for name in names {
                assert_eq!(check(name), Ok(()));
            }
            let common = ["", "-rf", "x; touch /tmp/owned", "x touch", "x\ny", "x\u{1b}[2J"];
            for name in others.iter().chain(&common) {
                assert!(matches!(check(name), Err(NameError::Impossible { .. })), "{name:?}");
            }
        }
    }

    #[test]
    fn names_are_checked_as_they_are_read() {
        #[derive(Debug, serde::Deserialize)]
        struct Read {
            #[serde(deserialize_with = "interfaces")]
            _interface: String,
            #[serde(deserialize_with = "features")]
            _features: Option<BTreeMap<String, bool>>,
        }
        let read =
            |text: &str| serde_json::from_str::<Read>(text).map(drop).map_err(|error| error.to_string());
        assert_eq!(read(r#"{"_interface":"a","_features":null}"#), Ok(()));
        assert_eq!(read(r#"{"_interface":"a","_features":{"tso":true}}"#), Ok(()));
        let error = read(r#"{"_interface":"a","_features":{"x; touch y":true}}"#).unwrap_err();
        assert!(error.starts_with("`x; touch y` cannot be the name of a feature"), "{error}");
        assert!(read(r#"{"_interface":"a b","_features":null}"#).is_err());
    }
}
