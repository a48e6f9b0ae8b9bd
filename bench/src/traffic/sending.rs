//! Both ends of a stream for a count of instructions, as programs of their own: netassay's
//! transmitter, and a sink for it.

use std::io::{self, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, UdpSocket};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::Args;
use load::{Endpoint, Kind, Spec, Traffic};

use crate::failure::Failure;
use crate::traffic::options::kind;

/// Where the sink listens: nobody else does in the namespaces of a testbed.
pub(crate) const PORT: u16 = 5002;

/// What is sent.
#[derive(Debug, Args)]
pub(crate) struct Sends {
    /// tcp_stream or udp_stream
    #[arg(long, value_parser = kind)]
    kind: Kind,
    /// How each datagram or write is handed over
    #[arg(long)]
    sender: load::Sender,
    /// Bytes of each datagram or write
    #[arg(long)]
    message: u32,
    /// How many at least
    #[arg(long)]
    count: u64,
    /// To where
    #[arg(long)]
    to: SocketAddr,
}

/// What is taken.
#[derive(Debug, Args)]
pub(crate) struct Sink {
    /// tcp_stream or udp_stream
    #[arg(long, value_parser = kind)]
    kind: Kind,
    /// Where it listens
    #[arg(long)]
    at: SocketAddr,
}

/// Between two looks how much has been sent. Each is a few hundred instructions, so they must be
/// few beside the messages.
const LOOK: Duration = Duration::from_millis(50);
/// More than any count takes, whatever the machine does besides.
const PATIENCE: Duration = Duration::from_secs(300);

/// `netassay-bench sends`: says how many messages it sent.
pub(crate) fn sends(options: &Sends) -> Result<ExitCode, Failure> {
    let wrong = |error: load::Error| Failure::Environment(error.to_string());
    let traffic = Traffic { message: options.message, sender: options.sender, ..Traffic::new(options.kind) };
    let spec = Spec { traffic, local: options.to.ip(), cpus: Vec::new() };
    let mut transmitter = Endpoint::connect(&spec, &[options.to]).map_err(wrong)?;
    transmitter.start().map_err(wrong)?;
    let deadline = Instant::now() + PATIENCE;
    while transmitter.sample().sent.messages < options.count && transmitter.failed().is_none() {
        if Instant::now() >= deadline {
            return Err(Failure::Environment(format!("so much is not sent within {PATIENCE:?}")));
        }
        std::thread::sleep(LOOK);
    }
    let outcome = transmitter.finish().map_err(wrong)?;
    let mut out = io::stdout().lock();
    writeln!(out, "{}", outcome.sent.messages).map_err(Failure::io("cannot write to standard output"))?;
    Ok(ExitCode::SUCCESS)
}

/// `netassay-bench sink`: takes what comes until it is ended.
pub(crate) fn sink(options: &Sink) -> Result<ExitCode, Failure> {
    let cannot = |what: &str| Failure::io(format!("cannot {what} at {}", options.at));
    let mut room = vec![0; 256 << 10];
    if options.kind.is_udp() {
        let socket = UdpSocket::bind(options.at).map_err(cannot("listen"))?;
        loop {
            socket.recv(&mut room).map_err(cannot("receive"))?;
        }
    }
    let listener = TcpListener::bind(options.at).map_err(cannot("listen"))?;
    loop {
        let (mut stream, _) = listener.accept().map_err(cannot("accept"))?;
        while stream.read(&mut room).map_err(cannot("receive"))? > 0 {}
    }
}
