//! A program that is started with its input and output here.

use std::io::{self, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use crate::reach::stderr_tail::StderrTail;

/// A command, and what its input begins with: the script, where it is a host's shell.
#[derive(Debug)]
pub(crate) struct PipedCommand {
    pub(crate) command: Command,
    pub(crate) first_line: String,
}

/// A program that was started.
#[derive(Debug)]
pub(crate) struct PipedProcess {
    pub(crate) process: Child,
    pub(crate) input: ChildStdin,
    pub(crate) output: ChildStdout,
    pub(crate) stderr: StderrTail,
}

impl From<Command> for PipedCommand {
    fn from(command: Command) -> Self {
        Self { command, first_line: String::new() }
    }
}

impl PipedCommand {
    /// The program on this machine.
    pub(crate) fn program(&self) -> String {
        self.command.get_program().to_string_lossy().into_owned()
    }

    pub(crate) fn spawn(mut self) -> io::Result<PipedProcess> {
        let all = self.command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process = all.spawn()?;
        tracing::debug!(process = process.id(), command = ?self.command, "started");
        let mut input = process.stdin.take().expect("its standard input was asked to be a pipe");
        let output = process.stdout.take().expect("its standard output was asked to be a pipe");
        let errors = process.stderr.take().expect("its standard error was asked to be a pipe");
        // A pipe takes it at once. One that has ended tells why at the end of its output.
        let _ = input.write_all(self.first_line.as_bytes());
        match StderrTail::read(errors) {
            Ok(stderr) => Ok(PipedProcess { process, input, output, stderr }),
            Err(error) => {
                // Without its reader it must not run.
                let _ = process.kill();
                let _ = process.wait();
                Err(error)
            }
        }
    }
}
