//! A host as a person names it: `root@a:ens1f0`.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;
use words::names::check_interface;

use crate::reach::launcher::Launcher;

/// A host and its interface, as given on the command line or in a file of hosts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostSpec {
    /// The way to run commands there; `None`: this machine (`:ens1f0`).
    pub launcher: Option<Launcher>,
    /// The interface that carries the traffic; `None`: the one that leads to the other host.
    pub interface: Option<String>,
}

/// Why a text is not a host.
#[derive(Debug, Error, PartialEq, Eq)]
#[error(
    "{why}: write USER@HOST:INTERFACE, for example root@a:ens1f0 (USER@ and :INTERFACE can be left out; an IPv6 address stands in brackets; :ens1f0 alone is an interface of this machine)"
)]
pub struct SpecError {
    why: String,
}

/// The longest name of a host (RFC 1035, section 2.3.4), with room for a user.
const LONGEST: usize = 255 + 64;

impl FromStr for HostSpec {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        let wrong = |why: String| SpecError { why };
        let (user, rest) = match text.rsplit_once('@') {
            Some((user, rest)) => (Some(user), rest),
            None => (None, text),
        };
        // An address of IPv6 holds colons.
        let (host, interface) = match rest.strip_prefix('[').map(|rest| rest.split_once(']')) {
            Some(Some((host, ""))) => (host, None),
            Some(Some((host, after))) => {
                let interface = after.strip_prefix(':');
                (host, Some(interface.ok_or_else(|| wrong(format!("{text:?} goes on after its bracket")))?))
            }
            Some(None) => return Err(wrong(format!("{text:?} lacks the closing bracket"))),
            None => match rest.split_once(':') {
                Some((host, interface)) => (host, Some(interface)),
                None => (rest, None),
            },
        };
        let destination = user.map_or_else(|| host.to_owned(), |user| format!("{user}@{host}"));
        check_destination(&destination).map_err(wrong)?;
        let is_here = text.starts_with(':');
        if (host.is_empty() && !is_here) || user == Some("") {
            return Err(wrong(format!("{text:?} names no host")));
        }
        if let Some(interface) = interface {
            check_interface(interface).map_err(wrong)?;
        }
        Ok(Self {
            launcher: (!is_here).then_some(Launcher::Ssh { destination, config: None }),
            interface: interface.map(str::to_owned),
        })
    }
}

impl HostSpec {
    /// Whether it is this machine.
    #[must_use]
    pub fn is_here(&self) -> bool {
        self.launcher.is_none()
    }
}

impl fmt::Display for HostSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.launcher {
            Some(launcher) => write!(f, "{launcher}")?,
            None => f.write_str("this machine")?,
        }
        self.interface.as_ref().map_or(Ok(()), |interface| write!(f, " ({interface})"))
    }
}

/// Whether ssh takes it as a destination, and nothing else.
fn check_destination(destination: &str) -> Result<(), String> {
    // OpenSSH would read it as an option, and `user@-x` as a host that begins with one.
    if destination.split('@').any(|part| part.starts_with('-')) {
        return Err(format!("{destination:?} begins with \"-\", as options do"));
    }
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | ':' | '%' | '@');
    if destination.len() > LONGEST || !destination.chars().all(plain) {
        return Err(format!("{:?} cannot be the name of a host", words::shortened_reason(destination)));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(text: &str) -> Result<(String, Option<String>), String> {
        let spec: HostSpec = text.parse().map_err(|error: SpecError| error.to_string())?;
        let destination = match spec.launcher {
            Some(Launcher::Ssh { destination, .. }) => destination,
            other => format!("{other:?}"),
        };
        Ok((destination, spec.interface))
    }

    #[test]
    fn a_host_has_a_user_and_an_interface_or_not() {
        let some = |name: &str| Some(name.to_owned());
        assert_eq!(read("root@a:ens1f0").unwrap(), ("root@a".into(), some("ens1f0")));
        assert_eq!(read("a.example").unwrap(), ("a.example".into(), None));
        assert_eq!(read("root@[2001:db8::1]:eth0.7").unwrap(), ("root@2001:db8::1".into(), some("eth0.7")));
        assert_eq!(read("[fe80::1%mgmt]").unwrap(), ("fe80::1%mgmt".into(), None));
        assert_eq!(read(":data0").unwrap(), ("None".into(), some("data0")));
    }

    #[test]
    fn what_ssh_or_a_shell_could_take_for_something_else_is_refused() {
        for text in
            ["-oProxyCommand=x", "root@-x", "-x@a", "a b", "a;b", "a$(b)", "a'b", "", "@a", "root@", ":"]
        {
            let error = read(text).unwrap_err();
            assert!(error.contains("USER@HOST:INTERFACE"), "{text}: {error}");
        }
        for text in ["a:", "a:-e", "a:eth0/x", "[::1", "[::1]x", "::1"] {
            assert!(read(text).is_err(), "{text}");
        }
        assert!(read(&"a".repeat(400)).is_err() && read(&format!("a:{}", "e".repeat(128))).is_err());
        assert!(read("a:enx001122334455-of-the-left-port").is_ok(), "an alternative name");
    }

    proptest! {
        #[test]
        fn any_text_is_a_plain_destination_or_refused(text in "\\PC{0,40}") {
            if let Ok((destination, interface)) = read(&text) {
                prop_assert!(!destination.starts_with('-') && words::is_plain(&destination));
                prop_assert!(!destination.contains([' ', '\'', '"', '$', ';', '`', '\\']));
                prop_assert!(interface.is_none_or(|name| !name.is_empty() && name.len() <= 127));
            }
        }
    }
}
