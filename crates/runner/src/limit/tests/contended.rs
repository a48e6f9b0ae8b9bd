//! CPUs that others had, and guests that wait for their host.

use super::*;
use crate::sample_guest::guest;
use record::HostAccount;
use study::BySide;

/// Another process that had `ms` ms of the transmitter's CPU, counted in the window too.
fn another_process(case: &mut (RunOrder, RunAccount), ms: u64) {
    let ns = ms * 1_000_000;
    let window = &mut case.1.transmitter.window;
    window.cpu.system += ns;
    let spent = host::ProcessOnCpu { pid: 7, name: "dd".to_owned(), kernel: false, cpu: 0, ns };
    case.1.others = Some(host::OtherProcesses { elapsed_ns: SECOND, complete: true, spent: vec![spent] });
    receiver_of(case).window.cpus = vec![1];
}

#[test]
fn a_cpu_that_others_had_is_contended_and_not_the_path() {
    for kind in [Kind::UdpStream, Kind::TcpStream, Kind::UdpRr, Kind::TcpRr, Kind::TcpCrr] {
        // Measured: the sender waits 45 % of the time, others have 34 %.
        let mut case = quiet(kind);
        works(&mut case.1.transmitter, 300, 450, 0);
        assert_eq!(limit(&case.0, &case.1).label, Label::Path, "{kind}: it may be another thread of the run");
        another_process(&mut case, 340);
        let words = "transmitter was ready but without a CPU 45.0 % of the time while other processes used 34 % of the time of CPU 0 (dd, \
                     process 7: 34 %): stop them";
        expect(&case, Label::Contended, words);
        // With all the time wanted, it is no limit of the CPU.
        works(&mut case.1.transmitter, 490, 500, 0);
        another_process(&mut case, 500);
        assert_eq!(limit(&case.0, &case.1).label, Label::Contended, "{kind}");
        // Other processes that hardly run make nobody wait.
        works(&mut case.1.transmitter, 500, 450, 0);
        another_process(&mut case, 90);
        assert_ne!(limit(&case.0, &case.1).label, Label::Contended, "{kind}");
    }
}

#[test]
fn a_quota_that_stopped_an_end_is_contended() {
    let quota = host::CpuQuota { runtime_us: 20_000, period_us: 100_000 };
    for kind in [Kind::UdpStream, Kind::TcpStream, Kind::UdpRr, Kind::TcpRr, Kind::TcpCrr] {
        let mut case = quiet(kind);
        works(&mut case.1.transmitter, 200, 100, 0);
        let throttled = |throttled| Some(host::Throttled { quota, periods: 22, throttled });
        case.1.transmitter.window.throttled = throttled(17);
        let words = "a quota of 0.2 CPUs in each 100 ms throttled transmitter in 17 of 22 periods: raise it";
        expect(&case, Label::Contended, words);
        case.1.transmitter.window.throttled = throttled(2);
        assert_eq!(limit(&case.0, &case.1).label, Label::Path, "{kind}");
        let host = |throttled| HostAccount { throttled, ..guest(2, &[(100, 850)]) };
        case.1.hosts = Some(BySide { transmitter: host(throttled(17)), receiver: host(None) });
        expect(&case, Label::Contended, words);
    }
}

#[test]
fn a_socket_that_would_drop_anyway_remains_the_limit() {
    // The receiver ran for 300 ms and waited for 120 ms, so it could have taken 1.4 times as many.
    for (taken, expected) in [(1_000, Label::ReceiverSocket), (80_000, Label::Contended)] {
        let mut case = quiet(Kind::UdpStream);
        works(receiver_of(&mut case), 300, 0, 0);
        receiver_of(&mut case).window.cpu_each[0].steal = 120_000_000;
        let received = &mut receiver_of(&mut case).whole.outcome.received;
        (received.messages, received.socket_drops) = (taken, 100_000 - taken);
        let limit = limit(&case.0, &case.1);
        assert_eq!(limit.label, expected, "{:#?}", limit.evidence);
        let contended = |what: &Evidence| matches!(what, Evidence::Contended { .. });
        assert!(limit.evidence.iter().any(contended), "{:#?}", limit.evidence);
    }
}

