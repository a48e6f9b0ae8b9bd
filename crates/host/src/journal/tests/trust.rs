//! Places and files that others may write.

use super::*;

#[test]
fn a_place_that_others_may_write_is_not_trusted() {
    let world = World::new(&[("a", "2")]);
    world.leave("1.journal", dead(), &[("a", "1", "2")]);
    let parent = world.root.path().join("state");
    for place in [&world.undo(), &parent] {
        std::fs::set_permissions(place, PermissionsExt::from_mode(0o777)).unwrap();
        let error = restore(&world.undo(), &world.machine(), FORCE).unwrap_err().to_string();
        assert!(error.contains("other users can change it") && error.contains("others may write"), "{error}");
        assert!(world.journal().change(&to("a", "3")).is_err());
        std::fs::set_permissions(place, PermissionsExt::from_mode(0o700)).unwrap();
    }
    // Only root can give a file to another user.
    if nix::unistd::geteuid().is_root() {
        std::os::unix::fs::chown(&parent, Some(12345), None).unwrap();
        let error = restore(&world.undo(), &world.machine(), FORCE).unwrap_err().to_string();
        assert!(
            error.contains("state is rejected, because other users can change it (it belongs to user 12345"),
            "{error}"
        );
        std::os::unix::fs::chown(&parent, Some(0), None).unwrap();
    }
    assert_eq!(world.value("a"), "2");
    assert_eq!(fates(&world.restore(RestoreOptions::default())), [&JournalFate::Undone]);
}

#[test]
fn a_lock_or_a_journal_that_others_put_there_is_not_ours() {
    let world = World::new(&[("a", "2")]);
    directory::make(&world.undo(), 0o700).unwrap();
    let (lock, elsewhere) = (world.undo().join("lock"), world.root.path().join("elsewhere"));
    symlink(&elsewhere, &lock).unwrap();
    let error = world.journal().change(&to("a", "3")).unwrap_err().to_string();
    assert!(error.contains("symbolic link"), "{error}");
    assert!(!elsewhere.exists(), "it was made through the link");
    std::fs::remove_file(&lock).unwrap();
    std::fs::write(&lock, "").unwrap();
    std::fs::set_permissions(&lock, PermissionsExt::from_mode(0o666)).unwrap();
    let error = world.journal().change(&to("a", "3")).unwrap_err().to_string();
    assert!(error.contains("others may write it: mode 666"), "{error}");
    std::fs::remove_file(&lock).unwrap();
    // Only root can give a file to another user.
    if nix::unistd::geteuid().is_root() {
        let path = world.leave("1.journal", dead(), &[("a", "1", "2")]);
        std::os::unix::fs::chown(&path, Some(12345), None).unwrap();
        let reports = world.restore(FORCE);
        let JournalFate::NotFollowed { why } = &reports[0].fate else { panic!("{reports:?}") };
        assert!(why.contains("it belongs to user 12345"), "{why}");
    }
    assert_eq!(world.value("a"), "2");
}

#[test]
fn where_a_link_leads_counts_too() {
    let world = World::new(&[("a", "2")]);
    let (open, link) = (world.root.path().join("open"), world.root.path().join("link"));
    directory::make(&open.join("state/undo"), 0o700).unwrap();
    symlink(open.join("state"), &link).unwrap();
    Journal::new(&link.join("undo"), world.machine()).change(&to("a", "3")).unwrap();
    std::fs::set_permissions(&open, PermissionsExt::from_mode(0o777)).unwrap();
    let error =
        Journal::new(&link.join("undo"), world.machine()).change(&to("a", "4")).unwrap_err().to_string();
    assert!(error.contains("open is rejected") && error.contains("others may write"), "{error}");
    assert_eq!(world.value("a"), "2");
}
