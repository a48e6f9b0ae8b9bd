//! The command line.

mod common;
mod deciding;
mod files;
mod fleet;
mod load;
mod machines;
mod reading;
mod run;
mod trace;

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{ArgAction, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
use results::glossary::find;
use testbed::reach::HostSpec;

use crate::exit;

pub(crate) use common::{Format, Formatted, OverPairs, Stored, TurnFlags, correction};
pub(crate) use deciding::{AdviceFormat, Advise, Gate, GateFormat, Wanted};
pub(crate) use files::{DbCommand, ExportFormat, PlanArgs, StudyCommand};
pub(crate) use fleet::{FleetCommand, FleetScript, FleetStatusFlags, Scheduler};
pub(crate) use load::{LoadArgs, traffic_keys};
pub(crate) use machines::{AddressesOf, Apply, HostFlags, KernelCommand, Login, Undo, lease};
pub(crate) use reading::{Compare, History, Report, ReportFormat};
pub(crate) use run::{Aa, CampaignFlags, ProgressStyle, Run, RunFlags};
pub(crate) use trace::Trace;

const EXAMPLES: &str = "\
Examples:
  netassay quick                          a first answer within 15 s: no root, no file
  netassay run tcp-offload --dry-run      what would be measured, and for how long
  netassay run my.toml                    run a study of your own
  netassay run my.toml --resume           continue where it stopped
  netassay load udp_stream sender=gso     one workload without a study
  netassay report                         the stored results as a page with figures
  netassay compare --metric receiver.cpu  the stored results, by another metric
  netassay doctor                         what this machine can do, and what disturbs it here
";

/// The commands by job, as the help shows them.
const JOBS: &[(&str, &[&str])] = &[
    ("Measure", &["quick", "run", "load", "trace"]),
    ("Read", &["show", "report", "compare", "history"]),
    ("Decide", &["advise", "gate"]),
    ("Machines", &["doctor", "fleet", "kernel", "apply", "undo"]),
    ("Files", &["study", "db", "ministat"]),
];

/// Old names of commands, and the new ones.
const RENAMED: &[(&str, &str)] = &[
    ("new", "study new"),
    ("check", "study check"),
    ("plan", "study plan"),
    ("studies", "study list"),
    ("schema", "study schema"),
    ("list", "db list"),
    ("tag", "db tag"),
    ("remove", "db remove"),
    ("pack", "db pack"),
    ("unpack", "db unpack"),
    ("export", "db export"),
    ("restore", "undo"),
    ("aa", "run STUDY --aa"),
    ("explain", "help TERM"),
    ("trace merge", "show --fleet"),
];

/// Finds out, with proof, what each part of the Linux network stack costs and gains.
#[derive(Debug, Parser)]
#[command(name = "netassay", version, before_help = EXAMPLES, after_help = exit::HELP)]
#[command(max_term_width = 100)]
pub(crate) struct Cli {
    /// Log to standard error what agents are asked and answer, and what is started; twice: whole
    /// messages
    ///
    /// NETASSAY_LOG=FILE appends the whole log to a file instead.
    #[arg(short, long, global = true, action = ArgAction::Count)]
    pub(crate) verbose: u8,
    #[command(subcommand)]
    pub(crate) command: Command,
}

impl Cli {
    /// Reads a command line, which begins with the name of the program.
    pub(crate) fn read(words: impl Iterator<Item = OsString>) -> Result<Self, clap::Error> {
        let words = with_terms(words.collect());
        let asked = words.iter().skip(1).filter(|word| *word != "help");
        let asked: Vec<&str> = asked.map_while(|word| word.to_str()).take(2).collect();
        let is_asked = |old: &str| asked.first() == Some(&old) || asked.join(" ") == old;
        if let Some((old, new)) = RENAMED.iter().find(|(old, _)| is_asked(old)) {
            let renamed = format!("`netassay {old}` is now `netassay {new}`\n");
            return Err(clap::Error::raw(ErrorKind::InvalidSubcommand, renamed));
        }
        let mut command = with_jobs(Self::command());
        let read = command.try_get_matches_from_mut(words);
        let matches = read.map_err(|error| without_hidden_suggestions(error, &command))?;
        let mut read = Self::from_arg_matches(&matches).map_err(|error| error.format(&mut command))?;
        match &mut read.command {
            Command::Quick(flags) => flags.campaign.measure_into_file()?,
            Command::Run(run) if run.aa.from.is_none() => run.flags.campaign.measure_into_file()?,
            Command::Trace(flags) if flags.from.is_none() => flags.campaign.measure_into_file()?,
            _ => {}
        }
        Ok(read)
    }
}

/// The names of the commands, in the order of the help.
pub(crate) fn commands() -> impl Iterator<Item = &'static str> {
    JOBS.iter().flat_map(|(_, names)| names.iter().copied())
}

