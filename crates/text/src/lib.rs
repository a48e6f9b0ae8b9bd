//! Makes text from others (agents, databases, files, names from the kernel) harmless: nothing in it
//! commands a terminal, reverses or hides its surroundings, or ends a line of ours.

mod csv;
mod json;
mod plain;
mod shell;
mod sum;

pub use csv::csv_field;
pub use json::{escaped_json, plain_json};
pub use plain::{REASON, is_plain, last_words, line, lines, reason};
pub use shell::{command, shell_word};
pub use sum::fnv1a;
