//! Running programs.

use std::io;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};

use crate::Result;

/// Runs a program that must succeed. Both of its outputs go to our standard error: our standard
/// output is for results.
pub(crate) fn run(command: &mut Command) -> Result {
    eprintln!("$ {}", command_line(command));
    let status = command.stdout(io::stderr()).status();
    succeeded(command, status)
}

/// Runs a program that must succeed and returns its standard output; its standard error is ours.
pub(crate) fn output(command: &mut Command) -> Result<String> {
    let output = command.stderr(Stdio::inherit()).output();
    let output = output.map_err(|error| format!("cannot start `{}`: {error}", command_line(command)))?;
    succeeded(command, Ok(output.status))?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

pub(crate) fn succeeded(command: &Command, status: io::Result<ExitStatus>) -> Result {
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("`{}` failed ({status})", command_line(command))),
        Err(error) => Err(format!("cannot start `{}`: {error}", command_line(command))),
    }
}

/// The program's name and its arguments.
fn command_line(command: &Command) -> String {
    let name = Path::new(command.get_program()).file_name().unwrap_or_default();
    let words = [name].into_iter().chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}
