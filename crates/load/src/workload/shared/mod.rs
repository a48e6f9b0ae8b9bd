//! One thread that serves several lanes and waits for all of them at once (epoll(7)).
//!
//! A thread with one lane waits in its calls and has a loop of its own; here no call on a socket
//! waits. What a lane needs between two turns is small, and buffers are the thread's.

mod patience;
mod poll;

use std::time::Duration;

pub(crate) use patience::Patience;
pub(crate) use poll::{Poll, Wake};

use crate::error::Result;
use crate::lane::{Lane, Next, QUIET};
use crate::sys;

/// How long a thread sleeps at most before it looks at the phase.
const TICK: Duration = Duration::from_millis(50);
/// Lanes that begin before those that have begun are served again: what all of them send at once
/// would find no room.
const BEGIN: usize = 64;
/// Turns between two looks at the clock.
const TURNS: u32 = 256;

/// What a thread does for its lanes, known by their place among them.
pub(crate) trait Work {
    /// The first thing done for a lane.
    fn begin(&mut self, _at: usize) -> Result<()> {
        Ok(())
    }

    /// Does what can be done for a lane whose socket is ready, or may be.
    fn serve(&mut self, at: usize) -> Result<Next>;

    /// Looks after lanes whose sockets are silent; called now and then before senders end. `now` is
    /// that of [`sys::now`].
    fn look(&mut self, _now: u64) -> Result<()> {
        Ok(())
    }
}

/// Serves the lanes until all have ended, or until the phase `over`.
pub(crate) fn run(lanes: &[Lane], wake: Wake, over: u8, work: &mut impl Work) -> Result<()> {
    let phase = lanes[0].phase();
    let mut poll = Poll::new(lanes, wake)?;
    lanes[0].ready();
    let (mut fresh, mut turns) = (0..lanes.len(), 0);
    while poll.lanes() > 0 && phase.load() < over {
        fresh.by_ref().take(BEGIN).try_for_each(|at| work.begin(at))?;
        let ready = poll.wait(if fresh.is_empty() { TICK } else { Duration::ZERO })?;
        for turn in 0..ready {
            let at = poll.ready(turn);
            if work.serve(at)? == Next::End {
                poll.remove(at, &lanes[at]);
            }
        }
        turns += 1;
        if ready == 0 || turns % TURNS == 0 {
            if phase.load() < QUIET {
                work.look(sys::now())?;
            } else if ready == 0 {
                // An end that came with the last bytes woke this thread for those only.
                for (at, lane) in lanes.iter().enumerate() {
                    if !poll.has_ended(at) && work.serve(at)? == Next::End {
                        poll.remove(at, lane);
                    }
                }
            }
        }
    }
    Ok(())
}