/// Puts the hidden command that defines terms in place of a `help` before a word that is no
/// command: clap's `help` knows commands only.
fn with_terms(mut words: Vec<OsString>) -> Vec<OsString> {
    let is_option = |word: &OsString| word.as_encoded_bytes().starts_with(b"-");
    let is_old = |name: &str| RENAMED.iter().any(|(old, _)| *old == name) && find(name).is_empty();
    let is_command = |name: &str| commands().any(|command| command == name) || is_old(name);
    if let [_, help, asked @ ..] = words.as_mut_slice()
        && *help == "help"
        && let Some(first) = asked.first()
        && (asked.iter().any(is_option) || !first.to_str().is_some_and(is_command))
    {
        *help = "term".into();
    }
    words
}

/// `hide` keeps a command out of the help only, and clap suggests it for a word that is like it.
fn without_hidden_suggestions(mut error: clap::Error, command: &clap::Command) -> clap::Error {
    let kind = ContextKind::SuggestedSubcommand;
    if let Some(ContextValue::Strings(names)) = error.get(kind) {
        // The commands of `study`, `db` and `kernel` are all in the help.
        let is_shown = |name: &&String| command.find_subcommand(name).is_none_or(|one| !one.is_hide_set());
        let shown: Vec<String> = names.iter().filter(is_shown).cloned().collect();
        if shown.is_empty() {
            error.remove(kind);
        } else {
            error.insert(kind, ContextValue::Strings(shown));
        }
    }
    error
}

