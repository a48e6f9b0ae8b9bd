//! The formats of measurements.

use std::fmt;

/// A format of measurements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputFormat {
    /// ministat's: one value per line, `#` starts a comment; a second column may name the boot.
    Stat,
    /// Columns with names, separated by commas, semicolons or tabs.
    Csv,
    /// netperf's results as CSV (`-o`) or keywords (`-k`).
    Netperf,
    /// iperf's `-y C`.
    Iperf,
    /// iperf3's `-J`.
    Iperf3,
    /// hyperfine's `--export-json`.
    Hyperfine,
    /// Go's benchmark format.
    Go,
}

impl InputFormat {
    /// All of them.
    pub const ALL: [InputFormat; 7] = [
        InputFormat::Stat,
        InputFormat::Csv,
        InputFormat::Netperf,
        InputFormat::Iperf,
        InputFormat::Iperf3,
        InputFormat::Hyperfine,
        InputFormat::Go,
    ];
}

impl fmt::Display for InputFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Stat => "stat",
            Self::Csv => "csv",
            Self::Netperf => "netperf",
            Self::Iperf => "iperf",
            Self::Iperf3 => "iperf3",
            Self::Hyperfine => "hyperfine",
            Self::Go => "go",
        })
    }
}
