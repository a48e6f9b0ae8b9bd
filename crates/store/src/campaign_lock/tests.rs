use super::*;

#[test]
fn one_campaign_at_a_time_and_the_other_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let database = directory.path().join("a.db");
    assert!(!CampaignLock::is_running(&database));
    let first = CampaignLock::begin(&database).unwrap();
    assert!(CampaignLock::is_running(&database));
    match CampaignLock::begin(&database) {
        Err(StoreError::CampaignRunning { pid, .. }) => assert_eq!(pid, Some(process::id())),
        other => panic!("{other:?}"),
    }
    drop(first);
    assert!(!CampaignLock::is_running(&database));
    drop(CampaignLock::begin(&database).unwrap());
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0, "the lock file stays behind");
}

#[test]
fn a_lock_file_without_its_holder_is_taken_over() {
    let directory = tempfile::tempdir().unwrap();
    let database = directory.path().join("a.db");
    fs::write(lock_path(&database), "12345678").unwrap();
    assert!(!CampaignLock::is_running(&database));
    let campaign = CampaignLock::begin(&database).unwrap();
    assert_eq!(fs::read_to_string(lock_path(&database)).unwrap(), process::id().to_string());
    drop(campaign);
}

#[test]
fn a_link_in_the_lock_files_place_leaves_its_target_alone() {
    let directory = tempfile::tempdir().unwrap();
    let (database, victim) = (directory.path().join("a.db"), directory.path().join("victim"));
    for (content, is_symbolic) in [("1", true), ("precious", true), ("precious", false)] {
        fs::write(&victim, content).unwrap();
        if is_symbolic {
            std::os::unix::fs::symlink(&victim, lock_path(&database)).unwrap();
        } else {
            fs::hard_link(&victim, lock_path(&database)).unwrap();
        }
        let error = CampaignLock::begin(&database).unwrap_err().to_string();
        assert!(error.contains("a.db-lock") && error.ends_with("remove it"), "{error}");
        assert_eq!(fs::read_to_string(&victim).unwrap(), content);
        fs::remove_file(lock_path(&database)).unwrap();
    }
    // A number may be a lock's: the name goes, what it was a second name of stays.
    fs::write(&victim, "1234").unwrap();
    fs::hard_link(&victim, lock_path(&database)).unwrap();
    drop(CampaignLock::begin(&database).unwrap());
    assert_eq!(fs::read_to_string(&victim).unwrap(), "1234");
    assert!(!lock_path(&database).exists());
}

#[test]
fn a_dangling_link_in_the_lock_files_place_makes_no_file() {
    let directory = tempfile::tempdir().unwrap();
    let (database, elsewhere) = (directory.path().join("a.db"), directory.path().join("elsewhere"));
    std::os::unix::fs::symlink(&elsewhere, lock_path(&database)).unwrap();
    let error = CampaignLock::begin(&database).unwrap_err().to_string();
    assert!(error.contains("a symbolic link"), "{error}");
    assert!(!elsewhere.exists());
}

#[test]
fn a_pipe_and_a_directory_are_no_lock_files_and_are_not_waited_for() {
    let directory = tempfile::tempdir().unwrap();
    let database = directory.path().join("a.db");
    nix::unistd::mkfifo(&lock_path(&database), nix::sys::stat::Mode::S_IRWXU).unwrap();
    let error = CampaignLock::begin(&database).unwrap_err().to_string();
    assert!(error.contains("it is no regular file"), "{error}");
    fs::remove_file(lock_path(&database)).unwrap();
    fs::create_dir(lock_path(&database)).unwrap();
    let error = CampaignLock::begin(&database).unwrap_err().to_string();
    assert!(error.contains("a.db-lock"), "{error}");
}

#[test]
fn a_lock_file_of_another_user_is_refused_and_one_of_the_databases_owner_is_not() {
    if !geteuid().is_root() {
        let _ = writeln!(io::stderr(), "SKIPPED: another user's lock file: only root gives files away");
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let database = directory.path().join("a.db");
    fs::write(&database, "").unwrap();
    fs::write(lock_path(&database), "1234").unwrap();
    std::os::unix::fs::chown(lock_path(&database), Some(65534), None).unwrap();
    let error = CampaignLock::begin(&database).unwrap_err().to_string();
    assert!(error.contains("it belongs to another user (number 65534)"), "{error}");
    std::os::unix::fs::chown(&database, Some(65534), None).unwrap();
    drop(CampaignLock::begin(&database).unwrap());
}

#[test]
fn many_contenders_never_hold_it_together() {
    let directory = tempfile::tempdir().unwrap();
    let database = directory.path().join("a.db");
    let holders = std::sync::atomic::AtomicU32::new(0);
    let turns = std::sync::atomic::AtomicU32::new(0);
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..50 {
                    if let Ok(campaign) = CampaignLock::begin(&database) {
                        use std::sync::atomic::Ordering::SeqCst;
                        assert_eq!(holders.fetch_add(1, SeqCst), 0);
                        turns.fetch_add(1, SeqCst);
                        assert_eq!(holders.fetch_sub(1, SeqCst), 1);
                        drop(campaign);
                    }
                }
            });
        }
    });
    assert!(turns.into_inner() > 0);
}
