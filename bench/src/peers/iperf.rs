//! iperf, version 2.

use load::Kind;

use super::peer::{Job, Listens, Peer, READ, Said, number_after, when};

/// iperf: one thread for each flow, and one for reports.
#[derive(Debug)]
pub(crate) struct Iperf;

impl Peer for Iperf {
    fn name(&self) -> &'static str {
        "iperf"
    }

    fn runs(&self, kind: Kind) -> bool {
        !kind.is_rr()
    }

    fn server(&self, job: &Job) -> String {
        let read = if job.kind == Kind::TcpStream { READ } else { job.message };
        format!("-s -B {} -l {read} {}", job.server, common(job))
    }

    fn listens(&self, job: &Job) -> Listens {
        if job.kind == Kind::UdpStream { Listens::Udp(5001) } else { Listens::Tcp(5001) }
    }

    /// It is told bytes. For UDP a rate far beyond any: 0, which means "no limit" elsewhere, is
    /// refused.
    fn client(&self, job: &Job, messages: Option<u64>) -> String {
        let Job { server, client, message, seconds, .. } = job;
        let amount = match messages {
            Some(messages) => format!("-n {}", messages * u64::from(*message)),
            None => format!("-t {seconds}"),
        };
        let unlimited = when(job.kind == Kind::UdpStream, "-b 1000g");
        format!("-c {server} -B {client} {amount} -l {message} -i 0 -f k {} {unlimited}", common(job))
    }

    /// The last rate: for UDP the server's report, for TCP what the client wrote.
    fn said(&self, _: &Job, client: &str) -> Option<Said> {
        let line = client.lines().rev().find(|line| line.contains("Kbits/sec"))?;
        let kilobits: f64 = line.split_once("Kbits/sec")?.0.split_whitespace().last()?.parse().ok()?;
        Some(Said::rate(kilobits * 1e3))
    }

    /// For TCP exactly what it was told.
    fn sent(&self, job: &Job, messages: u64, client: &str) -> Option<u64> {
        if job.kind == Kind::UdpStream {
            return Some(number_after(client, "Sent ")? as u64);
        }
        client.contains("Kbits/sec").then_some(messages)
    }
}

fn common(job: &Job) -> String {
    format!("{} {}", when(job.kind == Kind::UdpStream, "-u"), when(job.ipv6, "-V"))
}
