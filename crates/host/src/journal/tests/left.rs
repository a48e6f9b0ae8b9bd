//! Changes that ended processes left.

use super::*;

#[test]
fn what_a_dead_process_left_is_undone_the_newest_first() {
    let world = World::new(&[("a", "3")]);
    world.leave("1.journal", dead(), &[("a", "1", "2")]);
    world.leave("2.journal", dead(), &[("a", "2", "3")]);
    assert_eq!(
        fates(&world.restore(RestoreOptions::default())),
        [&JournalFate::Undone, &JournalFate::Undone]
    );
    assert_eq!(world.value("a"), "1");
    assert_eq!(world.journals(), 0);
    assert_eq!(world.restore(RestoreOptions::default()), []);
}

#[test]
fn what_somebody_else_changed_is_left_unless_forced_or_forgotten() {
    let world = World::new(&[("a", "7"), ("b", "2")]);
    let path = world.leave("1.journal", dead(), &[("a", "1", "2"), ("b", "1", "2")]);
    let reports = world.restore(RestoreOptions::default());
    assert_eq!(reports[0].changes[0].outcome, UndoOutcome::Undone);
    assert_eq!(reports[0].changes[1].outcome, UndoOutcome::ChangedMeanwhile { now: "7".into() });
    assert!(reports[0].is_left());
    assert_eq!((world.value("a"), world.value("b")), ("7".to_owned(), "1".to_owned()));
    // An undone change is not looked at again, whatever value the setting gets.
    world.set("b", "2");
    let reports = world.restore(FORCE);
    assert_eq!(reports[0].changes.len(), 1);
    assert_eq!((world.value("a"), world.value("b")), ("1".to_owned(), "2".to_owned()));
    assert!(!path.exists());

    world.set("a", "7");
    world.leave("2.journal", dead(), &[("a", "1", "2")]);
    assert!(matches!(world.restore(FORGET)[0].fate, JournalFate::SetAside { .. }));
    assert_eq!(world.value("a"), "7");
    assert!(world.undo().join("2.set-aside").exists(), "nothing is lost");
    assert_eq!(world.restore(RestoreOptions::default()), []);
}

#[test]
fn a_dry_run_tells_the_same_and_touches_nothing() {
    let world = World::new(&[("a", "3")]);
    let path = world.leave("1.journal", dead(), &[("a", "1", "2"), ("a", "2", "3")]);
    let before = std::fs::read(&path).unwrap();
    let told = world.restore(DRY);
    assert_eq!(world.value("a"), "3");
    assert_eq!(std::fs::read(&path).unwrap(), before);
    assert_eq!(world.restore(RestoreOptions::default()), told);
    assert_eq!(world.value("a"), "1");
}

#[test]
fn a_damaged_line_is_told_with_its_place_and_nothing_is_lost() {
    let world = World::new(&[("a", "2"), ("b", "2")]);
    let path = world.leave("1.journal", dead(), &[("a", "1", "2"), ("b", "1", "2")]);
    let mut text = std::fs::read(&path).unwrap();
    let place = text.len() - 9;
    text[place] ^= 1;
    text.pop();
    std::fs::write(&path, &text).unwrap();
    let reports = world.restore(RestoreOptions::default());
    assert_eq!(reports[0].damaged[0].line, 5);
    assert_eq!(reports[0].fate, JournalFate::Kept);
    // The value after is lost, so that any value is set back.
    assert_eq!((world.value("a"), world.value("b")), ("1".to_owned(), "1".to_owned()));
    // Records that were noted meanwhile stand behind the damaged line, and are read.
    let again = world.restore(RestoreOptions::default());
    assert_eq!((again[0].changes.len(), again[0].damaged.len()), (0, 1));
    assert_eq!(again[0].damaged[0].line, 5);
    assert!(matches!(world.restore(FORGET)[0].fate, JournalFate::SetAside { .. }));
}

