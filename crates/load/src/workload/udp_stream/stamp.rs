//! The sender's numbers in datagrams.
//!
//! With `verify` the first eight bytes of a datagram with room for them are its number,
//! little-endian, counted from 0 in each flow; the pattern follows. Without `verify` no number is
//! written or read, and the loops, which are compiled for both, have no instruction for it.

pub(super) const NUMBER: usize = 8;

pub(crate) trait Stamp {
    /// Whether it writes: then waiting datagrams each need their own memory.
    const WRITES: bool;

    /// Numbers datagrams of `message` bytes that lie in sequence. Repeated, it writes the same
    /// numbers.
    fn stamp(&self, datagrams: &mut [u8], message: usize);

    /// Counts `datagrams` sent ones.
    fn advance(&mut self, datagrams: u64);
}

pub(crate) struct Unstamped;

impl Stamp for Unstamped {
    const WRITES: bool = false;

    #[inline(always)]
    fn stamp(&self, _: &mut [u8], _: usize) {}

    #[inline(always)]
    fn advance(&mut self, _: u64) {}
}

/// Numbers from `next` on.
#[derive(Default)]
pub(crate) struct Stamped {
    pub(super) next: u64,
}

impl Stamp for Stamped {
    const WRITES: bool = true;

    fn stamp(&self, datagrams: &mut [u8], message: usize) {
        for (number, datagram) in (self.next..).zip(datagrams.chunks_mut(message)) {
            if let Some(place) = datagram.first_chunk_mut::<NUMBER>() {
                *place = number.to_le_bytes();
            }
        }
    }

    fn advance(&mut self, datagrams: u64) {
        self.next += datagrams;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn stamps_are_read_back(message in 8usize..100, count in 1usize..20, first in 0u64..1 << 40) {
            let mut datagrams = vec![0; message * count];
            Stamped { next: first }.stamp(&mut datagrams, message);
            for (number, datagram) in (first..).zip(datagrams.chunks(message)) {
                prop_assert_eq!(datagram.first_chunk(), Some(&number.to_le_bytes()));
            }
        }
    }

    #[test]
    fn a_datagram_too_small_for_a_number_carries_none() {
        let mut datagram = [7; 7];
        Stamped::default().stamp(&mut datagram, 7);
        assert_eq!(datagram, [7; 7]);
    }
}
