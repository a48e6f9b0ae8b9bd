//! nuttcp.

use load::Kind;

use super::peer::{Amount, Door, Job, Peer, Said, number_after, words};

/// nuttcp: one process, both ends read and write `-l` bytes at a time.
#[derive(Debug)]
pub(crate) struct Nuttcp;

impl Peer for Nuttcp {
    fn name(&self) -> &'static str {
        "nuttcp"
    }

    fn version(&self) -> &'static [&'static str] {
        &["-V"]
    }

    fn runs(&self, kind: Kind) -> bool {
        !kind.is_rr()
    }

    fn server(&self, job: &Job) -> Vec<String> {
        words(["-1", "--nofork", family(job)])
    }

    fn door(&self, _: &Job) -> Door {
        Door::Tcp(5000)
    }

    /// For UDP no rate limit: by default it sends 1 Mbit/s.
    fn client(&self, job: &Job) -> Vec<String> {
        client(job, &format!("-T{}", job.seconds))
    }

    /// What the receiver got.
    fn said(&self, _: &Job, client: &str) -> Option<Said> {
        let megabits = number_after(client, "rate_Mbps=")?;
        Some(Said { rate: Some(megabits * 1e6), ..Said::default() })
    }

    fn sends(&self, job: &Job, amount: Amount) -> Vec<String> {
        client(job, &format!("-n{}", amount.messages))
    }

    /// Exactly what it was told; what it says is what arrived.
    fn sent(&self, _: &Job, amount: Amount, client: &str) -> Option<u64> {
        client.contains("rate_Mbps=").then_some(amount.messages)
    }
}

fn client(job: &Job, how_much: &str) -> Vec<String> {
    let mut arguments = words(["-t", family(job), &format!("-l{}", job.message), how_much]);
    if job.kind == Kind::UdpStream {
        arguments.extend(words(["-u", "-Ru"]));
    }
    arguments.extend(words(["-fparse", &job.server.to_string()]));
    arguments
}

fn family(job: &Job) -> &'static str {
    if job.ipv6 { "-6" } else { "-4" }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::peers::tests::{AMOUNT, job};

    #[test]
    fn the_rate_is_the_receivers() {
        let text = "megabytes=88.7670 real_seconds=1.00 rate_Mbps=743.3555 tx_cpu=40 rx_cpu=15 drop=15995 pkt=79228\n";
        assert_eq!(Nuttcp.said(&job(Kind::UdpStream, false), text).unwrap().rate, Some(743.3555e6));
        assert_eq!(Nuttcp.sent(&job(Kind::UdpStream, false), AMOUNT, text), Some(77));
        assert_eq!(Nuttcp.said(&job(Kind::UdpStream, false), "nuttcp-t: connect: refused"), None);
    }
}
