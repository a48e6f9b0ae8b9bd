//! Thousands of experiments in several threads.

use std::thread;

use agent::Interrupt;

use crate::failure::Failure;

/// A simulation leaves the machine's other CPUs to other programs.
const THREADS: u32 = 2;

/// Makes experiments, by number, and gives their results in no order. Each thread has a `state` of
/// its own.
pub(super) fn experiments<State, T: Send>(
    count: u32,
    interrupt: &Interrupt,
    state: impl Fn() -> State + Sync,
    one: impl Fn(&State, u32) -> Result<T, Failure> + Sync,
) -> Result<Vec<T>, Failure> {
    let part = |thread: u32| {
        let state = state();
        let numbers = (thread..count).step_by(THREADS as usize);
        let checked =
            |number| if interrupt.is_tripped() { Err(Failure::Interrupted) } else { one(&state, number) };
        numbers.map(checked).collect::<Result<Vec<T>, Failure>>()
    };
    let part = &part;
    thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS).map(|thread| scope.spawn(move || part(thread))).collect();
        let mut all = Vec::new();
        for thread in threads {
            all.extend(thread.join().map_err(|_| Failure::failed("an experiment panicked"))??);
        }
        Ok(all)
    })
}
