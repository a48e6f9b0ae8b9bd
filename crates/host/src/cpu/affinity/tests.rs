use proptest::prelude::*;

use super::*;
use crate::kernel::files::fixture::files;

#[test]
fn any_number_of_cpus_is_read_and_a_missing_list_is_not_one_core() {
    let read = |allowed_list: &str, online: &str| {
        let (_keep, files) = files(&[
            ("proc/thread-self/status", &format!("Name:\tx\nCpus_allowed:\tff\n{allowed_list}")),
            ("sys/devices/system/cpu/online", online),
        ]);
        format_cpu_list(&allowed(&files))
    };
    for (allowed_list, online, expected) in [
        ("Cpus_allowed_list:\t0-2047\n", "0-1535\n", "0-1535"),
        ("Cpus_allowed_list:\t1,1024-1027,5000\n", "0-8191\n", "1,1024-1027,5000"),
        ("Cpus_allowed_list:\t0-127\n", "0,2-3\n", "0,2-3"),
        ("Cpus_allowed_list:\t3\n", "", "3"),
        ("", "0-1279\n", "0-1279"),
        ("Cpus_allowed_list:\tx\n", "0-3\n", "0-3"),
    ] {
        assert_eq!(read(allowed_list, online), expected, "{allowed_list:?} {online:?}");
    }
}

#[test]
fn a_thread_is_pinned_and_what_cannot_be_is_refused_with_the_way_out() {
    std::thread::spawn(|| {
        let cpu = *allowed_cpus().last().unwrap();
        pin_current_thread(&[cpu]).unwrap();
        assert_eq!(allowed_cpus(), [cpu]);
        let error = pin_current_thread(&[]).unwrap_err().to_string();
        assert!(error.contains(&format!("may run on CPUs {cpu}")), "{error}");
        assert!(pin_current_thread(&[999_999]).unwrap_err().to_string().contains("CPUs 999999"));
    })
    .join()
    .unwrap();
}

#[test]
fn every_cpu_allowed_is_online() {
    let online = online_cpus();
    assert!(!online.is_empty());
    assert!(allowed_cpus().iter().all(|cpu| online.contains(cpu)));
}

#[test]
fn urgency_is_not_inherited() {
    // SAFETY: it takes numbers only; 0 is the calling thread.
    let nice = || unsafe { libc::getpriority(libc::PRIO_PROCESS, 0) };
    let before = nice();
    let hurried = std::thread::spawn(move || {
        let granted = prioritise_current_thread();
        (granted, nice(), std::thread::spawn(nice).join())
    });
    let (granted, own, child) = hurried.join().unwrap();
    assert_eq!(own, if granted { URGENT } else { before });
    let child = child.unwrap();
    assert_eq!(child, if granted { 0 } else { before });
}

#[test]
fn masks_have_words_of_32_bits_the_highest_first() {
    assert_eq!(format_cpu_mask(&[]).unwrap(), "00000000");
    assert_eq!(format_cpu_mask(&[0, 1]).unwrap(), "00000003");
    assert_eq!(format_cpu_mask(&[33, 0]).unwrap(), "00000002,00000001");
    assert!(format_cpu_mask(&[0, u32::MAX]).is_err());
    assert_eq!(parse_cpu_mask("3"), Some(vec![0, 1]));
    assert_eq!(parse_cpu_mask("00000002,00000001\n"), Some(vec![0, 33]));
    assert_eq!(parse_cpu_mask("x"), None);
}

proptest! {
    #[test]
    fn a_mask_survives_the_round_trip(cpus in prop::collection::btree_set(0u32..500, 0..60)) {
        let list: Vec<u32> = cpus.iter().copied().collect();
        let read: BTreeSet<u32> = parse_cpu_mask(&format_cpu_mask(&list).unwrap()).unwrap().into_iter().collect();
        prop_assert_eq!(read, cpus);
    }
}