/// By a kill in the middle of a write, at any byte: the change that it announces was not begun.
#[test]
fn a_line_whose_writer_was_stopped_keeps_nobody_from_undoing_everything() {
    let world = World::new(&[("a", "2"), ("b", "2")]);
    let path = world.leave("1.journal", dead(), &[("a", "1", "2"), ("b", "1", "2")]);
    let text = std::fs::read(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    let first = text.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    for cut in first..text.len() {
        // Announced in the second line, and in the fourth.
        let whole = text[..cut].iter().filter(|byte| **byte == b'\n').count();
        let is_made = [whole >= 2, whole >= 4];
        let set = |is_made| if is_made { "2" } else { "1" };
        world.set("a", set(is_made[0]));
        world.set("b", set(is_made[1]));
        std::fs::write(&path, &text[..cut]).unwrap();
        assert_eq!(fates(&world.restore(RestoreOptions::default())), [&JournalFate::Undone], "cut at {cut}");
        assert_eq!((world.value("a"), world.value("b")), ("1".to_owned(), "1".to_owned()), "cut at {cut}");
        assert_eq!(world.journals(), 0, "cut at {cut}");
    }
}

#[test]
fn a_journal_is_followed_in_its_own_boot_and_network_namespace_only() {
    let another_boot = Header { boot: "another".to_owned(), ..dead() };
    let another_network = Header { network: "net:[2]".to_owned(), ..dead() };
    let elsewhere = JournalFate::Elsewhere { network: "net:[2]".to_owned() };
    for (header, now, manner, fate, value, left) in [
        // The machine started with this value.
        (another_boot, "2", RestoreOptions::default(), JournalFate::Restarted, "2", 0),
        (another_network, "2", FORCE, elsewhere, "2", 1),
        (dead(), "2", RestoreOptions::default(), JournalFate::Undone, "1", 0),
        // The change was announced and never made.
        (dead(), "1", RestoreOptions::default(), JournalFate::Undone, "1", 0),
    ] {
        let world = World::new(&[("a", now)]);
        world.leave("1.journal", header, &[("a", "1", "2")]);
        let reports = world.restore(manner);
        assert_eq!(fates(&reports), [&fate]);
        assert_eq!((world.value("a").as_str(), world.journals()), (value, left));
        let same = reports[0].changes.first().is_some_and(|one| one.outcome == UndoOutcome::AlreadySo);
        assert_eq!(same, now == "1");
    }
}

#[test]
fn a_living_process_keeps_its_journal_even_unlocked() {
    let world = World::new(&[("a", "2")]);
    let pid = std::process::id();
    let start = restore::start_of(pid).unwrap();
    world.leave("1.journal", Header { pid, start, ..dead() }, &[("a", "1", "2")]);
    assert_eq!(fates(&world.restore(RestoreOptions::default())), [&JournalFate::InUse]);
    // The process number alone does not identify it: another process may have the number by now.
    world.leave("2.journal", Header { pid, start: start + 1, ..dead() }, &[("a", "1", "2")]);
    assert_eq!(fates(&world.restore(RestoreOptions::default())), [&JournalFate::Undone, &JournalFate::InUse]);
}

#[test]
fn what_is_no_journal_of_ours_is_reported_and_the_others_are_followed() {
    let world = World::new(&[("a", "2")]);
    let odd = |name: &str| world.undo().join(format!("{name}.journal"));
    world.leave("5.journal", dead(), &[("a", "1", "2")]);
    std::fs::set_permissions(
        world.leave("9.journal", dead(), &[("a", "0", "2")]),
        PermissionsExt::from_mode(0o666),
    )
    .unwrap();
    std::fs::rename(world.leave("8.journal", dead(), &[("a", "0", "2")]), world.root.path().join("x"))
        .unwrap();
    symlink(world.root.path().join("x"), odd("8")).unwrap();
    std::fs::create_dir(odd("7")).unwrap();
    nix::unistd::mkfifo(&odd("6"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    std::fs::File::create(odd("4")).unwrap().set_len(1 << 30).unwrap();
    let reports = world.restore(RestoreOptions::default());
    let told: Vec<String> = reports
        .iter()
        .map(|report| match &report.fate {
            JournalFate::NotFollowed { why } => why.clone(),
            fate => format!("{fate:?}"),
        })
        .collect();
    for (told, why) in told.iter().zip([
        "others may write it: mode 666",
        "symbolic link",
        "Is a directory",
        "not a regular file of at most",
        "Undone",
        "not a regular file of at most 16777216 bytes",
    ]) {
        assert!(told.contains(why), "{why}: {told}");
    }
    assert_eq!(told.len(), 6);
    assert!(reports[0].is_left());
    assert_eq!(world.value("a"), "1");
    // They do not keep others from changing the machine, either.
    world.journal().change(&to("a", "3")).unwrap();
    assert!(world.restore(FORGET).iter().all(|report| matches!(report.fate, JournalFate::SetAside { .. })));
    assert_eq!(world.restore(RestoreOptions::default()), []);
    assert!(world.root.path().join("x").exists(), "what a link leads to is left");
}

#[test]
fn without_a_header_nothing_is_followed() {
    let world = World::new(&[("a", "2")]);
    let elsewhere = Header { network: "net:[2]".to_owned(), ..dead() };
    let path = world.leave("1.journal", elsewhere, &[("a", "1", "2")]);
    let mut text = std::fs::read(&path).unwrap();
    text[30] ^= 1;
    std::fs::write(&path, text).unwrap();
    for manner in [RestoreOptions::default(), FORCE] {
        let reports = world.restore(manner);
        assert_eq!(fates(&reports), [&JournalFate::Kept]);
        assert_eq!(reports[0].damaged[0].line, 1);
        assert_eq!(world.value("a"), "2", "it may be of another namespace");
    }
}

#[test]
fn an_unknown_boot_is_no_restart() {
    let world = World::new(&[("a", "2")]);
    let path = world.leave("1.journal", dead(), &[("a", "1", "2")]);
    for file in ["proc/sys/kernel/random/boot_id", "proc/thread-self/ns/net"] {
        let file = world.root.path().join(file);
        std::fs::rename(&file, file.with_extension("hidden")).unwrap();
        let error =
            restore(&world.undo(), &world.machine(), RestoreOptions::default()).unwrap_err().to_string();
        assert!(error.contains("cannot identify this machine and its boot"), "{error}");
        assert!(path.exists());
        std::fs::rename(file.with_extension("hidden"), &file).unwrap();
    }
    assert_eq!(fates(&world.restore(RestoreOptions::default())), [&JournalFate::Undone]);
}
