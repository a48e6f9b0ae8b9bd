//! Requests at intended times: all of them go out, and a server that stalls shows as it must.

use netassay_load::LoadNote;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::support::{PATIENCE, connect, finish, spec, start, step, traffic, within};
use netassay_load::{Endpoint, Kind, Phase, Reader, Spec, Traffic};

const KINDS: [Kind; 3] = [Kind::TcpRr, Kind::UdpRr, Kind::TcpCrr];

/// The number of requests of `rate` per second that are due within a stretch of time.
fn due(rate: u32, time: Duration) -> f64 {
    f64::from(rate) * time.as_secs_f64()
}

#[test]
fn every_request_of_the_rate_goes_out_and_no_more() {
    for kind in KINDS {
        every_request_goes_out(kind, ("127.0.0.1", Reader::Recv, 500));
    }
}

#[test]
#[ignore = "threads that spin leave each other little of one CPU"]
fn every_request_of_the_rate_goes_out_to_a_reader_that_spins() {
    for kind in KINDS {
        every_request_goes_out(kind, ("::1", Reader::Spin, 50));
    }
}

fn every_request_goes_out(kind: Kind, (local, reader, rate): (&str, Reader, u32)) {
    let traffic = Traffic { flows: 2, rate: Some(rate), reader, verify: true, ..traffic(kind) };
    let before_start = Instant::now();
    let ends = start(&Spec { traffic, ..spec(kind, local) });
    std::thread::sleep(Duration::from_millis(50));
    let before_window = Instant::now();
    step(&ends, Phase::Window);
    let after_window = Instant::now();
    std::thread::sleep(Duration::from_millis(400));
    let shortest = after_window.elapsed();
    step(&ends, Phase::Tail);
    let longest = before_window.elapsed();
    // Until all that was meant for the window is answered, and some of what came later,
    // however busy the machine.
    let all = due(rate, before_start.elapsed()) + 10.0;
    let done = || ends.0.sample().sent.transactions as f64 >= all;
    within(PATIENCE, || done().then_some(()))
        .unwrap_or_else(|| panic!("{kind} {local} {reader}: {:?} of {all}", ends.0.sample()));
    let sent_by_now = ends.0.sample().sent.messages as f64;
    assert!(sent_by_now <= due(rate, before_start.elapsed()) + 2.0, "{kind} {local}: {sent_by_now} requests");
    let (sent, received) = finish(ends);
    let what = format!("{kind} {local} {reader}: {sent:?} {received:?}");
    assert!(sent.notes.is_empty(), "{what}");
    let count = sent.latency.as_ref().unwrap_or_else(|| panic!("{what}")).count as f64;
    // A request that was given up is in no latency.
    let all = count + sent.sent.timeouts as f64;
    assert!(
        all >= due(rate, shortest) - 2.0 && count <= due(rate, longest) + 2.0,
        "{shortest:?} {longest:?} {what}"
    );
    assert!(received.received.transactions >= sent.sent.transactions, "{what}");
}

/// A server on std's sockets that gives back what it gets, and when told to does nothing for a
/// while.
struct Server {
    address: SocketAddr,
    control: Arc<Control>,
    thread: JoinHandle<()>,
}

#[derive(Default)]
struct Control {
    stall: AtomicBool,
    stop: AtomicBool,
    stalled: Mutex<Option<Duration>>,
}

const STALL: Duration = Duration::from_millis(300);
const MESSAGE: usize = 64;

impl Server {
    fn start(kind: Kind) -> Self {
        let control = Arc::new(Control::default());
        let own = Arc::clone(&control);
        let (address, thread) = if kind == Kind::UdpRr {
            let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
            (socket.local_addr().unwrap(), std::thread::spawn(move || own.serve_datagrams(&socket)))
        } else {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            let whole = kind == Kind::TcpRr;
            (listener.local_addr().unwrap(), std::thread::spawn(move || own.serve_streams(&listener, whole)))
        };
        Self { address, control, thread }
    }

    /// The time in which it really did nothing.
    fn stop(self) -> Duration {
        self.control.stop.store(true, Ordering::Relaxed);
        // The thread that waits for a connection gets one.
        drop(TcpStream::connect(self.address));
        self.thread.join().unwrap();
        self.control.stalled.lock().unwrap().unwrap()
    }
}

impl Control {
    fn stops(&self) -> bool {
        if self.stall.swap(false, Ordering::Relaxed) {
            let begin = Instant::now();
            std::thread::sleep(STALL);
            *self.stalled.lock().unwrap() = Some(begin.elapsed());
        }
        self.stop.load(Ordering::Relaxed)
    }

