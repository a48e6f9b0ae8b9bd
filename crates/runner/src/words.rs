//! From the words of a study to those of the load engine. They are the same words; the engine knows no studies and the
//! study no engine.

use study::{CongestionControl, Traffic, Workload, WorkloadKind};

/// The engine's description of a workload, over sockets that do or do not compute UDP checksums.
pub(crate) fn traffic(workload: &Workload, checksum: bool) -> load::Traffic {
    let Traffic {
        sender: by,
        reader: into,
        threads,
        direction: way,
        in_flight,
        rate,
        pacing,
        busy_poll,
        ref congestion_control,
        dscp,
        nodelay,
        connected,
        verify,
    } = workload.traffic;
    load::Traffic {
        kind: kind(workload.kind),
        message: workload.message,
        response: workload.response,
        flows: workload.flows,
        direction: direction(way),
        sender: sender(by),
        reader: reader(into),
        threads,
        in_flight,
        rate,
        pacing: pacing.map(study::Pacing::bits),
        // A study has whole microseconds, at most a tenth of a second.
        busy_poll: busy_poll.map(|time| u32::try_from(time.as_micros()).unwrap_or(u32::MAX)),
        congestion_control: name_of(congestion_control),
        dscp,
        nodelay,
        connected,
        socket_buffer: workload.socket_buffer,
        udp_checksum: checksum,
        port: workload.port,
        verify,
    }
}

/// The kernel's name of a congestion control; `None` for the host's own. A plan that was tried out leaves none open but those of
/// traffic without any.
fn name_of(congestion_control: &CongestionControl) -> Option<String> {
    match congestion_control {
        CongestionControl::Unpaced | CongestionControl::System => None,
        CongestionControl::Named(name) => Some(name.clone()),
    }
}

pub(crate) fn kind(kind: WorkloadKind) -> load::Kind {
    match kind {
        WorkloadKind::TcpStream => load::Kind::TcpStream,
        WorkloadKind::UdpStream => load::Kind::UdpStream,
        WorkloadKind::TcpRr => load::Kind::TcpRr,
        WorkloadKind::UdpRr => load::Kind::UdpRr,
        WorkloadKind::TcpCrr => load::Kind::TcpCrr,
        WorkloadKind::Pps => load::Kind::Pps,
    }
}

fn sender(sender: study::Sender) -> load::Sender {
    match sender {
        study::Sender::Send => load::Sender::Send,
        study::Sender::Sendmmsg => load::Sender::Sendmmsg,
        study::Sender::Gso => load::Sender::Gso,
        study::Sender::GsoSendmmsg => load::Sender::GsoSendmmsg,
        study::Sender::Zerocopy => load::Sender::Zerocopy,
        study::Sender::IoUring => load::Sender::IoUring,
        study::Sender::IoUringZerocopy => load::Sender::IoUringZerocopy,
        study::Sender::Sendfile => load::Sender::Sendfile,
        study::Sender::Splice => load::Sender::Splice,
    }
}

fn reader(reader: study::Reader) -> load::Reader {
    match reader {
        study::Reader::Recv => load::Reader::Recv,
        study::Reader::Recvmmsg => load::Reader::Recvmmsg,
        study::Reader::Gro => load::Reader::Gro,
        study::Reader::IoUring => load::Reader::IoUring,
        study::Reader::Trunc => load::Reader::Trunc,
        study::Reader::Spin => load::Reader::Spin,
    }
}

