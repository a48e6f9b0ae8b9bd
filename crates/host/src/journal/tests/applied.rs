//! Changes that a user had applied to stay.

use super::*;

const BY_HAND: RestoreOptions = RestoreOptions { dry_run: false, force: false, forget: false, applied: true };

/// Applies it by a process that is gone.
fn applied(world: &World, name: &str, why: &str, change: (&str, &str, &str)) -> PathBuf {
    let path = world.leave(name, dead(), &[change]);
    let (mut file, _) = JournalFile::open(&path).unwrap().unwrap();
    file.add(&[Record::Applied(why.to_owned())]).unwrap();
    path
}

#[test]
fn what_was_applied_stays_until_a_user_restores_it() {
    let world = World::new(&[("a", "1")]);
    let mut journal = world.journal();
    journal.change(&to("a", "2")).unwrap();
    let kept = journal.keep("study 3").unwrap();
    assert_eq!(kept.len(), 1);
    assert_eq!((world.value("a").as_str(), world.journals()), ("2", 1));

    let world = World::new(&[("a", "2")]);
    let path = applied(&world, "1.journal", "study 3", ("a", "1", "2"));
    for manner in [RestoreOptions::default(), FORCE, FORGET, DRY] {
        let reports = world.restore(manner);
        assert_eq!(fates(&reports), [&JournalFate::Applied { why: "study 3".to_owned() }]);
        assert!(!reports[0].is_left());
        assert_eq!(world.value("a"), "2");
    }
    // A session that would change the machine is told what is in the way.
    let refused = world.journal().change(&to("b", "2")).unwrap_err().to_string();
    for part in ["study 3", "netassay undo", &path.display().to_string()] {
        assert!(refused.contains(part), "{refused}");
    }
    let told = world.restore(RestoreOptions { dry_run: true, ..BY_HAND });
    assert_eq!((world.value("a").as_str(), fates(&told)), ("2", vec![&JournalFate::Undone]));
    assert_eq!(fates(&world.restore(BY_HAND)), [&JournalFate::Undone]);
    assert_eq!((world.value("a").as_str(), world.journals()), ("1", 0));
}

#[test]
fn what_is_applied_over_it_is_undone_first() {
    let world = World::new(&[("a", "2")]);
    applied(&world, "1.journal", "study 3", ("a", "1", "2"));
    let mut journal = world.journal();
    journal.may_change_applied = true;
    journal.change(&to("a", "3")).unwrap();
    drop(journal);
    assert_eq!(world.value("a"), "2", "what is not kept is undone, and nothing else");
    applied(&world, "2.journal", "study 4", ("a", "2", "3"));
    world.set("a", "3");
    assert_eq!(fates(&world.restore(BY_HAND)), [&JournalFate::Undone, &JournalFate::Undone]);
    assert_eq!((world.value("a").as_str(), world.journals()), ("1", 0));
}

#[test]
fn what_was_applied_ends_with_the_boot_and_is_nothing_if_nothing_changed() {
    let world = World::new(&[("a", "1")]);
    let path = world.leave("1.journal", Header { boot: "another".to_owned(), ..dead() }, &[("a", "0", "2")]);
    let (mut file, _) = JournalFile::open(&path).unwrap().unwrap();
    file.add(&[Record::Applied("study 3".to_owned())]).unwrap();
    drop(file);
    assert_eq!(fates(&world.restore(RestoreOptions::default())), [&JournalFate::Restarted]);
    assert_eq!(world.journals(), 0);
    assert!(world.journal().keep("study 3").unwrap().is_empty());
    let mut journal = world.journal();
    journal.cover(&[target("a")], || Ok(())).unwrap();
    assert!(journal.keep("study 3").unwrap().is_empty());
    assert_eq!(world.journals(), 0);
}
