//! iperf, version 2.

use load::Kind;

use super::peer::{Amount, Door, Job, Peer, READ, Said, number_after, words};

/// iperf: one thread for each flow, and one for reports.
#[derive(Debug)]
pub(crate) struct Iperf;

impl Peer for Iperf {
    fn name(&self) -> &'static str {
        "iperf"
    }

    fn runs(&self, kind: Kind) -> bool {
        !kind.is_rr()
    }

    fn server(&self, job: &Job) -> Vec<String> {
        let read = if job.kind == Kind::TcpStream { READ } else { job.message };
        let mut arguments = words(["-s", "-B", &job.server.to_string(), "-l", &read.to_string()]);
        arguments.extend(common(job));
        arguments
    }

    fn door(&self, job: &Job) -> Door {
        if job.kind == Kind::UdpStream { Door::Udp(5001) } else { Door::Tcp(5001) }
    }

    /// For UDP a rate far beyond any: 0, which means "no limit" elsewhere, is refused.
    fn client(&self, job: &Job) -> Vec<String> {
        client(job, ["-t", &job.seconds.to_string()])
    }

    /// The last rate: for UDP the server's report, for TCP what the client wrote.
    fn said(&self, _: &Job, client: &str) -> Option<Said> {
        let line = client.lines().rev().find(|line| line.contains("Kbits/sec"))?;
        let kilobits: f64 = line.split_once("Kbits/sec")?.0.split_whitespace().last()?.parse().ok()?;
        Some(Said { rate: Some(kilobits * 1e3), ..Said::default() })
    }

    /// It is told bytes.
    fn sends(&self, job: &Job, amount: Amount) -> Vec<String> {
        client(job, ["-n", &(amount.messages * u64::from(job.message)).to_string()])
    }

    /// For TCP exactly what it was told.
    fn sent(&self, job: &Job, amount: Amount, client: &str) -> Option<u64> {
        if job.kind == Kind::UdpStream {
            return Some(number_after(client, "Sent ")? as u64);
        }
        client.contains("Kbits/sec").then_some(amount.messages)
    }
}

fn client(job: &Job, how_much: [&str; 2]) -> Vec<String> {
    let mut arguments = words(["-c", &job.server.to_string(), "-B", &job.client.to_string()]);
    arguments.extend(words(how_much));
    arguments.extend(words(["-l", &job.message.to_string(), "-i", "0", "-f", "k"]));
    arguments.extend(common(job));
    if job.kind == Kind::UdpStream {
        arguments.extend(words(["-b", "1000g"]));
    }
    arguments
}

fn common(job: &Job) -> Vec<String> {
    let udp = (job.kind == Kind::UdpStream).then(|| "-u".to_owned());
    udp.into_iter().chain(job.ipv6.then(|| "-V".to_owned())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::peers::tests::{AMOUNT, job};

    #[test]
    fn the_servers_report_comes_last() {
        let text = "[  1] 0.0000-1.0032 sec   521000 KBytes  4350000 Kbits/sec\n[  1] Sent 370967 datagrams\n\
                    [  1] Server Report:\n[ ID] Interval       Transfer     Bandwidth\n\
                    [  1] 0.0000-1.0032 sec   200000 KBytes  1671741 Kbits/sec   0.002 ms 228549/370966 (62%)\n";
        assert_eq!(Iperf.said(&job(Kind::UdpStream, false), text).unwrap().rate, Some(1_671_741e3));
        assert_eq!(Iperf.said(&job(Kind::TcpStream, false), "connect failed"), None);
        assert_eq!(Iperf.sent(&job(Kind::UdpStream, false), AMOUNT, text), Some(370_967));
        assert_eq!(Iperf.sent(&job(Kind::TcpStream, false), AMOUNT, text), Some(77));
        assert_eq!(Iperf.sent(&job(Kind::TcpStream, false), AMOUNT, "connect failed"), None);
    }

    #[test]
    fn only_ipv6_is_told_so() {
        assert!(Iperf.client(&job(Kind::TcpStream, true)).contains(&"-V".to_owned()));
        assert!(!Iperf.server(&job(Kind::TcpStream, false)).contains(&"-V".to_owned()));
    }
}
