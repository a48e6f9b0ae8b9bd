//! Packets that lie in a queue of their own, so that those of each batch get other memory.
//!
//! The kernel gives a packet the memory that was freed last, so a boot has one and the same piece
//! all along. Some of the pieces of a slab take 4 instructions less (a guess: those in its first
//! page, where the kernel need not look up where the slab begins). With packets held back, batches
//! have pieces of both kinds, and the median batch is the same in each boot. Work that sends many
//! packets at a time has pieces of several slabs anyway: where these have no free places at first
//! ([`super::slabs`]), it has the same ones each time.

use super::queue::Queue;
use super::work::Trouble;

/// The most packets held: as many as two slabs of a frame's datagrams have.
const MOST: usize = 32;

/// The packets that lie there.
pub(super) struct HeldPackets {
    queue: Queue,
    message: u32,
    most: usize,
    count: usize,
}

impl HeldPackets {
    /// An empty queue. `message`: the size of the work's packets; `together`: the number that it
    /// sends at a time.
    pub(super) fn empty(message: u32, together: u32) -> Result<Self, Trouble> {
        let most = if together > 1 { 0 } else { MOST };
        Ok(Self { queue: Queue::empty()?, message, most, count: 0 })
    }

    /// Adds a packet; a full queue is emptied instead.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_as_can_be_fit_into_the_queue_and_leave_it() {
        for message in [0, 1, 1452, 5 << 20] {
            let mut held = HeldPackets::empty(message, 1).unwrap();
            for _ in 0..3 {
                for count in 1..=MOST {
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
