//! The vocabulary that several crates use (see ARCHITECTURE.md): kinds of traffic, senders,
//! readers, directions, families, scenarios, features, metrics, and the one [`Traffic`]. Studies,
//! the engine and the command line use these declarations. Foreign text is sanitised here too.
//!
//! Pure: no I/O.

pub mod duration;
pub mod feature;
pub mod flow_hash;
pub mod metric;
pub mod names;
pub mod suggest;

mod changeable_sysctl;
mod checksum;
mod closure;
mod congestion_control;
mod cpu_list;
mod csv;
mod device;
mod family;
mod guest;
mod kernel_path;
mod key;
mod keys;
mod kind;
mod kind_metrics;
mod label;
mod mistake;
mod mode;
mod pacing;
mod percent;
mod rules;
mod sanitised;
mod sanitised_json;
mod scenario;
mod settled;
mod shape;
mod shell;
mod side;
mod sysctls;
mod traffic;
mod tuning;
mod turn;
mod value;
mod word;
mod workload;

/// The word for the default.
pub const DEFAULT: &str = "default";

pub use changeable_sysctl::{SYSCTLS, check_sysctl};
pub use checksum::fnv1a;
pub use closure::Closure;
pub use congestion_control::CongestionControl;
pub use cpu_list::{CpuListError, HIGHEST_CPU, format_cpu_list, parse_cpu_list};
pub use csv::csv_field;
pub use device::{DeviceForm, DeviceSetting, EthtoolOption};
pub use duration::{DurationError, format_duration, parse_duration};
pub use family::Family;
pub use guest::{Accelerated, Acceleration, Copies, Nic};
pub use kernel_path::{KernelPath, MOST_MESSAGES, MOST_ROUNDS, Waiting};
pub use key::{Key, Misfit};
pub use keys::KEYS;
pub use kind::Kind;
pub use label::Label;
pub use mistake::Mistake;
pub use mode::{Direction, Reader, Sender};
pub use pacing::{Pacing, PacingError};
pub use percent::{Percent, PercentError};
pub use sanitised::{
    LONGEST_REASON, is_plain, last_words, sanitised_line, sanitised_lines, shortened_reason,
};
pub use sanitised_json::{escaped_json, sanitised_json};
pub use scenario::{Scenario, VXLAN_OVERHEAD};
pub use settled::Settled;
pub use shape::{Shape, WordSet};
pub use shell::{shell_command, shell_word};
pub use side::{BySide, Side};
pub use sysctls::{acts_at_once, format_sysctls, parse_sysctls};
pub use traffic::{
    LISTENER, MAX_FLOWS, MAX_IN_FLIGHT, MAX_MEMORY, MAX_MESSAGE, MAX_RATE, MAX_THREADS, PATH_QUEUE, Traffic,
};
pub use tuning::{Placement, Tuning, TuningKey};
pub use turn::{Doubt, MOST_IN_TURNS, MOST_TURNS, Turn};
pub use value::{Field, PlainValue, Value};
pub use word::{Vocabulary, Word};
pub use workload::Workload;
