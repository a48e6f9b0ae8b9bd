//! The change of sender and reader while threads run: conditions that take turns in one flow may
//! differ in them.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use words::{Reader, Sender, Traffic};

/// The sender and reader of a flow's threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Modes {
    pub(crate) sender: Sender,
    pub(crate) reader: Reader,
}

impl Modes {
    pub(crate) fn of_traffic(traffic: &Traffic) -> Self {
        Self { sender: traffic.sender, reader: traffic.reader }
    }
}

/// A meeting point: each thread that has left the loop of one sender or reader waits here for the
/// next.
#[derive(Debug)]
pub(crate) struct LoopSwitch {
    state: Mutex<SwitchState>,
    changed: Condvar,
}

#[derive(Debug)]
struct SwitchState {
    modes: Modes,
    /// Whether threads that leave their loops are to wait.
    held: bool,
    waiting: usize,
}

impl LoopSwitch {
    pub(crate) fn new(modes: Modes) -> Self {
        Self { state: Mutex::new(SwitchState { modes, held: false, waiting: 0 }), changed: Condvar::new() }
    }

    fn state(&self) -> MutexGuard<'_, SwitchState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn modes(&self) -> Modes {
        self.state().modes
    }

    /// From now on threads that leave their loops wait.
    pub(crate) fn hold(&self) {
        self.state().held = true;
    }

    /// Whether a thread that leaves its loop goes on in another one.
    pub(crate) fn is_held(&self) -> bool {
        self.state().held
    }

    pub(crate) fn waiting(&self) -> usize {
        self.state().waiting
    }

    /// Lets the waiting threads continue with these.
    pub(crate) fn release(&self, modes: Modes) {
        let mut state = self.state();
        (state.modes, state.held) = (modes, false);
        self.changed.notify_all();
    }

    /// The modes in which a thread that has left its loop goes on; `None`: it ends.
    pub(crate) fn next(&self) -> Option<Modes> {
        let mut state = self.state();
        if !state.held {
            return None;
        }
        state.waiting += 1;
        state = self.changed.wait_while(state, |state| state.held).unwrap_or_else(PoisonError::into_inner);
        state.waiting -= 1;
        Some(state.modes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn threads_wait_for_what_comes_next_only_while_they_are_held() {
        let first = Modes { sender: Sender::Send, reader: Reader::Recv };
        let second = Modes { sender: Sender::Gso, reader: Reader::Gro };
        let loop_switch = LoopSwitch::new(first);
        assert_eq!(loop_switch.next(), None);
        loop_switch.hold();
        std::thread::scope(|scope| {
            let threads = [(); 3].map(|()| scope.spawn(|| loop_switch.next()));
            while loop_switch.waiting() < threads.len() {
                std::thread::sleep(Duration::from_millis(1));
            }
            assert!(loop_switch.is_held() && loop_switch.modes() == first);
            loop_switch.release(second);
            for thread in threads {
                assert_eq!(thread.join().unwrap(), Some(second));
            }
        });
        assert_eq!((loop_switch.next(), loop_switch.modes(), loop_switch.waiting()), (None, second, 0));
    }
}