#[test]
fn what_was_asked_for_and_the_other_ends_cpu_come_before_contention() {
    let mut paced = quiet(Kind::TcpStream);
    paced.0.traffic.pacing = Pacing::of_bits(100_000_000);
    works(&mut paced.1.transmitter, 300, 450, 0);
    another_process(&mut paced, 340);
    assert_eq!(limit(&paced.0, &paced.1).label, Label::Pacing);

    let mut busy = quiet(Kind::TcpStream);
    works(&mut busy.1.transmitter, 300, 200, 0);
    works(receiver_of(&mut busy), 990, 0, 1);
    another_process(&mut busy, 200);
    assert_eq!(limit(&busy.0, &busy.1).label, Label::ReceiverCpu);
}

#[test]
fn stolen_time_is_contended_with_its_own_remedy() {
    let mut stolen = quiet(Kind::UdpStream);
    stolen.1.transmitter.window.cpu_each[0].steal = 200_000_000;
    expect(
        &stolen,
        Label::Contended,
        "the hypervisor gave 20.0 % of the time of transmitter's CPUs to others (steal)",
    );
    stolen.1.transmitter.window.cpu_each[0].steal = 90_000_000;
    assert_eq!(limit(&stolen.0, &stolen.1).label, Label::Path);
}

#[test]
fn guests_are_contended_by_what_their_host_tells() {
    let mut case = quiet(Kind::TcpStream);
    let host = |cpu: u32| HostAccount {
        cpu_each: vec![host::CpuTimes { system: 950_000_000, idle: 50_000_000, ..Default::default() }],
        ..guest(cpu, &[(500, 320)])
    };
    case.1.hosts = Some(BySide { transmitter: host(2), receiver: host(3) });
    // The threads that move packets had 200 ms. The processes that had the rest were not seen.
    expect(
        &case,
        Label::Contended,
        "without a CPU 32.0 % of the time while the guests' own threads explain 20.0 % at most",
    );
    let dd = |cpu| host::ProcessOnCpu { pid: 7, name: "dd".to_owned(), kernel: false, cpu, ns: 350_000_000 };
    case.1.others =
        Some(host::OtherProcesses { elapsed_ns: SECOND, complete: true, spent: vec![dd(2), dd(3)] });
    expect(
        &case,
        Label::Contended,
        "without a CPU 32.0 % of the time while other processes used 35 % of the time of CPUs 2,3",
    );
}

#[test]
fn guests_that_wait_for_each_other_are_limited_by_their_hosts_cpus() {
    let waiting = |kind: Kind, ms: u64| {
        let mut case = quiet(kind);
        case.1.hosts = Some(BySide { transmitter: guest(2, &[(700, ms)]), receiver: guest(3, &[(700, 0)]) });
        case
    };
    for kind in [Kind::UdpStream, Kind::TcpStream, Kind::UdpRr, Kind::TcpRr, Kind::TcpCrr] {
        let words = "a virtual CPU of transmitter's guest was ready but waited for a CPU of the host 15.0 % of the time, behind threads of the \
                     run's own guests: 2 virtual CPUs and the threads that move their packets share 2 CPUs";
        let mut case = waiting(kind, 150);
        expect(&case, Label::HostCpu, words);
        // It replaces the CPU inside, which is busy for that reason.
        works(&mut case.1.transmitter, 987, 0, 2);
        assert_eq!(limit(&case.0, &case.1).label, Label::HostCpu, "{kind}");
        assert_eq!(limit(&waiting(kind, 90).0, &waiting(kind, 90).1).label, Label::Path, "{kind}");
    }
    let mut paced = waiting(Kind::TcpStream, 150);
    paced.0.traffic.pacing = Pacing::of_bits(100_000_000);
    assert_eq!(limit(&paced.0, &paced.1).label, Label::Pacing);
    // Contention comes first.
    let mut both = waiting(Kind::TcpStream, 150);
    for (_, host) in both.1.hosts.as_mut().unwrap().each_mut() {
        host.cpu_each[0].system = 200_000_000;
    }
    let dd = |cpu| host::ProcessOnCpu { pid: 7, name: "dd".to_owned(), kernel: false, cpu, ns: 190_000_000 };
    both.1.others =
        Some(host::OtherProcesses { elapsed_ns: SECOND, complete: true, spent: vec![dd(2), dd(3)] });
    assert_eq!(limit(&both.0, &both.1).label, Label::Contended);
}
