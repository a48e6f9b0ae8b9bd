//! Journals on a made-up machine: a tree of files.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use proptest::prelude::*;

use super::line::{Header, Record, write};
use super::paper::Paper;
use super::*;
use crate::machine::{Machine, Target};

/// No process has such a number: `PID_MAX_LIMIT` is 2^22.
const NOBODY: u32 = u32::MAX;

struct World {
    root: tempfile::TempDir,
}

impl World {
    fn new(settings: &[(&str, &str)]) -> Self {
        let world = Self { root: tempfile::tempdir().unwrap() };
        world.file("proc/sys/kernel/random/boot_id", "this-boot");
        std::fs::create_dir_all(world.root.path().join("proc/thread-self/ns")).unwrap();
        symlink("net:[1]", world.root.path().join("proc/thread-self/ns/net")).unwrap();
        for (name, value) in settings {
            world.set(name, value);
        }
        world
    }

    fn file(&self, path: &str, text: &str) {
        let path = self.root.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn set(&self, name: &str, value: &str) {
        self.file(&format!("proc/sys/net/core/{name}"), value);
    }

    fn value(&self, name: &str) -> String {
        self.machine().read(&target(name)).unwrap()
    }

    fn machine(&self) -> Machine {
        Machine::below(self.root.path())
    }

    fn undo(&self) -> PathBuf {
        self.root.path().join("state/undo")
    }

    fn journal(&self) -> Journal {
        Journal::new(&self.undo(), self.machine())
    }

    fn restore(&self, manner: Manner) -> Vec<Report> {
        restore(&self.undo(), &self.machine(), manner).unwrap()
    }

    fn journals(&self) -> usize {
        std::fs::read_dir(self.undo()).map_or(0, Iterator::count)
    }

    /// What a process that was killed leaves behind.
    fn leave(&self, name: &str, header: Header, changes: &[(&str, &str, &str)]) -> PathBuf {
        place::make(&self.undo()).unwrap();
        let path = self.undo().join(name);
        let mut paper = Paper::make(&path, &Record::Begun(header)).unwrap();
        for (number, (name, before, after)) in (1..).zip(changes) {
            let (before, after) = ((*before).to_owned(), (*after).to_owned());
            paper.add(&Record::Change(Change { number, target: target(name), before, after })).unwrap();
        }
        path
    }
}

fn target(name: &str) -> Target {
    Target::Sysctl { name: format!("net.core.{name}") }
}

fn dead() -> Header {
    Header::new(NOBODY, 1, "this-boot".to_owned(), "net:[1]".to_owned())
}

const FORCE: Manner = Manner { dry_run: false, force: true, forget: false };
const FORGET: Manner = Manner { dry_run: false, force: false, forget: true };
const DRY: Manner = Manner { dry_run: true, force: false, forget: false };

fn fates(reports: &[Report]) -> Vec<&Fate> {
    reports.iter().map(|report| &report.fate).collect()
}

#[test]
fn changes_are_undone_in_reverse_order_and_nothing_is_left() {
    let world = World::new(&[("a", "1"), ("b", "x y")]);
    let mut journal = world.journal();
    assert_eq!(world.journals(), 0, "nothing is written before anything is changed");
    journal.change(&target("a"), "2").unwrap();
    journal.change(&target("b"), "z  z").unwrap();
    journal.change(&target("a"), "3").unwrap();
    assert_eq!(journal.change(&target("a"), "3").unwrap(), None);
    assert_eq!((world.value("a"), world.value("b")), ("3".to_owned(), "z z".to_owned()));
    assert_eq!(fates(&world.restore(FORCE)), [&Fate::InUse], "it is not for others to undo");
    let done = journal.undo().unwrap();
    let numbers: Vec<u32> = done.iter().map(|one| one.change.number).collect();
    assert_eq!(numbers, [3, 2, 1]);
    assert_eq!((world.value("a"), world.value("b")), ("1".to_owned(), "x y".to_owned()));
    assert_eq!(world.journals(), 0);
}

#[test]
fn a_journal_that_is_dropped_undoes_its_changes() {
    let world = World::new(&[("a", "1")]);
    let mut journal = world.journal();
    journal.change(&target("a"), "2").unwrap();
    assert!(journal.change(&target("gone"), "2").is_err());
    drop(journal);
    assert_eq!(world.value("a"), "1");
    assert_eq!(world.journals(), 0);
}

#[test]
fn what_a_dead_process_left_is_undone_the_newest_first() {
    let world = World::new(&[("a", "3")]);
    world.leave("1.journal", dead(), &[("a", "1", "2")]);
    world.leave("2.journal", dead(), &[("a", "2", "3")]);
    assert_eq!(fates(&world.restore(Manner::default())), [&Fate::Undone, &Fate::Undone]);
    assert_eq!(world.value("a"), "1");
    assert_eq!(world.journals(), 0);
    assert_eq!(world.restore(Manner::default()), []);
}

#[test]
fn a_change_that_was_announced_and_never_made_needs_nothing() {
    let world = World::new(&[("a", "1")]);
    world.leave("1.journal", dead(), &[("a", "1", "2")]);
    let reports = world.restore(Manner::default());
    assert_eq!(reports[0].changes[0].outcome, Outcome::AlreadySo);
    assert_eq!(world.journals(), 0);
}

#[test]
fn what_somebody_else_changed_is_left_unless_forced_or_forgotten() {
    let world = World::new(&[("a", "7"), ("b", "2")]);
    let path = world.leave("1.journal", dead(), &[("a", "1", "2"), ("b", "1", "2")]);
    let reports = world.restore(Manner::default());
    assert_eq!(reports[0].changes[0].outcome, Outcome::Undone);
    assert_eq!(reports[0].changes[1].outcome, Outcome::ChangedMeanwhile { now: "7".to_owned() });
    assert!(reports[0].needs_a_look());
    assert_eq!((world.value("a"), world.value("b")), ("7".to_owned(), "1".to_owned()));
    // What is undone is not looked at again, whatever becomes of it.
    world.set("b", "2");
    let reports = world.restore(FORCE);
    assert_eq!(reports[0].changes.len(), 1);
    assert_eq!((world.value("a"), world.value("b")), ("1".to_owned(), "2".to_owned()));
    assert!(!path.exists());

    world.set("a", "7");
    world.leave("2.journal", dead(), &[("a", "1", "2")]);
    assert!(matches!(world.restore(FORGET)[0].fate, Fate::SetAside { .. }));
    assert_eq!(world.value("a"), "7");
    assert!(world.undo().join("2.set-aside").exists(), "nothing is lost");
    assert_eq!(world.restore(Manner::default()), []);
}

#[test]
fn a_dry_run_tells_the_same_and_touches_nothing() {
    let world = World::new(&[("a", "3")]);
    let path = world.leave("1.journal", dead(), &[("a", "1", "2"), ("a", "2", "3")]);
    let before = std::fs::read(&path).unwrap();
    let told = world.restore(DRY);
    assert_eq!(world.value("a"), "3");
    assert_eq!(std::fs::read(&path).unwrap(), before);
    assert_eq!(world.restore(Manner::default()), told);
    assert_eq!(world.value("a"), "1");
}

#[test]
fn a_damaged_line_is_told_with_its_place_and_nothing_is_lost() {
    let world = World::new(&[("a", "2"), ("b", "2")]);
    let path = world.leave("1.journal", dead(), &[("a", "1", "2"), ("b", "1", "2")]);
    let text = std::fs::read(&path).unwrap();
    std::fs::write(&path, &text[..text.len() - 9]).unwrap();
    let reports = world.restore(Manner::default());
    assert_eq!(reports[0].damaged[0].line, 3);
    assert_eq!(reports[0].fate, Fate::Kept);
    assert_eq!((world.value("a"), world.value("b")), ("1".to_owned(), "2".to_owned()));
    // What was noted meanwhile stands behind the half line, and is read.
    let again = world.restore(Manner::default());
    assert_eq!((again[0].changes.len(), again[0].damaged.len()), (0, 1));
    assert_eq!(again[0].damaged[0].line, 3);
    assert!(matches!(world.restore(FORGET)[0].fate, Fate::SetAside { .. }));
}

#[test]
fn a_restart_of_the_machine_has_undone_everything() {
    let world = World::new(&[("a", "2")]);
    let header = Header { boot: "another".to_owned(), ..dead() };
    world.leave("1.journal", header, &[("a", "1", "2")]);
    assert_eq!(fates(&world.restore(Manner::default())), [&Fate::Restarted]);
    assert_eq!(world.value("a"), "2", "it is what the machine started with");
    assert_eq!(world.journals(), 0);
}

#[test]
fn another_network_namespace_is_left_alone() {
    let world = World::new(&[("a", "2")]);
    let header = Header { network: "net:[2]".to_owned(), ..dead() };
    let path = world.leave("1.journal", header, &[("a", "1", "2")]);
    assert!(matches!(&world.restore(FORCE)[0].fate, Fate::Elsewhere { network } if network == "net:[2]"));
    assert_eq!(world.value("a"), "2");
    assert!(path.exists());
}

#[test]
fn a_living_process_keeps_its_journal_even_unlocked() {
    let world = World::new(&[("a", "2")]);
    let pid = std::process::id();
    let start = restore::start_of(pid).unwrap();
    world.leave("1.journal", Header { pid, start, ..dead() }, &[("a", "1", "2")]);
    assert_eq!(fates(&world.restore(Manner::default())), [&Fate::InUse]);
    // Its number alone is not it: another process may have it by now.
    world.leave("2.journal", Header { pid, start: start + 1, ..dead() }, &[("a", "1", "2")]);
    assert_eq!(fates(&world.restore(Manner::default())), [&Fate::Undone, &Fate::InUse]);
}

#[test]
fn what_others_may_write_is_not_followed() {
    let world = World::new(&[("a", "2")]);
    let path = world.leave("1.journal", dead(), &[("a", "1", "2")]);
    let refused = |path: &Path, mode: u32| {
        let before = path.metadata().unwrap().permissions();
        std::fs::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
        let error = restore(&world.undo(), &world.machine(), FORCE).unwrap_err().to_string();
        assert!(error.contains("is not ours alone") && error.contains("others may write"), "{error}");
        std::fs::set_permissions(path, before).unwrap();
    };
    refused(&path, 0o666);
    refused(&world.undo(), 0o777);
    let elsewhere = world.root.path().join("elsewhere");
    std::fs::rename(&path, &elsewhere).unwrap();
    symlink(&elsewhere, &path).unwrap();
    assert!(restore(&world.undo(), &world.machine(), FORCE).is_err(), "a link leads anywhere");
    assert_eq!(world.value("a"), "2");
}

#[test]
fn a_journal_that_cannot_be_written_prevents_the_change() {
    let world = World::new(&[("a", "1")]);
    world.file("state/undo", "a file where the directory should be");
    let error = world.journal().change(&target("a"), "2").unwrap_err().to_string();
    assert!(error.contains("XDG_STATE_HOME"), "{error}");
    assert_eq!(world.value("a"), "1");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Killed after any number of steps, and its undoing killed after any number of steps, the machine comes back as it was.
    #[test]
    fn a_kill_at_any_moment_loses_nothing(
        changes in prop::collection::vec((0usize..3, 1u32..5), 1..8),
        made in any::<prop::sample::Index>(),
        undone in any::<prop::sample::Index>(),
    ) {
        let names = ["a", "b", "c"];
        let world = World::new(&[("a", "0"), ("b", "0"), ("c", "0")]);
        place::make(&world.undo()).unwrap();
        let path = world.undo().join("1.journal");
        let mut paper = Paper::make(&path, &Record::Begun(dead())).unwrap();
        // The last change that was announced may not have been made.
        let (announced, made) = (changes.len(), changes.len() - made.index(2));
        let mut history = Vec::new();
        for (step, (name, value)) in changes.iter().enumerate() {
            let (name, value) = (names[*name], value.to_string());
            let before = world.value(name);
            if before == value { continue; }
            let number = u32::try_from(history.len()).unwrap() + 1;
            let change = Change { number, target: target(name), before, after: value.clone() };
            paper.add(&Record::Change(change.clone())).unwrap();
            history.push(change);
            if step < made || step + 1 < announced {
                world.set(name, &value);
            }
        }
        // The undoing is killed too: its last change is made, and not yet noted.
        let steps = undone.index(history.len() + 1);
        for (step, change) in history.iter().rev().take(steps).enumerate() {
            world.machine().write(&change.target, &change.before).unwrap();
            if step + 1 < steps {
                paper.add(&Record::Undone(change.number)).unwrap();
            }
        }
        drop(paper);
        let reports = world.restore(Manner::default());
        prop_assert_eq!(fates(&reports), [&Fate::Undone]);
        for name in names {
            prop_assert_eq!(world.value(name), "0");
        }
    }

    #[test]
    fn hostile_journals_are_reported_and_never_followed_beyond_their_own_settings(
        bytes in prop::collection::vec(any::<u8>(), 0..300)
    ) {
        let world = World::new(&[("a", "2")]);
        let path = world.leave("1.journal", dead(), &[]);
        std::fs::write(&path, [write(&Record::Begun(dead())), bytes].concat()).unwrap();
        let reports = world.restore(Manner::default());
        prop_assert_eq!(reports.len(), 1);
        prop_assert_eq!(world.value("a"), "2");
    }
}
