//! One end of a workload, from its sockets' opening to its account.

mod receiver;
mod transmitter;

pub use receiver::Receiver;
pub use transmitter::Transmitter;
