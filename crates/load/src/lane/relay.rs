//! The change of sender and reader while threads run: conditions that take turns in one flow may
//! differ in them.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use words::{Reader, Sender, Traffic};

/// The sender and reader of a flow's threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ways {
    pub(crate) sender: Sender,
    pub(crate) reader: Reader,
}

impl Ways {
    pub(crate) fn of(traffic: &Traffic) -> Self {
        Self { sender: traffic.sender, reader: traffic.reader }
    }
}

/// A meeting point: each thread that has left the loop of one sender or reader waits here for the
/// next.
#[derive(Debug)]
pub(crate) struct Relay {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    ways: Ways,
    /// Whether threads that leave their loops are to wait.
    held: bool,
    waiting: usize,
}

impl Relay {
    pub(crate) fn new(ways: Ways) -> Self {
        Self { state: Mutex::new(State { ways, held: false, waiting: 0 }), changed: Condvar::new() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn ways(&self) -> Ways {
        self.state().ways
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
    pub(crate) fn go_on(&self, ways: Ways) {
        let mut state = self.state();
        (state.ways, state.held) = (ways, false);
        self.changed.notify_all();
    }

    /// The ways in which a thread that has left its loop goes on; `None`: it ends.
    pub(crate) fn next(&self) -> Option<Ways> {
        let mut state = self.state();
        if !state.held {
            return None;
        }
        state.waiting += 1;
        state = self.changed.wait_while(state, |state| state.held).unwrap_or_else(PoisonError::into_inner);
        state.waiting -= 1;
        Some(state.ways)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn threads_wait_for_what_comes_next_only_while_they_are_held() {
        let first = Ways { sender: Sender::Send, reader: Reader::Recv };
        let second = Ways { sender: Sender::Gso, reader: Reader::Gro };
        let relay = Relay::new(first);
        assert_eq!(relay.next(), None);
        relay.hold();
        std::thread::scope(|scope| {
            let threads = [(); 3].map(|()| scope.spawn(|| relay.next()));
            while relay.waiting() < threads.len() {
                std::thread::sleep(Duration::from_millis(1));
            }
            assert!(relay.is_held() && relay.ways() == first);
            relay.go_on(second);
            for thread in threads {
                assert_eq!(thread.join().unwrap(), Some(second));
            }
        });
        assert_eq!((relay.next(), relay.ways(), relay.waiting()), (None, second, 0));
    }
}
