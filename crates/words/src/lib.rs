//! The vocabulary that several crates use (see ARCHITECTURE.md): kinds of traffic, senders,
//! readers, directions, families, scenarios, features, metrics, and the one [`Traffic`]. Studies,
//! the engine and the command line use these declarations. Foreign text is sanitised here too.
//!
//! Pure: no I/O.

mod cpu_list;
mod device;
pub mod duration;
pub mod feature;
mod file_error;
pub mod flow_hash;
mod kernel_path;
mod key;
mod keys;
mod kind;
mod label;
mod lists;
pub mod metric;
mod mode;
pub mod names;
mod pacing;
mod rules;
mod sanitised;
mod scenario;
mod shell;
mod side;
pub mod suggest;
mod sysctls;
mod traffic;
mod tuning;
mod turn;
mod value;
mod word;

pub use cpu_list::{HIGHEST_CPU, format_cpu_list, parse_cpu_list};
pub use device::{DeviceForm, DeviceSetting};
pub use duration::{format_duration, parse_duration};
pub use file_error::FileError;
pub use kernel_path::{Closure, KernelPath, MOST_MESSAGES, MOST_ROUNDS, Waiting};
pub use key::{Key, Misfit};
pub use keys::KEYS;
pub use kind::Kind;
pub use label::Label;
pub use lists::{distinct, grouped};
pub use mode::{CongestionControl, Direction, Reader, Sender};
pub use pacing::{Pacing, Percent};
pub use sanitised::{
    LONGEST_REASON, escaped_json, is_plain, last_words, last_words_within, sanitised_json, sanitised_line,
    sanitised_lines, shortened_reason,
};
pub use scenario::{Accelerated, Acceleration, Copies, Family, Nic, Scenario, VXLAN_OVERHEAD};
pub use shell::{csv_field, fnv1a, shell_command, shell_word};
pub use side::{BySide, Side};
pub use sysctls::{acts_at_once, check_sysctl, format_sysctls, parse_sysctls, sysctls};
pub use traffic::{
    LISTENER, MAX_FLOWS, MAX_IN_FLIGHT, MAX_MEMORY, MAX_MESSAGE, MAX_RATE, MAX_THREADS, PATH_QUEUE, Traffic,
    Workload,
};
pub use tuning::{Placement, Settled, Tuning, TuningKey};
pub use turn::{MOST_IN_TURNS, MOST_TURNS, Turn};
pub use value::{Field, Mistake, PlainValue, Shape, Value};
pub use word::{UnknownWord, Vocabulary, Word};

/// The word for the default.
pub const DEFAULT: &str = "default";
