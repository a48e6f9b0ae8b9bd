//! Limits of a file, far above real measurements: they bound the memory of any input.

/// The longest line of a text file, and the longest record of a CSV file, in bytes.
pub const LONGEST_LINE: usize = 1 << 20;

/// The most bytes of any file.
pub const LARGEST_FILE: u64 = 1 << 30;

/// The most bytes of a JSON file.
pub const LARGEST_JSON: u64 = 64 << 20;

/// The most values of one file.
pub const MOST_VALUES: usize = 1 << 25;

/// The most series of one file: conditions times benchmarks times metrics.
pub const MOST_SERIES: usize = 1 << 16;

/// The most boots of one file.
pub const MOST_BOOTS: usize = 1 << 20;

/// The longest name of a condition, benchmark, metric or boot, in bytes.
pub const LONGEST_NAME: usize = 1 << 10;

/// The most columns of a CSV file.
pub const MOST_COLUMNS: usize = 1 << 12;
