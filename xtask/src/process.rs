//! Running programs: shown, captured, or both.

use std::io::{self, BufRead as _, BufReader, Write as _};
use std::process::{Command, ExitStatus, Stdio};

use crate::failure::Failure;

/// Runs a program that must succeed; what it prints is talk, so all of it goes to our standard
/// error.
pub(crate) fn run(command: &mut Command) -> Result<(), Failure> {
    let shown = shown(command);
    eprintln!("$ {shown}");
    let status = command.stdout(io::stderr()).status().map_err(cannot_start(&shown))?;
    succeeded(&shown, status)
}

/// Runs a program that must succeed and returns its standard output; its standard error is ours.
pub(crate) fn output(command: &mut Command) -> Result<String, Failure> {
    let shown = shown(command);
    let output = command.stderr(Stdio::inherit()).output().map_err(cannot_start(&shown))?;
    succeeded(&shown, output.status)?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// A program that ended, and what it printed.
pub(crate) struct Ran {
    command: String,
    status: ExitStatus,
    /// Standard output and standard error in the order in which they were written.
    pub(crate) text: String,
}

impl Ran {
    /// The failure of this program, if it failed.
    pub(crate) fn succeeded(&self) -> Result<(), Failure> {
        succeeded(&self.command, self.status)
    }
}

/// Runs a program, shows both of its outputs in their order on our standard error, and returns them
/// too.
pub(crate) fn tee(mut command: Command) -> Result<Ran, Failure> {
    let shown = shown(&command);
    eprintln!("$ {shown}");
    let (reader, writer) = io::pipe().map_err(Failure::io("cannot make a pipe"))?;
    let twin = writer.try_clone().map_err(Failure::io("cannot make a pipe"))?;
    command.stdin(Stdio::null()).stdout(twin).stderr(writer);
    let mut child = command.spawn().map_err(cannot_start(&shown))?;
    // Our own ends must be closed, or the end of the output would never be seen.
    drop(command);

    let mut text = String::new();
    let mut line = Vec::new();
    let mut reader = BufReader::new(reader);
    while reader.read_until(b'\n', &mut line).map_err(Failure::io("cannot read a program's output"))? > 0 {
        // A closed standard error is no reason to stop a test run.
        let _ = io::stderr().write_all(&line);
        text.push_str(&String::from_utf8_lossy(&line));
        line.clear();
    }
    let status = child.wait().map_err(Failure::io("cannot wait for a program"))?;
    Ok(Ran { command: shown, status, text })
}

/// The command as one would type it: what is added to the environment, the program's name, its
/// arguments.
pub(crate) fn shown(command: &Command) -> String {
    let mut words: Vec<String> = command
        .get_envs()
        .filter(|(name, _)| *name != "PATH")
        .filter_map(|(name, value)| value.map(|value| (name, value)))
        .map(|(name, value)| format!("{}={}", name.to_string_lossy(), quoted(&value.to_string_lossy())))
        .collect();
    let program = command.get_program().to_string_lossy();
    words.push(program.rsplit('/').next().unwrap_or(&program).to_owned());
    words.extend(command.get_args().map(|argument| quoted(&argument.to_string_lossy())));
    words.join(" ")
}

fn succeeded(command: &str, status: ExitStatus) -> Result<(), Failure> {
    if status.success() { Ok(()) } else { Err(Failure::Program { command: command.to_owned(), status }) }
}

fn cannot_start(shown: &str) -> impl FnOnce(io::Error) -> Failure {
    Failure::io(format!("cannot start `{shown}`"))
}

fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_=./:,+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sh(script: &str) -> Command {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn a_command_is_shown_as_typed() {
        let mut command = sh("echo it's");
        command.env("RUSTDOCFLAGS", "-D warnings").env("PATH", "/bin").env_remove("HOME");
        assert_eq!(shown(&command), r"RUSTDOCFLAGS='-D warnings' sh -c 'echo it'\''s'");
    }

    #[test]
    fn tee_keeps_the_order_of_both_outputs_and_the_status() {
        let ran = tee(sh("echo one; echo two >&2; echo three; printf four; exit 3")).unwrap();
        assert_eq!(ran.text, "one\ntwo\nthree\nfour");
        assert!(matches!(ran.succeeded(), Err(Failure::Program { status, .. }) if status.code() == Some(3)));
    }

    #[test]
    fn output_is_the_standard_output_alone() {
        assert_eq!(output(&mut sh("echo data; echo talk >&2")).unwrap(), "data\n");
        let failure = output(&mut sh("echo data; exit 1")).unwrap_err();
        assert!(failure.to_string().contains("`sh -c 'echo data; exit 1'` failed"), "{failure}");
    }

    #[test]
    fn a_program_that_is_not_there_is_named() {
        let failure = run(&mut Command::new("/nowhere/no-such-program")).unwrap_err();
        assert!(failure.to_string().starts_with("cannot start `no-such-program`"), "{failure}");
    }
}
