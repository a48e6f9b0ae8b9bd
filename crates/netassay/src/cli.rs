//! The command line.

mod advise;
mod common;
mod compare;
mod gate;
mod history;
mod kept;
mod kernel;
mod load;
mod report;
mod simulate;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use study::{Assignment, Percent};

use crate::exit;

pub(crate) use advise::{AdviceFormat, Advise};
pub(crate) use common::{Database, Format, Formatted, Stored, Tables, TurnFlags};
pub(crate) use compare::{Compare, CompareFiles};
pub(crate) use gate::{Gate, GateFormat};
pub(crate) use history::History;
pub(crate) use kept::{NoteStudy, Pack, Remove, TagStudy, Unpack};
pub(crate) use kernel::{Kernel, KernelAction, Listing};
pub(crate) use load::{Load, option};
pub(crate) use report::{Report, ReportFormat};
pub(crate) use simulate::Simulate;

const EXAMPLES: &str = "\
Examples:
  netassay quick                          a first answer within a minute: no root, no file
  netassay run tcp-offload --dry-run      what would be measured, and for how long
  netassay run my.toml                    run a study of your own
  netassay run my.toml --resume           continue where it stopped
  netassay load udp_stream --sender gso   one workload without a study
  netassay report                         the stored results as a page with figures
  netassay compare --metric receiver.cpu  the stored results, by another metric
  netassay doctor                         what this machine can do, and what disturbs it here
";

/// Finds out, with proof, what each part of the Linux network stack costs and gains.
#[derive(Debug, Parser)]
#[command(name = "netassay", version, before_help = EXAMPLES, after_help = exit::HELP)]
#[command(disable_help_subcommand = true, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run the bundled study `quick`: IPv4 against IPv6, offloads on against off, within a minute
    Quick(Measured),
    /// Run a study: a bundled name, or a TOML file
    Run(Run),
    /// Run one workload without a study; print its rate, its cost and its limit
    Load(Load),
    /// A/A test: false-positive rate of each method on this machine
    Aa(Aa),
    /// Compute how many boots and runs a difference needs, and how long they take
    Plan(Plan),
    /// Simulate experiments: each method's false-positive rate, and how often it finds a difference
    Simulate(Simulate),
    /// List the bundled studies, or print one
    Studies(Studies),
    /// Write a commented starter study to NAME.toml
    New(New),
    /// Check a study file, and show problems with line, column and remedy
    Check(Check),
    /// Print the JSON schema of study files
    Schema,
    /// List the stored studies
    List(List),
    /// Show a stored study: results; with --wide proof that the switches acted too
    Show(Show),
    /// Write stored studies as one page with figures: HTML, Markdown or JSON
    Report(Report),
    /// Compare the conditions of a stored study, two stored studies, or files of measurements
    Compare(Compare),
    /// Judge a stored study against a baseline: pass, fail or inconclusive, for CI
    Gate(Gate),
    /// Show a metric over stored studies: its levels, where they changed, and the newest study
    History(History),
    /// Advise which switches to set, from stored studies: gain, cost, commands to apply and to undo
    Advise(Advise),
    /// Tag a stored study: a name to call it by
    Tag(TagStudy),
    /// Note something of a stored study
    Note(NoteStudy),
    /// Remove a stored study
    Remove(Remove),
    /// Pack stored studies into a file for somebody else
    Pack(Pack),
    /// Add the studies of a packed file to the database
    Unpack(Unpack),
    /// Write a stored study's measurements for other tools
    Export(Export),
    /// Compare files of numbers as ministat(1) does, byte for byte
    Ministat(Ministat),
    /// Define a term of the output or the docs; without a word: list all terms
    Explain(Explain),
    /// Fetch and list kernels for guests
    Kernel(Kernel),
    /// Show what this machine supports, and what disturbs measurements here
    Doctor(Doctor),
    /// Undo the changes to this machine that a killed session left
    Restore(Restore),
    /// Serve as a host's agent (netassay starts it by itself)
    #[command(hide = true)]
    Agent,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ProgressStyle {
    /// A bar on a terminal, plain lines elsewhere
    Auto,
    /// One line for each thing that happens
    Plain,
    /// One JSON object for each thing that happens
    Json,
    /// Nothing
    None,
}

#[derive(Debug, Args)]
pub(crate) struct Changes {
    /// Change the study: duration=2s, boots=2, sender=send,gso (levels), stop= (removed);
    /// repeatable
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(crate) changes: Vec<Assignment>,
}

