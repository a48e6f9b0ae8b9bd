//! The BPF system call: programs, the maps that they share with this process, and their attachment.
//! Files of programs are read elsewhere; here programs are instructions.

mod attach;
mod call;
mod map;
mod program;
mod query;
mod ring;

pub use attach::{Attached, attach_to_function, attach_to_tracepoint, attach_trampoline};
pub use map::{Map, MapKind};
pub use program::{Instruction, LoadError, Program, current_thread, load, load_return};
pub use ring::Ring;

pub(crate) use map::SharedNumber;
pub(crate) use query::{TCX, name, names_at};
