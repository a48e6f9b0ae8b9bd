//! Journals on a made-up machine: a tree of files.

mod any;
mod applied;
mod changes;
mod left;
mod lines;
mod trust;

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;

use proptest::prelude::*;

use super::file::JournalFile;
use super::line::{Header, Record, write};
use super::*;
use crate::machine::{Machine, SettingValue, Target};

// No process has such a number: `PID_MAX_LIMIT` is 2^22.
const NOBODY: u32 = u32::MAX;

struct World {
    root: tempfile::TempDir,
}

impl World {
    fn new(settings: &[(&str, &str)]) -> Self {
        let world = Self { root: tempfile::tempdir().unwrap() };
        world.file("proc/sys/kernel/random/boot_id", "this-boot");
        std::fs::create_dir_all(world.root.path().join("proc/thread-self/ns")).unwrap();
        world.enter("net:[1]");
        for (name, value) in settings {
            world.set(name, value);
        }
        world
    }

    /// Another network namespace of the same machine, with the same directory of journals.
    fn enter(&self, network: &str) {
        let link = self.root.path().join("proc/thread-self/ns/net");
        let _ = std::fs::remove_file(&link);
        symlink(network, link).unwrap();
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
        self.machine().read(&target(name)).unwrap().text().as_bytes().to_vec()
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

    fn restore(&self, manner: RestoreOptions) -> Vec<JournalReport> {
        restore(&self.undo(), &self.machine(), manner).unwrap()
    }

    fn journals(&self) -> usize {
        let names =
            std::fs::read_dir(self.undo()).into_iter().flatten().map(|entry| entry.unwrap().file_name());
        // Beside the locks.
        names.filter(|name| name != "lock" && !name.to_string_lossy().ends_with(".claim")).count()
    }

    /// Leaves a journal and settings as a killed process does.
    fn leave(&self, name: &str, header: Header, changes: &[(&str, &str, &str)]) -> PathBuf {
        directory::make(&self.undo(), 0o700).unwrap();
        let path = self.undo().join(name);
        let mut file = JournalFile::make(&path, &Record::Begun(header)).unwrap();
        for (number, (name, before, after)) in (1..).zip(changes) {
            let change = Change { number, target: target(name), before: (*before).into(), after: None };
            file.add(&[Record::Change(change)]).unwrap();
            file.add(&[Record::Made(number, (*after).into())]).unwrap();
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

const FORCE: RestoreOptions = RestoreOptions { dry_run: false, force: true, forget: false, applied: false };
const FORGET: RestoreOptions = RestoreOptions { dry_run: false, force: false, forget: true, applied: false };
const DRY: RestoreOptions = RestoreOptions { dry_run: true, force: false, forget: false, applied: false };

fn fates(reports: &[JournalReport]) -> Vec<&JournalFate> {
    reports.iter().map(|report| &report.fate).collect()
}
