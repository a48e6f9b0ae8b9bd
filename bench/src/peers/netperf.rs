//! netperf.

use load::Kind;

use super::peer::{End, Job, Listens, Peer, family};

/// netperf: one flow for each client; its server reads a TCP stream 128 KiB at a time.
#[derive(Debug)]
pub(crate) struct Netperf;

impl Peer for Netperf {
    fn name(&self) -> &'static str {
        "netperf"
    }

    fn source(&self) -> Option<&'static str> {
        Some("https://github.com/HewlettPackard/netperf")
    }

    fn program(&self, end: End, _: Kind) -> &'static str {
        match end {
            End::Server => "netserver",
            End::Client => "netperf",
        }
    }

    fn version(&self) -> &'static str {
        "-V"
    }

    fn has_many_flows(&self) -> bool {
        true
    }

    fn clients(&self, job: &Job) -> u32 {
        job.flows
    }

    fn server(&self, job: &Job) -> String {
        format!("-D {} -L {}", family(job), job.server)
    }

    fn listens(&self, _: &Job) -> Listens {
        Listens::Tcp(12865)
    }

    /// It sends datagrams beyond a router only with `-R`; here is no router.
    fn client(&self, job: &Job, _: Option<u64>) -> String {
        let Job { server, client, message, seconds, .. } = job;
        let test = match job.kind {
            Kind::UdpStream => "UDP_STREAM",
            Kind::TcpRr => "TCP_RR",
            Kind::UdpRr => "UDP_RR",
            _ => "TCP_STREAM",
        };
        let size = if job.kind.is_rr() { format!("-r {message},{message}") } else { format!("-m {message}") };
        format!("{} -H {server} -L {client} -P 0 -l {seconds} -t {test} -- {size}", family(job))
    }
}
