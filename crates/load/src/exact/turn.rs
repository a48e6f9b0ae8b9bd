//! How much one turn of datagrams is.

use words::{Reader, Traffic};

use crate::workload::udp_stream::batch::{Arrivals, shape};

/// How many calls of the sender a turn begins with: as many as give the reader enough for one of
/// its own.
pub(super) fn calls(traffic: &Traffic) -> usize {
    let (parcels, each) = shape(traffic.sender, traffic.message as usize);
    let one = match traffic.reader {
        Reader::Recvmmsg => Arrivals::capacity(traffic.message as usize),
        // What one call brings is decided by who put the datagrams together, before.
        _ => 1,
    };
    one.div_ceil(parcels * each)
}

/// How many datagrams are on their way at once.
pub(super) fn on_the_way(traffic: &Traffic) -> u64 {
    let (parcels, each) = shape(traffic.sender, traffic.message as usize);
    (calls(traffic) * parcels * each) as u64
}
