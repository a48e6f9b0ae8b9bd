use super::*;
use std::time::Duration;

#[test]
fn threads_wait_for_what_comes_next_only_while_they_are_held() {
    let first = (Sender::Send, Reader::Recv);
    let second = (Sender::Gso, Reader::Gro);
    let control = Control::new(0, 0, &Traffic::new(words::Kind::UdpStream));
    assert_eq!(control.next_loop(), None);
    control.loop_state().held = true;
    std::thread::scope(|scope| {
        let threads = [(); 3].map(|()| scope.spawn(|| control.next_loop()));
        while control.loop_state().waiting < threads.len() {
            std::thread::sleep(Duration::from_millis(1));
        }
        let state = control.loop_state();
        assert!(state.held && state.modes == first);
        // Its lock must be free for the threads.
        drop(state);
        control.release_loops(second);
        for thread in threads {
            assert_eq!(thread.join().unwrap(), Some(second));
        }
    });
    assert_eq!(control.next_loop(), None);
    let state = control.loop_state();
    assert_eq!((state.modes, state.waiting), (second, 0));
}

#[test]
fn the_phase_never_goes_back() {
    let cell = PhaseCell::default();
    assert_eq!(cell.load(), Phase::Ramp as u8);
    cell.advance(TAIL);
    cell.advance(WINDOW);
    assert_eq!(cell.load(), TAIL);
    cell.advance(ABORT);
    cell.advance(STOP);
    assert_eq!(cell.load(), ABORT);
}

#[test]
fn a_phase_that_was_held_goes_on() {
    let cell = PhaseCell::default();
    cell.advance(WINDOW);
    let before = cell.hold(QUIET);
    assert_eq!((before, cell.load()), (WINDOW, QUIET));
    assert_eq!((cell.hold(ABORT), cell.load()), (QUIET, ABORT));
    cell.resume(before);
    assert_eq!(cell.load(), WINDOW);
}

#[test]
fn the_window_has_two_edges_and_they_stay() {
    let cell = PhaseCell::default();
    let before = sys::now();
    assert!(!cell.window_holds(before));
    cell.advance(WINDOW);
    let inside = sys::now();
    assert!(!cell.window_holds(before - 1) && cell.window_holds(inside));
    cell.advance(WINDOW);
    assert!(cell.window_holds(inside));
    cell.advance(TAIL);
    let after = sys::now();
    cell.advance(QUIET);
    assert!(cell.window_holds(inside) && !cell.window_holds(after + 1));
    assert!(cell.closed() <= after);
}
