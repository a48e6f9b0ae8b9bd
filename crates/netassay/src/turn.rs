//! One measuring session at a time: two on one machine would measure each other.

use record::Cause;
use std::time::{Duration, Instant};

use agent::Interrupt;
use host::MeasuringLock;

use crate::cli::TurnFlags;
use crate::failure::{Failure, say};
use crate::machine;

/// The time between two reports of a waiting session.
const REMINDER: Duration = Duration::from_secs(60);

/// The time between two tries of a waiting session.
const RETRY: Duration = Duration::from_millis(200);

/// A session that may measure. Dropping it frees the turn.
pub(crate) enum Session {
    Alone {
        _turn: MeasuringLock,
    },
    /// Another session measures, or may measure, and the user allowed that.
    Beside(String),
}

/// Takes the machine's turn to measure, or waits for it, as the flags say; then undoes the changes
/// of sessions that are gone.
pub(crate) fn begin(flags: &TurnFlags, interrupt: &Interrupt) -> Result<Session, Failure> {
    let session = take(flags, interrupt)?;
    machine::recover()?;
    Ok(session)
}

fn take(flags: &TurnFlags, interrupt: &Interrupt) -> Result<Session, Failure> {
    let begun = Instant::now();
    let mut told: Option<(String, Instant)> = None;
    loop {
        let holder = match MeasuringLock::take() {
            Ok(Ok(turn)) => {
                if told.is_some() {
                    say(&format!("netassay: waited for {}", results::duration(begun.elapsed())));
                }
                return Ok(Session::Alone { _turn: turn });
            }
            Ok(Err(holder)) if flags.beside => return Ok(Session::Beside(holder)),
            Err(error) if flags.beside => return Ok(Session::Beside(error.to_string())),
            Ok(Err(holder)) => holder,
            Err(error) => return Err(error.into()),
        };
        if flags.no_wait {
            return Err(Failure::Environment(format!(
                "another session measures on this machine: {holder}; without --no-wait this one waits for it, with --beside it \
                 measures beside it"
            )));
        }
        match &mut told {
            Some((known, _)) if *known != holder => told = None,
            Some((_, at)) if at.elapsed() > REMINDER => {
                say(&format!(
                    "netassay: still waiting after {} for {holder}",
                    results::duration(begun.elapsed())
                ));
                *at = Instant::now();
            }
            _ => {}
        }
        if told.is_none() {
            say(&format!(
                "netassay: waiting until another session on this machine has ended: {holder} (--no-wait refuses at once, \
                 --beside measures beside it)"
            ));
            told = Some((holder, Instant::now()));
        }
        if interrupt.trips_within(RETRY) {
            return Err(runner::Error::Interrupted.into());
        }
    }
}

impl Session {
    /// The disturbance of every run of this session; `None` if it is alone.
    pub(crate) fn disturbance(&self) -> Option<Cause> {
        match self {
            Self::Alone { .. } => None,
            Self::Beside(holder) => Some(Cause::Session(holder.clone())),
        }
    }
}
