//! Text from others (agents, databases, files, names that the kernel tells) made harmless: nothing
//! in it commands a terminal, reverses or hides what stands around it, or ends a line of ours.

mod json;
mod plain;

pub use json::{escaped_json, plain_json};
pub use plain::{REASON, is_plain, line, lines, reason};
