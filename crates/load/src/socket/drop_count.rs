//! A socket's count of drops, without its wrap.

use std::os::fd::AsRawFd;

use socket2::Socket;

use crate::sys;

/// A socket's drops, beyond the 32 bits of the kernel's count.
#[derive(Debug)]
pub(crate) struct DropCount {
    last: u32,
    total: u64,
}

impl DropCount {
    /// Starts at the kernel's current count.
    pub(crate) fn new(now: u32) -> Self {
        Self { last: now, total: 0 }
    }

    /// Updates from the kernel's count; returns all drops since the start.
    pub(crate) fn update(&mut self, now: u32) -> u64 {
        self.total += u64::from(now.wrapping_sub(self.last));
        self.last = now;
        self.total
    }
}

/// The socket's own count of dropped datagrams, modulo 2^32.
pub(crate) fn drops(socket: &Socket) -> u32 {
    // The last of the nine numbers of `SO_MEMINFO` (linux/sock_diag.h, SK_MEMINFO_DROPS).
    const DROPS: usize = 8;
    let mut words = [0u8; 4 * (DROPS + 1)];
    match sys::option(socket.as_raw_fd(), libc::SOL_SOCKET, libc::SO_MEMINFO, &mut words) {
        Ok(len) if len == words.len() => {
            let [.., a, b, c, d] = words;
            u32::from_ne_bytes([a, b, c, d])
        }
        // Linux before 4.12 does not report the count: then the drops are among the unaccounted.
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drops_are_counted_beyond_32_bits() {
        let mut count = DropCount::new(u32::MAX - 1);
        assert_eq!(count.update(u32::MAX), 1);
        assert_eq!(count.update(4), 6);
        assert_eq!(count.update(4), 6);
        assert_eq!(count.update(3), 6 + u64::from(u32::MAX));
    }
}
