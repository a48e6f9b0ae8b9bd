//! Messages: bytes on pages of their own, and the numbers of datagrams.

mod buffer;
mod sequence;

pub(crate) use buffer::{Buffer, first_damage, first_difference};
pub use sequence::Sequence;
pub(crate) use sequence::Window;
