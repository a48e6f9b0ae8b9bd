//! The bench's way to a guest: this program again, in the network namespace that the guest's card
//! is joined to. What comes in on its standard input goes to the shell in the guest, and what the
//! shell answers goes out.

use std::fs::File;
use std::io::{self, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::os::fd::AsFd as _;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::Args;
use host::Links;

use super::namespace::Joined;
use crate::failure::Failure;

/// Where it stands, and to whom it talks.
#[derive(Debug, Args)]
pub(crate) struct Relay {
    #[command(flatten)]
    joined: Joined,
    /// The bridge that the guest's card is joined to
    #[arg(long)]
    bridge: String,
    /// An address that the bridge is given
    #[arg(long)]
    own: IpAddr,
    /// The length of its prefix
    #[arg(long)]
    prefix: u8,
    /// The shell
    #[arg(long)]
    to: SocketAddr,
}

/// How long a guest may take to answer, or to take what it is sent.
pub(super) const PATIENCE: Duration = Duration::from_secs(20);

/// `netassay-bench relay`
pub(crate) fn serve(relay: &Relay) -> Result<ExitCode, Failure> {
    relay.joined.enter()?;
    let added = Links::open().and_then(|mut links| links.add_address(&relay.bridge, relay.own, relay.prefix));
    added.map_err(|error| Failure::Environment(error.to_string()))?;
    let cannot = |what: &str| Failure::io(format!("cannot {what} {}", relay.to));
    let mut guest = connect(relay.to).map_err(cannot("reach the shell in a guest at"))?;
    let prepared = guest.set_nodelay(true).and_then(|()| guest.set_write_timeout(Some(PATIENCE)));
    prepared.map_err(cannot("set up the connection to"))?;
    let mut copy = guest.try_clone().map_err(cannot("copy the connection to"))?;
    // Unbuffered: each answer is awaited.
    let file = |fd: io::Result<_>| fd.map(File::from).map_err(Failure::io("no descriptor"));
    let mut input = file(io::stdin().as_fd().try_clone_to_owned())?;
    let mut output = file(io::stdout().as_fd().try_clone_to_owned())?;
    std::thread::spawn(move || {
        let _ = pass(&mut input, &mut copy);
        // The bench has closed, or the guest takes nothing.
        std::process::exit(0)
    });
    pass(&mut guest, &mut output).map_err(cannot("hear"))?;
    Ok(ExitCode::SUCCESS)
}

/// Connects, while the guest may still be finding its addresses.
fn connect(to: SocketAddr) -> io::Result<TcpStream> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        match TcpStream::connect_timeout(&to, PATIENCE) {
            Err(error) if Instant::now() >= deadline => return Err(error),
            Err(_) => std::thread::sleep(Duration::from_millis(50)),
            Ok(stream) => return Ok(stream),
        }
    }
}

/// Passes on what comes, until the end. `io::copy` would splice: while that waits for a socket it
/// keeps the pipe locked, and the pipe's reader waits too.
fn pass(from: &mut impl Read, to: &mut impl Write) -> io::Result<()> {
    let mut room = vec![0; 64 << 10];
    loop {
        match from.read(&mut room) {
            Ok(0) => return Ok(()),
            Ok(count) => to.write_all(&room[..count])?,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}
