//! netperf.

use load::Kind;

use super::peer::{Amount, Door, End, Job, Origin, Peer, Said, number_after, words};

/// netperf: one flow for each client; its server reads a TCP stream 128 KiB at a time.
#[derive(Debug)]
pub(crate) struct Netperf;

/// What each client says in the end. `THROUGHPUT` of datagrams is the receiver's.
const SAYS: &str = "THROUGHPUT,LOCAL_SEND_CALLS,P50_LATENCY,P99_LATENCY";

impl Peer for Netperf {
    fn name(&self) -> &'static str {
        "netperf"
    }

    fn origin(&self) -> Origin {
        Origin::Source("https://github.com/HewlettPackard/netperf")
    }

    fn program(&self, end: End, _: Kind) -> &'static str {
        match end {
            End::Server => "netserver",
            End::Client => "netperf",
        }
    }

    fn version(&self) -> &'static [&'static str] {
        &["-V"]
    }

    fn has_many_flows(&self) -> bool {
        true
    }

    fn clients(&self, job: &Job) -> u32 {
        job.flows
    }

    fn server(&self, job: &Job) -> Vec<String> {
        words(["-D", family(job), "-L", &job.server.to_string()])
    }

    fn door(&self, _: &Job) -> Door {
        Door::Tcp(12865)
    }

    /// It sends datagrams beyond a router only with `-R`; here is no router.
    fn client(&self, job: &Job) -> Vec<String> {
        let (server, client, message) =
            (job.server.to_string(), job.client.to_string(), job.message.to_string());
        let mut arguments = words([family(job), "-H", &server, "-L", &client]);
        arguments.extend(words(["-P", "0", "-l", &job.seconds.to_string()]));
        arguments.extend(words(["-t", test(job.kind), "--"]));
        arguments.extend(if job.kind.is_rr() {
            words(["-r", &format!("{message},{message}")])
        } else {
            words(["-m", &message])
        });
        arguments.extend(words(["-k", SAYS]));
        arguments
    }

    fn said(&self, job: &Job, client: &str) -> Option<Said> {
        let unit = if job.kind.is_rr() { 1.0 } else { 1e6 };
        let rates: Option<Vec<f64>> = client
            .lines()
            .filter(|line| line.starts_with("THROUGHPUT="))
            .map(|line| number_after(line, "THROUGHPUT="))
            .collect();
        let rate: f64 = rates.filter(|rates| !rates.is_empty())?.iter().sum();
        Some(Said {
            rate: Some(rate * unit),
            p50_us: number_after(client, "P50_LATENCY="),
            p99_us: number_after(client, "P99_LATENCY="),
        })
    }

    fn sent(&self, _: &Job, _: Amount, client: &str) -> Option<u64> {
        Some(number_after(client, "LOCAL_SEND_CALLS=")? as u64)
    }
}

fn test(kind: Kind) -> &'static str {
    match kind {
        Kind::UdpStream => "UDP_STREAM",
        Kind::TcpRr => "TCP_RR",
        Kind::UdpRr => "UDP_RR",
        _ => "TCP_STREAM",
    }
}

fn family(job: &Job) -> &'static str {
    if job.ipv6 { "-6" } else { "-4" }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::peers::tests::{AMOUNT, job};

    #[test]
    fn the_rates_of_all_clients_add_up() {
        let one = "THROUGHPUT=346.43\nLOCAL_SEND_CALLS=676621\nP50_LATENCY=12\nP99_LATENCY=19\n";
        let (stream, rr) = (job(Kind::TcpStream, false), job(Kind::TcpRr, false));
        assert_eq!(Netperf.said(&stream, &one.repeat(2)).unwrap().rate, Some(692.86e6));
        let said = Netperf.said(&rr, one).unwrap();
        assert_eq!(said, Said { rate: Some(346.43), p50_us: Some(12.0), p99_us: Some(19.0) });
        assert_eq!(Netperf.said(&rr, "could not resolve host"), None);
        assert_eq!(Netperf.sent(&stream, AMOUNT, one), Some(676_621));
    }

    #[test]
    fn each_flow_is_a_client() {
        assert_eq!(Netperf.clients(&Job { flows: 16, ..job(Kind::UdpRr, false) }), 16);
        let client = Netperf.client(&job(Kind::UdpRr, true)).join(" ");
        assert!(
            client.contains("-6") && client.ends_with(&format!("-t UDP_RR -- -r 1000,1000 -k {SAYS}")),
            "{client}"
        );
    }
}
