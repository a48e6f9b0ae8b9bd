//! Both ends of a stream for a count of instructions, as programs of their own: netassay's
//! transmitter, and a sink for it.

use std::io::{self, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, UdpSocket};
use std::process::ExitCode;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use clap::Args;
use load::{Endpoint, Kind, Sender, Spec, Traffic};

use crate::bench::this_program;
use crate::failure::Failure;
use crate::peers::{End, Job, Listens, Peer};

/// Where the sink listens: nobody else does in the namespaces of a testbed.
const PORT: u16 = 5002;

/// This program as a peer of its peers.
#[derive(Debug)]
pub(crate) struct Netassay;

impl Peer for Netassay {
    fn name(&self) -> &'static str {
        "netassay"
    }

    fn program(&self, _: End, _: Kind) -> &'static str {
        static PATH: LazyLock<String> = LazyLock::new(|| {
            this_program().map_or_else(|why| why.to_string(), |path| path.display().to_string())
        });
        &PATH
    }

    fn server(&self, job: &Job) -> String {
        format!("sink --kind {} --at {}", job.kind, SocketAddr::new(job.server, PORT))
    }

    fn listens(&self, job: &Job) -> Listens {
        if job.kind.is_udp() { Listens::Udp(PORT) } else { Listens::Tcp(PORT) }
    }

    fn client(&self, job: &Job, messages: Option<u64>) -> String {
        let (count, to) = (messages.unwrap_or_default(), SocketAddr::new(job.server, PORT));
        format!("sends --kind {} --message {} --count {count} --to {to}", job.kind, job.message)
    }

    fn sent(&self, _: &Job, _: u64, client: &str) -> Option<u64> {
        client.trim().parse().ok()
    }
}

/// A kind of stream by its name.
fn kind(name: &str) -> Result<Kind, String> {
    let kinds = [Kind::TcpStream, Kind::UdpStream];
    kinds.into_iter().find(|kind| kind.word() == name).ok_or_else(|| "no kind of stream".to_owned())
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
    count: u64,
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
    pub(crate) fn serve(&self) -> Result<ExitCode, Failure> {
        let traffic = Traffic { message: self.message, sender: Sender::Send, ..Traffic::new(self.kind) };
        let spec = Spec { traffic, local: self.to.ip(), cpus: Vec::new() };
        let mut transmitter = Endpoint::connect(&spec, &[self.to]).map_err(Failure::environment)?;
        transmitter.start().map_err(Failure::environment)?;
        let deadline = Instant::now() + PATIENCE;
        while transmitter.sample().sent.messages < self.count && transmitter.failed().is_none() {
            if Instant::now() >= deadline {
                return Err(Failure::Environment(format!("so much is not sent within {PATIENCE:?}")));
            }
            std::thread::sleep(LOOK);
        }
        let outcome = transmitter.finish().map_err(Failure::environment)?;
        let mut out = io::stdout().lock();
        writeln!(out, "{}", outcome.sent.messages).map_err(Failure::io("cannot write to standard output"))?;
        Ok(ExitCode::SUCCESS)
    }
}

impl Sink {
    /// `netassay-bench sink`: receives until it is ended.
    pub(crate) fn serve(&self) -> Result<ExitCode, Failure> {
        let cannot = |what: &str| Failure::io(format!("cannot {what} at {}", self.at));
        let mut buffer = vec![0; 256 << 10];
        if self.kind.is_udp() {
            let socket = UdpSocket::bind(self.at).map_err(cannot("listen"))?;
            loop {
                socket.recv(&mut buffer).map_err(cannot("receive"))?;
            }
        }
        let listener = TcpListener::bind(self.at).map_err(cannot("listen"))?;
        loop {
            let (mut stream, _) = listener.accept().map_err(cannot("accept"))?;
            while stream.read(&mut buffer).map_err(cannot("receive"))? > 0 {}
        }
    }
}
