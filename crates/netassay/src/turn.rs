//! One measuring session at a time: two on one machine would measure each other.

use std::fs::File;
use std::time::{Duration, Instant};

use agent::Interrupt;
use record::Cause;

use crate::cli::TurnFlags;
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
pub(crate) fn begin(flags: &TurnFlags, interrupt: &Interrupt) -> Result<Session, Failure> {
    let session = take(flags, interrupt)?;
    machine::recover()?;
    Ok(session)
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
            let ways = "without --no-wait this one waits for it, with --beside it measures beside it";
            bail!(Environment, "another session measures on this machine: {holder}; {ways}");
        }
        if told.as_ref() != Some(&holder) {
            say(&format!(
                "netassay: waiting until another session on this machine has ended: {holder} (--no-wait refuses at once, \
                 --beside measures beside it)"
            ));
            told = Some(holder);
        }
        if interrupt.trips_within(RETRY) {
            return Err(runner::Error::Interrupted.into());
        }
    }
}
