//! neper.

use load::Kind;

use super::peer::{Door, End, Job, Origin, Peer, READ, Said, number_after, words};

/// neper: a program for each kind of traffic; it shares flows out over threads that wait with
/// epoll.
#[derive(Debug)]
pub(crate) struct Neper;

impl Peer for Neper {
    fn name(&self) -> &'static str {
        "neper"
    }

    fn origin(&self) -> Origin {
        Origin::Source("https://github.com/google/neper")
    }

    /// Both ends are the same program.
    fn program(&self, _: End, kind: Kind) -> &'static str {
        match kind {
            Kind::UdpStream => "udp_stream",
            Kind::TcpRr => "tcp_rr",
            Kind::UdpRr => "udp_rr",
            _ => "tcp_stream",
        }
    }

    /// Without `--logtostderr` it leaves a log file in the directory it was started from.
    fn version(&self) -> &'static [&'static str] {
        &["--logtostderr", "--version"]
    }

    fn has_many_flows(&self) -> bool {
        true
    }

    /// It reads as much of a stream at once as netassay. By default it reads as much as it writes,
    /// which is slower.
    fn server(&self, job: &Job) -> Vec<String> {
        let read = if job.kind == Kind::TcpStream { READ } else { job.message };
        common(job, read)
    }

    fn door(&self, _: &Job) -> Door {
        Door::Tcp(12866)
    }

    fn client(&self, job: &Job) -> Vec<String> {
        let mut arguments = words(["-c", "-H", &job.server.to_string()]);
        arguments.extend(words(["-L", &job.client.to_string()]));
        arguments.extend(common(job, job.message));
        arguments
    }

    /// The receiver's rate, in bits/s for a stream.
    fn said(&self, job: &Job, client: &str) -> Option<Said> {
        let end = if job.kind.is_rr() { "local" } else { "remote" };
        Some(Said { rate: Some(number_after(client, &format!("{end}_throughput="))?), ..Said::default() })
    }
}

/// Without `--logtostderr` its logs are files in /tmp.
fn common(job: &Job, buffer: u32) -> Vec<String> {
    let Job { flows, seconds, message, .. } = job;
    let threads = flows.min(&job.cpus);
    let mut arguments = words(["--logtostderr", "-F", &flows.to_string(), "-T", &threads.to_string()]);
    arguments.extend(words(["-l", &seconds.to_string(), if job.ipv6 { "-6" } else { "-4" }]));
    arguments.extend(if job.kind.is_rr() {
        words(["-Q", &message.to_string(), "-R", &message.to_string()])
    } else {
        words(["-B", &buffer.to_string()])
    });
    arguments
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::peers::tests::job;

    #[test]
    fn the_rate_is_the_receivers() {
        let text = "invalid_secret_count=0\nlocal_throughput=48938\nremote_throughput=8065587043\n";
        assert_eq!(Neper.said(&job(Kind::TcpStream, false), text).unwrap().rate, Some(8_065_587_043.0));
        assert_eq!(Neper.said(&job(Kind::UdpRr, false), text).unwrap().rate, Some(48_938.0));
        assert_eq!(Neper.said(&job(Kind::UdpRr, false), "no such host"), None);
    }

    #[test]
    fn there_are_no_more_threads_than_flows_or_cpus() {
        let with = |flows, cpus| Neper.client(&Job { flows, cpus, ..job(Kind::TcpRr, false) }).join(" ");
        assert!(with(16, 4).contains("-F 16 -T 4 "));
        assert!(with(1, 4).contains("-F 1 -T 1 "));
    }
}
