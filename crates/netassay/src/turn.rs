//! One measuring session at a time: two on one machine would measure each other.

use record::Cause;
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use agent::Interrupt;
use host::{Holder, Turn};

use crate::cli::TurnFlags;
use crate::failure::{Failure, say};

/// How often a waiting session reports that it waits.
const REMINDER: Duration = Duration::from_secs(60);

/// A session that may measure. Dropping it frees the turn.
pub(crate) enum Session {
    Alone {
        _turn: Turn,
    },
    /// Another one measures, and the user allowed that.
    Beside(Holder),
}

/// Takes the machine's turn to measure, or waits for it, as the flags say.
pub(crate) fn begin(flags: &TurnFlags, interrupt: &Interrupt) -> Result<Session, Failure> {
    let begun = Instant::now();
    let mut told = None;
    loop {
        let holder = match Turn::take()? {
            Ok(turn) => {
                if told.is_some() {
                    say(&format!("netassay: waited for {}", report::duration(begun.elapsed())));
                }
                return Ok(Session::Alone { _turn: turn });
            }
            Err(holder) => holder,
        };
        if flags.beside {
            return Ok(Session::Beside(holder));
        }
        if flags.no_wait {
            return Err(Failure::Environment(format!(
                "another session measures on this machine: {holder}; without --no-wait this one waits for it, with --beside it \
                 measures beside it"
            )));
        }
        if told != Some(holder.pid) {
            say(&format!(
                "netassay: waiting until another session on this machine has ended: {holder} (--no-wait refuses at once, \
                 --beside measures beside it)"
            ));
            told = Some(holder.pid);
        }
        while !holder.ends_within(REMINDER, interrupt.as_fd()) {
            if interrupt.is_tripped() {
                return Err(runner::Error::Interrupted.into());
            }
            say(&format!("netassay: still waiting after {} for {holder}", report::duration(begun.elapsed())));
        }
    }
}

impl Session {
    /// The disturbance of every run of this session; `None` if it is alone.
    pub(crate) fn disturbance(&self) -> Option<Cause> {
        match self {
            Self::Alone { .. } => None,
            Self::Beside(holder) => Some(Cause::Session(holder.to_string())),
        }
    }
}
