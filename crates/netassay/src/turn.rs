//! One measuring session at a time on a machine: two would measure each other.

use std::fs::File;
use std::time::{Duration, Instant};

use agent::Interrupt;
use record::Cause;

use crate::cli::TurnFlags;
use crate::commands::hosts::MeasuredEnd;
use crate::failure::{Failure, bail, say};
use crate::machine;

const RETRY: Duration = Duration::from_millis(200);

/// A session that may measure.
pub(crate) struct Session {
    /// The file of [`host::take_measuring_lock`].
    _turn: Option<File>,
    /// Another session measures, or may measure, and the user allowed that.
    pub(crate) beside: Option<Cause>,
}

/// Waits for the turn as the flags say, then undoes the changes of sessions that are gone.
///
/// Between machines the turns are theirs: their agents take them for each boot, and wait for them.
/// `measured`: those that another session measures now.
pub(crate) fn begin(
    flags: &TurnFlags,
    measured: Option<Vec<MeasuredEnd>>,
    interrupt: &Interrupt,
) -> Result<Session, Failure> {
    let session = match measured {
        Some(measured) => look_at_machines(flags, measured)?,
        None => take(flags, interrupt)?,
    };
    machine::recover()?;
    Ok(session)
}

fn look_at_machines(flags: &TurnFlags, measured: Vec<MeasuredEnd>) -> Result<Session, Failure> {
    let mut beside = None;
    for MeasuredEnd { end, holder } in measured {
        if flags.no_wait {
            bail!(Environment, "another session measures on the {end}: {holder}; {WAYS}");
        }
        if flags.beside {
            beside = Some(Cause::Session(format!("{holder} on the {end}")));
        } else {
            say_waiting(&format!("the {end}"), &holder);
        }
    }
    Ok(Session { _turn: None, beside })
}

const WAYS: &str = "without --no-wait this one waits for it, with --beside it measures beside it";

fn say_waiting(machine: &str, holder: &str) {
    say(&format!(
        "netassay: waiting until another session on {machine} has ended: {holder} (--no-wait refuses at once, --beside measures beside it)"
    ));
}

fn take(flags: &TurnFlags, interrupt: &Interrupt) -> Result<Session, Failure> {
    let begun = Instant::now();
    let beside = |other: String| Session { _turn: None, beside: Some(Cause::Session(other)) };
    let mut told: Option<String> = None;
    loop {
        let holder = match host::take_measuring_lock() {
            Ok(Ok(turn)) => {
                if told.is_some() {
                    say(&format!("netassay: waited for {}", results::duration(begun.elapsed())));
                }
                return Ok(Session { _turn: Some(turn), beside: None });
            }
            Ok(Err(holder)) if flags.beside => return Ok(beside(holder)),
            Err(error) if flags.beside => return Ok(beside(error.to_string())),
            Ok(Err(holder)) => holder,
            Err(error) => return Err(error.into()),
        };
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