#[derive(Debug, Args)]
pub(crate) struct RunFlags {
    #[command(flatten)]
    pub(crate) set: Changes,
    #[command(flatten)]
    pub(crate) database: Database,
    /// Print the plan, and measure nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Continue a stored study: the newest unfinished one of this name, or the one with this number
    /// or tag
    #[arg(long, value_name = "STORED", num_args = 0..=1)]
    #[expect(clippy::option_option, reason = "absent, present, and present with a study are three things")]
    pub(crate) resume: Option<Option<String>>,
    /// Use a user namespace even if privileges allow more
    #[arg(long)]
    pub(crate) rootless: bool,
    /// Count disturbed runs and do not repeat them: for a machine that is never idle
    #[arg(long)]
    pub(crate) keep_disturbed: bool,
    /// Allow the study to change this machine itself, as its table `machine` says; netassay undoes
    /// the changes at the end
    #[arg(long)]
    pub(crate) change_machine: bool,
    #[command(flatten)]
    pub(crate) turn: TurnFlags,
    #[command(flatten)]
    pub(crate) tables: Tables,
    /// Style of progress messages on standard error
    #[arg(long, value_enum, value_name = "STYLE", default_value_t = ProgressStyle::Auto)]
    pub(crate) progress: ProgressStyle,
    #[command(flatten)]
    pub(crate) output: Formatted,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  netassay run quick --dry-run\n  netassay run tcp-offload --set duration=2s --set boots=5\n  netassay run my.toml --db results.db\n  netassay run my.toml --resume"
)]
pub(crate) struct Run {
    /// A bundled study (`netassay studies`) or a TOML file (`netassay new NAME` writes one)
    pub(crate) study: String,
    #[command(flatten)]
    pub(crate) measured: Measured,
}

#[derive(Debug, Args)]
pub(crate) struct Measured {
    #[command(flatten)]
    pub(crate) flags: RunFlags,
    /// Do not write the report (`netassay report`) beside the database at the end
    #[arg(long)]
    pub(crate) no_report: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  netassay aa quick\n  netassay aa quick --experiments 10 --duration 200ms --runs 3\n  netassay aa --from 3 --boots 5"
)]
pub(crate) struct Aa {
    /// The study whose baseline is measured: a bundled name or a TOML file
    #[arg(required_unless_present = "from", conflicts_with = "from")]
    pub(crate) study: Option<String>,
    /// How many experiments
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) experiments: u32,
    /// Boots of each experiment
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(2..))]
    pub(crate) boots: u32,
    /// Recorded runs of each label in each boot [default: as the study says]
    #[arg(long, value_name = "N")]
    pub(crate) runs: Option<u32>,
    /// The window of each run, such as 200ms [default: as the study says]
    #[arg(long, value_parser = study::parse_duration)]
    pub(crate) duration: Option<std::time::Duration>,
    /// Judge this stored A/A study (number, tag or name), and measure nothing
    #[arg(long, value_name = "STORED")]
    pub(crate) from: Option<String>,
    #[command(flatten)]
    pub(crate) run: RunFlags,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  netassay plan tcp-offload --detect 1%\n  netassay plan my.toml --detect 2% --power 90% --from 3\n  netassay plan my.toml --detect 2% --interaction 0.5% --within 3%"
)]
pub(crate) struct Plan {
    /// A bundled study or a TOML file
    pub(crate) study: String,
    #[command(flatten)]
    pub(crate) set: Changes,
    /// The difference to prove, in % of the baseline, such as 1%
    #[arg(long, value_name = "SHARE", value_parser = Percent::parse)]
    pub(crate) detect: Percent,
    /// The chance to prove it, if it exists
    #[arg(long, value_name = "SHARE", value_parser = Percent::parse, default_value = "80%")]
    pub(crate) power: Percent,
    /// Confidence of the intervals
    #[arg(long, value_name = "SHARE", value_parser = Percent::parse, default_value = "95%")]
    pub(crate) confidence: Percent,
    /// The metric [default: that of the study's first comparison]
    #[arg(long)]
    pub(crate) metric: Option<String>,
    /// Take the spread from this stored study (number, tag or name) [default: the newest that shows
    /// it]
    #[arg(long, value_name = "STORED", conflicts_with = "within")]
    pub(crate) from: Option<String>,
    /// State the spread of condition x boot, in % of the mean, instead of taking it from stored
    /// studies
    #[arg(long, value_name = "SHARE", value_parser = Percent::parse, requires = "within")]
    pub(crate) interaction: Option<Percent>,
    /// State the spread between runs, in % of the mean
    #[arg(long, value_name = "SHARE", value_parser = Percent::parse, requires = "interaction")]
    pub(crate) within: Option<Percent>,
    #[command(flatten)]
    pub(crate) stored: Stored,
}

#[derive(Debug, Args)]
pub(crate) struct Studies {
    /// Print the file of this bundled study
    #[arg(long, value_name = "NAME", conflicts_with = "format")]
    pub(crate) print: Option<String>,
    #[command(flatten)]
    pub(crate) output: Formatted,
}

#[derive(Debug, Args)]
pub(crate) struct New {
    /// The study's name; the file is NAME.toml in this directory
    pub(crate) name: String,
}

#[derive(Debug, Args)]
pub(crate) struct Check {
    /// The study file
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) set: Changes,
}

