//! The lines of a journal.

use proptest::prelude::*;

use super::super::line::{Change, Damage, FORMAT, Header, MOST_DAMAGE, Record, parse, unfinished, write};
use crate::machine::{SettingValue, Target};

fn begun() -> Vec<u8> {
    write(&Record::Begun(Header::new(1, 2, "boot".to_owned(), "net:[1]".to_owned())))
}

fn change(number: u32) -> Change {
    let target = Target::Sysctl { name: "net.core.rmem_max".to_owned() };
    Change { number, target, before: "1\n".into(), after: None }
}

fn journal(changes: u32) -> Vec<u8> {
    (1..=changes).fold(begun(), |text, number| [text, write(&Record::Change(change(number)))].concat())
}

#[test]
fn a_journal_is_read_as_it_was_written() {
    let text = [journal(3), write(&Record::Undone(3))].concat();
    let parsed = parse(&text);
    assert_eq!(parsed.damaged, []);
    assert_eq!(parsed.changes, [change(1), change(2), change(3)]);
    assert_eq!(parsed.open(), [change(1), change(2)]);
    assert_eq!(parsed.header.unwrap().pid, 1);
}

#[test]
fn a_value_after_is_known_from_when_it_was_read_back_until_it_is_undone() {
    let after = |records: &[Record]| {
        let text = records.iter().fold(journal(1), |text, record| [text, write(record)].concat());
        let parsed = parse(&text);
        assert_eq!(parsed.damaged, []);
        parsed.changes[0].after.clone()
    };
    let made = || Record::Made(1, "2\n".into());
    assert_eq!(after(&[]), None);
    assert_eq!(after(&[made()]), Some("2\n".into()));
    assert_eq!(after(&[made(), Record::Changing(vec![1])]), None);
    assert_eq!(after(&[made(), Record::Changing(vec![1]), made()]), Some("2\n".into()));
}

#[test]
fn a_change_that_changed_nothing_is_closed_until_it_is_made_again() {
    let open = |records: &[Record]| {
        let text = records.iter().fold(journal(2), |text, record| [text, write(record)].concat());
        let parsed = parse(&text);
        assert_eq!(parsed.damaged, []);
        parsed.open().iter().map(|change| change.number).collect::<Vec<_>>()
    };
    assert_eq!(open(&[Record::Unchanged(vec![1])]), [2]);
    assert_eq!(open(&[Record::Unchanged(vec![1, 2]), Record::Changing(vec![1])]), [1]);
    assert_eq!(open(&[Record::Undone(2), Record::Changing(vec![2])]), [1, 2]);
}

#[test]
fn a_line_whose_writer_was_stopped_is_none_and_the_others_count() {
    let mut text = journal(2);
    text.truncate(text.len() - 5);
    let parsed = parse(&text);
    assert_eq!((parsed.changes, parsed.damaged), (vec![change(1)], vec![]));
    text.extend(b"}}}!");
    let parsed = parse(&text);
    assert_eq!(parsed.changes, [change(1)]);
    assert_eq!(parsed.damaged, [Damage { line: 3, why: "it is only half written".to_owned() }]);
}

/// 15 MB of blank lines took 4 GB of memory.
#[test]
fn damaged_lines_are_counted_and_ten_are_reported() {
    let parsed = parse(&[journal(1), vec![b'\n'; 1 << 20], write(&Record::Change(change(2)))].concat());
    assert_eq!((parsed.damaged_lines, parsed.damaged.len()), (1 << 20, MOST_DAMAGE));
    assert_eq!(parsed.damaged[9], Damage { line: 12, why: "it is too short".to_owned() });
    assert_eq!(parsed.changes, [change(1), change(2)]);
}

