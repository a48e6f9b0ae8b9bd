//! Makes the command that runs a script on a host.

use std::fmt;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::str::FromStr;

use words::names::check_interface;
use words::shell_word;

use crate::out_of_band::ManagementCommands;
use crate::reach::session::PipedCommand;

/// A way to run commands on a host, with standard input and output here.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the documentation of its variants names their fields")]
pub enum Launcher {
    /// OpenSSH's `ssh`. `destination`: `HOST` or `USER@HOST`. `config`: for `ssh -F`.
    Ssh { destination: String, config: Option<PathBuf> },
    /// Any command that runs its last arguments elsewhere, such as `kubectl exec -i POD --`.
    Words(Vec<String>),
}

// The user's configuration of keys and hosts holds; what would open a way back does not.
const SSH: &[&str] = &[
    // Never a question: nobody may be there to answer, and a new host key is never accepted.
    "BatchMode=yes",
    "StrictHostKeyChecking=yes",
    // Nor are further keys that a known host offers.
    "UpdateHostKeys=no",
    "ConnectTimeout=10",
    // A dead network is noticed, also by an agent that sends nothing for long.
    "ServerAliveInterval=5",
    "ServerAliveCountMax=3",
    "ForwardAgent=no",
    "ForwardX11=no",
    "ClearAllForwardings=yes",
    "PermitLocalCommand=no",
    "Tunnel=no",
    // A command that the user's configuration gives to this host would run in place of ours.
    "RemoteCommand=none",
    "RequestTTY=no",
    "EscapeChar=none",
    // One connection for all sessions: the first one makes it, and closes it when it ends.
    "ControlMaster=auto",
    "ControlPersist=no",
    // The program has some 10 MB.
    "Compression=yes",
];

// The rest of the input is the script's own: `read` takes no byte beyond the line, `sh -s` might.
// csh and fish pass this command on as it is.
const READ_SCRIPT: &str = r#"IFS= read -r s; eval "$(printf %b "$s")""#;

impl Launcher {
    /// The arguments are `$1`, `$2` … `control`: the socket of the shared connection.
    pub(crate) fn command(&self, script: &str, arguments: &[&str], control: &Path) -> PipedCommand {
        let shell = ["/bin/sh", "-c", READ_SCRIPT, "netassay"];
        let mut command = match self {
            Self::Ssh { destination, config } => {
                let mut command = Command::new("ssh");
                if let Some(config) = config {
                    command.arg("-F").arg(config);
                }
                for option in SSH {
                    command.args(["-o", option]);
                }
                command
                    .arg("-o")
                    .arg(format!("ControlPath={}", control.display().to_string().replace('%', "%%")));
                let words = shell.map(shell_word);
                command.args(["-T", "--", destination]).arg(format!("exec {}", words.join(" ")));
                command
            }
            Self::Words(words) => {
                let mut words = words.iter();
                let mut command = Command::new(words.next().map_or("false", String::as_str));
                command.args(words).args(shell);
                command
            }
        };
        // A signal to the process group of netassay leaves it the connection, to undo in order.
        command.process_group(0);
        PipedCommand { command, first_line: line_of(script, arguments) }
    }
}

fn line_of(script: &str, arguments: &[&str]) -> String {
    let words: Vec<String> = arguments.iter().copied().map(shell_word).collect();
    // Any other shell that reads the line, because a startup file has started one, sees a comment.
    let script = format!("#\nset -- {}\n{script}", words.join(" "));
    script.replace('\\', r"\\").replace('\n', r"\n") + "\n"
}

impl fmt::Display for Launcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ssh { destination, .. } => match destination.rsplit_once('@') {
                _ if !destination.contains(':') => f.write_str(destination),
                Some((user, address)) => write!(f, "{user}@[{address}]"),
                None => write!(f, "[{destination}]"),
            },
            Self::Words(words) => f.write_str(&words.join(" ")),
        }
    }
}

/// A host and its interface, as given on the command line or in a file of hosts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostSpec {
    /// The way to run commands there; `None`: this machine (`:ens1f0`).
    pub launcher: Option<Launcher>,
    /// The interface that carries the traffic; `None`: the one that leads to the other host.
    pub interface: Option<String>,
    /// The commands for its console and its power.
    pub management: ManagementCommands,
}

// The longest name of a host (RFC 1035, section 2.3.4), with room for a user.
const LONGEST: usize = 255 + 64;

/// Why a text names no host.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0}: write USER@HOST:INTERFACE, for example root@a:ens1f0 (USER@ and :INTERFACE can be left out; an IPv6 address stands in brackets; :ens1f0 alone is an interface of this machine)"
)]
pub struct HostSpecError(String);

impl FromStr for HostSpec {
    type Err = HostSpecError;

    fn from_str(text: &str) -> Result<Self, HostSpecError> {
        let wrong = HostSpecError;
        let (user, rest) = text.rsplit_once('@').map_or((None, text), |(user, rest)| (Some(user), rest));
        // An address of IPv6 holds colons.
        let (host, interface) = match rest.strip_prefix('[').map(|rest| rest.split_once(']')) {
            Some(Some((host, ""))) => (host, None),
            Some(Some((host, after))) => {
                let interface = after.strip_prefix(':');
                (host, Some(interface.ok_or_else(|| wrong(format!("{text:?} goes on after its bracket")))?))
            }
            Some(None) => return Err(wrong(format!("{text:?} lacks the closing bracket"))),
            None => rest.split_once(':').map_or((rest, None), |(host, name)| (host, Some(name))),
        };
        let destination = user.map_or_else(|| host.to_owned(), |user| format!("{user}@{host}"));
        check_destination(&destination)?;
        let is_here = text.starts_with(':');
        if (host.is_empty() && !is_here) || user == Some("") {
            return Err(wrong(format!("{text:?} names no host")));
        }
        if let Some(interface) = interface {
            check_interface(interface).map_err(|error| wrong(error.to_string()))?;
        }
        Ok(Self {
            launcher: (!is_here).then_some(Launcher::Ssh { destination, config: None }),
            interface: interface.map(str::to_owned),
            management: ManagementCommands::default(),
        })
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

fn check_destination(destination: &str) -> Result<(), HostSpecError> {
    // OpenSSH would read it as an option, and `user@-x` as a host that begins with one.
    if destination.split('@').any(|part| part.starts_with('-')) {
        return Err(HostSpecError(format!("{destination:?} begins with \"-\", as options do")));
    }
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | ':' | '%' | '@');
    if destination.len() > LONGEST || !destination.chars().all(plain) {
        let name = words::shortened_reason(destination);
        return Err(HostSpecError(format!("{name:?} cannot be the name of a host")));
    }
    Ok(())
}

#[cfg(test)]
mod tests;

#[cfg(test)]
mod spec_tests {
    use proptest::prelude::*;

    use super::*;

    fn read(text: &str) -> Result<(String, Option<String>), HostSpecError> {
        let spec: HostSpec = text.parse()?;
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
            let error = read(text).unwrap_err().to_string();
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
