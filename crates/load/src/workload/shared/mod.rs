//! One thread that serves several lanes and waits for all of them at once (epoll(7)).
//!
//! A thread with one lane waits in its calls; here no call on a socket waits. The state of a lane
//! between two turns is small, and the thread owns the buffers.

mod patience;
mod poll;

use std::time::Duration;

pub(crate) use patience::Patience;
pub(crate) use poll::{Poll, Wake};

use crate::error::Result;
use crate::lane::{Lane, LoopStep, QUIET};
use crate::sys;

/// The longest sleep of a thread; then it checks the phase.
const TICK: Duration = Duration::from_millis(50);
/// Lanes that begin before earlier ones are served: there is no room for the data of all.
const BEGIN: usize = 64;
/// Turns between two readings of the clock.
const TURNS: u32 = 256;

/// A thread's work for its lanes, by their index.
pub(crate) trait LaneWork {
    fn begin(&mut self, _at: usize) -> Result<()> {
        Ok(())
    }

    /// Serves a lane whose socket is ready, or may be.
    fn serve(&mut self, at: usize) -> Result<LoopStep>;

    /// Checks lanes with silent sockets; called now and then before senders end. `now` is that of
    /// [`sys::now`].
    fn look(&mut self, _now: u64) -> Result<()> {
        Ok(())
    }
}

pub(crate) fn run(lanes: &[Lane], wake: Wake, over: u8, work: &mut impl LaneWork) -> Result<()> {
    let phase = lanes[0].phase();
    let mut poll = Poll::new(lanes, wake)?;
    lanes[0].ready();
    let (mut fresh, mut turns) = (0..lanes.len(), 0);
    while poll.lanes() > 0 && phase.load() < over {
        fresh.by_ref().take(BEGIN).try_for_each(|at| work.begin(at))?;
        let ready = poll.wait(if fresh.is_empty() { TICK } else { Duration::ZERO })?;
        for turn in 0..ready {
            let at = poll.ready(turn);
            if work.serve(at)? == LoopStep::End {
                poll.remove(at, &lanes[at]);
            }
        }
        turns += 1;
        if ready == 0 || turns % TURNS == 0 {
            if phase.load() < QUIET {
                work.look(sys::now())?;
            } else if ready == 0 {
                // The end of a stream may come with its last bytes, in one wake-up.
                for (at, lane) in lanes.iter().enumerate() {
                    if !poll.has_ended(at) && work.serve(at)? == LoopStep::End {
                        poll.remove(at, lane);
                    }
                }
            }
        }
    }
    Ok(())
}
