//! The caller's options for files.

use stats::Design;

/// Options for reading and combining files. The default detects everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// The format. `None`: detected from the content.
    pub format: Option<InputFormat>,
    /// The metric, by the file's word; `all` for every one. `None`: the file's main one.
    pub metric: Option<String>,
    /// The column of the values: CSV by its name, `.stat` by its number from 1. `None`: `value`, or
    /// the first.
    pub value: Option<String>,
    /// CSV: the column of the conditions. `None`: `label` or `condition`.
    pub condition: Option<String>,
    /// The column that names the boot.
    pub boot: Option<BootColumn>,
    /// Which runs belong to the same boot, without a column of boots.
    pub boots: Boots,
    /// Whether conditions share boots. `None`: detected.
    pub design: Option<Design>,
    /// The condition to compare with, by its label. `None`: the first.
    pub baseline: Option<String>,
}

/// A column of boots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BootColumn {
    /// No column names boots.
    None,
    /// The column with this name, or with this number from 1 in a file without names.
    Named(String),
}

/// Which runs belong to the same boot.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Boots {
    /// As the files say.
    #[default]
    Named,
    /// The values of a condition, in order, are boots of these many runs.
    Sizes(Vec<usize>),
    /// Each file is a boot.
    PerFile,
}

words::vocabulary! {
    /// A format of measurements.
    pub enum InputFormat: "a format of measurements" {
        /// ministat's: one value per line, `#` starts a comment; a second column may name the boot.
        Stat = "stat";
        /// Columns with names, separated by commas, semicolons or tabs.
        Csv = "csv";
        /// netperf's results as CSV (`-o`) or keywords (`-k`).
        Netperf = "netperf";
        /// iperf's `-y C`.
        Iperf = "iperf";
        /// iperf3's `-J`.
        Iperf3 = "iperf3";
        /// hyperfine's `--export-json`.
        Hyperfine = "hyperfine";
    }
}
