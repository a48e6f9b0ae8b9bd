//! The command lines of `study` and `db`: study files before they are measured, and stored studies.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use store::Tag;
use study::{Assignment, Percent};

use super::common::{Database, Formatted, Stored};
use super::run::SET;

#[derive(Debug, Subcommand)]
pub(crate) enum StudyCommand {
    /// Write a commented starter study to NAME.toml
    New {
        /// The study's name; the file is NAME.toml in this directory
        name: String,
    },
    /// Check a study file, and show problems with line, column and remedy
    Check {
        /// The study file
        file: PathBuf,
        #[arg(long, value_name = "KEY=VALUE", help = SET)]
        set: Vec<Assignment>,
    },
    /// Compute how many boots and runs a difference needs, and how long they take
    Plan(PlanArgs),
    /// List the bundled studies
    List(Formatted),
    /// Print the file of a bundled study
    Print {
        /// The name of the study (`netassay study list`)
        name: String,
    },
    /// Print the JSON schema of study files
    Schema,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  netassay study plan tcp-offload --detect 1%\n  netassay study plan my.toml --detect 2% --power 90% --from 3\n  netassay study plan my.toml --detect 2% --interaction 0.5% --within 3%"
)]
pub(crate) struct PlanArgs {
    /// A bundled study or a TOML file
    pub(crate) study: String,
    #[arg(long, value_name = "KEY=VALUE", help = SET)]
    pub(crate) set: Vec<Assignment>,
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
    /// Take the spread from this stored study [default: the nearest one that shows it]
    #[arg(long, value_name = "STORED", conflicts_with = "within")]
    pub(crate) from: Option<String>,
    /// State the spread of condition x boot, in % of the mean, in place of a stored study
    #[arg(long, value_name = "SHARE", value_parser = Percent::parse, requires = "within")]
    pub(crate) interaction: Option<Percent>,
    /// State the spread between runs, in % of the mean
    #[arg(long, value_name = "SHARE", value_parser = Percent::parse, requires = "interaction")]
    pub(crate) within: Option<Percent>,
    #[command(flatten)]
    pub(crate) stored: Stored,
}

#[derive(Debug, Subcommand)]
pub(crate) enum DbCommand {
    /// List the stored studies
    List(Stored),
    /// Tag a stored study: a name to call it by
    #[command(
        after_help = "Examples:\n  netassay db tag 6 main\n  netassay db tag 7 main --move\n  netassay compare main 8\n  netassay db tag --remove main"
    )]
    Tag {
        /// The study: its number, a tag or its name (`netassay db list`)
        #[arg(required_unless_present = "remove")]
        study: Option<String>,
        /// The tag: letters, digits, '.', '_' and '-'
        #[arg(required_unless_present = "remove")]
        name: Option<Tag>,
        /// Take the tag from the study that has it
        #[arg(long = "move", conflicts_with = "remove")]
        moves: bool,
        /// Remove this tag; the study stays
        #[arg(long, value_name = "NAME", conflicts_with = "study")]
        remove: Option<Tag>,
        #[command(flatten)]
        database: Database,
    },
    /// Remove a stored study
    Remove {
        /// The study: its number, a tag, or a name that only one study has (`netassay db list`)
        study: String,
        /// Show what would be removed, and remove nothing
        #[arg(long)]
        dry_run: bool,
        #[command(flatten)]
        database: Database,
        #[command(flatten)]
        output: Formatted,
    },
    /// Pack stored studies into a file for somebody else
    Pack {
        /// The studies: numbers, tags or names (`netassay db list`)
        #[arg(required = true, value_name = "STUDY")]
        studies: Vec<String>,
        /// The file to write, which must not exist; it is a database of these studies alone
        #[arg(short, long, value_name = "FILE")]
        output: PathBuf,
        #[command(flatten)]
        database: Database,
    },
    /// Add the studies of packed files to the database
    Unpack {
        /// A file that `netassay db pack` wrote, or any database of netassay
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
        #[command(flatten)]
        database: Database,
    },
    /// Add stored studies to another database: one on a server, of many machines
    #[command(
        after_help = "Examples:\n  netassay db push --to postgres://lab@db.example/bench\n  netassay db push 3 --db rack1.db --to postgres://lab@db.example/bench"
    )]
    Push {
        /// The studies: numbers, tags or names (`netassay db list`) [default: all]
        #[arg(value_name = "STUDY")]
        studies: Vec<String>,
        /// The database that they are added to, as far as they are not there
        #[arg(long, value_name = "DATABASE")]
        to: PathBuf,
        #[command(flatten)]
        database: Database,
    },
    /// Make netassay's tables in a PostgreSQL database, or update them to this version
    Migrate {
        /// The database: postgres://OWNER@HOST/NAME; its owner may create a schema
        #[arg(long, value_name = "DATABASE")]
        db: PathBuf,
    },
    /// Write a stored study's measurements for other tools
    #[command(
        after_help = "Examples:\n  netassay db export --format stat -o results\n  netassay db export 3 --format csv > runs.csv\n  netassay db export 3 --format parquet -o runs.parquet"
    )]
    Export {
        /// The study: its number, a tag or its name (`netassay db list`) [default: the newest]
        study: Option<String>,
        /// The format of the file; JSON of everything: `netassay show --format json`
        #[arg(long, value_enum)]
        format: ExportFormat,
        /// (stat) The metric, or `all` for a directory of files for each [default: the study's own]
        #[arg(long)]
        metric: Option<String>,
        /// Where to write: a directory for `stat`, a file for the others [default: standard output]
        #[arg(short, long, value_name = "PATH")]
        output: Option<PathBuf>,
        #[command(flatten)]
        database: Database,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFormat {
    /// One file for each condition and metric, one value a line: ministat's input
    Stat,
    /// One row for each run and metric
    Csv,
    /// CSV: the counters over time, one row for each run, side and moment
    Series,
    /// One row for each run, one column for each metric: for DuckDB and pandas
    Parquet,
}