#[test]
fn what_no_journal_says_is_damage() {
    let hostile = Change { target: Target::Sysctl { name: "kernel.core_pattern".to_owned() }, ..change(1) };
    let long = Change { before: "x".repeat(300_000).as_str().into(), ..change(1) };
    for (records, why) in [
        (vec![Record::Change(hostile)], "not on the list"),
        (vec![Record::Change(long)], "at most 262144"),
        (vec![Record::Change(change(1)), Record::Change(change(1))], "already"),
        (vec![Record::Made(1, "2".into())], "no line before it"),
        (vec![Record::Undone(1)], "no line before it"),
        (vec![Record::Changing(vec![1])], "no line before it"),
        (vec![Record::Unchanged(vec![1])], "no line before it"),
        (vec![Record::Begun(Header::new(1, 2, String::new(), String::new()))], "only once"),
    ] {
        let text = records.iter().fold(begun(), |text, record| [text, write(record)].concat());
        let parsed = parse(&text);
        assert_eq!(parsed.damaged.len(), 1, "{records:?}");
        assert!(parsed.damaged[0].why.contains(why), "{:?}", parsed.damaged);
    }
    assert_eq!(parse(b"").damaged.len(), 1);
    assert_eq!(
        parse(&write(&Record::Undone(1))).damaged[0].why,
        "it does not name the process that wrote it"
    );
    let nameless = Record::Begun(Header::new(1, 2, String::new(), "net:[1]".to_owned()));
    assert!(parse(&write(&nameless)).damaged[0].why.contains("name the boot"));
    for format in [FORMAT - 1, FORMAT + 1] {
        let foreign = Header { format, ..Header::new(1, 2, String::new(), String::new()) };
        let parsed = parse(&write(&Record::Begun(foreign)));
        assert!(parsed.damaged[0].why.contains(&format!("of format {format},")), "{:?}", parsed.damaged);
    }
}

proptest! {
    #[test]
    fn any_value_is_read_as_it_was_written(
        before in prop::collection::vec(any::<char>(), 0..3000).prop_map(String::from_iter),
        after in ".{0,5000}",
    ) {
        let (before, after) = (SettingValue::from(before), SettingValue::from(after));
        let records = [
            Record::Change(Change { before: before.clone(), ..change(1) }),
            Record::Made(1, after.clone()),
        ];
        let text = records.iter().fold(begun(), |text, record| [text, write(record)].concat());
        let parsed = parse(&text);
        prop_assert_eq!(parsed.damaged, []);
        prop_assert_eq!(&parsed.changes[0].before, &before);
        prop_assert_eq!(&parsed.changes[0].after, &Some(after));
    }

    #[test]
    fn any_bytes_are_read(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let parsed = parse(&bytes);
        prop_assert!(parsed.header.is_some() || !parsed.damaged.is_empty());
    }

    /// Damage never goes unnoticed, whichever byte it hits: at an end of line it joins two
    /// lines.
    #[test]
    fn a_damaged_byte_is_reported_and_loses_two_lines_at_most(
        changes in 1u32..6, place in any::<prop::sample::Index>(), byte in any::<u8>()
    ) {
        let mut text = journal(changes);
        let place = place.index(text.len());
        prop_assume!(text[place] != byte);
        text[place] = byte;
        let parsed = parse(&text);
        prop_assert!(!parsed.damaged.is_empty());
        let kept = parsed.changes.len() + usize::from(parsed.header.is_some());
        prop_assert!(kept + 2 > changes as usize, "{kept} of {}", changes + 1);
        prop_assert!(parsed.changes.iter().all(|found| *found == change(found.number)));
    }

    #[test]
    fn a_journal_cut_anywhere_keeps_every_whole_line(changes in 0u32..5, place in any::<prop::sample::Index>()) {
        let text = journal(changes);
        let cut = place.index(text.len() + 1);
        let whole = text[..cut].iter().filter(|byte| **byte == b'\n').count();
        let parsed = parse(&text[..cut]);
        prop_assert_eq!(parsed.changes.len(), whole.saturating_sub(1));
        // The first line is whole before the journal has its name.
        prop_assert_eq!(parsed.damaged.is_empty(), whole > 0);
        prop_assert_eq!(unfinished(&text[..cut]).is_some(), whole > 0 && text[cut - 1] != b'\n');
    }
}
