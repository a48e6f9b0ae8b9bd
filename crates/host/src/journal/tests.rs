//! Journals on a made-up machine: a tree of files.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;

use proptest::prelude::*;

use super::file::JournalFile;
use super::line::{Announced, Header, Record, write};
use super::*;
use crate::machine::{Machine, SYSCTLS, Target, Value};

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
        let Target::Sysctl { name } = target(name) else { panic!("a sysctl") };
        self.file(&format!("proc/sys/{}", name.replace('.', "/")), value);
    }

    fn value(&self, name: &str) -> String {
        self.machine().read(&target(name)).unwrap().to_string()
    }

    fn bytes(&self, name: &str) -> Vec<u8> {
        self.machine().read(&target(name)).unwrap().bytes().to_vec()
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
        let names =
            std::fs::read_dir(self.undo()).into_iter().flatten().map(|entry| entry.unwrap().file_name());
        names.filter(|name| name != "lock").count()
    }

    /// What a process that was killed leaves behind.
    fn leave(&self, name: &str, header: Header, changes: &[(&str, &str, &str)]) -> PathBuf {
        place::make(&self.undo()).unwrap();
        let path = self.undo().join(name);
        let mut file = JournalFile::make(&path, &Record::Begun(header)).unwrap();
        for (number, (name, before, after)) in (1..).zip(changes) {
            let before = (*before).into();
            file.add(&Record::Change(Announced { number, target: target(name), before })).unwrap();
            file.add(&Record::Made(number, (*after).into())).unwrap();
        }
        path
    }
}

/// Three settings by short names, or one by its own.
fn target(name: &str) -> Target {
    let name = match name {
        "a" => "net.core.rmem_max",
        "b" => "net.ipv4.tcp_rmem",
        "c" => "vm.swappiness",
        name => name,
    };
    Target::Sysctl { name: name.to_owned() }
}