#[derive(Debug, Args)]
pub(crate) struct List {
    #[command(flatten)]
    pub(crate) tables: Tables,
    #[command(flatten)]
    pub(crate) stored: Stored,
}

#[derive(Debug, Args)]
pub(crate) struct Show {
    /// The study: its number, a tag or its name (`netassay list`) [default: the newest]
    pub(crate) study: Option<String>,
    /// Show every run, not only the conditions
    #[arg(long)]
    pub(crate) runs: bool,
    /// Show the environment of every boot
    #[arg(long)]
    pub(crate) environment: bool,
    #[command(flatten)]
    pub(crate) tables: Tables,
    #[command(flatten)]
    pub(crate) stored: Stored,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFormat {
    /// One file for each condition and metric, one value a line: ministat's input
    Stat,
    /// One row for each run and metric
    Csv,
    /// One document with everything but the counters over time
    Json,
    /// CSV: the counters over time, one row for each run, side and moment
    Series,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  netassay export --format stat --out results\n  netassay export 3 --format csv > runs.csv"
)]
pub(crate) struct Export {
    /// The study: its number, a tag or its name (`netassay list`) [default: the newest]
    pub(crate) study: Option<String>,
    /// What to write
    #[arg(long, value_enum)]
    pub(crate) format: ExportFormat,
    /// (stat) The metric, or `all` for a directory of files for each [default: the study's own]
    #[arg(long)]
    pub(crate) metric: Option<String>,
    /// Where to write: a directory for `stat`, a file for the others [default: standard output]
    #[arg(long, value_name = "PATH")]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) database: Database,
}

// Listed here for the help only: ministat is called before this command line is read, and has a
// getopt of its own.
#[derive(Debug, Args)]
#[command(disable_help_flag = true)]
pub(crate) struct Ministat {
    /// ministat's options and files
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "WORD")]
    pub(crate) words: Vec<OsString>,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  netassay explain\n  netassay explain disturbed\n  netassay explain no difference proven"
)]
pub(crate) struct Explain {
    /// The term: a word of the output, a key of traffic, a metric, a feature [default: all terms]
    pub(crate) word: Vec<String>,
    /// Print the whole glossary as docs/glossary.md has it
    #[arg(long, conflicts_with_all = ["word", "format"])]
    pub(crate) markdown: bool,
    #[command(flatten)]
    pub(crate) output: Formatted,
}

#[derive(Debug, Args)]
pub(crate) struct Doctor {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) output: Formatted,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Every measuring command does the same when it starts. Only changes that a study's [machine] asked for are undone, and only\nthose of sessions that are gone.\n\nExamples:\n  netassay restore --dry-run\n  netassay restore --force"
)]
pub(crate) struct Restore {
    /// Show what would be undone, and change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Also restore settings that another program has changed since
    #[arg(long)]
    pub(crate) force: bool,
    /// Rename journals whose changes could not all be undone, so that they are ignored
    #[arg(long, conflicts_with = "dry_run")]
    pub(crate) forget: bool,
    #[command(flatten)]
    pub(crate) output: Formatted,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_sound() {
        Cli::command().debug_assert();
    }

    /// The commands of netassay in a page or a workflow: lines that begin with its name, with those
    /// that a backslash continues, up to `||` or a comment.
    fn commands(text: &str) -> Vec<Vec<String>> {
        let joined = text.replace("\\\n", " ");
        let lines = joined.lines().map(|line| line.trim().trim_start_matches("- "));
        lines.filter(|line| line.starts_with("netassay ")).map(words).collect()
    }

    /// The words of a shell's line without substitutions.
    fn words(line: &str) -> Vec<String> {
        let (mut words, mut word, mut quoted) = (Vec::new(), String::new(), false);
        for letter in line.chars() {
            match letter {
                '\'' => quoted = !quoted,
                ' ' if !quoted => words.push(std::mem::take(&mut word)),
                other => word.push(other),
            }
        }
        words.push(word);
        words.retain(|word| !word.is_empty());
        words.into_iter().take_while(|word| word != "||" && word != "#").collect()
    }

    #[test]
    fn workflows_and_their_page_call_netassay_as_it_is_called() {
        for (text, least, bounds) in [
            (include_str!("../../../docs/ci/github.yml"), 4, 5),
            (include_str!("../../../docs/ci/gitlab.yml"), 4, 5),
            (include_str!("../../../docs/ci.md"), 6, 3),
        ] {
            let commands = commands(text);
            assert!(commands.len() >= least, "{commands:?}");
            let mut found = 0;
            for command in commands {
                let read = Cli::try_parse_from(&command);
                match read.unwrap_or_else(|error| panic!("{command:?}: {error}")).command {
                    Command::Gate(gate) => found += gate.fail_if.len(),
                    Command::Run(run) => {
                        assert_eq!(
                            run.measured.flags.set.changes.is_empty(),
                            !command.contains(&"--set".to_owned())
                        )
                    }
                    _ => {}
                }
            }
            assert!(found >= bounds, "{found} bounds");
        }
    }
}
