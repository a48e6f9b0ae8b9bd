//! neper.

use load::Kind;

use super::peer::{End, Job, Listens, Peer, READ, family};

/// neper: a program for each kind of traffic; it shares flows out over threads that wait with
/// epoll.
#[derive(Debug)]
pub(crate) struct Neper;

impl Peer for Neper {
    fn name(&self) -> &'static str {
        "neper"
    }

    fn source(&self) -> Option<&'static str> {
        Some("https://github.com/google/neper")
    }

    /// Both ends are the same program.
    fn program(&self, _: End, kind: Kind) -> &'static str {
        match kind {
            Kind::UdpStream => "udp_stream",
            Kind::TcpRr => "tcp_rr",
            Kind::UdpRr => "udp_rr",
            _ => "tcp_stream",
        }
    }

    /// Without `--logtostderr` it leaves a log file in the directory it was started from.
    fn version(&self) -> &'static str {
        "--logtostderr --version"
    }

    fn has_many_flows(&self) -> bool {
        true
    }

    /// It reads as much of a stream at once as netassay. By default it reads as much as it writes,
    /// which is slower.
    fn server(&self, job: &Job) -> String {
        common(job, if job.kind == Kind::TcpStream { READ } else { job.message })
    }

    fn listens(&self, _: &Job) -> Listens {
        Listens::Tcp(12866)
    }

    fn client(&self, job: &Job, _: Option<u64>) -> String {
        format!("-c -H {} -L {} {}", job.server, job.client, common(job, job.message))
    }
}

/// Without `--logtostderr` its logs are files in /tmp.
fn common(job: &Job, buffer: u32) -> String {
    let Job { flows, seconds, message, .. } = job;
    let threads = flows.min(&job.cpus);
    let size = if job.kind.is_rr() { format!("-Q {message} -R {message}") } else { format!("-B {buffer}") };
    format!("--logtostderr -F {flows} -T {threads} -l {seconds} {} {size}", family(job))
}