fn to(name: &str, value: &str) -> Vec<(Target, String)> {
    vec![(target(name), value.to_owned())]
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
    let world = World::new(&[("a", "1\n"), ("b", "x\ty\n")]);
    let mut journal = world.journal();
    assert_eq!(world.journals(), 0, "nothing is written before anything is changed");
    journal.change(&[to("a", "2"), to("b", "z  z")].concat()).unwrap();
    journal.change(&to("a", "0x3")).unwrap();
    assert_eq!((world.value("a"), world.value("b")), ("0x3".to_owned(), "z z".to_owned()));
    assert_eq!(fates(&world.restore(FORCE)), [&Fate::InUse], "it is not for others to undo");
    let done = journal.undo().unwrap();
    let numbers: Vec<u32> = done.iter().map(|one| one.change.number).collect();
    assert_eq!(numbers, [3, 2, 1]);
    assert_eq!((world.bytes("a"), world.bytes("b")), (b"1\n".to_vec(), b"x\ty\n".to_vec()));
    assert_eq!(world.journals(), 0);
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
    assert_eq!(journal.differences(), [""; 0]);
    world.set("a", "2\n");
    world.set("b", "5\n");
    assert_eq!(
        journal.differences(),
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
    let refused = world.journal().change(&to("b", "2")).unwrap_err().to_string();
    assert!(refused.contains("another session changes this machine"), "{refused}");
    assert_eq!(world.bytes("b"), b"1\n");
    // Nor is anything restored under it.
    world.leave("1.journal", dead(), &[("b", "0", "1\n")]);
    assert_eq!(fates(&world.restore(FORCE)), [&Fate::InUse, &Fate::InUse]);
    first.undo().unwrap();
    let left = world.journal().change(&to("b", "2")).unwrap_err().to_string();
    assert!(left.contains("are not undone") && left.contains("1.journal"), "{left}");
    assert_eq!(fates(&world.restore(Manner::default())), [&Fate::Undone]);
    world.journal().change(&to("b", "2")).unwrap();
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
fn what_somebody_else_changed_is_left_unless_forced_or_forgotten() {
    let world = World::new(&[("a", "7"), ("b", "2")]);
    let path = world.leave("1.journal", dead(), &[("a", "1", "2"), ("b", "1", "2")]);
    let reports = world.restore(Manner::default());
    assert_eq!(reports[0].changes[0].outcome, Outcome::Undone);
    assert_eq!(reports[0].changes[1].outcome, Outcome::ChangedMeanwhile { now: "7".into() });
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
    assert_eq!(reports[0].damaged[0].line, 5);
    assert_eq!(reports[0].fate, Fate::Kept);
    // What the value after was is lost, so that any is set back.
    assert_eq!((world.value("a"), world.value("b")), ("1".to_owned(), "1".to_owned()));
    // What was noted meanwhile stands behind the half line, and is read.
    let again = world.restore(Manner::default());
    assert_eq!((again[0].changes.len(), again[0].damaged.len()), (0, 1));
    assert_eq!(again[0].damaged[0].line, 5);
    assert!(matches!(world.restore(FORGET)[0].fate, Fate::SetAside { .. }));
}

#[test]
fn a_journal_is_followed_in_its_own_boot_and_network_namespace_only() {
    let another_boot = Header { boot: "another".to_owned(), ..dead() };
    let another_network = Header { network: "net:[2]".to_owned(), ..dead() };
    let elsewhere = Fate::Elsewhere { network: "net:[2]".to_owned() };
    for (header, now, manner, fate, value, left) in [
        // It is what the machine started with.
        (another_boot, "2", Manner::default(), Fate::Restarted, "2", 0),
        (another_network, "2", FORCE, elsewhere, "2", 1),
        (dead(), "2", Manner::default(), Fate::Undone, "1", 0),
        // The change was announced and never made.
        (dead(), "1", Manner::default(), Fate::Undone, "1", 0),
    ] {
        let world = World::new(&[("a", now)]);
        world.leave("1.journal", header, &[("a", "1", "2")]);
        let reports = world.restore(manner);
        assert_eq!(fates(&reports), [&fate]);
        assert_eq!((world.value("a").as_str(), world.journals()), (value, left));
        let same = reports[0].changes.first().is_some_and(|one| one.outcome == Outcome::AlreadySo);
        assert_eq!(same, now == "1");
    }
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
fn what_is_no_journal_of_ours_is_told_and_the_others_are_followed() {
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
    let reports = world.restore(Manner::default());
    let told: Vec<String> = reports
        .iter()
        .map(|report| match &report.fate {
            Fate::NotFollowed { why } => why.clone(),
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
    assert!(reports[0].needs_a_look());
    assert_eq!(world.value("a"), "1");
    // They do not keep others from changing the machine, either.
    world.journal().change(&to("a", "3")).unwrap();
    assert!(world.restore(FORGET).iter().all(|report| matches!(report.fate, Fate::SetAside { .. })));
    assert_eq!(world.restore(Manner::default()), []);
    assert!(world.root.path().join("x").exists(), "what a link leads to is left");
}

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
    assert_eq!(fates(&world.restore(Manner::default())), [&Fate::Undone]);
}

#[test]
fn a_lock_or_a_journal_that_others_put_there_is_not_ours() {
    let world = World::new(&[("a", "2")]);
    place::make(&world.undo()).unwrap();
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
        let Fate::NotFollowed { why } = &reports[0].fate else { panic!("{reports:?}") };
        assert!(why.contains("it belongs to user 12345"), "{why}");
    }
    assert_eq!(world.value("a"), "2");
}

#[test]
fn where_a_link_leads_counts_too() {
    let world = World::new(&[("a", "2")]);
    let (open, link) = (world.root.path().join("open"), world.root.path().join("link"));
    place::make(&open.join("state/undo")).unwrap();
    symlink(open.join("state"), &link).unwrap();
    Journal::new(&link.join("undo"), world.machine()).change(&to("a", "3")).unwrap();
    std::fs::set_permissions(&open, PermissionsExt::from_mode(0o777)).unwrap();
    let error =
        Journal::new(&link.join("undo"), world.machine()).change(&to("a", "4")).unwrap_err().to_string();
    assert!(error.contains("open is rejected") && error.contains("others may write"), "{error}");
    assert_eq!(world.value("a"), "2");
}

#[test]
fn without_a_header_nothing_is_followed() {
    let world = World::new(&[("a", "2")]);
    let elsewhere = Header { network: "net:[2]".to_owned(), ..dead() };
    let path = world.leave("1.journal", elsewhere, &[("a", "1", "2")]);
    let mut text = std::fs::read(&path).unwrap();
    text[30] ^= 1;
    std::fs::write(&path, text).unwrap();
    for manner in [Manner::default(), FORCE] {
        let reports = world.restore(manner);
        assert_eq!(fates(&reports), [&Fate::Kept]);
        assert_eq!(reports[0].damaged[0].line, 1);
        assert_eq!(world.value("a"), "2", "it may be of another namespace");
    }
}

#[test]
fn a_boot_that_cannot_be_told_is_no_restart() {
    let world = World::new(&[("a", "2")]);
    let path = world.leave("1.journal", dead(), &[("a", "1", "2")]);
    for file in ["proc/sys/kernel/random/boot_id", "proc/thread-self/ns/net"] {
        let file = world.root.path().join(file);
        std::fs::rename(&file, file.with_extension("hidden")).unwrap();
        let error = restore(&world.undo(), &world.machine(), Manner::default()).unwrap_err().to_string();
        assert!(error.contains("cannot identify this machine and its boot"), "{error}");
        assert!(path.exists());
        std::fs::rename(file.with_extension("hidden"), &file).unwrap();
    }
    assert_eq!(fates(&world.restore(Manner::default())), [&Fate::Undone]);
}

#[test]
fn a_journal_that_cannot_be_written_prevents_the_change() {
    let world = World::new(&[("a", "1")]);
    world.file("state/undo", "a file where the directory should be");
    let error = world.journal().change(&to("a", "2")).unwrap_err().to_string();
    assert!(error.contains("the undo journal"), "{error}");
    assert_eq!(world.value("a"), "1");
}

/// What a setting may hold: nothing, a line, a long list, anything.
fn values() -> impl Strategy<Value = Vec<u8>> {
    let long = (100usize..9000).prop_map(|ports| {
        (0..ports).flat_map(|port| format!("{},", port * 2).into_bytes()).collect::<Vec<u8>>()
    });
    prop_oneof![
        Just(Vec::new()),
        Just(b"\n".to_vec()),
        "[ -~]{1,40}\n".prop_map(String::into_bytes),
        long,
        prop::collection::vec(any::<u8>(), 0..600),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Killed after any number of steps, and its undoing killed after any number of steps, the
    /// machine comes back byte for byte: any allowed setting, whatever it held and whatever the
    /// kernel made of what was asked.
    #[test]
    fn a_kill_at_any_moment_loses_nothing(
        names in prop::sample::subsequence(SYSCTLS, 1..5),
        before in prop::collection::vec(values(), 5),
        after in prop::collection::vec(values(), 5),
        half in values(),
        killed in any::<prop::sample::Index>(),
        undone in any::<prop::sample::Index>(),
    ) {
        let world = World::new(&[]);
        let put = |name: &str, value: &[u8]| {
            let path = world.root.path().join("proc/sys").join(name.replace('.', "/"));
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, value).unwrap();
        };
        names.iter().zip(&before).for_each(|(name, value)| put(name, value));
        let path = world.leave("1.journal", dead(), &[]);
        let mut file = JournalFile::open(&path).unwrap().unwrap().0;
        // All are announced, then each is written and noted.
        let steps = killed.index(names.len() * 3 + 1);
        for step in 0..steps {
            let (phase, index) = if step < names.len() { (0, step) } else {
                ((step - names.len()) % 2 + 1, (step - names.len()) / 2)
            };
            let number = u32::try_from(index).unwrap() + 1;
            let target = Target::Sysctl { name: names[index].to_owned() };
            match phase {
                0 => file.add(&Record::Change(Announced { number, target, before: before[index].clone().into() })),
                1 => {
                    // The first call of a write, or all of it.
                    let whole = step + 1 < steps;
                    put(names[index], if whole { &after[index] } else { &half });
                    Ok(())
                }
                _ => file.add(&Record::Made(number, after[index].clone().into())),
            }
            .unwrap();
        }
        // The undoing is killed too, inside of a write.
        let changes = parse(&std::fs::read(&path).unwrap()).open();
        let last = undone.index(changes.len() + 1);
        for (step, change) in changes.iter().rev().take(last).enumerate() {
            let Target::Sysctl { name } = &change.target else { panic!("a sysctl") };
            if world.machine().read(&change.target).unwrap() != change.before {
                file.add(&Record::Undoing(change.number)).unwrap();
            }
            if step + 1 < last {
                put(name, change.before.bytes());
                file.add(&Record::Undone(change.number)).unwrap();
            } else if world.machine().read(&change.target).unwrap() != change.before {
                put(name, &half);
            }
        }
        drop(file);
        let reports = world.restore(Manner::default());
        prop_assert_eq!(fates(&reports), [&Fate::Undone], "{:?}", reports);
        for (name, value) in names.iter().zip(&before) {
            prop_assert_eq!(&world.machine().read(&target(name)).unwrap(), &Value::from(value.clone()));
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
