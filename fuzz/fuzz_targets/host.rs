//! Messages and files of the kernel, and the undo journal: read or refused, whatever they hold.
//!
//! The first byte chooses the reader: 0 a netlink datagram, 1 a file of `/proc` or `/sys`,
//! 2 an undo journal, 3 an undo journal of given changes.
#![no_main]

use libfuzzer_sys::fuzz_target;
use netassay_host::ThreadTimes;
use netassay_host::journal::{journal_text, parse};
use netassay_host::machine::{SettingValue, Target};

fuzz_target!(|input: &[u8]| {
    let Some((reader, bytes)) = input.split_first() else { return };
    match reader % 4 {
        0 => netlink(bytes),
        1 => proc_file(&String::from_utf8_lossy(bytes)),
        2 => journal(bytes),
        _ => written_journal(bytes),
    }
});

/// Links, features, queueing disciplines and neighbours.
fn netlink(datagram: &[u8]) {
    netassay_host::fuzz::netlink(datagram);
    // And as a payload, without the header that would have to fit.
    netassay_host::fuzz::answer(datagram);
}

fn proc_file(text: &str) {
    // The unit of times in most kernels, and one with which every number overflows.
    for tick in [10_000_000, u64::MAX] {
        netassay_host::fuzz::proc(text, tick);
        let (stat, schedstat) = text.split_once('\n').unwrap_or((text, "1 2 3"));
        if let Some(times) = ThreadTimes::parse(stat.as_bytes(), schedstat, tick) {
            assert_eq!(times.since(&times), ThreadTimes::default());
        }
    }
}

/// A change that may not be made is not read.
fn journal(bytes: &[u8]) {
    let parsed = parse(bytes);
    assert!(parsed.changes.iter().all(|change| change.target.check().is_ok()));
    assert!(parsed.open().len() <= parsed.changes.len());
}

/// Each change is read back as it was written, or reported as damage; none is lost, none is
/// changed.
///
/// A setting and its value before as JSON, `[TARGET, VALUE]`, in each line.
fn written_journal(bytes: &[u8]) {
    let read = |line: &[u8]| serde_json::from_slice::<(Target, SettingValue)>(line).ok();
    let changes: Vec<(Target, SettingValue)> = bytes.split(|byte| *byte == b'\n').filter_map(read).collect();
    let text = journal_text(&changes);
    let parsed = parse(&text);
    assert_eq!(parsed.changes.len() + parsed.damaged_lines, changes.len(), "{:?}", parsed.damaged);
    let is_known = |target: &Target, before: &SettingValue| {
        changes.iter().any(|one| (&one.0, &one.1) == (target, before))
    };
    assert!(parsed.changes.iter().all(|change| is_known(&change.target, &change.before)));
    // Cut anywhere, the lines before the cut count.
    let half = parse(&text[..text.len() / 2]);
    assert!(parsed.changes.starts_with(&half.changes));
}
