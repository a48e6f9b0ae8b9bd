//! Exit codes, stable for scripts.

pub(crate) const OK: u8 = 0;
/// A bug in netassay, or an unknown failure.
pub(crate) const INTERNAL: u8 = 1;
/// The command line, the study file or a file of measurements is wrong, or no such file exists.
pub(crate) const USAGE: u8 = 2;
/// The machine lacks a requirement: a privilege, a file, space, an interface; or, with `--no-wait`,
/// another session measures on it.
pub(crate) const ENVIRONMENT: u8 = 3;
/// No run to make, or no matching stored study.
pub(crate) const NOTHING: u8 = 4;
/// The study ended, but some runs failed, or all were disturbed; `--resume` tries them again.
pub(crate) const SOME_FAILED: u8 = 5;
/// The kernel of a virtual machine does not boot.
pub(crate) const NO_BOOT: u8 = 6;
/// `gate`: a bound is broken; `run --aa`: turns and runs disagree.
pub(crate) const GATE_FAILED: u8 = 10;
/// `gate`: no bound is shown to be broken, and not every one is shown to be kept; `run --aa`: not
/// everything was compared both in turns and in runs.
pub(crate) const GATE_INCONCLUSIVE: u8 = 11;
/// The studies cannot be compared: other workloads, other metrics, counts against times.
pub(crate) const NOT_COMPARABLE: u8 = 12;
/// `gate --bisect`, for `git bisect run`: this step is bad.
pub(crate) const BISECT_BAD: u8 = 1;
/// `gate --bisect`: this step cannot be judged.
pub(crate) const BISECT_SKIP: u8 = 125;
/// `gate --bisect`: the number that is added to the code of any other failure.
// From 128 on a bisection stops.
pub(crate) const BISECT_STOP: u8 = 128;
/// The user interrupted; what was recorded is kept.
pub(crate) const INTERRUPTED: u8 = 130;

pub(crate) const HELP: &str = "\
Exit codes: 0 done, 1 internal error, 2 wrong usage, study or data file, 3 the machine lacks
something or is in use, 4 nothing to run or show, 5 some runs failed (--resume tries them again),
6 a guest's kernel does not boot, 10 a check failed, 11 a check is inconclusive, 12 studies that
cannot be compared, 130 interrupted.";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn help_names_every_code() {
        for code in [
            OK,
            INTERNAL,
            USAGE,
            ENVIRONMENT,
            NOTHING,
            SOME_FAILED,
            NO_BOOT,
            GATE_FAILED,
            GATE_INCONCLUSIVE,
            NOT_COMPARABLE,
            INTERRUPTED,
        ] {
            assert!(HELP.contains(&format!("{code} ")), "{code} is missing");
        }
    }
}
