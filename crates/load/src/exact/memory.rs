//! The memory of the counted packets: slabs without free places, and packets held back.
//!
//! Other users of memory leave free places in different slabs (pages of equal objects) after each
//! boot. 64 datagrams in transit fill these first; the more slabs, the more instructions the kernel
//! takes: up to 0.9 %. So the free places are filled before the count.

use std::fs;
use std::os::fd::{AsRawFd as _, OwnedFd};

use nix::errno::Errno;
use nix::sys::socket::{
    AddressFamily, MsgFlags, NetlinkAddr, SockFlag, SockProtocol, SockType, bind, getsockname, recv, sendto,
    socket,
};

use super::work::Trouble;

// Files about the kernel's caches of objects (`Documentation/ABI/testing/sysfs-kernel-slab`).
const CACHES: &str = "/sys/kernel/slab";
// The cache of packets without their data (`struct sk_buff`).
const PACKETS: &str = "skbuff_head_cache";
// The bytes after a packet's own (`struct skb_shared_info`).
const SHARED: usize = 320;
// More than any cache in use has.
const MOST_FREE: usize = 4096;

/// Slabs have no free places as long as these queues hold their messages.
pub(super) fn fill_slabs(message: u32) -> Result<Vec<Queue>, Trouble> {
    let data = cache(message);
    // The messages in the packets' places must leave those of the data alone.
    let [small, large] = [0, LARGEST];
    let other = if data == cache(small) { large } else { small };
    let mut queues = Vec::new();
    for (cache, message) in [(data.as_str(), message), (PACKETS, other)] {
        // A kernel may not report them, or only to root: then they stay as the boot left them.
        let free = free_places(cache).unwrap_or(0).min(MOST_FREE);
        (0..free).try_for_each(|_| add_message(&mut queues, message))?;
    }
    Ok(queues)
}

fn add_message(queues: &mut Vec<Queue>, message: u32) -> Result<(), Trouble> {
    if !queues.last().map_or(Ok(false), |last| last.add(message))? {
        let queue = Queue::empty()?;
        queue.add(message)?;
        queues.push(queue);
    }
    Ok(())
}

fn cache(message: u32) -> String {
    let size = (datagram_bytes(message) + SHARED).next_power_of_two();
    if size < 1024 { format!("kmalloc-{size}") } else { format!("kmalloc-{}k", size / 1024) }
}

// Places that a CPU holds are counted only after a shrink, which also gives empty slabs back.
fn free_places(cache: &str) -> Option<usize> {
    fs::write(format!("{CACHES}/{cache}/shrink"), "1").ok()?;
    let number = |file: &str| {
        let text = fs::read_to_string(format!("{CACHES}/{cache}/{file}")).ok()?;
        // The sum, and after it the numbers of each node.
        text.split_whitespace().next()?.parse::<usize>().ok()
    };
    number("total_objects")?.checked_sub(number("objects")?)
}

// Packets held back, so that those of each batch get other memory. The kernel gives a packet the
// memory that was freed last, so a boot has one piece all along, and some pieces take 4
// instructions less (a guess: those in a slab's first page). With packets held back the median
// batch is the same in each boot. Work that sends many packets at a time has pieces of several
// slabs anyway, the same ones each time ([`fill_slabs`]).

// Two slabs hold this many datagrams of one frame each.
const MOST_HELD: usize = 32;

pub(super) struct HeldPackets {
    queue: Queue,
    message: u32,
    most: usize,
    count: usize,
}

impl HeldPackets {
    /// `together`: the number of packets that the work sends at a time.
    pub(super) fn empty(message: u32, together: u32) -> Result<Self, Trouble> {
        // Several have pieces of different slabs anyway.
        let most = if together > 1 { 0 } else { MOST_HELD };
        Ok(Self { queue: Queue::empty()?, message, most, count: 0 })
    }

