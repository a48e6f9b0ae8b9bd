//! Changes that are made and undone by one process.

use super::*;

#[test]
fn changes_are_undone_in_reverse_order_and_nothing_is_left() {
    let world = World::new(&[("a", "1\n"), ("b", "x\ty\n")]);
    let mut journal = world.journal();
    assert_eq!(world.journals(), 0, "nothing is written before anything is changed");
    journal.change(&[to("a", "2"), to("b", "z  z")].concat()).unwrap();
    journal.change(&to("a", "0x3")).unwrap();
    assert_eq!((world.value("a"), world.value("b")), ("0x3".to_owned(), "z z".to_owned()));
    assert_eq!(fates(&world.restore(FORCE)), [&JournalFate::InUse], "it is not for others to undo");
    let done = journal.undo().unwrap();
    let numbers: Vec<u32> = done.iter().map(|one| one.change.number).collect();
    assert_eq!(numbers, [2, 1]);
    assert_eq!((world.bytes("a"), world.bytes("b")), (b"1\n".to_vec(), b"x\ty\n".to_vec()));
    assert_eq!(world.journals(), 0);
}

#[test]
fn what_conditions_switch_again_and_again_is_announced_once() {
    let world = World::new(&[("a", "1\n"), ("b", "7\n")]);
    let mut journal = world.journal();
    for value in ["2", "3", "1", "2"] {
        journal.switch(&to("a", value)).unwrap();
        assert_eq!(world.value("a"), value);
    }
    let journals: Vec<_> =
        std::fs::read_dir(world.undo()).unwrap().map(|entry| entry.unwrap().path()).collect();
    let text = journals.iter().find(|path| path.extension().is_some_and(|end| end == "journal")).unwrap();
    let announced = std::fs::read_to_string(text).unwrap().matches("rmem_max").count();
    assert_eq!(announced, 1, "a study of many runs has a short journal");
    // The kernel makes something else of it.
    let there = world.root.path().join("proc/sys/net/ipv4/tcp_rmem");
    std::fs::remove_file(&there).unwrap();
    symlink("/dev/null", &there).unwrap();
    let refused = journal.switch(&to("b", "8")).unwrap_err().to_string();
    assert!(refused.contains("reads back"), "{refused}");
    drop(journal);
    assert_eq!(world.value("a"), "1");
}

#[test]
fn a_journal_that_is_dropped_undoes_its_changes() {
    let world = World::new(&[("a", "1")]);
    let mut journal = world.journal();
    journal.change(&to("a", "2")).unwrap();
    assert!(journal.change(&to("net.core.wmem_max", "2")).is_err());
    drop(journal);
    assert_eq!(world.value("a"), "1");
    assert_eq!(world.journals(), 0);
}

#[test]
fn nothing_is_changed_if_one_of_the_values_could_not_be_written_back() {
    let world = World::new(&[("a", "1\n"), ("b", "1 2 3\n")]);
    let there = world.root.path().join("proc/sys/net/ipv4/tcp_rmem");
    std::fs::remove_file(&there).unwrap();
    // The kernel takes the name of this program with its end of line, and gives it with another.
    std::fs::write("/proc/self/comm", "short").unwrap();
    symlink("/proc/self/comm", &there).unwrap();
    let refused = world.journal().change(&[to("a", "2"), to("b", "4")].concat()).unwrap_err().to_string();
    assert!(
        refused.contains("net.ipv4.tcp_rmem is not changed") && refused.contains("reads back"),
        "{refused}"
    );
    assert_eq!(world.bytes("a"), b"1\n");
}

#[test]
fn a_setting_that_somebody_changes_meanwhile_is_told() {
    let world = World::new(&[("a", "1\n"), ("b", "1\n")]);
    let mut journal = world.journal();
    journal.change(&[to("a", "2"), to("a", "3"), to("b", "1")].concat()).unwrap();
    assert_eq!(journal.differences(), []);
    world.set("a", "2\n");
    world.set("b", "5\n");
    assert_eq!(
        journal.differences().iter().map(ToString::to_string).collect::<Vec<_>>(),
        [
            "net.core.rmem_max was set to 3 for the study and is 2: something changed it",
            "net.ipv4.tcp_rmem was set to 1 for the study and is 5: something changed it"
        ]
    );
}

