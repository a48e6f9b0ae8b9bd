//! The size of a receiver's reads.

/// The most bytes of one read: more do not stay in a CPU's own cache.
const ROOM: u32 = 256 << 10;
/// The least bytes of one read with many flows: a segment.
const LEAST_ROOM: u32 = 64 << 10;
/// The memory of all flows' reads.
const ROOM_FOR_ALL: u32 = 4 << 20;

/// The size of a read with this many receivers.
pub(super) fn read_size(lanes: u32) -> u32 {
    (ROOM_FOR_ALL / lanes.max(1)).clamp(LEAST_ROOM, ROOM)
}
