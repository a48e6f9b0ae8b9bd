//! How the bench has something done in a virtual machine: a shell there starts this program with
//! the arguments that it is told. It is reached over TCP, one connection for each program, by this
//! program again (`netassay-bench remote`) in the network namespace that the guest's card is joined
//! to. Only the bench can reach it: it has made that namespace.
//!
//! It reads the counters of its namespace itself. The arguments are one line of JSON. The
//! connection then is the program's standard input and output; the last byte that the shell sends
//! is its exit code.
//!
//! The shell is no part of netassay, whose guests run nothing but netassay.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read, Write};
use std::net::{Ipv6Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsFd as _, OwnedFd};
use std::process::{Command, ExitCode};
use std::thread;
use std::time::{Duration, Instant};

use clap::Args;

use super::Reading;
use super::inside::Joined;
use crate::failure::Failure;

/// Where the shell listens. No peer does there.
pub(crate) const PORT: u16 = 5003;
/// What the shell itself does: print a [`Reading`] of files in JSON.
pub(super) const READ: &str = "read";
/// How long a guest may take to answer.
const PATIENCE: Duration = Duration::from_secs(20);

/// From where, to which shell, and what.
#[derive(Debug, Args)]
pub(crate) struct Remote {
    #[command(flatten)]
    joined: Joined,
    /// The shell
    #[arg(long)]
    to: SocketAddr,
    /// The arguments of this program there
    #[arg(last = true, required = true)]
    arguments: Vec<String>,
}

impl Remote {
    pub(crate) fn serve(&self) -> Result<ExitCode, Failure> {
        self.joined.enter()?;
        let line = serde_json::to_string(&self.arguments).map_err(Failure::failed)?;
        let cannot = |what: &str| Failure::io(format!("cannot {what} the shell in the guest at {}", self.to));
        let mut shell = connect(self.to).map_err(cannot("reach"))?;
        // All but programs of the bench's peers end soon.
        let patience = (self.arguments[0] != "inside").then_some(PATIENCE);
        let prepared = shell.set_nodelay(true).and_then(|()| shell.set_read_timeout(patience));
        prepared.and_then(|()| writeln!(shell, "{line}")).map_err(cannot("ask"))?;
        let mut copy = shell.try_clone().map_err(cannot("ask"))?;
        // Unbuffered, as what is at the other end.
        let file = |fd: io::Result<OwnedFd>| fd.map(File::from).map_err(Failure::io("no descriptor"));
        let mut input = file(io::stdin().as_fd().try_clone_to_owned())?;
        let mut output = file(io::stdout().as_fd().try_clone_to_owned())?;
        thread::spawn(move || {
            if let Ok(Some(last)) = pass_all_but_last(&mut input, &mut copy) {
                let _ = copy.write_all(&[last]);
            }
            let _ = copy.shutdown(Shutdown::Write);
        });
        let code = pass_all_but_last(&mut shell, &mut output).map_err(cannot("hear"))?;
        Ok(ExitCode::from(code.ok_or_else(|| Failure::environment("the shell in the guest has ended"))?))
    }
}

/// Connects, while the guest may still be finding its addresses.
fn connect(to: SocketAddr) -> io::Result<TcpStream> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        match TcpStream::connect_timeout(&to, PATIENCE) {
            Err(_) if Instant::now() < deadline => thread::sleep(Duration::from_millis(50)),
            result => return result,
        }
    }
}

/// Passes on what comes, until the end, but for the last byte, which is the result. `io::copy`
/// would splice: while that waits for a socket it keeps the pipe locked, and the pipe's reader
/// waits too.
fn pass_all_but_last(from: &mut impl Read, to: &mut impl Write) -> io::Result<Option<u8>> {
    let (mut buffer, mut last) = (vec![0; 64 << 10], None);
    loop {
        match from.read(&mut buffer) {
            Ok(0) => return Ok(last),
            Ok(count) => {
                to.write_all(last.as_slice())?;
                to.write_all(&buffer[..count - 1])?;
                last = Some(buffer[count - 1]);
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// `netassay-bench shell`: listens over both families.
pub(crate) fn shell() -> Result<(), Failure> {
    let listener = TcpListener::bind((Ipv6Addr::UNSPECIFIED, PORT)).map_err(Failure::io("cannot listen"))?;
    loop {
        let (stream, _) = listener.accept().map_err(Failure::io("cannot accept"))?;
        thread::spawn(move || answer(&stream, super::THIS_PROGRAM));
    }
}

/// Starts `program` as a connection asks. If the connection breaks, the bench has gone.
fn answer(mut stream: &TcpStream, program: &str) -> io::Result<()> {
    stream.set_nodelay(true)?;
    // Byte by byte: what follows the line is the program's.
    let mut line = Vec::new();
    BufReader::with_capacity(1, stream).read_until(b'\n', &mut line)?;
    let arguments: Vec<String> = serde_json::from_slice(&line)?;
    let code = match arguments.split_first() {
        // Asked again and again while traffic flows: a program for each would take its CPU.
        Some((what, files)) if what == READ => match Reading::of(std::process::id(), files) {
            Ok(reading) => serde_json::to_writer(stream, &reading).map(|()| 0)?,
            Err(failure) => writeln!(stream, "{failure}").map(|()| 1)?,
        },
        _ => {
            let socket = || stream.try_clone().map(OwnedFd::from);
            let mut command = Command::new(program);
            command.args(arguments).stdin(socket()?).stdout(socket()?).stderr(socket()?);
            command.status()?.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1)
        }
    };
    stream.write_all(&[code])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is said to these arguments and what follows them, and the exit code.
    fn ask(arguments: &str, then: &str) -> (String, Option<u8>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut bench = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        write!(bench, "{arguments}\n{then}").unwrap();
        bench.shutdown(Shutdown::Write).unwrap();
        answer(&listener.accept().unwrap().0, "/bin/sh").unwrap();
        let mut said = Vec::new();
        let code = pass_all_but_last(&mut bench, &mut said).unwrap();
        (String::from_utf8(said).unwrap(), code)
    }

    #[test]
    fn a_program_has_the_connection_and_its_exit_code_comes_last() {
        let program = ask(r#"["-c", "cat; echo c >&2; exit 3"]"#, "a\nb");
        assert_eq!(program, ("a\nbc\n".to_owned(), Some(3)));
        let (said, code) = ask(r#"["read", "snmp", "netstat"]"#, "");
        let read: Reading = serde_json::from_str(&said).unwrap();
        assert!(code == Some(0) && !read.at.is_zero());
        assert!(read.texts[0].contains("Udp: ") && read.texts[1].contains("IpExt: "));
        let (said, code) = ask(r#"["read", "no/such"]"#, "");
        assert!(said.contains("net/no/such") && code == Some(1), "{said}");
    }
}
