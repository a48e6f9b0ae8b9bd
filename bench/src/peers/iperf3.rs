//! iperf3.

use load::Kind;
use serde_json::Value;

use super::peer::{Amount, Door, Job, Peer, Said, words};

/// iperf3: one thread, both ends read and write `-l` bytes at a time.
#[derive(Debug)]
pub(crate) struct Iperf3;

/// Bytes of its smallest datagram.
const SMALLEST_DATAGRAM: u32 = 16;

impl Peer for Iperf3 {
    fn name(&self) -> &'static str {
        "iperf3"
    }

    fn runs(&self, kind: Kind) -> bool {
        !kind.is_rr()
    }

    /// Datagrams carry its time and number.
    fn smallest(&self, kind: Kind) -> u32 {
        if kind == Kind::UdpStream { SMALLEST_DATAGRAM } else { 1 }
    }

    fn has_many_flows(&self) -> bool {
        true
    }

    /// Bound to the one address, so that its sockets are of the traffic's family and not IPv6
    /// sockets for both.
    fn server(&self, job: &Job) -> Vec<String> {
        words(["--server", "--one-off", "--bind", &job.server.to_string()])
    }

    fn door(&self, _: &Job) -> Door {
        Door::Tcp(5201)
    }

    /// No interim reports; for UDP no rate limit, which it has by default.
    fn client(&self, job: &Job) -> Vec<String> {
        client(job, ["--time", &job.seconds.to_string()])
    }

    /// What the server received.
    fn said(&self, _: &Job, client: &str) -> Option<Said> {
        let report: Value = serde_json::from_str(client).ok()?;
        let rate = report.pointer("/end/sum_received/bits_per_second")?.as_f64()?;
        Some(Said { rate: Some(rate), ..Said::default() })
    }

    fn sends(&self, job: &Job, amount: Amount) -> Vec<String> {
        client(job, ["--blockcount", &amount.messages.to_string()])
    }

    /// It looks at the count once in a while and sends a few more.
    fn sent(&self, job: &Job, _: Amount, client: &str) -> Option<u64> {
        let report: Value = serde_json::from_str(client).ok()?;
        if job.kind == Kind::UdpStream {
            return report.pointer("/end/sum/packets")?.as_u64();
        }
        Some(report.pointer("/end/sum_sent/bytes")?.as_u64()? / u64::from(job.message))
    }
}

fn client(job: &Job, how_much: [&str; 2]) -> Vec<String> {
    let mut arguments = words(["--client", &job.server.to_string(), "--bind", &job.client.to_string()]);
    arguments.extend(words(how_much));
    arguments.extend(words(["--length", &job.message.to_string(), "--interval", "0", "--json"]));
    if job.flows > 1 {
        arguments.extend(words(["--parallel", &job.flows.to_string()]));
    }
    if job.kind == Kind::UdpStream {
        arguments.extend(words(["--udp", "--bitrate", "0"]));
    }
    arguments
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::peers::tests::{AMOUNT, job};

    #[test]
    fn the_receivers_word_counts() {
        let report = r#"{"end": {"sum": {"bits_per_second": 9}, "sum_sent": {"bits_per_second": 9},
                         "sum_received": {"seconds": 1.0, "bits_per_second": 7.5e9}}}"#;
        let job = job(Kind::UdpStream, false);
        assert_eq!(Iperf3.said(&job, report).unwrap().rate, Some(7.5e9));
        assert_eq!(Iperf3.said(&job, r#"{"error": "unable to connect"}"#), None);
    }

    #[test]
    fn it_sends_no_datagram_smaller_than_its_own_header() {
        assert!(!Iperf3.supports(Kind::UdpStream, 15, 1) && Iperf3.supports(Kind::UdpStream, 16, 1));
        assert!(Iperf3.supports(Kind::TcpStream, 1, 64));
    }

    #[test]
    fn it_says_how_much_it_sent() {
        let report = r#"{"end": {"sum": {"packets": 2003}, "sum_sent": {"bytes": 5000}}}"#;
        assert_eq!(Iperf3.sent(&job(Kind::UdpStream, false), AMOUNT, report), Some(2003));
        assert_eq!(Iperf3.sent(&job(Kind::TcpStream, false), AMOUNT, report), Some(5));
    }
}