    pub(super) fn shift(&mut self) -> Result<(), Trouble> {
        if self.count < self.most && self.queue.add(self.message)? {
            self.count += 1;
            return Ok(());
        }
        while self.queue.remove()? {}
        self.count = 0;
        Ok(())
    }
}

// The bytes of a datagram in a frame of 1500.
pub(super) const LARGEST: u32 = 1472;
// The kernel's room for the headers of a datagram, which its memory has too (`ip_append_data`).
const HEADERS: u32 = 60;

static ZEROS: [u8; (LARGEST + HEADERS) as usize] = [0; (LARGEST + HEADERS) as usize];

/// The bytes of a netlink message that gets the same memory as a datagram.
pub(super) fn datagram_bytes(message: u32) -> usize {
    (message.min(LARGEST) + HEADERS) as usize
}

// Messages that a netlink socket sends to itself: their memory is of the kind of datagrams' (that
// of Unix sockets is accounted, and so another), and no other address is needed.
pub(super) struct Queue {
    socket: OwnedFd,
    own: NetlinkAddr,
}

impl Queue {
    pub(super) fn empty() -> Result<Self, Trouble> {
        let protocol = SockProtocol::NetlinkUserSock;
        let socket = socket(AddressFamily::Netlink, SockType::Datagram, SockFlag::SOCK_CLOEXEC, protocol)
            .map_err(failed("socket"))?;
        // The kernel completes the address.
        bind(socket.as_raw_fd(), &NetlinkAddr::new(0, 0)).map_err(failed("bind"))?;
        let own = getsockname(socket.as_raw_fd()).map_err(failed("getsockname"))?;
        Ok(Self { socket, own })
    }

    /// Whether the queue had room.
    pub(super) fn add(&self, message: u32) -> Result<bool, Trouble> {
        let zeros = &ZEROS[..datagram_bytes(message)];
        let sent = sendto(self.socket.as_raw_fd(), zeros, &self.own, MsgFlags::MSG_DONTWAIT);
        was_possible(sent).map_err(failed("sendto"))
    }

    /// Whether the queue had a message.
    pub(super) fn remove(&self) -> Result<bool, Trouble> {
        // The rest of the message is dropped.
        was_possible(recv(self.socket.as_raw_fd(), &mut [0], MsgFlags::MSG_DONTWAIT)).map_err(failed("recv"))
    }
}

fn was_possible(moved: Result<usize, Errno>) -> Result<bool, Errno> {
    if moved == Err(Errno::EAGAIN) { Ok(false) } else { moved.map(|_| true) }
}

fn failed(call: &'static str) -> impl FnOnce(Errno) -> Trouble {
    move |errno| (call, errno.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn caches_have_the_kernels_names() {
        let names = [1, 600, 1400, u32::MAX].map(cache);
        assert_eq!(names, ["kmalloc-512", "kmalloc-1k", "kmalloc-2k", "kmalloc-2k"]);
    }

    #[test]
    fn as_many_as_there_are_fit_into_queues() {
        let mut queues = Vec::new();
        for count in 0..MOST_HELD {
            add_message(&mut queues, LARGEST).unwrap_or_else(|error| panic!("{count}: {error:?}"));
        }
        let taken = queues
            .iter()
            .map(|queue| std::iter::repeat_with(|| queue.remove().unwrap()).take_while(|had| *had).count());
        assert_eq!(taken.sum::<usize>(), MOST_HELD);
    }

    #[test]
    fn as_many_as_can_be_fit_into_the_queue_and_leave_it() {
        for message in [0, 1, 1452, 5 << 20] {
            let mut held = HeldPackets::empty(message, 1).unwrap();
            for _ in 0..3 {
                for count in 1..=MOST_HELD {
                    held.shift().unwrap();
                    assert_eq!(held.count, count, "{message}");
                }
                held.shift().unwrap();
                assert_eq!((held.count, held.queue.remove().unwrap()), (0, false), "{message}");
            }
        }
        let mut held = HeldPackets::empty(1452, 64).unwrap();
        held.shift().unwrap();
        assert_eq!(held.count, 0);
    }
}
