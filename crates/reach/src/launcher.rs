//! How a command is run on a host.

use std::fmt;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use text::shell_word;

/// How a command is run on a host, with its standard input and output here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Launcher {
    /// By OpenSSH's `ssh`.
    Ssh {
        /// `HOST` or `USER@HOST`; `HOST` may be a word of the user's configuration.
        destination: String,
        /// A configuration file in place of the user's (`ssh -F`).
        config: Option<PathBuf>,
    },
    /// By any command that runs its last arguments elsewhere, such as `kubectl exec -i POD --`.
    Words(Vec<String>),
}

/// Options of every connection. What the user's configuration says of keys and hosts holds; what
/// would open a way back does not.
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
];

impl Launcher {
    /// The command that runs a POSIX shell script on the host. The arguments are `$1`, `$2` …
    /// `control`: the socket of the shared connection.
    #[must_use]
    pub fn command(&self, script: &str, arguments: &[&str], control: &Path) -> Command {
        let shell = ["sh", "-c", script, "netassay"].into_iter().chain(arguments.iter().copied());
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
                // The far side's login shell, whichever it is, sees one command of quoted words.
                let words: Vec<String> = shell.map(shell_word).collect();
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
        command
    }
}

impl fmt::Display for Launcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ssh { destination, .. } => f.write_str(destination),
            Self::Words(words) => f.write_str(&words.join(" ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arguments(launcher: &Launcher) -> Vec<String> {
        let command = launcher.command("echo \"$1\"", &["it's"], Path::new("/run/x/%C"));
        std::iter::once(command.get_program())
            .chain(command.get_args())
            .map(|word| word.to_string_lossy().into_owned())
            .collect()
    }

    #[test]
    fn ssh_asks_nothing_forwards_nothing_and_takes_the_host_for_a_host() {
        let config = Some(PathBuf::from("/etc/my config"));
        let words = arguments(&Launcher::Ssh { destination: "root@a".into(), config });
        assert_eq!(words[..3], ["ssh", "-F", "/etc/my config"]);
        for option in [
            "BatchMode=yes",
            "StrictHostKeyChecking=yes",
            "UpdateHostKeys=no",
            "ForwardAgent=no",
            "ForwardX11=no",
            "ClearAllForwardings=yes",
            "Tunnel=no",
            "ControlMaster=auto",
        ] {
            assert!(words.iter().any(|word| word == option), "{option}");
        }
        let host = words.iter().position(|word| word == "root@a").unwrap();
        assert_eq!(words[host - 1], "--");
        assert_eq!(words[host + 1..], [r#"exec sh -c 'echo "$1"' netassay 'it'\''s'"#]);
    }

    #[test]
    fn any_command_gets_the_script_as_its_last_arguments() {
        let words = ["docker", "exec", "-i", "c1"].map(str::to_owned).to_vec();
        let all = arguments(&Launcher::Words(words));
        assert_eq!(all, ["docker", "exec", "-i", "c1", "sh", "-c", "echo \"$1\"", "netassay", "it's"]);
    }
}