fn direction(direction: study::Direction) -> load::Direction {
    match direction {
        study::Direction::Forward => load::Direction::Forward,
        study::Direction::Reverse => load::Direction::Reverse,
        study::Direction::Both => load::Direction::Both,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use study::{Family, Study};

    fn plan(file: &str) -> study::Plan {
        Study::parse("x.toml", file).unwrap_or_else(|problems| panic!("{problems}")).plan()
    }

    /// Every word of a study is the engine's own, and what a study takes the engine takes too.
    #[test]
    fn whatever_can_be_planned_can_be_had() {
        let levels = "family = [\"ipv4\", \"ipv6\"]\nsocket_buffer = [\"default\", 65536]\n\
             sender = [\"send\", \"sendmmsg\", \"gso\", \"gso+sendmmsg\", \"zerocopy\", \"io_uring\", \
                       \"io_uring-zerocopy\", \"sendfile\", \"splice\"]\n\
             reader = [\"recv\", \"recvmmsg\", \"gro\", \"io_uring\", \"trunc\", \"spin\"]\n\
             direction = [\"forward\", \"reverse\", \"both\"]\n";
        let plan = plan(&format!(
            "name = \"x\"\nquestion = \"q\"\nscenario = \"veth\"\n[[workload]]\nkind = \"tcp_stream\"\n\
             [[workload]]\nkind = \"udp_stream\"\n[[workload]]\nkind = \"tcp_crr\"\n[factors]\n{levels}"
        ));
        assert!(plan.conditions.len() > 400, "{}", plan.conditions.len());
        for condition in &plan.conditions {
            let traffic = traffic(&condition.workload, condition.checksum);
            traffic.validate(condition.family == Family::Ipv6).unwrap_or_else(|error| panic!("{error}"));
            let study = &condition.workload.traffic;
            assert_eq!(traffic.kind.to_string(), condition.workload.kind.to_string());
            assert_eq!(traffic.sender.to_string(), study.sender.to_string());
            assert_eq!(traffic.reader.to_string(), study.reader.to_string());
            assert_eq!(traffic.direction.to_string(), study.direction.to_string());
        }
    }

    /// The rules for flows that share threads are the engine's own: what the study excludes the engine refuses, nothing else.
    #[test]
    fn flows_share_threads_where_the_engine_has_it() {
        let plan = plan(
            "name = \"x\"\nquestion = \"q\"\nscenario = \"veth\"\n[[workload]]\nkind = \"tcp_stream\"\n\
             [[workload]]\nkind = \"udp_stream\"\n[[workload]]\nkind = \"tcp_rr\"\n[[workload]]\nkind = \"udp_rr\"\n\
             [[workload]]\nkind = \"tcp_crr\"\n[factors]\nflows = [1, 8, 2000]\nthreads = [\"default\", 1, 8]\n\
             connected = [\"on\", \"off\"]\npacing = [\"default\", \"1Mbit\"]\nrate = [\"default\", 100]\n\
             reader = [\"recv\", \"spin\"]\n",
        );
        let of_threads = |why: &str| why.contains("a thread for each of");
        assert_eq!(plan.excluded.iter().filter(|dropped| of_threads(&dropped.why)).count(), 92);
        for condition in &plan.conditions {
            let traffic = traffic(&condition.workload, condition.checksum);
            traffic.validate(false).unwrap_or_else(|error| panic!("{}: {error}", condition.label));
        }
        let alone = |traffic: &load::Traffic| traffic.unshareable().is_some();
        let shared = plan.conditions.iter().map(|condition| traffic(&condition.workload, true));
        let of_one = |traffic: &load::Traffic| (traffic.threads, traffic.flows) == (Some(1), 8);
        assert_eq!(shared.filter(|traffic| !alone(traffic) && of_one(traffic)).count(), 5);
    }

    /// The rules of exact mode are the engine's own: what the study refuses the engine refuses, nothing else.
    #[test]
    fn exact_mode_has_what_the_engine_counts() {
        let sender = |word: &&str| format!("sender = \"{word}\"");
        let senders = load::Sender::ALL.iter().map(|sender| sender.word()).collect::<Vec<_>>();
        let readers = load::Reader::ALL.iter().map(|reader| format!("reader = \"{reader}\""));
        let others = [
            "",
            "flows = 2",
            "threads = 1",
            "direction = \"both\"",
            "direction = \"reverse\"",
            "in_flight = 2",
            "rate = 7",
            "pacing = \"1Mbit\"",
            "busy_poll = \"50us\"",
            "dscp = 46",
            "nodelay = \"on\"",
            "congestion_control = \"reno\"",
            "connected = \"off\"",
            "verify = true",
            "socket_buffer = 65536",
            "port = 7000",
            "message = 100",
        ];
        let lines = senders.iter().map(sender).chain(readers).chain(others.map(str::to_owned));
        let (mut taken, mut refused) = (0, 0);
        for (line, kind) in lines.flat_map(|line| load::Kind::ALL.map(|kind| (line.clone(), kind))) {
            let scenario = if kind == load::Kind::Pps { "discard" } else { "veth" };
            let file = |exact: bool| {
                format!(
                    "name = \"x\"\nquestion = \"q\"\nscenario = \"{scenario}\"\nexact = {exact}\n\
                     [[workload]]\nkind = \"{kind}\"\n{line}\n"
                )
            };
            let Ok(study) = Study::parse("x.toml", &file(false)) else { continue };
            let traffic = traffic(&study.plan().conditions[0].workload, true);
            let engine = load::exact::check(&traffic);
            let exact = Study::parse("x.toml", &file(true));
            assert_eq!(exact.is_ok(), engine.is_ok(), "{kind} {line}: {engine:?} {exact:?}");
            *if engine.is_ok() { &mut taken } else { &mut refused } += 1;
        }
        assert!(taken > 50 && refused > 50, "{taken} {refused}");
    }

    /// What only some of the workloads of a study can have in exact mode is left out for the others.
    #[test]
    fn whatever_exact_mode_plans_the_engine_counts() {
        let plan = plan(
            "name = \"x\"\nquestion = \"q\"\nscenario = \"veth\"\nexact = true\n[[workload]]\nkind = \"tcp_stream\"\n\
             [[workload]]\nkind = \"udp_stream\"\n[[workload]]\nkind = \"udp_rr\"\n[factors]\n\
             sender = [\"send\", \"sendmmsg\", \"gso\", \"gso+sendmmsg\"]\nconnected = [\"on\", \"off\"]\n\
             reader = [\"recv\", \"recvmmsg\", \"gro\", \"trunc\", \"spin\"]\n",
        );
        assert_eq!(plan.conditions.len(), 3 + 4 * 4 * 2 + 2);
        for condition in &plan.conditions {
            load::exact::check(&traffic(&condition.workload, condition.checksum)).unwrap();
        }
    }

    #[test]
    fn the_plainest_traffic_of_a_kind_is_the_engines_own() {
        for kind in ["tcp_stream", "udp_stream", "tcp_rr", "udp_rr", "tcp_crr", "pps"] {
            let scenario = if kind == "pps" { "discard" } else { "veth" };
            let plan = plan(&format!(
                "name = \"x\"\nquestion = \"q\"\nscenario = \"{scenario}\"\n[[workload]]\nkind = \"{kind}\"\n"
            ));
            let traffic = traffic(&plan.conditions[0].workload, true);
            assert_eq!(traffic, load::Traffic::new(traffic.kind), "{kind}");
        }
    }

    #[test]
    fn numbers_keep_their_units() {
        let plan = plan(
            "name = \"x\"\nquestion = \"q\"\nscenario = \"veth\"\n\
             [[workload]]\nkind = \"tcp_stream\"\npacing = \"1.5Gbit\"\nbusy_poll = \"0.05ms\"\ndscp = 46\n\
             congestion_control = \"bbr\"\nnodelay = \"on\"\nverify = true\n\
             [[workload]]\nkind = \"udp_rr\"\nin_flight = 8\nrate = 1000\nconnected = \"off\"\n",
        );
        let stream = traffic(&plan.conditions[0].workload, true);
        assert_eq!((stream.pacing, stream.busy_poll, stream.dscp), (Some(1_500_000_000), Some(50), Some(46)));
        assert_eq!(stream.congestion_control.as_deref(), Some("bbr"));
        assert_eq!((stream.nodelay, stream.verify), (Some(true), true));
        let rr = traffic(&plan.conditions[1].workload, false);
        assert_eq!((rr.in_flight, rr.rate, rr.connected, rr.udp_checksum), (8, Some(1000), false, false));
    }
}
