use std::time::Duration;

use super::*;
use crate::sample_guest::guest;
use proptest::prelude::*;
use record::sample::account;
use study::BySide;

const S: u64 = 1_000_000_000;
const MS: u64 = 1_000_000;

fn windows(account: &mut RunAccount) -> [&mut agent::message::Measured; 2] {
    let receiver = account.receiver.as_mut().expect("the sample has two hosts");
    [&mut account.transmitter.window, &mut receiver.window]
}

/// An undisturbed run with one CPU a host, each busy for half of a window of `window` ns.
fn quiet(window: u64) -> (RunAccount, RunOrder) {
    let mut account = account();
    for (own, cpu) in windows(&mut account).into_iter().zip(0..) {
        let times = host::CpuTimes {
            user: window / 10,
            system: window * 2 / 10,
            softirq: window * 2 / 10,
            idle: window / 2,
            ..host::CpuTimes::default()
        };
        own.elapsed_ns = window;
        own.cpus = vec![cpu];
        own.cpu = times;
        own.cpu_each = vec![times];
        own.own = host::ProcessTimes { user_ns: window / 10, system_ns: window * 2 / 10 };
        own.clock = host::ClockCheck {
            monotonic_ns: window,
            raw_ns: window,
            boottime_ns: window,
            source_changed: false,
        };
        own.late = agent::message::Late::default();
    }
    let order = RunOrder {
        traffic: load::Traffic::new(load::Kind::UdpStream),
        family: load::Family::Ipv4,
        ramp: Duration::ZERO,
        window: Duration::from_nanos(window),
        step: RunOrder::step_of(Duration::from_nanos(window)),
    };
    (account, order)
}

/// The sentences for an account of a second after this change.
fn sentences_after(change: impl Fn(&mut RunAccount)) -> Vec<String> {
    let (mut account, order) = quiet(S);
    change(&mut account);
    sentences(&account, &order)
}

fn sentences(account: &RunAccount, order: &RunOrder) -> Vec<String> {
    disturbances(account, order).iter().map(Disturbance::to_string).collect()
}

#[test]
fn an_undisturbed_window_is_valid_however_short() {
    for window in [MS, 20 * MS, 200 * MS, S, 120 * S] {
        let (account, order) = quiet(window);
        assert_eq!(disturbances(&account, &order), [], "{window} ns");
    }
}

#[test]
fn a_hog_beside_a_thread_is_other_processes_time() {
    // It takes half of the CPU, all of it in user mode; the agent keeps half of its time.
    let hogged = sentences_after(|account| {
        let [_, own] = windows(account);
        own.cpu.user = S / 20 + S / 2;
        own.own.user_ns = S / 20;
    });
    assert_eq!(
        hogged,
        ["receiver: other processes used 50 % of the time of CPU 1; CPU time per unit of work is left out"]
    );
    // Kernel work may be for the agents' own packets, unless a process's account has it.
    let kernel = |others: Option<host::OtherProcesses>| {
        sentences_after(|account| {
            account.transmitter.window.cpu.system += S / 2;
            account.others.clone_from(&others);
        })
    };
    assert_eq!(kernel(None), Vec::<String>::new());
    let spent = host::ProcessOnCpu { pid: 7, name: "dd".to_owned(), kernel: false, cpu: 0, ns: S / 2 };
    let dd = host::OtherProcesses { elapsed_ns: S, complete: true, spent: vec![spent] };
    assert_eq!(
        kernel(Some(dd)),
        [
            "transmitter: other processes used 50 % of the time of CPU 0 (dd, process 7: 50 %); CPU time per unit of work is left out"
        ]
    );
}

#[test]
fn ticks_that_fell_badly_are_no_hog() {
    // Three samples too many of 20, in a window of 200 ms.
    let (mut account, order) = quiet(200 * MS);
    account.transmitter.window.cpu.user += 30 * MS;
    assert_eq!(disturbances(&account, &order), []);
    // Half of the same window is no chance.
    account.transmitter.window.cpu.user += 70 * MS;
    assert_eq!(disturbances(&account, &order).len(), 1);
}

