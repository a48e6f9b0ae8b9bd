//! Slabs without free places.
//!
//! Other users of memory leave free places in some slabs (a slab: the kernel's pages of equal
//! objects), and in other slabs after each boot. 64 datagrams in transit fill these places first;
//! the more slabs they are spread over, the more instructions the kernel takes to allocate and free
//! them: up to 0.9 %. So the free places are filled before the count: then the counted datagrams
//! lie in slabs of their own.

use std::fs;

use super::queue::{self, LARGEST, Queue};
use super::work::Trouble;

/// Files about the kernel's caches of objects (`Documentation/ABI/testing/sysfs-kernel-slab`).
const CACHES: &str = "/sys/kernel/slab";
/// The cache of packets without their data (`struct sk_buff`).
const PACKETS: &str = "skbuff_head_cache";
/// The bytes after a packet's own (`struct skb_shared_info`).
const SHARED: usize = 320;
/// Limit of the free places in a cache that is in use, more than any kernel has.
const MOST: usize = 4096;

/// Packets that fill the free places while this lives. Empty if the kernel does not report the
/// number of places, or only to root.
pub(super) struct FilledSlabs(#[expect(dead_code, reason = "it holds the memory")] Vec<Queue>);

impl FilledSlabs {
    /// Fills the places that the data of such a message would get, and those of the packets that
    /// bring it.
    pub(super) fn make(message: u32) -> Result<Self, Trouble> {
        let data = cache(message);
        // What fills the packets' places must leave those of the data alone.
        let [small, large] = [0, LARGEST];
        let other = if data == cache(small) { large } else { small };
        let mut queues = Vec::new();
        for (cache, message) in [(data.as_str(), message), (PACKETS, other)] {
            for _ in 0..free_places(cache).unwrap_or(0).min(MOST) {
                add_message(&mut queues, message)?;
            }
        }
        Ok(Self(queues))
    }
}

/// Adds a message, in a new queue if the last one is full.
fn add_message(queues: &mut Vec<Queue>, message: u32) -> Result<(), Trouble> {
    if !queues.last().map_or(Ok(false), |last| last.add(message))? {
        let queue = Queue::empty()?;
        queue.add(message)?;
        queues.push(queue);
    }
    Ok(())
}

/// The name of the cache where the data of such a message lies.
fn cache(message: u32) -> String {
    let size = (queue::bytes(message) + SHARED).next_power_of_two();
    if size < 1024 { format!("kmalloc-{size}") } else { format!("kmalloc-{}k", size / 1024) }
}

/// The free places in all slabs of a cache. Those in slabs that a CPU holds are not counted before
/// the cache has been shrunk, which also gives empty slabs back.
fn free_places(cache: &str) -> Option<usize> {
    fs::write(format!("{CACHES}/{cache}/shrink"), "1").ok()?;
    let number = |file: &str| {
        let text = fs::read_to_string(format!("{CACHES}/{cache}/{file}")).ok()?;
        // The sum, and after it the numbers of each node.
        text.split_whitespace().next()?.parse::<usize>().ok()
    };
    number("total_objects")?.checked_sub(number("objects")?)
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
        for count in 0..MOST {
            add_message(&mut queues, LARGEST).unwrap_or_else(|error| panic!("{count}: {error:?}"));
        }
        let taken = queues
            .iter()
            .map(|queue| std::iter::repeat_with(|| queue.remove().unwrap()).take_while(|had| *had).count());
        assert_eq!(taken.sum::<usize>(), MOST);
    }
}
