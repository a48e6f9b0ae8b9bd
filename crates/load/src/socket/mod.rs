//! Sockets of workloads: opened, configured, read back.

mod applied;
mod buffers;
mod drop_count;
mod keyed;
mod open;
pub(crate) mod options;
pub(crate) mod queue;
mod receive_queue;
mod role;
mod tcp_info;
mod times;

pub use applied::Applied;
pub(crate) use applied::collect;
pub use buffers::Buffers;
pub(crate) use drop_count::{DropCount, drops};
pub use keyed::SocketSwitches;
pub(crate) use keyed::unpace;
pub(crate) use open::{bind, bind_later, flow, in_use_or, keep_to, local_address, open};
pub(crate) use role::{await_pace, give_role};
pub use tcp_info::{TcpApplied, TcpInfo};
pub(crate) use times::{CONNECT, TICK, answer_time, stall};
