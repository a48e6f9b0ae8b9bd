//! The command lines of the commands that read results: `report`, `compare`, `history`.

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use results::HistoryOrder;
use samples::InputFormat;
use stats::{Design, Margin};
use study::Percent;
use words::metric::Better;

use super::common::{Database, OverPairs, Stored, word_of};

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    /// One HTML file, which loads nothing
    Html,
    /// Markdown, for a pull request or a mailing list
    Md,
    /// One JSON document, for programs
    Json,
}

impl ReportFormat {
    /// The ending of the files: its word.
    pub(crate) fn ending(self) -> String {
        self.to_possible_value().map_or_else(String::new, |word| word.get_name().to_owned())
    }
}

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  netassay report\n  netassay report 3 -o tso.html\n  netassay report 3 4 5 6\n  netassay report main --format md -o -"
)]
pub(crate) struct Report {
    /// The studies, side by side: numbers, tags or names (`netassay db list`) [default: the newest]
    pub(crate) studies: Vec<String>,
    /// Where to write; - is standard output [default: NAME-NUMBER.html beside the database]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// The format of the page
    #[arg(long, value_enum, default_value_t = ReportFormat::Html)]
    pub(crate) format: ReportFormat,
    #[command(flatten)]
    pub(crate) over: OverPairs,
    #[command(flatten)]
    pub(crate) database: Database,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  netassay compare\n  netassay compare 3 --metric transmitter.service_demand_byte\n  netassay compare 3 --baseline 'ipv4 offloads=none'\n  netassay compare 3 --classic --confidence 90\n  netassay compare main 6\n  netassay compare before.stat after.stat --boots 10,10,10\n  netassay compare old=1.json,2.json,3.json new=4.json,5.json,6.json --boots file"
)]
pub(crate) struct Compare {
    /// A stored study (number, tag or name), two of them, or files of measurements, the baseline
    /// first; left out: the newest study. NAME=FILE,FILE… takes several files for one condition; -
    /// is standard input
    #[arg(value_name = "STUDY | FILE")]
    pub(crate) what: Vec<OsString>,
    /// The metric, such as throughput, receiver.cpu [default: as the study or the file says]
    #[arg(long)]
    pub(crate) metric: Option<String>,
    /// The condition to compare with, by label or short name [default: the study's, or the first]
    #[arg(long, value_name = "CONDITION")]
    pub(crate) baseline: Option<String>,
    /// The classic pooled Student's t, in ministat's words; it treats runs as independent
    #[arg(long)]
    pub(crate) classic: bool,
    /// Confidence of the intervals, in percent (classic: 80, 90, 95, 98, 99 or 99.5)
    #[arg(long, value_name = "PERCENT", default_value_t = 95.0)]
    pub(crate) confidence: f64,
    /// Compare every condition with every other
    #[arg(long, conflicts_with_all = ["baseline", "classic"])]
    pub(crate) all_pairs: bool,
    /// The largest difference that does not matter, for `equivalent`: 2%, or 50 in the unit
    #[arg(long, value_name = "SIZE", value_parser = margin, conflicts_with = "classic")]
    pub(crate) margin: Option<Margin>,
    /// Whether the conditions share boots [default: as the data show]
    #[arg(long, value_parser = one_of(DESIGNS), conflicts_with = "classic")]
    pub(crate) design: Option<Design>,
    /// Apply the confidence to each interval by itself, not to all of a comparison together
    #[arg(long, conflicts_with = "classic")]
    pub(crate) uncorrected: bool,
    #[command(flatten)]
    pub(crate) stored: Stored,
    #[command(flatten)]
    pub(crate) files: CompareFiles,
}

/// `2%` or `50`.
fn margin(text: &str) -> Result<Margin, String> {
    let (number, kind): (&str, fn(f64) -> Margin) = match text.strip_suffix('%') {
        Some(number) => (number, Margin::Percent),
        None => (text, Margin::Absolute),
    };
    match number.trim().parse::<f64>() {
        Ok(size) if size > 0.0 && size.is_finite() => Ok(kind(size)),
        _ => Err("a size must be more than 0: 2% of the baseline, or 50 in the metric's unit".to_owned()),
    }
}

