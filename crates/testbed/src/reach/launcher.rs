//! Makes the command that runs a script on a host.

use std::fmt;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use words::shell_word;

use crate::reach::piped::PipedCommand;

/// A way to run commands on a host, with standard input and output here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Launcher {
    /// OpenSSH's `ssh`.
    Ssh {
        /// `HOST` or `USER@HOST`; `HOST` may be a word of the user's configuration.
        destination: String,
        /// A configuration file in place of the user's (`ssh -F`).
        config: Option<PathBuf>,
    },
    /// Any command that runs its last arguments elsewhere, such as `kubectl exec -i POD --`.
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

/// Reads a script from the first line of its input, and runs it; what follows is the script's own
/// input. A shell that reads a whole script so (`sh -s`) may take some of that too: `read` takes no
/// byte beyond the line.
///
/// The login's shell passes this on, whichever it is: also csh and fish take nothing of it for
/// theirs.
const READ_SCRIPT: &str = r#"IFS= read -r s; eval "$(printf %b "$s")""#;

impl Launcher {
    /// The command that runs a POSIX shell script on the host. The arguments are `$1`, `$2` …
    /// `control`: the socket of the shared connection.
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

/// A script with its arguments, as [`READ_SCRIPT`] reads it. Any other shell that reads it, because
/// a startup file has started one, sees a comment.
fn line_of(script: &str, arguments: &[&str]) -> String {
    let words: Vec<String> = arguments.iter().copied().map(shell_word).collect();
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

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};

    use super::*;

    #[test]
    fn ssh_asks_nothing_forwards_nothing_and_takes_the_host_for_a_host() {
        let config = Some(PathBuf::from("/etc/my config"));
        let launcher = Launcher::Ssh { destination: "root@a".into(), config };
        let PipedCommand { command, .. } = launcher.command("echo \"$1\"", &["it's"], Path::new("/run/x/%C"));
        let words: Vec<_> = command.get_args().map(|word| word.to_string_lossy()).collect();
        assert_eq!((command.get_program().to_str(), &*words[1]), (Some("ssh"), "/etc/my config"));
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
        assert_eq!(
            words[host + 1..],
            [r#"exec /bin/sh -c 'IFS= read -r s; eval "$(printf %b "$s")"' netassay"#]
        );
        // Characters that csh and fish interpret within quotation marks.
        assert!(!READ_SCRIPT.contains(['!', '\n', '\\', '\'']));
    }

    /// The shells that read more of a script than they must are dash and BusyBox's.
    #[test]
    fn any_shell_runs_the_script_and_leaves_its_input_to_it() {
        let script = "# it's\nprintf '%s|' \"$0\" \"$@\"\nprintf 'a\\tb\\\\\\n'\nexec cat\n";
        for shell in ["sh", "bash", "busybox sh"] {
            // In place of /bin/sh.
            let swap = format!("shift; exec {shell} \"$@\"");
            let launcher = Launcher::Words(["sh", "-c", &swap, "login"].map(str::to_owned).to_vec());
            let arguments = ["it's", "", "a\\nb!", "$x ä"];
            let mut started = launcher.command(script, &arguments, Path::new("s")).spawn().unwrap();
            let _ = started.input.write_all(b"further\ninput");
            drop(started.input);
            let mut printed = String::new();
            started.output.read_to_string(&mut printed).unwrap();
            let is_absent = started.process.wait().unwrap().code() == Some(127) && shell != "sh";
            let expected = "netassay|it's||a\\nb!|$x ä|a\tb\\\nfurther\ninput";
            assert!(is_absent || printed == expected, "{shell}: {printed}");
        }
        let line = line_of(script, &["x"]);
        assert!(line.starts_with('#') && line.find('\n') == Some(line.len() - 1), "{line}");
    }

    #[test]
    fn a_host_is_named_as_it_can_be_given() {
        for text in ["a", "root@a", "root@[2001:db8::1]", "[fe80::1%mgmt]"] {
            let spec: crate::reach::HostSpec = text.parse().unwrap();
            assert_eq!(spec.launcher.unwrap().to_string(), text);
        }
    }
}
