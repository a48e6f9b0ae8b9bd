//! The sender of the flows, which conditions that take turns change while they flow.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use words::Sender;

/// Where each sending thread, out of the loop of one sender, waits for the next sender.
#[derive(Debug)]
pub(crate) struct Relay {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    sender: Sender,
    /// Whether threads that leave their loops are to wait.
    held: bool,
    waiting: usize,
}

impl Relay {
    pub(crate) fn new(sender: Sender) -> Self {
        Self { state: Mutex::new(State { sender, held: false, waiting: 0 }), changed: Condvar::new() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn sender(&self) -> Sender {
        self.state().sender
    }

    /// From now on threads that leave their loops wait.
    pub(crate) fn hold(&self) {
        self.state().held = true;
    }

    /// How many do.
    pub(crate) fn waiting(&self) -> usize {
        self.state().waiting
    }

    /// They go on with this sender.
    pub(crate) fn go_on(&self, sender: Sender) {
        let mut state = self.state();
        (state.sender, state.held) = (sender, false);
        self.changed.notify_all();
    }

    /// The sender with which a thread that has left its loop goes on; `None`: it ends.
    pub(crate) fn next(&self) -> Option<Sender> {
        let mut state = self.state();
        if !state.held {
            return None;
        }
        state.waiting += 1;
        state = self.changed.wait_while(state, |state| state.held).unwrap_or_else(PoisonError::into_inner);
        state.waiting -= 1;
        Some(state.sender)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn threads_wait_for_the_next_sender_only_while_they_are_held() {
        let relay = Relay::new(Sender::Send);
        assert_eq!(relay.next(), None);
        relay.hold();
        std::thread::scope(|scope| {
            let threads = [(); 3].map(|()| scope.spawn(|| relay.next()));
            while relay.waiting() < threads.len() {
                std::thread::sleep(Duration::from_millis(1));
            }
            relay.go_on(Sender::Gso);
            for thread in threads {
                assert_eq!(thread.join().unwrap(), Some(Sender::Gso));
            }
        });
        assert_eq!((relay.next(), relay.sender(), relay.waiting()), (None, Sender::Gso, 0));
    }
}