/// The reading of files of measurements (docs/files.md).
#[derive(Debug, Args)]
#[command(next_help_heading = "Files of measurements")]
pub(crate) struct CompareFiles {
    /// The program that wrote the files [default: detected from their content]
    #[arg(long, value_parser = word_of::<InputFormat>(), value_name = "FORMAT")]
    pub(crate) input_format: Option<InputFormat>,
    /// The number of values of each boot, in order: 10,10,10; `file` if each file is a boot
    #[arg(long, value_name = "COUNTS | file")]
    pub(crate) boots: Option<String>,
    /// The column that names the boot, by name or number; `none` if none does
    #[arg(long, value_name = "COLUMN | none", conflicts_with = "boots")]
    pub(crate) boot: Option<String>,
    /// (csv, stat) The column of the values, by name or number [default: value, or 1]
    #[arg(short = 'C', long, value_name = "COLUMN")]
    pub(crate) column: Option<String>,
    /// (csv) The column of the conditions [default: label, or condition]
    #[arg(long, value_name = "COLUMN")]
    pub(crate) condition: Option<String>,
    /// Which values are better [default: as the unit says, if it is known]
    #[arg(long, value_parser = one_of(BETTER), value_name = "DIRECTION")]
    pub(crate) better: Option<Better>,
}

/// A value of an option, its word, and its help.
type OptionChoice<T> = (T, &'static str, &'static str);

/// Reads an option that has one of these values.
fn one_of<T: Copy + Send + Sync>(choices: &'static [OptionChoice<T>]) -> impl TypedValueParser<Value = T> {
    let words = choices.iter().map(|(_, word, help)| PossibleValue::new(*word).help(*help));
    PossibleValuesParser::new(words).try_map(|word: String| {
        let choice = choices.iter().find(|(_, known, _)| *known == word);
        choice.map(|(value, ..)| *value).ok_or("not one of the possible values")
    })
}

const DESIGNS: &[OptionChoice<Design>] = &[
    (Design::Crossed, "crossed", "Each boot measured every condition"),
    (Design::Nested, "nested", "Each condition has boots of its own"),
];

const BETTER: &[OptionChoice<Better>] = &[
    (Better::Higher, "higher", "Rates, for example"),
    (Better::Lower, "lower", "Times and costs, for example"),
];

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  netassay history\n  netassay history quick --condition 'ipv4 offloads=none' -o history.svg\n  netassay history --tags 'v6.*' --metric receiver.cpu\n  netassay history nightly --last 30 --format json\n  netassay history nightly --fleet --last 10"
)]
pub(crate) struct History {
    /// The name of the studies, or the number or tag of one [default: that of the newest]
    #[arg(value_name = "STUDY")]
    pub(crate) study: Option<String>,
    /// The metric, such as throughput [default: those of the newest study's comparisons]
    #[arg(long)]
    pub(crate) metric: Option<String>,
    /// A condition of the newest study, by its label or its short name; repeatable [default: all]
    #[arg(long, value_name = "CONDITION")]
    pub(crate) condition: Vec<String>,
    /// Only studies with a tag like this: * stands for any text, ? for any character; repeatable
    #[arg(long, value_name = "PATTERN")]
    pub(crate) tags: Vec<String>,
    /// The order of the studies [default: version with --tags, else time]
    #[arg(long, value_parser = word_of::<HistoryOrder>())]
    pub(crate) order: Option<HistoryOrder>,
    /// Over pairs of machines: the campaigns of the study, each with the mean over the pairs that
    /// all of them measured (docs/fleets.md)
    #[arg(long)]
    pub(crate) fleet: bool,
    /// Only so many studies or campaigns, the newest
    #[arg(long, value_name = "COUNT", default_value = "200")]
    pub(crate) last: NonZeroUsize,
    /// The confidence with which a history without a change shows none
    #[arg(long, value_name = "SHARE", value_parser = Percent::parse, default_value = "95%")]
    pub(crate) confidence: Percent,
    /// Apply the confidence to each condition by itself, not to all together
    #[arg(long)]
    pub(crate) uncorrected: bool,
    /// Also write the chart to this file: .svg, or .html with its table
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) stored: Stored,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn margins_are_shares_or_sizes() {
        assert_eq!(margin("2%"), Ok(Margin::Percent(2.0)));
        assert_eq!(margin("0.5 %"), Ok(Margin::Percent(0.5)));
        assert_eq!(margin("50"), Ok(Margin::Absolute(50.0)));
        for text in ["", "%", "0", "-1%", "nan", "inf", "2 percent"] {
            assert!(margin(text).is_err(), "{text}");
        }
    }
}
