use std::time::Duration;

use proptest::prelude::*;

use super::*;

const MS: u64 = 1_000_000;

fn task(process: u32, parent: u32, cpu: u32, ns: u64) -> Task {
    Task { process, parent, name: format!("p{process}"), kernel: false, cpu, ns, reaped_ns: 0 }
}

fn tasks(at: Instant, list: &[(u32, Task)]) -> Tasks {
    Tasks { at, threads: list.iter().cloned().collect() }
}

/// The time of others than process 100 between two lists, a second apart.
fn others(then: &[(u32, Task)], now: &[(u32, Task)]) -> Vec<(u32, u32, u64)> {
    let at = Instant::now();
    let others = tasks(at + Duration::from_secs(1), now).others_since(&tasks(at, then), 100);
    assert_eq!(others.elapsed_ns, 1_000_000_000);
    others.spent.into_iter().map(|spent| (spent.pid, spent.cpu, spent.ns / MS)).collect()
}

#[test]
fn a_line_of_stat_is_read() {
    let mut fields: Vec<String> = (3..=52).map(|field| field.to_string()).collect();
    fields[0] = "R".to_owned();
    let line = format!("7 (a) b ({}) {}\n", "c", fields.join(" "));
    let read = Task::parse(7, 7, line.as_bytes(), 10).unwrap();
    assert_eq!((read.name.as_str(), read.parent, read.cpu), ("a) b (c", 4, 39));
    assert_eq!((read.ns, read.reaped_ns, read.kernel), (290, 330, false));
    assert_eq!(Task::parse(7, 8, line.as_bytes(), 10).unwrap().reaped_ns, 0);
    assert_eq!(Task::parse(7, 7, b"7 (x) R 1 2", 10), None);
    let line = format!("7 (\u{1b}[2J\u{202e}\n) {}\n", fields.join(" "));
    assert_eq!(Task::parse(7, 7, line.as_bytes(), 10).unwrap().name, "\\u{1b}[2J\\u{202e} ");
}

#[test]
fn the_run_and_its_descendants_are_no_others() {
    let then = [(100, task(100, 1, 0, 0)), (101, task(101, 100, 0, 0)), (102, task(102, 101, 0, 0))];
    let now = [(100, task(100, 1, 0, MS)), (101, task(101, 100, 0, MS)), (102, task(102, 101, 0, MS))];
    assert_eq!(others(&then, &now), []);
    assert_eq!(others(&[], &[(1, task(1, 0, 0, 10 * MS))]), [(1, 0, 10)]);
}

#[test]
fn a_thread_that_moved_counts_for_both_cpus() {
    let moved = others(&[(7, task(7, 1, 0, 20 * MS))], &[(7, task(7, 1, 3, 60 * MS))]);
    assert_eq!(moved, [(7, 0, 20), (7, 3, 20)]);
    let threads = others(&[], &[(7, task(7, 1, 0, 30 * MS)), (8, task(7, 1, 1, 50 * MS))]);
    assert_eq!(threads, [(7, 1, 50), (7, 0, 30)]);
}

#[test]
fn what_ended_in_between_is_known_from_its_parent() {
    let shell = |reaped_ns| Task { reaped_ns, ..task(7, 1, 0, 0) };
    // A child that had used 400 ms before and 100 ms since; another began since and used 50 ms.
    let then = [(7, shell(MS)), (8, task(8, 7, 0, 400 * MS))];
    assert_eq!(others(&then, &[(7, shell(551 * MS))]), [(7, 0, 150)]);
}

#[test]
fn kernel_threads_count_except_those_that_may_serve_the_run() {
    let kernel = |name: &str| Task { kernel: true, name: name.to_owned(), ..task(9, 2, 0, 40 * MS) };
    let found = |name| others(&[], &[(9, kernel(name))]).len();
    assert_eq!(
        ["kworker/0:1", "vhost-99", "ksoftirqd/0", "vhost-100", "kvm-pit/100"].map(found),
        [1, 1, 0, 0, 0]
    );
}

#[test]
fn a_process_that_works_is_found_on_this_machine() {
    let before = Tasks::read().unwrap();
    let mut hog = std::process::Command::new("sh").args(["-c", "while :; do :; done"]).spawn().unwrap();
    let begin = Instant::now();
    let found = loop {
        std::thread::sleep(Duration::from_millis(50));
        let others = Tasks::read().unwrap().others_since(&before, u32::MAX);
        if let Some(found) = others.spent.into_iter().find(|spent| spent.pid == hog.id()) {
            break found;
        }
        assert!(begin.elapsed() < Duration::from_secs(60), "the hog is not found");
    };
    let own = Tasks::read().unwrap().others_since(&before, std::process::id());
    hog.kill().unwrap();
    hog.wait().unwrap();
    assert!(found.name == "sh" && !found.kernel, "{found:?}");
    assert!(own.spent.iter().all(|spent| spent.pid != hog.id()), "a child is no other: {own:?}");
}

proptest! {
    #[test]
    fn no_more_is_reported_than_was_spent(then in prop::collection::vec(any::<[u64; 2]>(), 0..6), now in prop::collection::vec(any::<[u64; 2]>(), 0..6)) {
        let list = |times: &[[u64; 2]]| -> Vec<(u32, Task)> {
            (1..).zip(times).map(|(id, [ns, reaped_ns])| (id, Task { reaped_ns: *reaped_ns, ..task(id, id / 2, id % 3, *ns) })).collect()
        };
        let at = Instant::now();
        let others = tasks(at, &list(&now)).others_since(&tasks(at, &list(&then)), 3);
        let sum: u128 = others.spent.iter().map(|spent| u128::from(spent.ns)).sum();
        let most: u128 = now.iter().flatten().map(|ns| u128::from(*ns)).sum();
        prop_assert!(sum <= most);
        prop_assert!(others.spent.iter().all(|spent| spent.pid != 3));
    }
}
