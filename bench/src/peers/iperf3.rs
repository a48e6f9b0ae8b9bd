//! iperf3.

use load::Kind;
use serde_json::Value;

use super::peer::{Job, Listens, Peer, Said, when};

/// iperf3: one thread, both ends read and write `--length` bytes at a time.
#[derive(Debug)]
pub(crate) struct Iperf3;

impl Peer for Iperf3 {
    fn name(&self) -> &'static str {
        "iperf3"
    }

    fn runs(&self, kind: Kind) -> bool {
        !kind.is_rr()
    }

    /// Datagrams carry its time and number.
    fn smallest(&self, kind: Kind) -> u32 {
        if kind == Kind::UdpStream { 16 } else { 1 }
    }

    fn has_many_flows(&self) -> bool {
        true
    }

    /// Bound to the one address, so that its sockets are of the traffic's family and not IPv6
    /// sockets for both.
    fn server(&self, job: &Job) -> String {
        format!("--server --one-off --bind {}", job.server)
    }

    fn listens(&self, _: &Job) -> Listens {
        Listens::Tcp(5201)
    }

    /// No interim reports; for UDP no rate limit, which it has by default.
    fn client(&self, job: &Job, messages: Option<u64>) -> String {
        let Job { server, client, message, seconds, flows, .. } = job;
        let amount = match messages {
            Some(messages) => format!("--blockcount {messages}"),
            None => format!("--time {seconds}"),
        };
        let udp = when(job.kind == Kind::UdpStream, "--udp --bitrate 0");
        format!(
            "--client {server} --bind {client} {amount} --length {message} --interval 0 --json --parallel {flows} {udp}"
        )
    }

    /// What the server received.
    fn said(&self, _: &Job, client: &str) -> Option<Said> {
        report(client)?.pointer("/end/sum_received/bits_per_second")?.as_f64().map(Said::rate)
    }

    /// It looks at the count once in a while and sends a few more.
    fn sent(&self, job: &Job, _: u64, client: &str) -> Option<u64> {
        if job.kind == Kind::UdpStream {
            return report(client)?.pointer("/end/sum/packets")?.as_u64();
        }
        Some(report(client)?.pointer("/end/sum_sent/bytes")?.as_u64()? / u64::from(job.message))
    }
}

fn report(client: &str) -> Option<Value> {
    serde_json::from_str(client).ok()
}
