//! The results of trials, kept for the next session: small files in the user's cache.
//!
//! Each finding has its own file with the whole key, so that it is never mistaken for another. A
//! missing, damaged or foreign file is no error: the trial is repeated.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use nix::unistd::geteuid;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::guest::directories;

/// The most findings; the oldest are removed first.
const MOST: usize = 200;
const LONGEST: u64 = 16 << 20;
const ENDING: &str = "json";

/// Findings by their keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrialCache {
    /// `None`: nothing is kept.
    directory: Option<PathBuf>,
}

/// A finding and its time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CachedTrial<T> {
    /// The finding.
    pub what: T,
    /// Its time.
    pub when: SystemTime,
}

#[derive(Serialize, Deserialize)]
struct CacheEntry<K, T> {
    key: K,
    unix_s: u64,
    what: T,
}

impl TrialCache {
    /// This user's cache: `$XDG_CACHE_HOME/netassay/tried`, or `~/.cache/netassay/tried`.
    #[must_use]
    pub fn of_this_user() -> Self {
        Self { directory: directories::tried() }
    }

    /// A cache in this directory, which may not exist yet.
    #[must_use]
    pub fn in_directory(directory: impl Into<PathBuf>) -> Self {
        Self { directory: Some(directory.into()) }
    }

    /// A cache that keeps nothing.
    #[must_use]
    pub fn none() -> Self {
        Self { directory: None }
    }

    /// The finding of this key, if known.
    #[must_use]
    pub fn recall<T: DeserializeOwned>(&self, key: &Value) -> Option<CachedTrial<T>> {
        let text = read_own(&self.path(key)?)?;
        let entry: CacheEntry<Value, T> = serde_json::from_str(&text).ok()?;
        let when = UNIX_EPOCH.checked_add(Duration::from_secs(entry.unix_s))?;
        // A time in the future comes from a wrong clock, or from damage.
        (entry.key == *key && when <= SystemTime::now()).then_some(CachedTrial { what: entry.what, when })
    }

    /// Replaces the finding of this key. An error costs only time: the next session repeats the
    /// trial.
    pub fn keep(&self, key: &Value, what: &impl Serialize) {
        let Some(path) = self.path(key) else { return };
        let unix_s = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        if let Ok(text) = serde_json::to_string(&CacheEntry { key, unix_s, what }) {
            // On a full disk or a read-only home only time is lost.
            let _ = write_whole(&path, &text);
            self.prune();
        }
    }

    /// Removes the finding of this key.
    pub fn forget(&self, key: &Value) {
        if let Some(path) = self.path(key) {
            let _ = fs::remove_file(path);
        }
    }

    /// Removes all findings; returns their number.
    ///
    /// # Errors
    /// When a file cannot be removed.
    pub fn forget_all(&self) -> io::Result<usize> {
        let files = self.files();
        files.iter().try_for_each(fs::remove_file).map(|()| files.len())
    }

    fn path(&self, key: &Value) -> Option<PathBuf> {
        let name = format!("{:016x}.{ENDING}", words::fnv1a(key.to_string().as_bytes()));
        Some(self.directory.as_ref()?.join(name))
    }

    fn files(&self) -> Vec<PathBuf> {
        let entries = self.directory.as_ref().and_then(|directory| fs::read_dir(directory).ok());
        let mut files: Vec<(SystemTime, PathBuf)> = entries
            .into_iter()
            .flatten()
            .filter_map(|entry| {
                let entry = entry.ok()?;
                let ours = entry.path().extension().is_some_and(|ending| ending == ENDING);
                Some((entry.metadata().ok()?.modified().ok()?, entry.path())).filter(|_| ours)
            })
            .collect();
        files.sort();
        files.into_iter().map(|(_, path)| path).collect()
    }

    fn prune(&self) {
        let files = self.files();
        for path in &files[..files.len().saturating_sub(MOST)] {
            let _ = fs::remove_file(path);
        }
    }
}

/// A finding's date for people: `2026-11-20 13:40 UTC`.
#[must_use]
pub fn date(when: SystemTime) -> String {
    let text = humantime::format_rfc3339_seconds(when).to_string();
    format!("{} UTC", text.get(..16).unwrap_or(&text).replace('T', " "))
}

