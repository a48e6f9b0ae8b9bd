//! Signs of success and failure on a console.

use agent::init::{CANNOT, SERVING};

/// The state of a guest that a console line reveals.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum BootSign {
    /// Its first process serves.
    Serving,
    /// Its first process cannot serve; its message.
    Cannot(String),
    /// Its kernel panicked; its message.
    Panicked(String),
}

/// The kernel's words, in every version (kernel/panic.c).
const PANIC: &str = "Kernel panic - not syncing";

/// The last line of a panic after which the kernel stops.
pub(crate) const PANIC_END: &str = "---[ end Kernel panic";

pub(crate) fn boot_sign(line: &str) -> Option<BootSign> {
    if let Some((_, what)) = line.split_once(PANIC) {
        return Some(BootSign::Panicked(what.trim_start_matches(':').trim().to_owned()));
    }
    if let Some((_, why)) = line.split_once(CANNOT) {
        return Some(BootSign::Cannot(why.trim().to_owned()));
    }
    line.contains(SERVING).then_some(BootSign::Serving)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_tell_of_life_and_death() {
        let panic = "[    1.2] Kernel panic - not syncing: Attempted to kill init! exitcode=0x00000100";
        assert_eq!(
            boot_sign(panic),
            Some(BootSign::Panicked("Attempted to kill init! exitcode=0x00000100".to_owned()))
        );
        assert_eq!(boot_sign(&format!("{SERVING} 2 ports")), Some(BootSign::Serving));
        assert_eq!(boot_sign(&format!("{CANNOT} no port")), Some(BootSign::Cannot("no port".to_owned())));
        assert_eq!(boot_sign("[    0.0] Linux version 6.1"), None);
    }
}