/// The command line with a help that lists the commands by job.
fn with_jobs(command: clap::Command) -> clap::Command {
    let header = command.get_styles().get_header();
    let literal = command.get_styles().get_literal();
    let about = |name: &str| command.find_subcommand(name).and_then(clap::Command::get_about);
    let line = |name: &&str| {
        let about = about(name).map(ToString::to_string).unwrap_or_default();
        format!("  {literal}{name:8}{literal:#}  {about}\n")
    };
    let group = |(job, names): &(&str, &[&str])| {
        let lines: String = names.iter().map(line).collect();
        format!("{header}{job}:{header:#}\n{lines}\n")
    };
    let groups: String = JOBS.iter().map(group).collect();
    let template = format!(
        "{{before-help}}{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{groups}\
         `netassay help COMMAND` shows the options of a command, `netassay help TERM`\n\
         defines a word of the output or the docs, `netassay help --terms` lists all.\n\n\
         {header}Options:{header:#}\n{{options}}{{after-help}}"
    );
    command.help_template(template)
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Measure IPv4, IPv6 and offloads in 15 s: the bundled study `quick`
    Quick(RunFlags),
    /// Run a study: a bundled one, or a TOML file
    Run(Run),
    /// Run one workload without a study: its rate, its cost and its limit
    Load(LoadArgs),
    /// Show what each stage of the kernel's path costs a packet
    Trace(Box<Trace>),
    /// Show the results of a stored study
    ///
    /// With --wide also the proof that the switches acted.
    Show {
        /// The study: its number, a tag or its name (`netassay db list`) [default: the newest]
        study: Option<String>,
        /// Show every run, not only the conditions
        #[arg(long)]
        runs: bool,
        /// Show the environment of every boot
        #[arg(long)]
        environment: bool,
        #[command(flatten)]
        over: OverPairs,
        #[command(flatten)]
        stored: Stored,
    },
    /// Write stored studies as a page with figures: HTML, Markdown, JSON
    Report(Report),
    /// Compare conditions, two stored studies, or files of measurements
    Compare(Compare),
    /// Show a metric over stored studies, and where it changed
    History(History),
    /// Advise which switches to set, from stored studies
    Advise(Advise),
    /// Judge a stored study against a baseline, for CI
    Gate(Gate),
    /// Show what this machine supports, and what disturbs measurements here
    Doctor {
        /// Look at this machine, over ssh: root@a; for a second also at its interface, which is to
        /// carry traffic: root@a:ens1f0, or an interface of this machine: :ens1f0
        #[arg(long, value_name = "[USER@]HOST[:INTERFACE]", conflicts_with_all = ["transmitter", "receiver", "hosts", "addresses", "lease", "keep_agent"])]
        host: Option<HostSpec>,
        #[command(flatten)]
        output: Formatted,
        #[command(flatten, next_help_heading = "Two machines, which are checked as a pair")]
        hosts: HostFlags,
    },
    /// Run a study on many pairs by a scheduler; show how far they are
    #[command(subcommand, disable_help_subcommand = true)]
    Fleet(FleetCommand),
    /// Fetch and list kernels for guests
    #[command(subcommand, disable_help_subcommand = true, after_help = machines::KERNEL_EXAMPLES)]
    Kernel(KernelCommand),
    /// Set on a machine what stored studies recommend, so that it stays
    Apply(Apply),
    /// Undo changes to a machine: of `apply`, or of a killed session
    Undo(Undo),
    /// Write, check, plan, list and print study files
    #[command(subcommand, disable_help_subcommand = true)]
    Study(StudyCommand),
    /// List, tag, remove, share and export stored studies
    #[command(subcommand, disable_help_subcommand = true)]
    Db(DbCommand),
    /// Compare files of numbers as ministat(1) does, byte for byte
    // Listed for the help only: ministat is called before this command line is read, and has a
    // getopt of its own.
    #[command(disable_help_flag = true)]
    Ministat {
        /// ministat's options and files
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "WORD")]
        words: Vec<OsString>,
    },
    /// Define a term of the output or the docs, or list all terms
    #[command(
        hide = true,
        override_usage = "netassay help TERM...\n       netassay help --terms",
        after_help = "Examples:\n  netassay help disturbed\n  netassay help no difference proven\n  netassay help --terms run"
    )]
    Term {
        /// The term: a word of the output, a key of traffic, a metric, a feature
        #[arg(value_name = "TERM", required_unless_present_any = ["terms", "markdown"])]
        word: Vec<String>,
        /// List all terms; before a term: define it, also if a command has its name
        #[arg(long)]
        terms: bool,
        /// Print the whole glossary as docs/glossary.md has it
        #[arg(long, hide = true, conflicts_with_all = ["word", "format"])]
        markdown: bool,
        #[command(flatten)]
        output: Formatted,
    },
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
        /// The time limit
        #[arg(value_parser = study::parse_duration)]
        lease: std::time::Duration,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn each_visible_command_has_one_job_and_each_old_name_a_new_one() {
        let command = Cli::command();
        let visible = command.get_subcommands().filter(|one| !one.is_hide_set());
        let mut visible: Vec<&str> = visible.map(clap::Command::get_name).collect();
        let mut listed: Vec<&str> = super::commands().collect();
        visible.sort_unstable();
        listed.sort_unstable();
        assert_eq!(visible, listed);
        for one in command.get_subcommands().filter(|one| !one.is_hide_set()) {
            let about = one.get_about().unwrap().to_string();
            assert!(about.chars().count() <= 68, "a terminal of 80 columns: {about}");
        }
        for (old, new) in RENAMED {
            assert!(!visible.contains(old));
            // clap adds it by itself.
            let new = new.strip_prefix("help ").map_or(*new, |_| "term");
            let mut words = new.split(' ').filter(|word| word.chars().all(|one| one.is_ascii_lowercase()));
            let found = words.try_fold(&command, |command, word| command.find_subcommand(word));
            assert!(found.is_some_and(|found| found.get_name() != "netassay"), "{new}");
        }
    }

    #[test]
    fn a_mistyped_command_is_not_taken_for_a_hidden_one() {
        for (typed, suggested) in
            [("shwo", "tip: a similar subcommand exists: 'show'"), ("hodl", ""), ("agnet", "")]
        {
            let error =
                Cli::read(["netassay", typed].into_iter().map(OsString::from)).unwrap_err().to_string();
            let is_right = error.contains("tip: ") != suggested.is_empty() && error.contains(suggested);
            assert!(is_right, "{error}");
        }
    }

    /// Checks the help of a command and of all visible ones below it.
    fn each_help<F: FnMut(&str)>(command: &mut clap::Command, check: &mut F) {
        check(&command.render_long_help().to_string());
        let is_shown = |one: &&mut clap::Command| !one.is_hide_set() && one.get_name() != "help";
        command.get_subcommands_mut().filter(is_shown).for_each(|one| each_help(one, check));
    }

    #[test]
    fn help_fits_into_100_columns_and_its_examples_are_commands() {
        let mut command = with_jobs(Cli::command()).term_width(100);
        command.build();
        let mut examples = 0;
        each_help(&mut command, &mut |help| {
            let wide = help.lines().find(|line| line.chars().count() > 100);
            assert_eq!(wide, None, "{help}");
            for line in help.lines().filter(|line| line.starts_with("  netassay ")) {
                let example = line.trim().split("  ").next().unwrap_or_default();
                let words = words(example).into_iter().take_while(|word| word != ">");
                let read = Cli::read(words.map(OsString::from));
                assert!(read.is_ok(), "{line}: {}", read.unwrap_err());
                examples += 1;
            }
        });
        assert!(examples > 70, "{examples}");
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
                let read = Cli::read(command.iter().map(OsString::from));
                match read.unwrap_or_else(|error| panic!("{command:?}: {error}")).command {
                    Command::Gate(gate) => found += gate.fail_if.len(),
                    Command::Run(run) => {
                        assert_eq!(run.flags.set.is_empty(), !command.contains(&"--set".to_owned()))
                    }
                    _ => {}
                }
            }
            assert!(found >= bounds, "{found} bounds");
        }
    }
}
