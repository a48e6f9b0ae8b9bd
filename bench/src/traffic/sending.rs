//! Both ends of a stream for a count of instructions, as programs of their own: netassay's
//! transmitter, and a sink for it.

use std::io::{self, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, UdpSocket};
use std::time::{Duration, Instant};

use clap::Args;
use load::{Endpoint, Kind, Sender, Spec, Traffic};

use crate::bench::by_name;
use crate::failure::Failure;

fn kind(name: &str) -> Result<Kind, String> {
    by_name(name, &[Kind::TcpStream, Kind::UdpStream])
}

/// What is sent.
#[derive(Debug, Args)]
pub(crate) struct Sends {
    /// tcp_stream or udp_stream
    #[arg(long, value_parser = kind)]
    kind: Kind,
    /// Bytes of each datagram or write
    #[arg(long)]
    message: u32,
    /// How many at least
    #[arg(long)]
    messages: u64,
    /// To where
    #[arg(long)]
    to: SocketAddr,
}

/// What is received.
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

impl Sends {
    /// `netassay-bench sends`: says how many messages it sent.
    pub(crate) fn serve(&self) -> Result<(), Failure> {
        let traffic = Traffic { message: self.message, sender: Sender::Send, ..Traffic::new(self.kind) };
        let spec = Spec { traffic, local: self.to.ip(), cpus: Vec::new(), interface: None };
        let mut transmitter = Endpoint::connect(&spec, &[self.to]).map_err(Failure::environment)?;
        transmitter.start().map_err(Failure::environment)?;
        let deadline = Instant::now() + PATIENCE;
        while transmitter.sample().sent.messages < self.messages && transmitter.failed().is_none() {
            if Instant::now() >= deadline {
                return Err(Failure::Environment(format!("so much is not sent within {PATIENCE:?}")));
            }
            std::thread::sleep(LOOK);
        }
        let sent = transmitter.finish().map_err(Failure::environment)?.sent.messages;
        writeln!(io::stdout(), "{sent}").map_err(Failure::io("cannot write to standard output"))
    }
}

impl Sink {
    /// `netassay-bench sink`: receives until it is ended.
    pub(crate) fn serve(&self) -> Result<(), Failure> {
        self.receive().map_err(Failure::io(format!("cannot receive at {}", self.at)))
    }

    fn receive(&self) -> io::Result<()> {
        let mut buffer = vec![0; 256 << 10];
        if self.kind.is_udp() {
            let socket = UdpSocket::bind(self.at)?;
            loop {
                socket.recv(&mut buffer)?;
            }
        }
        let listener = TcpListener::bind(self.at)?;
        loop {
            let (mut stream, _) = listener.accept()?;
            while stream.read(&mut buffer)? > 0 {}
        }
    }
}
