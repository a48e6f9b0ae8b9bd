//! sockperf.

use load::Kind;

use super::peer::{Job, Listens, Peer, Said, number_after, when};

/// sockperf: ping-pong over one socket, or datagrams one way.
#[derive(Debug)]
pub(crate) struct Sockperf;

const PORT: u16 = 11111;

impl Peer for Sockperf {
    fn name(&self) -> &'static str {
        "sockperf"
    }

    fn runs(&self, kind: Kind) -> bool {
        matches!(kind, Kind::TcpRr | Kind::UdpRr | Kind::UdpStream)
    }

    fn smallest(&self, _: Kind) -> u32 {
        14
    }

    fn server(&self, job: &Job) -> String {
        format!("server -i {} {}", job.server, common(job))
    }

    fn listens(&self, job: &Job) -> Listens {
        if job.kind.is_udp() { Listens::Udp(PORT) } else { Listens::Tcp(PORT) }
    }

    /// It cannot count messages.
    fn client(&self, job: &Job, _: Option<u64>) -> String {
        let Job { server, message, seconds, .. } = job;
        let (test, round_trip) =
            if job.kind.is_rr() { ("ping-pong", "--full-rtt") } else { ("throughput", "") };
        format!("{test} -i {server} -m {message} -t {seconds} {round_trip} {}", common(job))
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

    fn sent(&self, _: &Job, _: u64, client: &str) -> Option<u64> {
        Some(number_after(client, "Total of ")? as u64)
    }

    fn declines(&self, words: &str) -> Option<&'static str> {
        words.contains("Invalid address").then_some("this version does not speak IPv6")
    }
}

/// What server and client are told alike.
fn common(job: &Job) -> String {
    let (tcp, polls) = (when(job.kind == Kind::TcpRr, "--tcp"), when(job.polls, "--nonblocked"));
    let socket = job.busy_poll.map_or_else(String::new, |micros| format!("--lls {micros}"));
    format!("{tcp} {polls} {socket}")
}
