//! One measuring session at a time on a machine: two would measure each other.

use std::fs::File;
use std::time::Duration;

use agent::Interrupt;
use record::Cause;

use crate::cli::TurnFlags;
use crate::failure::{Failure, bail, say};
use crate::machine;

const RETRY: Duration = Duration::from_millis(200);

/// Ends of traffic whose machines another session measures now, each with the holder of the turn.
pub(crate) type HeldEnds = Vec<(String, String)>;

/// Waits for the turn as the flags say, then undoes the changes of sessions that are gone. Returns
/// the file of [`host::take_measuring_lock`], which is the turn while it is open, and the other
/// session that measures, or may measure, if the user allowed that.
///
/// Between machines the turns are theirs: their agents take them for each boot, and wait for them.
pub(crate) fn begin(
    flags: &TurnFlags,
    measured: Option<HeldEnds>,
    interrupt: &Interrupt,
) -> Result<(Option<File>, Option<Cause>), Failure> {
    let turn = match measured {
        Some(measured) => (None, look_at_machines(flags, measured)?),
        None => take(flags, interrupt)?,
    };
    machine::recover()?;
    Ok(turn)
}

fn look_at_machines(flags: &TurnFlags, measured: HeldEnds) -> Result<Option<Cause>, Failure> {
    let mut beside = None;
    for (end, holder) in measured {
        if flags.no_wait {
            bail!(Environment, "another session measures on the {end}: {holder}; {WAYS}");
        }
        if flags.beside {
            beside = Some(Cause::Session(format!("{holder} on the {end}")));
        } else {
            say_waiting(&format!("the {end}"), &holder);
        }
    }
    Ok(beside)
}

const WAYS: &str = "without --no-wait this one waits for it, with --beside it measures beside it";

fn say_waiting(machine: &str, holder: &str) {
    say(&format!(
        "netassay: waiting until another session on {machine} has ended: {holder} (--no-wait refuses at once, --beside measures beside it)"
    ));
}

fn take(flags: &TurnFlags, interrupt: &Interrupt) -> Result<(Option<File>, Option<Cause>), Failure> {
    let mut told: Option<String> = None;
    loop {
        let holder = match host::take_measuring_lock() {
            Ok(Ok(turn)) => return Ok((Some(turn), None)),
            Ok(Err(holder)) => holder.0,
            Err(error) if flags.beside => error.to_string(),
            Err(error) => return Err(error.into()),
        };
        if flags.beside {
            return Ok((None, Some(Cause::Session(holder))));
        }
        if flags.no_wait {
            bail!(Environment, "another session measures on this machine: {holder}; {WAYS}");
        }
        if told.as_ref() != Some(&holder) {
            say_waiting("this machine", &holder);
            told = Some(holder);
        }
        if interrupt.trips_within(RETRY) {
            return Err(runner::Error::Interrupted.into());
        }
    }
}
