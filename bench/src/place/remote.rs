//! What the bench asks of a virtual machine: a shell there does it. It is reached over TCP, one
//! connection for each request, by this program again (`netassay-bench remote`) in the network
//! namespace that the guest's card is joined to. Only the bench can reach it: it has made that
//! namespace.
//!
//! A request is one line of JSON. Then what comes in on either side's standard input or output goes
//! to the other; the last byte that the shell sends is an exit code.
//!
//! The shell is no part of netassay, whose guests run nothing but netassay.

use std::fs::{self, File, Permissions};
use std::io::{self, BufRead as _, BufReader, Read, Write};
use std::net::{Ipv6Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use serde::{Deserialize, Serialize};

use super::inside::{self, Joined};
use super::reading::Reading;
use crate::failure::Failure;

/// Where the shell listens. No peer does there.
pub(crate) const PORT: u16 = 5003;
/// How long a guest may take to answer.
const PATIENCE: Duration = Duration::from_secs(20);

/// What the bench asks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) enum Request {
    /// Write what follows to a file that can be executed, and make its directories.
    Put { path: String },
    /// Run a program on these CPUs until it ends or the bench closes the connection; what it says
    /// is the answer, and its exit code.
    Start { program: Vec<String>, cpus: Vec<u32> },
    /// Read files below `/proc/net`; the answer is a [`Reading`] in JSON.
    Read { files: Vec<String> },
}

/// From where, to which shell, and what.
#[derive(Debug, Args)]
pub(crate) struct Remote {
    #[command(flatten)]
    joined: Joined,
    /// The shell
    #[arg(long)]
    to: SocketAddr,
    /// What is asked, in JSON
    #[arg(long)]
    request: String,
}

impl Remote {
    /// `netassay-bench remote`
    pub(crate) fn serve(&self) -> Result<ExitCode, Failure> {
        self.joined.enter()?;
        let request: Request = serde_json::from_str(&self.request).map_err(Failure::failed)?;
        let cannot = |what: &str| Failure::io(format!("cannot {what} the shell in the guest at {}", self.to));
        let mut shell = connect(self.to).map_err(cannot("reach"))?;
        let patience = (!matches!(request, Request::Start { .. })).then_some(PATIENCE);
        let prepared = shell.set_nodelay(true).and_then(|()| shell.set_read_timeout(patience));
        prepared.map_err(cannot("set up the connection to"))?;
        writeln!(shell, "{}", self.request).map_err(cannot("ask"))?;
        let mut copy = shell.try_clone().map_err(cannot("ask"))?;
        // Unbuffered, as what is at the other end.
        let file = |fd: io::Result<OwnedFd>| fd.map(File::from).map_err(Failure::io("no descriptor"));
        let mut input = file(io::stdin().as_fd().try_clone_to_owned())?;
        let mut output = file(io::stdout().as_fd().try_clone_to_owned())?;
        std::thread::spawn(move || {
            let _ = pass(&mut input, &mut copy);
            let _ = copy.shutdown(Shutdown::Write);
        });
        let code = pass_all_but_last(&mut shell, &mut output).map_err(cannot("hear"))?;
        Ok(ExitCode::from(code.ok_or_else(|| Failure::environment("the shell in the guest has ended"))?))
    }
}

/// Connects, while the guest may still be finding its addresses.
fn connect(to: SocketAddr) -> io::Result<TcpStream> {
    let deadline = std::time::Instant::now() + PATIENCE;
    loop {
        match TcpStream::connect_timeout(&to, PATIENCE) {
            Err(error) if std::time::Instant::now() >= deadline => return Err(error),
            Err(_) => std::thread::sleep(Duration::from_millis(50)),
            Ok(stream) => return Ok(stream),
        }
    }
}

/// Passes on what comes, until the end. `io::copy` would splice: while that waits for a socket it
/// keeps the pipe locked, and the pipe's reader waits too.
fn pass(from: &mut impl Read, to: &mut impl Write) -> io::Result<()> {
    if let Some(last) = pass_all_but_last(from, to)? {
        to.write_all(&[last])?;
    }
    Ok(())
}

