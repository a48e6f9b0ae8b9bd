//! How much a receiver asks for at once.

/// Bytes that a receiver asks for at once, at most: more do not stay in a CPU's own cache.
const ROOM: u32 = 256 << 10;
/// With many flows each asks for less, but never for less than a segment.
const LEAST_ROOM: u32 = 64 << 10;
/// What the receivers of all flows together ask for.
const ROOM_FOR_ALL: u32 = 4 << 20;

/// The bytes that each of so many receivers asks for at once.
pub(super) fn room(lanes: u32) -> u32 {
    (ROOM_FOR_ALL / lanes.max(1)).clamp(LEAST_ROOM, ROOM)
}