#[test]
fn one_process_at_a_time_changes_the_machine() {
    let world = World::new(&[("a", "1\n"), ("b", "1\n")]);
    let mut first = world.journal();
    first.change(&to("a", "2")).unwrap();
    let holder = format!("another session changes this machine (process {}", std::process::id());
    for refused in [world.journal().change(&to("b", "2")), world.journal().check_free()] {
        let refused = refused.unwrap_err().to_string();
        assert!(refused.contains(&holder), "{refused}");
    }
    first.check_free().unwrap();
    assert_eq!(world.bytes("b"), b"1\n");
    // Nor is anything restored under it.
    world.leave("1.journal", dead(), &[("b", "0", "1\n")]);
    assert_eq!(fates(&world.restore(FORCE)), [&JournalFate::InUse, &JournalFate::InUse]);
    first.undo().unwrap();
    for left in [world.journal().change(&to("b", "2")), world.journal().check_free()] {
        let left = left.unwrap_err().to_string();
        assert!(left.contains("are not undone") && left.contains("1.journal"), "{left}");
    }
    assert_eq!(fates(&world.restore(RestoreOptions::default())), [&JournalFate::Undone]);
    world.journal().change(&to("b", "2")).unwrap();
}

#[test]
fn a_journal_of_another_boot_is_in_nobodys_way() {
    let world = World::new(&[("a", "1\n")]);
    world.leave("1.journal", Header { boot: "another".to_owned(), ..dead() }, &[("a", "0", "2\n")]);
    let mut journal = world.journal();
    journal.change(&to("a", "2")).unwrap();
    assert_eq!(world.journals(), 1, "that of the other boot is removed");
    journal.undo().unwrap();
    assert_eq!((world.bytes("a").as_slice(), world.journals()), (&b"1\n"[..], 0));
}

#[test]
fn each_end_of_a_session_changes_its_network_namespace_and_other_sessions_none() {
    let world = World::new(&[("a", "1\n"), ("b", "1\n"), ("c", "1\n")]);
    let of_session = |session: u64| {
        let mut journal = world.journal();
        journal.session = session;
        journal
    };
    let mut first = of_session(7);
    first.change(&to("a", "2")).unwrap();
    for (network, session) in [("net:[1]", 7), ("net:[2]", 8)] {
        world.enter(network);
        let refused = of_session(session).change(&to("b", "2")).unwrap_err().to_string();
        assert!(refused.contains("another session changes this machine (process "), "{refused}");
    }
    let mut second = of_session(7);
    second.change(&to("b", "2")).unwrap();
    assert_eq!(fates(&world.restore(FORCE)), [&JournalFate::InUse, &JournalFate::InUse]);
    drop(second);
    // The changes that a dead end left are undone beside the other end, by their session only.
    let left = Header { network: "net:[2]".to_owned(), ..dead() };
    world.leave("1.journal", left, &[("c", "0", "1\n")]);
    let gone = Process { pid: NOBODY, start: 1 };
    for (session, fate, value) in [(8, JournalFate::InUse, "1"), (7, JournalFate::Undone, "0")] {
        let patience = std::time::Duration::ZERO;
        let reports = restore_of(&world.undo(), &world.machine(), (gone, session), patience).unwrap();
        assert_eq!((fates(&reports), world.value("c").as_str()), (vec![&fate], value));
    }
    first.undo().unwrap();
    assert_eq!((world.bytes("a"), world.bytes("b"), world.journals()), (b"1\n".to_vec(), b"1\n".to_vec(), 0));
}