    fn serve_datagrams(&self, socket: &UdpSocket) {
        socket.set_read_timeout(Some(Duration::from_millis(20))).unwrap();
        let mut room = [0; MESSAGE];
        while !self.stops() {
            if let Ok((got, from)) = socket.recv_from(&mut room) {
                let _ = socket.send_to(&room[..got], from);
            }
        }
    }

    /// Serves one connection after the other, each for one request or to its end.
    fn serve_streams(&self, listener: &TcpListener, to_the_end: bool) {
        while !self.stops() {
            let (mut stream, _) = listener.accept().unwrap();
            stream.set_nodelay(true).unwrap();
            let mut room = [0; 16 * MESSAGE];
            while let Ok(got @ 1..) = stream.read(&mut room) {
                self.stops();
                if stream.write_all(&room[..got]).is_err() || !to_the_end {
                    break;
                }
            }
        }
    }
}

#[test]
#[ignore = "measures latencies: needs a quiet machine"]
fn a_stalled_server_shows_in_the_high_quantiles() {
    // As if the requests of the stall had all been sent by somebody who did not wait: each waited
    // for the rest of it.
    let rate = 1000;
    for kind in KINDS {
        let server = Server::start(kind);
        let (message, response) = (MESSAGE as u32, MESSAGE as u32);
        let traffic = Traffic { rate: Some(rate), message, response, ..traffic(kind) };
        let spec = Spec { traffic, ..spec(kind, "127.0.0.1") };
        let mut transmitter = Endpoint::connect(&spec, &[server.address]).unwrap();
        transmitter.start().unwrap();
        std::thread::sleep(Duration::from_millis(50));
        let before = Instant::now();
        transmitter.set_phase(Phase::Window);
        let begin = Instant::now();
        std::thread::sleep(Duration::from_millis(200));
        server.control.stall.store(true, Ordering::Relaxed);
        std::thread::sleep(Duration::from_millis(700));
        let shortest = begin.elapsed();
        transmitter.set_phase(Phase::Tail);
        let longest = before.elapsed();
        // Time to take up what was held back.
        std::thread::sleep(Duration::from_millis(300));
        let sent = transmitter.finish().unwrap();
        let stalled = server.stop();
        let what = format!("{kind}, stalled for {stalled:?} of {shortest:?} to {longest:?}: {sent:?}");
        let latency = sent.latency.as_ref().unwrap_or_else(|| panic!("{what}"));
        // None of the window's requests is left out.
        let count = latency.count as f64 + sent.sent.timeouts as f64;
        assert!(
            count >= due(rate, shortest) - 2.0 && latency.count as f64 <= due(rate, longest) + 2.0,
            "{what}"
        );
        for (quantile, found) in
            [(0.9, latency.p90), (0.99, latency.p99), (0.999, latency.p99_9), (1.0, latency.max)]
        {
            // So many waited longer, and one came each millisecond.
            let longer = (1.0 - quantile) * latency.count as f64 / f64::from(rate);
            let expected = stalled.as_secs_f64() - longer;
            // The first of them came a moment after the stall began.
            let found = found as f64 / 1e9;
            assert!(found >= expected - 0.005, "{quantile}: {found} s, expected {expected} s, {what}");
        }
    }
}

#[test]
fn what_a_server_cannot_serve_is_reported() {
    // Nobody answers; as many requests as may be are under way, and all others wait.
    for kind in KINDS {
        let traffic = Traffic { rate: Some(20_000), ..traffic(kind) };
        let (mut transmitter, receiver) = connect(&Spec { traffic, ..spec(kind, "127.0.0.1") });
        transmitter.start().unwrap();
        std::thread::sleep(Duration::from_millis(20));
        transmitter.set_phase(Phase::Window);
        std::thread::sleep(Duration::from_millis(200));
        transmitter.set_phase(Phase::Tail);
        let sent = transmitter.finish().unwrap();
        let what = format!("{kind}: {sent:?}");
        assert!(sent.sent.messages <= 1024 * 3, "{what}");
        assert!(matches!(sent.notes[0], LoadNote::OpenLoop { .. }), "{what}");
        let latency = sent.latency.as_ref().unwrap_or_else(|| panic!("{what}"));
        // They count with the time that they had waited: half of the window at the median.
        assert!(latency.count >= 2000 && latency.p50 >= 50_000_000, "{what}");
        drop(receiver);
    }
}