/// A file of this user's that nobody else can write; nothing for any other.
fn read_own(path: &Path) -> Option<String> {
    let file =
        OpenOptions::new().read(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK).open(path).ok()?;
    let about = file.metadata().ok()?;
    if about.uid() != geteuid().as_raw() || !about.is_file() || about.mode() & 0o022 != 0 {
        return None;
    }
    let mut text = String::new();
    file.take(LONGEST).read_to_string(&mut text).ok()?;
    Some(text)
}

/// Writes a new file and renames it, so that nobody reads half of it.
fn write_whole(path: &Path, text: &str) -> io::Result<()> {
    if let Some(directory) = path.parent() {
        DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
    }
    let beside = path.with_extension(std::process::id().to_string());
    let written = write_new(&beside, text).and_then(|()| fs::rename(&beside, path));
    if written.is_err() {
        let _ = fs::remove_file(&beside);
    }
    written
}

fn write_new(path: &Path, text: &str) -> io::Result<()> {
    // The file of a killed process with the same number.
    let _ = fs::remove_file(path);
    let mut file: File = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use serde_json::json;

    use super::*;

    #[test]
    fn a_finding_is_recalled_by_its_whole_key_until_it_is_forgotten() {
        let directory = tempfile::tempdir().unwrap();
        let memory = TrialCache::in_directory(directory.path().join("netassay/tried"));
        let (one, other) = (json!({"kernel": "a"}), json!({"kernel": "b"}));
        assert_eq!(memory.recall::<String>(&one), None);
        memory.keep(&one, &"works");
        let found = memory.recall::<String>(&one).unwrap();
        assert_eq!(found.what, "works");
        assert!(found.when.elapsed().unwrap() < Duration::from_secs(60));
        assert_eq!(memory.recall::<String>(&other), None);
        // A file under another key's name is not used for that key.
        fs::copy(memory.path(&one).unwrap(), memory.path(&other).unwrap()).unwrap();
        assert_eq!(memory.recall::<String>(&other), None);
        memory.forget(&one);
        assert_eq!(memory.recall::<String>(&one), None);
        assert_eq!(memory.forget_all().unwrap(), 1);
        TrialCache::none().keep(&one, &1);
        assert_eq!(TrialCache::none().recall::<u8>(&one), None);
    }

    #[test]
    fn what_is_damaged_or_may_be_anothers_is_not_believed() {
        let directory = tempfile::tempdir().unwrap();
        let (memory, key) = (TrialCache::in_directory(directory.path()), json!("key"));
        let path = memory.path(&key).unwrap();
        let damage: [&dyn Fn(); 5] = [
            &|| fs::write(&path, "{\"key\":\"key\",\"unix_s\":1,\"wh").unwrap(),
            &|| fs::write(&path, [0xff; 100]).unwrap(),
            &|| fs::write(&path, "{\"key\":\"key\",\"unix_s\":18446744073709551615,\"what\":1}").unwrap(),
            &|| fs::set_permissions(&path, fs::Permissions::from_mode(0o622)).unwrap(),
            &|| {
                fs::rename(&path, path.with_extension("moved")).unwrap();
                std::os::unix::fs::symlink(path.with_extension("moved"), &path).unwrap();
            },
        ];
        for damage in damage {
            memory.keep(&key, &1);
            assert_eq!(memory.recall::<u8>(&key).unwrap().what, 1);
            damage();
            assert_eq!(memory.recall::<u8>(&key), None);
        }
        // Nor is a finding of another kind.
        memory.keep(&key, &"text");
        assert_eq!(memory.recall::<u8>(&key), None);
    }

    #[test]
    fn dates_are_to_the_minute() {
        assert_eq!(date(UNIX_EPOCH + Duration::from_secs(1_763_646_005)), "2025-11-20 13:40 UTC");
    }

    #[test]
    fn the_oldest_findings_go() {
        let directory = tempfile::tempdir().unwrap();
        let memory = TrialCache::in_directory(directory.path());
        for number in 0..MOST + 3 {
            memory.keep(&json!(number), &number);
        }
        assert_eq!(memory.files().len(), MOST);
        assert_eq!(memory.recall::<usize>(&json!(MOST + 2)).unwrap().what, MOST + 2);
    }

    #[test]
    fn a_place_that_cannot_be_written_is_no_error() {
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join("file"), "").unwrap();
        let memory = TrialCache::in_directory(directory.path().join("file/tried"));
        memory.keep(&json!(1), &1);
        assert_eq!(memory.recall::<u8>(&json!(1)), None);
        assert_eq!(memory.forget_all().unwrap(), 0);
    }
}