#[test]
fn hosts_that_share_their_cpus_share_their_agents_times() {
    let both = sentences_after(|account| {
        for own in windows(account) {
            own.cpus = vec![0];
            own.cpu.user *= 2;
            own.cpu.system *= 2;
        }
    });
    assert_eq!(both, Vec::<String>::new());
    let hogged = sentences_after(|account| {
        for own in windows(account) {
            own.cpus = vec![0];
            own.cpu.user = own.cpu.user * 2 + S / 3;
        }
    });
    assert_eq!(
        hogged,
        ["both ends: other processes used 33 % of the time of CPU 0; CPU time per unit of work is left out"]
    );
}

/// The disturbances of a run between two virtual machines, whose virtual CPUs take 80 % of
/// their host's CPUs and whose other threads 10 %.
fn between_guests(change: fn(&mut RunAccount)) -> Vec<String> {
    sentences_after(|account| {
        account.hosts = Some(BySide::from_fn(|side| guest(2 + side as u32, &[(800, 0)])));
        change(account);
    })
}

#[test]
fn guests_are_judged_by_what_their_host_tells() {
    assert_eq!(between_guests(|_| {}), Vec::<String>::new());
    let inside = between_guests(|account| {
        for own in windows(account) {
            own.cpu_each[0].user = 900 * MS;
            own.clock.raw_ns -= 90 * MS;
            own.late.opened_ns = 240 * MS;
        }
    });
    assert_eq!(inside, Vec::<String>::new(), "what a guest waits for is its own machine");
    let hog = between_guests(|account| {
        account.hosts.as_mut().unwrap().receiver.vcpu.user_ns = 400 * MS;
    });
    assert_eq!(
        hog,
        ["host: other processes used 20 % of the time of CPUs 2,3; CPU time per unit of work is left out"]
    );
    let stolen =
        between_guests(|account| account.hosts.as_mut().unwrap().transmitter.cpu_each[0].steal = 50 * MS);
    assert_eq!(stolen, ["host: the hypervisor took 5 % of CPU 2's time (steal)"]);
    let around = between_guests(|account| {
        account.around = account.hosts.take().map(|BySide { transmitter: mut one, .. }| {
            one.vcpu.user_ns = 500 * MS;
            one
        });
    });
    assert_eq!(
        around,
        ["host: other processes used 30 % of the time of CPU 2; CPU time per unit of work is left out"]
    );
    let late = between_guests(|account| account.transmitter.window.late.opened_ns = 300 * MS);
    assert_eq!(late, ["transmitter: the window opened 300 ms late: the agent had no CPU"]);
}

#[test]
fn a_virtual_cpu_that_waited_for_others_than_its_own_guests_is_disturbed() {
    fn waited(account: &mut RunAccount, ms: u64) {
        account.hosts.as_mut().unwrap().transmitter.vcpu_each[0].waiting_ns = ms * MS;
    }
    // The threads that move both guests' packets had 200 ms. 10 ms may be of before the window,
    // 20 ms are allowed.
    assert_eq!(between_guests(|account| waited(account, 229)), Vec::<String>::new());
    let disturbed = between_guests(|account| waited(account, 450));
    assert_eq!(
        disturbed,
        [
            "transmitter: a virtual CPU was ready but waited for a CPU of the host 45 % of the time; the guests' own threads explain 20 % at most"
        ]
    );
    // More virtual CPUs than CPUs: they wait for each other.
    let own = between_guests(|account| {
        waited(account, 450);
        account.hosts.as_mut().unwrap().receiver.cpus = vec![2];
    });
    assert_eq!(own, Vec::<String>::new());
    let inside = between_guests(|account| windows(account)[1].cpu_each[0].steal = 300 * MS);
    assert_eq!(inside.len(), 1, "the guest's kernel says that it waited: {inside:?}");
    let around = between_guests(|account| {
        waited(account, 150);
        account.around = account.hosts.take().map(|hosts| hosts.transmitter);
    });
    assert_eq!(around.len(), 1, "of one guest it is said once: {around:?}");
}

