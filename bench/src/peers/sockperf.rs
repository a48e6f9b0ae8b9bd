//! sockperf.

use load::Kind;

use super::peer::{Amount, Door, Job, Peer, Polling, Said, number_after, words};

/// sockperf: ping-pong over one socket, or datagrams one way; messages of 14 bytes at least.
#[derive(Debug)]
pub(crate) struct Sockperf;

const PORT: u16 = 11111;
/// Bytes of its smallest message.
const SMALLEST: u32 = 14;

impl Peer for Sockperf {
    fn name(&self) -> &'static str {
        "sockperf"
    }

    fn runs(&self, kind: Kind) -> bool {
        matches!(kind, Kind::TcpRr | Kind::UdpRr | Kind::UdpStream)
    }

    fn smallest(&self, _: Kind) -> u32 {
        SMALLEST
    }

    fn server(&self, job: &Job) -> Vec<String> {
        let mut arguments = words(["server", "-i", &job.server.to_string()]);
        arguments.extend(transport(job));
        arguments
    }

    fn door(&self, job: &Job) -> Door {
        if job.kind.is_udp() { Door::Udp(PORT) } else { Door::Tcp(PORT) }
    }

    fn client(&self, job: &Job) -> Vec<String> {
        let mut arguments = words([
            if job.kind.is_rr() { "ping-pong" } else { "throughput" },
            "-i",
            &job.server.to_string(),
            "-m",
            &job.message.to_string(),
            "-t",
            &job.seconds.to_string(),
        ]);
        if job.kind.is_rr() {
            arguments.push("--full-rtt".to_owned());
        }
        arguments.extend(transport(job));
        arguments
    }

    /// One way it says only what it sent.
    fn said(&self, job: &Job, client: &str) -> Option<Said> {
        if !job.kind.is_rr() {
            return client.contains("Message Rate is").then(Said::default);
        }
        let line = client.lines().find(|line| line.contains("[Valid Duration]"))?;
        let (seconds, messages) = (number_after(line, "RunTime=")?, number_after(line, "ReceivedMessages=")?);
        Some(Said {
            rate: (seconds > 0.0).then(|| messages / seconds),
            p50_us: number_after(client, "percentile 50.000 ="),
            p99_us: number_after(client, "percentile 99.000 ="),
        })
    }

    fn sent(&self, _: &Job, _: Amount, client: &str) -> Option<u64> {
        Some(number_after(client, "Total of ")? as u64)
    }

    fn declines(&self, words: &str) -> Option<&'static str> {
        words.contains("Invalid address").then_some("this version does not speak IPv6")
    }
}

/// What server and client are told alike.
fn transport(job: &Job) -> Vec<String> {
    let mut arguments = Vec::new();
    if job.kind == Kind::TcpRr {
        arguments.push("--tcp".to_owned());
    }
    if job.polling != Polling::None {
        arguments.push("--nonblocked".to_owned());
    }
    if let Polling::ProgramAndSocket(time) = job.polling {
        arguments.extend(words(["--lls", &time.to_string()]));
    }
    arguments
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::peers::tests::{AMOUNT, job};

    #[test]
    fn rate_and_latencies_are_those_of_the_valid_part() {
        let text = "sockperf: [Total Run] RunTime=1.001 sec; SentMessages=2476; ReceivedMessages=2475\n\
                    sockperf: [Valid Duration] RunTime=0.500 sec; SentMessages=1239; ReceivedMessages=1000\n\
                    sockperf: ---> percentile 99.000 =   52.508\nsockperf: ---> percentile 50.000 =    5.399\n";
        let said = Sockperf.said(&job(Kind::UdpRr, false), text).unwrap();
        assert_eq!(said, Said { rate: Some(2000.0), p50_us: Some(5.399), p99_us: Some(52.508) });
        assert_eq!(Sockperf.said(&job(Kind::UdpRr, false), "no valid observations found"), None);
    }

    #[test]
    fn an_address_it_cannot_read_is_no_failure_of_ours() {
        assert!(Sockperf.declines("sockperf: '-i' Invalid address: ::1").is_some());
        assert!(Sockperf.declines("sockperf: ERROR: Can't bind socket").is_none());
    }

    #[test]
    fn one_way_it_counts_what_it_sent() {
        let text = "sockperf: Total of 108455 messages sent in 1.000 sec\nsockperf: Summary: Message Rate is 108402 [msg/sec]\n";
        let job = job(Kind::UdpStream, false);
        assert_eq!(Sockperf.sent(&job, AMOUNT, text), Some(108_455));
        assert_eq!(Sockperf.said(&job, text), Some(Said::default()));
        assert_eq!(Sockperf.client(&job)[0], "throughput");
    }

    #[test]
    fn polling_is_told_to_both() {
        let job = Job { polling: Polling::ProgramAndSocket(50), ..job(Kind::TcpRr, false) };
        for arguments in [Sockperf.server(&job), Sockperf.client(&job)] {
            assert!(arguments.ends_with(&words(["--tcp", "--nonblocked", "--lls", "50"])), "{arguments:?}");
        }
    }
}
