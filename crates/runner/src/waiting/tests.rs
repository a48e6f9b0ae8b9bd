use super::*;
use crate::sample_guest::guest;
use record::sample::account;
use study::BySide;

const MS: u64 = 1_000_000;

/// The transmitter's wait, and the part that its own guests cannot explain, in ms of a second.
fn waited([transmitter, receiver]: [HostAccount; 2]) -> (f64, f64) {
    let hosts = BySide { transmitter, receiver };
    let account = RunAccount { hosts: Some(hosts), ..account() };
    let waited = Waited::from_account(&account, Side::Transmitter).unwrap();
    ((waited.share * 1e3).round(), (waited.unexplained * 1e3).round())
}

#[test]
fn what_the_guests_own_threads_had_is_no_wait_for_others() {
    // On CPUs 2 and 3, each of which one virtual CPU keeps to; the threads that move packets
    // have 100 ms for each guest.
    let pair = |waiting| [guest(2, &[(700, waiting)]), guest(3, &[(800, 0)])];
    assert_eq!(waited(pair(150)), (150.0, 0.0), "behind threads that had 200 ms together");
    assert_eq!(waited(pair(350)), (350.0, 150.0), "the other virtual CPU is elsewhere");
    let softirqs = pair(350).map(|mut host| {
        host.cpu_each[0].softirq = 100 * MS;
        host
    });
    assert_eq!(waited(softirqs), (350.0, 50.0));
}

#[test]
fn virtual_cpus_that_share_cpus_wait_for_each_other() {
    let unpinned = [guest(2, &[(600, 350)]), guest(3, &[(800, 0)])].map(|mut host| {
        host.pinned = false;
        host
    });
    assert_eq!(waited(unpinned), (350.0, 0.0));
    let one_core = [guest(2, &[(400, 550)]), guest(2, &[(400, 550)])];
    assert_eq!(waited(one_core), (550.0, 0.0));
    // Two virtual CPUs of a guest on the one CPU that it has: 500 ms behind each other, 200 ms
    // behind threads that move packets.
    assert_eq!(waited([guest(2, &[(400, 590), (500, 480)]), guest(3, &[(0, 0)])]), (590.0, 0.0));
    assert_eq!(waited([guest(2, &[(100, 890), (100, 880)]), guest(3, &[(0, 0)])]), (890.0, 590.0));
}

#[test]
fn the_virtual_cpu_that_waited_longest_counts() {
    let mut two = guest(2, &[(900, 20), (300, 600)]);
    (two.cpus, two.cpu_each) = (vec![2, 4], vec![CpuTimes::default(); 2]);
    assert_eq!(waited([two, guest(3, &[(0, 0)])]), (600.0, 400.0));
}

#[test]
fn what_the_guest_was_told_stands_for_what_its_host_does_not_count() {
    let mut account = RunAccount { hosts: None, around: Some(guest(2, &[(600, 0)])), ..account() };
    assert_eq!(Waited::from_account(&account, Side::Receiver).unwrap().share, 0.0);
    // The sample's window is half a second.
    account.receiver.as_mut().unwrap().window.cpu_each[0].steal = 200 * MS;
    let waited = Waited::from_account(&account, Side::Receiver).unwrap();
    assert_eq!(waited.share, 0.4);
    account.around = None;
    assert_eq!(Waited::from_account(&account, Side::Receiver), None);
}
