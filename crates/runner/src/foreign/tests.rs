use proptest::prelude::*;

use super::*;
use record::sample::account;

const MS: u64 = 1_000_000;

/// A second on CPU 0, of which the transmitter had 400 ms, and others `user` and `system` ms.
fn second(user: u64, system: u64) -> RunAccount {
    let mut account = account();
    let window = &mut account.transmitter.window;
    window.elapsed_ns = 1000 * MS;
    let times = CpuTimes {
        user: (100 + user) * MS,
        system: (300 + system) * MS,
        idle: 600u64.saturating_sub(user + system) * MS,
        ..CpuTimes::default()
    };
    window.cpu = times;
    window.own = host::ProcessTimes { user_ns: 100 * MS, system_ns: 300 * MS };
    // The receiver is elsewhere.
    account.receiver.as_mut().unwrap().window.cpus = vec![1];
    account
}

/// The times of processes over a second and a half.
fn watched(list: &[(&str, bool, u32, u64)]) -> Option<host::OtherProcesses> {
    let spent = (1000..).zip(list).map(|(pid, &(name, kernel, cpu, ms))| host::ProcessOnCpu {
        pid,
        name: name.to_owned(),
        kernel,
        cpu,
        ns: ms * MS,
    });
    Some(host::OtherProcesses { elapsed_ns: 1500 * MS, complete: true, spent: spent.collect() })
}

fn foreign_of(account: &RunAccount) -> Foreign {
    Foreign::from_account(account, Side::Transmitter)
}

#[test]
fn kernel_time_of_others_counts_and_has_a_name() {
    let mut account = second(0, 300);
    account.others = watched(&[("dd", false, 0, 390), ("kworker/0:1", true, 0, 60), ("far", false, 1, 900)]);
    let found = foreign_of(&account);
    assert!(found.disturbs && (found.taken.share - 0.3).abs() < 1e-9, "{found:?}");
    assert_eq!(
        found.taken.to_string(),
        "30 % of the time of CPU 0 (dd, process 1000: 26 %; kworker/0:1, kernel: 4 %)"
    );
    // Processes of one name are added up.
    account.others = watched(&[("cc1", false, 0, 200), ("ld", false, 0, 30), ("cc1", false, 0, 190)]);
    assert_eq!(
        foreign_of(&account).taken.to_string(),
        "28 % of the time of CPU 0 (cc1, 2 processes: 26 %; ld, process 1001: 2 %)"
    );
    // Without the processes' times they cannot be told from the run's own.
    account.others = None;
    assert!(!foreign_of(&account).disturbs);
}

#[test]
fn what_the_cpus_did_not_do_beyond_the_run_was_elsewhere_or_before() {
    let mut account = second(0, 0);
    account.others = watched(&[("make", false, 0, 900)]);
    assert!(!foreign_of(&account).disturbs, "{:?}", foreign_of(&account));
    assert!(foreign_of(&account).taken.share <= 0.01);
}

#[test]
fn what_runs_on_any_machine_disturbs_nothing() {
    let mut account = second(0, 65);
    account.others = watched(&[("sshd", false, 0, 60), ("rcu_preempt", true, 0, 40)]);
    assert!(!foreign_of(&account).disturbs, "{:?}", foreign_of(&account));
    account.others = watched(&[("sshd", false, 0, 60), ("rcu_preempt", true, 0, 50)]);
    assert!(foreign_of(&account).disturbs, "{:?}", foreign_of(&account));
}

#[test]
fn those_who_cannot_be_seen_are_found_by_looks() {
    let found = foreign_of(&second(340, 0));
    assert!(found.disturbs, "{found:?}");
    assert_eq!(found.taken.to_string(), "34 % of the time of CPU 0");
}

proptest! {
    #[test]
    fn a_share_is_a_share(ns in prop::collection::vec(any::<u64>(), 7), spent in prop::collection::vec(any::<u64>(), 0..4)) {
        let mut account = second(0, 0);
        let window = &mut account.transmitter.window;
        window.elapsed_ns = ns[0];
        window.cpu = CpuTimes { user: ns[1], system: ns[2], irq: 0, softirq: ns[3], steal: 0, idle: ns[4] };
        window.own = host::ProcessTimes { user_ns: ns[5], system_ns: ns[6] };
        let list: Vec<_> = spent.iter().map(|ns| ("x", false, 0, ns % 1_000_000)).collect();
        account.others = watched(&list);
        let found = foreign_of(&account);
        prop_assert!((0.0..=1.0).contains(&found.taken.share) && !found.taken.to_string().contains("NaN"), "{found:?}");
    }
}
