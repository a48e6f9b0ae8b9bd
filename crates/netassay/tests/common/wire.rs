//! A link for the traffic of two machines whose ends are taps: unlike a veth, a tap has interrupt
//! coalescing to set.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::AsRawFd as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

/// A packet that was not cut into segments, with its header for virtual machines.
const MOST: usize = 65536 + 64;

/// What moves packets between two taps; dropping it ends it.
pub(crate) struct Wire {
    over: Arc<AtomicBool>,
    ways: Vec<JoinHandle<()>>,
}

impl Wire {
    /// Makes the interface `name` in the network namespaces of both processes.
    pub(crate) fn between(processes: [u32; 2], name: &'static str) -> Self {
        let over = Arc::new(AtomicBool::new(false));
        let [a, b] = processes.map(|process| {
            thread::spawn(move || {
                let namespace = File::open(format!("/proc/{process}/ns/net")).unwrap();
                // SAFETY: the call takes numbers; it moves only this thread.
                assert_eq!(unsafe { libc::setns(namespace.as_raw_fd(), libc::CLONE_NEWNET) }, 0);
                tap(name)
            })
            .join()
            .unwrap()
        });
        let way = |from: &File, to: &File| {
            let (from, to, over) = (from.try_clone().unwrap(), to.try_clone().unwrap(), Arc::clone(&over));
            thread::spawn(move || carry(from, to, &over))
        };
        let ways = vec![way(&a, &b), way(&b, &a)];
        Self { over, ways }
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Release);
        for way in self.ways.drain(..) {
            let _ = way.join();
        }
    }
}

fn tap(name: &str) -> File {
    let device = File::options().read(true).write(true).open("/dev/net/tun").unwrap();
    // SAFETY: `struct ifreq` is plain numbers, for which all bits zero are valid.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(name.bytes()) {
        *to = libc::c_char::from_ne_bytes([from]);
    }
    let flags = libc::IFF_TAP | libc::IFF_NO_PI | libc::IFF_VNET_HDR;
    request.ifr_ifru.ifru_flags = flags.try_into().unwrap();
    // SAFETY: the request outlives the call, which reads it and writes the name back.
    assert_eq!(unsafe { libc::ioctl(device.as_raw_fd(), libc::TUNSETIFF, &raw mut request) }, 0);
    // The other tap takes what this one leaves unfinished: checksums and segments.
    let offloads = libc::TUN_F_CSUM | libc::TUN_F_TSO4 | libc::TUN_F_TSO6;
    // SAFETY: the argument is a plain number.
    assert_eq!(unsafe { libc::ioctl(device.as_raw_fd(), libc::TUNSETOFFLOAD, offloads) }, 0);
    device
}

fn carry(mut from: File, mut to: File, over: &AtomicBool) {
    let mut packet = vec![0; MOST];
    while !over.load(Ordering::Acquire) {
        let mut ready = libc::pollfd { fd: from.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        // SAFETY: the one entry outlives the call.
        if unsafe { libc::poll(&raw mut ready, 1, 50) } <= 0 {
            continue;
        }
        // An end that is down has and takes nothing.
        let Ok(length) = from.read(&mut packet) else { continue };
        let _ = to.write(&packet[..length]);
    }
}
