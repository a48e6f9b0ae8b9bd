//! nuttcp.

use load::Kind;

use super::peer::{Job, Listens, Peer, Said, family, number_after, when};

/// nuttcp: one process, both ends read and write `-l` bytes at a time.
#[derive(Debug)]
pub(crate) struct Nuttcp;

impl Peer for Nuttcp {
    fn name(&self) -> &'static str {
        "nuttcp"
    }

    fn version(&self) -> &'static str {
        "-V"
    }

    fn runs(&self, kind: Kind) -> bool {
        !kind.is_rr()
    }

    fn server(&self, job: &Job) -> String {
        format!("-1 --nofork {}", family(job))
    }

    fn listens(&self, _: &Job) -> Listens {
        Listens::Tcp(5000)
    }

    /// For UDP no rate limit: by default it sends 1 Mbit/s.
    fn client(&self, job: &Job, messages: Option<u64>) -> String {
        let Job { server, message, seconds, .. } = job;
        let amount = messages.map_or_else(|| format!("-T{seconds}"), |messages| format!("-n{messages}"));
        let udp = when(job.kind == Kind::UdpStream, "-u -Ru");
        format!("-t {} -l{message} {amount} {udp} -fparse {server}", family(job))
    }

    /// What the receiver got.
    fn said(&self, _: &Job, client: &str) -> Option<Said> {
        Some(Said::rate(number_after(client, "rate_Mbps=")? * 1e6))
    }

    /// Exactly what it was told; what it says is what arrived.
    fn sent(&self, _: &Job, messages: u64, client: &str) -> Option<u64> {
        client.contains("rate_Mbps=").then_some(messages)
    }
}
