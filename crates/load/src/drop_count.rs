//! A socket's count of drops, without its wrap.

/// A socket's drops, carried on beyond the 32 bits in which the kernel counts them.
#[derive(Debug)]
pub(crate) struct DropCount {
    last: u32,
    total: u64,
}

impl DropCount {
    /// Counts from where the kernel's count stands.
    pub(crate) fn new(now: u32) -> Self {
        Self { last: now, total: 0 }
    }

    /// The kernel's count stands at `now`; returns all drops since the beginning.
    pub(crate) fn update(&mut self, now: u32) -> u64 {
        self.total += u64::from(now.wrapping_sub(self.last));
        self.last = now;
        self.total
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