/// Pairs of network namespaces on one machine take turns by it.
#[test]
fn a_claim_before_the_first_change_keeps_other_sessions_out_until_it_is_given_back() {
    let world = World::new(&[("a", "1\n"), ("b", "1\n")]);
    let of_session = |session: u64| {
        let mut journal = world.journal();
        journal.session = session;
        journal
    };
    let (mut first, mut second) = (of_session(7), of_session(8));
    first.claim_early().unwrap();
    first.claim_early().unwrap();
    world.enter("net:[2]");
    of_session(7).claim_early().unwrap();
    let holder = second.claim_early().unwrap_err().to_string();
    assert!(holder.starts_with(&format!("process {} (", std::process::id())), "{holder}");
    first.leave();
    second.claim_early().unwrap();
    second.change(&to("a", "2")).unwrap();
    second.leave();
    first.claim_early().unwrap_err();
    second.undo().unwrap();
    // It is no look for changes that others left: the first change is.
    world.leave("1.journal", Header { network: "net:[2]".to_owned(), ..dead() }, &[("b", "0", "1\n")]);
    first.claim_early().unwrap();
    for left in [first.check_free(), first.change(&to("a", "3"))] {
        let left = left.unwrap_err().to_string();
        assert!(left.contains("are not undone") && left.contains("1.journal"), "{left}");
    }
    assert_eq!(world.bytes("a"), b"1\n");
    of_session(8).claim_early().unwrap();
}

#[test]
fn a_session_that_begins_while_another_ends_waits_for_its_end() {
    let world = World::new(&[("a", "1\n")]);
    let (mut first, mut second) = (world.journal(), world.journal());
    first.change(&to("a", "2")).unwrap();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            std::thread::sleep(std::time::Duration::from_millis(100));
            first.undo().unwrap();
        });
        second.change(&to("a", "3")).unwrap();
    });
    assert_eq!(world.bytes("a"), b"3\n");
}

#[test]
fn a_journal_that_was_never_finished_is_removed_by_the_next_session() {
    let world = World::new(&[("a", "1")]);
    directory::make(&world.undo(), 0o700).unwrap();
    world.file("state/undo/1.new", "half a li");
    let mut journal = world.journal();
    journal.change(&to("a", "2")).unwrap();
    assert_eq!(world.journals(), 1);
    journal.undo().unwrap();
    assert_eq!(world.journals(), 0);
}

/// Undone changes are noted on disk, and so are settings that were changed again.
#[test]
fn a_setting_that_is_changed_again_is_announced_once() {
    let world = World::new(&[("a", "1\n")]);
    let mut journal = world.journal();
    let cover = |journal: &mut Journal, value: &str| {
        let set = || {
            world.set("a", value);
            Ok(())
        };
        journal.cover(&[target("a")], set).unwrap();
    };
    for value in ["2\n", "1\n", "3\n", "4\n"] {
        cover(&mut journal, value);
    }
    let path = std::fs::read_dir(world.undo()).unwrap().map(|file| file.unwrap().path());
    let path = path.into_iter().find(|path| path.extension().is_some_and(|end| end == "journal")).unwrap();
    let parsed = parse(&std::fs::read(path).unwrap());
    assert!(parsed.changes.iter().eq(journal.changes()));
    assert_eq!((parsed.changes.len(), parsed.changes[0].after.clone()), (1, Some("4\n".into())));
    journal.undo_matching(|_| true).unwrap();
    assert_eq!(world.bytes("a"), b"1\n");
    assert_eq!(journal.changes().next(), None);
    cover(&mut journal, "5\n");
    journal.undo().unwrap();
    assert_eq!((world.bytes("a"), world.journals()), (b"1\n".to_vec(), 0));
}

#[test]
fn a_failed_action_is_covered_too() {
    let world = World::new(&[("a", "1")]);
    let mut journal = world.journal();
    let failed = journal.cover(&[target("a")], || {
        world.set("a", "2");
        Err::<(), _>("no".to_owned().into())
    });
    assert_eq!(failed.unwrap_err().to_string(), "no");
    drop(journal);
    assert_eq!(world.value("a"), "1");
}

#[test]
fn a_journal_that_cannot_be_written_prevents_the_change() {
    let world = World::new(&[("a", "1")]);
    world.file("state/undo", "a file where the directory should be");
    let error = world.journal().change(&to("a", "2")).unwrap_err().to_string();
    assert!(error.contains("the undo journal"), "{error}");
    assert_eq!(world.value("a"), "1");
}
