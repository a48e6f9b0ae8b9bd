//! sockperf.

use load::Kind;

use crate::peers::{Door, Job, Peer, Said, number_after, words};

/// sockperf: ping-pong over one socket with blocking calls; messages of 14 bytes at least.
#[derive(Debug)]
pub(crate) struct Sockperf;

const PORT: u16 = 11111;

impl Peer for Sockperf {
    fn name(&self) -> &'static str {
        "sockperf"
    }

    fn runs(&self, kind: Kind) -> bool {
        kind.is_rr()
    }

    fn server(&self, job: &Job) -> Vec<String> {
        let mut arguments = words(["server", "-i", &job.server.to_string()]);
        arguments.extend(transport(job));
        arguments
    }

    fn door(&self, job: &Job) -> Door {
        if job.kind == Kind::UdpRr { Door::Udp(PORT) } else { Door::Tcp(PORT) }
    }

    fn client(&self, job: &Job) -> Vec<String> {
        let mut arguments = words(["ping-pong", "-i", &job.server.to_string()]);
        arguments.extend(words([
            "-m",
            &job.message.to_string(),
            "-t",
            &job.seconds.to_string(),
            "--full-rtt",
        ]));
        arguments.extend(transport(job));
        arguments
    }

    fn said(&self, _: &Job, client: &str) -> Option<Said> {
        let line = client.lines().find(|line| line.contains("[Valid Duration]"))?;
        let (seconds, messages) = (number_after(line, "RunTime=")?, number_after(line, "ReceivedMessages=")?);
        Some(Said {
            rate: (seconds > 0.0).then(|| messages / seconds),
            p50_us: number_after(client, "percentile 50.000 ="),
            p99_us: number_after(client, "percentile 99.000 ="),
        })
    }

    fn declines(&self, words: &str) -> Option<&'static str> {
        words.contains("Invalid address").then_some("this version does not speak IPv6")
    }
}

fn transport(job: &Job) -> Vec<String> {
    (job.kind == Kind::TcpRr).then(|| "--tcp".to_owned()).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::peers::tests::job;

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
}
