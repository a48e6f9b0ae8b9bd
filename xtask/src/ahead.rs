//! Builds that later steps need, made while steps before them leave a CPU idle.

use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

/// Builds under way, one after the other. Dropped, the one that runs is ended.
///
/// Nothing is reported: the step that needs a build waits for cargo's lock, builds what is left,
/// and says what is wrong.
pub(crate) struct Ahead {
    over: Arc<AtomicBool>,
    running: Arc<Mutex<Option<Child>>>,
    thread: Option<JoinHandle<()>>,
}

impl Ahead {
    pub(crate) fn begin(commands: Vec<Command>) -> Self {
        let (over, running) = (Arc::new(AtomicBool::new(false)), Arc::new(Mutex::new(None)));
        let (ends, runs) = (Arc::clone(&over), Arc::clone(&running));
        let each = move || {
            for mut command in commands {
                command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
                let Ok(child) = command.spawn() else { return };
                *runs.lock().unwrap_or_else(PoisonError::into_inner) = Some(child);
                while !ended(&runs) {
                    if ends.load(Ordering::Acquire) {
                        return;
                    }
                    thread::sleep(std::time::Duration::from_millis(100));
                }
            }
        };
        Self { over, running, thread: Some(thread::spawn(each)) }
    }
}

fn ended(running: &Mutex<Option<Child>>) -> bool {
    let mut running = running.lock().unwrap_or_else(PoisonError::into_inner);
    running.as_mut().is_none_or(|child| !matches!(child.try_wait(), Ok(None)))
}

impl Drop for Ahead {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
        if let Some(child) = self.running.lock().unwrap_or_else(PoisonError::into_inner).as_mut() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn one_after_the_other_and_none_outlives_it() {
        let directory = std::env::temp_dir().join(format!("ahead-{}", std::process::id()));
        std::fs::create_dir_all(&directory).unwrap();
        let made = directory.join("made");
        let first = shell(&format!("echo 1 > {}", made.display()));
        let endless = shell(&format!("cat {} >> {0}.2; exec sleep 1000", made.display()));
        let begun = Instant::now();
        let ahead = Ahead::begin(vec![first, endless]);
        while std::fs::read_to_string(directory.join("made.2")).unwrap_or_default() != "1\n" {
            assert!(begun.elapsed() < Duration::from_secs(30));
            thread::sleep(Duration::from_millis(10));
        }
        drop(ahead);
        assert!(begun.elapsed() < Duration::from_secs(60), "the endless one is ended");
        std::fs::remove_dir_all(directory).unwrap();
    }
}