#[test]
fn stolen_time_is_named_with_its_cpu() {
    let steal = |ns: u64| {
        sentences_after(|account| {
            let [_, own] = windows(account);
            own.cpus = vec![4, 5];
            own.cpu_each = vec![host::CpuTimes::default(); 2];
            own.cpu_each[1].steal = ns;
        })
    };
    assert_eq!(steal(120 * MS), ["receiver: the hypervisor took 12 % of CPU 5's time (steal)"]);
    assert_eq!(steal(30 * MS), Vec::<String>::new(), "a tick may be rounding");
    assert_eq!(steal(31 * MS).len(), 1);
}

#[test]
fn what_both_ends_tell_with_other_last_digits_is_told_once() {
    let stolen = sentences_after(|account| {
        for (own, ns) in windows(account).into_iter().zip([120 * MS, 121 * MS]) {
            own.cpus = vec![5];
            own.cpu_each[0].steal = ns;
        }
    });
    assert_eq!(stolen, ["both ends: the hypervisor took 12 % of CPU 5's time (steal)"]);
}

#[test]
fn clocks_that_disagree_are_told_apart() {
    let clock = |change: fn(&mut host::ClockCheck)| {
        sentences_after(|account| {
            windows(account).into_iter().for_each(|own| change(&mut own.clock));
        })
    };
    assert_eq!(
        clock(|clock| clock.source_changed = true),
        ["both ends: the kernel changed its clock source"]
    );
    assert_eq!(
        clock(|clock| clock.boottime_ns += 3 * S),
        ["both ends: the machine slept for 3000 ms of the window"]
    );
    let slewed = clock(|clock| clock.raw_ns -= 50 * MS);
    assert!(
        slewed[0].starts_with("both ends: CLOCK_MONOTONIC and CLOCK_MONOTONIC_RAW differ by 50 ms"),
        "{slewed:?}"
    );
    assert_eq!(clock(|clock| clock.raw_ns -= 9 * MS), Vec::<String>::new());
}

#[test]
fn an_agent_that_missed_its_window_is_named() {
    let late = sentences_after(|account| account.transmitter.window.late.opened_ns = 150 * MS);
    assert_eq!(late, ["transmitter: the window opened 150 ms late: the agent had no CPU"]);
    let late = sentences_after(|account| windows(account)[1].late.closed_ns = 101 * MS);
    assert_eq!(late, ["receiver: the window closed 101 ms late: the agent had no CPU"]);
    let long = sentences_after(|account| windows(account)[1].elapsed_ns = 1200 * MS);
    assert_eq!(long, ["receiver: the window was 1200 ms long, not 1000 ms"]);
    assert_eq!(sentences_after(|account| windows(account)[1].late.closed_ns = 99 * MS), Vec::<String>::new());
}

proptest! {
    #[test]
    fn any_figures_are_judged(n in proptest::collection::vec(any::<u64>(), 14), window in 0..u64::MAX / 4) {
        let (mut account, order) = quiet(window);
        for own in windows(&mut account) {
            own.elapsed_ns = n[0];
            own.cpu = host::CpuTimes { user: n[1], system: n[2], irq: 0, softirq: n[3], steal: n[4], idle: n[5] };
            own.cpu_each = vec![own.cpu; (n[6] % 3) as usize];
            own.own = host::ProcessTimes { user_ns: n[7], system_ns: n[8] };
            own.clock = host::ClockCheck { monotonic_ns: n[9], raw_ns: n[10], boottime_ns: n[11], source_changed: false };
            own.late = agent::message::Late { opened_ns: n[12], closed_ns: n[13] };
        }
        for sentence in sentences(&account, &order) {
            prop_assert!(!sentence.contains("NaN") && !sentence.contains("inf"), "{sentence}");
        }
    }
}
