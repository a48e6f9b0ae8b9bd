//! Exit codes: a promise to scripts.

/// Everything that was asked for was done.
pub(crate) const OK: u8 = 0;
/// A bug in netassay, or a failure it has no better word for.
pub(crate) const INTERNAL: u8 = 1;
/// The command line, the study file or a file of measurements is wrong.
pub(crate) const USAGE: u8 = 2;
/// The machine lacks something that is needed: a privilege, a file, space, an interface; or, with
/// `--no-wait`, another session measures on it.
pub(crate) const ENVIRONMENT: u8 = 3;
/// There is nothing to run, or nothing stored that fits.
pub(crate) const NOTHING: u8 = 4;
/// The study went through, but some of its runs failed, or all were disturbed; `--resume` tries
/// them again.
pub(crate) const SOME_FAILED: u8 = 5;
/// The user interrupted; what was recorded is kept.
pub(crate) const INTERRUPTED: u8 = 130;

/// The table that `--help` shows.
pub(crate) const HELP: &str = "\
Exit codes: 0 done, 1 internal error, 2 wrong usage, study or data file, 3 the machine lacks something or is in use,
4 nothing to run or show, 5 some runs failed (--resume tries them again), 130 interrupted.";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn help_names_every_code() {
        for code in [OK, INTERNAL, USAGE, ENVIRONMENT, NOTHING, SOME_FAILED, INTERRUPTED] {
            assert!(HELP.contains(&format!("{code} ")), "{code} is missing");
        }
    }
}
