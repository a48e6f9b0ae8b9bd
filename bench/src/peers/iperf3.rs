//! iperf3.

use load::Kind;
use serde_json::Value;

use crate::peers::{Door, Job, Peer, Said, words};

/// iperf3: one thread, both ends read and write `-l` bytes at a time.
#[derive(Debug)]
pub(crate) struct Iperf3;

impl Peer for Iperf3 {
    fn name(&self) -> &'static str {
        "iperf3"
    }

    fn runs(&self, kind: Kind) -> bool {
        !kind.is_rr()
    }

    /// Bound to the one address, so that its sockets are of the traffic's family and not IPv6 sockets for both.
    fn server(&self, job: &Job) -> Vec<String> {
        words(["--server", "--one-off", "--bind", &job.server.to_string()])
    }

    fn door(&self, _: &Job) -> Door {
        Door::Tcp(5201)
    }

    /// No interim reports; for UDP no rate limit, which it has by default.
    fn client(&self, job: &Job) -> Vec<String> {
        let mut arguments = words(["--client", &job.server.to_string(), "--bind", &job.client.to_string()]);
        arguments.extend(words(["--time", &job.seconds.to_string(), "--length", &job.message.to_string()]));
        arguments.extend(words(["--interval", "0", "--json"]));
        if job.kind == Kind::UdpStream {
            arguments.extend(words(["--udp", "--bitrate", "0"]));
        }
        arguments
    }

    /// What the server received.
    fn said(&self, _: &Job, client: &str) -> Option<Said> {
        let report: Value = serde_json::from_str(client).ok()?;
        let rate = report.pointer("/end/sum_received/bits_per_second")?.as_f64()?;
        Some(Said { rate: Some(rate), ..Said::default() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::peers::tests::job;

    #[test]
    fn the_receivers_word_counts() {
        let report = r#"{"end": {"sum": {"bits_per_second": 9}, "sum_sent": {"bits_per_second": 9},
                         "sum_received": {"seconds": 1.0, "bits_per_second": 7.5e9}}}"#;
        let job = job(Kind::UdpStream, false);
        assert_eq!(Iperf3.said(&job, report).unwrap().rate, Some(7.5e9));
        assert_eq!(Iperf3.said(&job, r#"{"error": "unable to connect"}"#), None);
    }
}