/// The same, but for the last byte, which is the result.
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
pub(crate) fn shell() -> Result<ExitCode, Failure> {
    let listener = TcpListener::bind((Ipv6Addr::UNSPECIFIED, PORT)).map_err(Failure::io("cannot listen"))?;
    loop {
        let (stream, _) = listener.accept().map_err(Failure::io("cannot accept"))?;
        // A thread for each: it must live as long as the program that it starts.
        std::thread::spawn(move || answer(&stream));
    }
}

/// Does what a connection asks. If it breaks, the bench has gone.
fn answer(stream: &TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut from = BufReader::new(stream);
    let mut line = String::new();
    from.read_line(&mut line)?;
    let done = serde_json::from_str(&line)
        .map_err(Failure::failed)
        .and_then(|request| carry_out(request, &mut from, stream));
    let mut to = stream;
    let code = match done {
        Ok(code) => code,
        Err(failure) => {
            writeln!(to, "{failure}")?;
            1
        }
    };
    to.write_all(&[code])
}

fn carry_out(request: Request, from: &mut impl Read, stream: &TcpStream) -> Result<u8, Failure> {
    let here = std::process::id();
    match request {
        Request::Put { path } => {
            put(Path::new(&path), from).map_err(Failure::io(format!("cannot write {path}")))?;
            Ok(0)
        }
        Request::Start { program, cpus } => {
            let socket = || stream.try_clone().map(OwnedFd::from).map_err(Failure::io("no descriptor"));
            let mut command = inside::command(here, false, &cpus, &program);
            command.stdin(socket()?).stdout(socket()?).stderr(socket()?);
            let status =
                command.status().map_err(Failure::io(format!("cannot start {}", program.join(" "))))?;
            Ok(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1))
        }
        Request::Read { files } => {
            let files: Vec<&str> = files.iter().map(String::as_str).collect();
            let read = Reading::of(here, &files)?;
            serde_json::to_writer(stream, &read).map_err(Failure::failed)?;
            Ok(0)
        }
    }
}

fn put(path: &Path, from: &mut impl Read) -> io::Result<()> {
    if let Some(directory) = path.parent() {
        fs::create_dir_all(directory)?;
    }
    io::copy(from, &mut File::create(path)?)?;
    fs::set_permissions(path, Permissions::from_mode(0o755))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the shell says to a request and what follows it, and the exit code.
    fn ask(request: &Request, then: &[u8]) -> (String, u8) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut bench = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        writeln!(bench, "{}", serde_json::to_string(request).unwrap()).unwrap();
        bench.write_all(then).unwrap();
        bench.shutdown(Shutdown::Write).unwrap();
        answer(&listener.accept().unwrap().0).unwrap();
        let mut said = Vec::new();
        let code = pass_all_but_last(&mut bench, &mut said).unwrap().unwrap();
        (String::from_utf8(said).unwrap(), code)
    }

    #[test]
    fn the_shell_writes_and_reads_files_and_says_what_it_cannot_do() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("bin/program");
        let put = Request::Put { path: path.to_string_lossy().into_owned() };
        assert_eq!(ask(&put, b"a\nb"), (String::new(), 0));
        assert_eq!(fs::read(&path).unwrap(), b"a\nb");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o755);

        let (said, code) = ask(&Request::Put { path: "/proc/no/such".to_owned() }, b"c");
        assert!(said.contains("cannot write /proc/no/such") && code == 1, "{said}");

        let (said, code) =
            ask(&Request::Read { files: ["snmp", "netstat"].map(str::to_owned).to_vec() }, b"");
        let read: Reading = serde_json::from_str(&said).unwrap();
        assert!(code == 0 && !read.at.is_zero());
        assert!(read.texts[0].contains("Udp: ") && read.texts[1].contains("IpExt: "));
    }
}
