//! The command line.

mod advise;
mod apply;
mod common;
mod compare;
mod export;
mod gate;
mod history;
mod hosts;
mod kept;
mod kernel;
mod load;
mod machine;
mod plan;
mod report;
mod run;
mod show;
mod studies;
mod trace;
mod traced;

use std::ffi::OsString;

use clap::{Args, Parser, Subcommand};

use crate::exit;

pub(crate) use advise::{AdviceFormat, Advise, Wanted};
pub(crate) use apply::Apply;
pub(crate) use common::{Database, Format, Formatted, TurnFlags, correction};
pub(crate) use compare::{Compare, CompareFiles};
pub(crate) use export::{Export, ExportFormat};
pub(crate) use gate::{Gate, GateFormat};
pub(crate) use history::History;
pub(crate) use hosts::{AddressesOf, HostFlags, OneHost, lease};
pub(crate) use kept::{Pack, Remove, TagStudy, Unpack};
pub(crate) use kernel::{Kernel, KernelAction, Listing};
pub(crate) use load::{Load, Said, option};
pub(crate) use machine::{Doctor, Restore};
pub(crate) use plan::Plan;
pub(crate) use report::{Report, ReportFormat};
pub(crate) use run::{Aa, CampaignFlags, Changes, Measured, ProgressStyle, Run, RunFlags};
pub(crate) use show::{List, Show};
pub(crate) use studies::{Check, New, Studies};
pub(crate) use trace::Trace;
pub(crate) use traced::{Merge, TraceAction};

const EXAMPLES: &str = "\
Examples:
  netassay quick                          a first answer within 15 s: no root, no file
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
    /// Run the bundled study `quick`: IPv4 against IPv6, offloads on against off, within 15 s
    Quick(Measured),
    /// Run a study: a bundled name, or a TOML file
    Run(Run),
    /// Run one workload without a study; print its rate, its cost and its limit
    Load(Load),
    /// A/A test: false-positive rate of each method on this machine
    Aa(Aa),
    /// Compute how many boots and runs a difference needs, and how long they take
    Plan(Plan),
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
    /// Set what stored studies recommend on a machine, so that it stays
    Apply(Apply),
    /// Tag a stored study: a name to call it by
    Tag(TagStudy),
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
    /// Show what each stage of the kernel's path costs a packet
    Trace(Box<Trace>),
    /// Fetch and list kernels for guests
    Kernel(Kernel),
    /// Show what this machine supports, and what disturbs measurements here
    Doctor(Doctor),
    /// Undo the changes to this machine that `apply` made, or that a killed session left
    Restore(Restore),
    /// Serve as a host's agent (netassay starts it by itself)
    #[command(hide = true)]
    Agent,
    /// Boot a guest on a machine (netassay starts it by itself)
    #[command(hide = true)]
    Guest,
    /// Undo changes of sessions that are gone, and tell the rest (netassay starts it by itself)
    #[command(hide = true)]
    Unrestored,
    /// Wait until the input ends or pauses for this long (netassay starts it by itself)
    #[command(hide = true)]
    Hold {
        /// How long
        #[arg(value_parser = study::parse_duration)]
        lease: std::time::Duration,
    },
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
                            run.measured.flags.campaign.set.changes.is_empty(),
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
