//! The command line of what keeps stored studies: tags, removal, packing.

use std::path::PathBuf;

use clap::Args;
use store::Tag;

use super::common::{Database, Formatted};

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  netassay tag 6 main\n  netassay tag 7 main --move\n  netassay compare 8 --against main\n  netassay tag --remove main"
)]
pub(crate) struct TagStudy {
    /// The study: its number, a tag or its name (`netassay list`)
    #[arg(required_unless_present = "remove")]
    pub(crate) study: Option<String>,
    /// The tag: letters, digits, '.', '_' and '-'
    #[arg(required_unless_present = "remove")]
    pub(crate) name: Option<Tag>,
    /// Take the tag from the study that has it
    #[arg(long = "move", conflicts_with = "remove")]
    pub(crate) moves: bool,
    /// Remove this tag; the study stays
    #[arg(long, value_name = "NAME", conflicts_with = "study")]
    pub(crate) remove: Option<Tag>,
    #[command(flatten)]
    pub(crate) database: Database,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  netassay remove 3 --dry-run\n  netassay remove 3")]
pub(crate) struct Remove {
    /// The study: its number, a tag, or a name that only one study has (`netassay list`)
    pub(crate) study: String,
    /// Show what would be removed, and remove nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) database: Database,
    #[command(flatten)]
    pub(crate) output: Formatted,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  netassay pack main -o main.netassay\n  netassay pack 3 4 5 -o studies.netassay\n  netassay show --db studies.netassay"
)]
pub(crate) struct Pack {
    /// The studies: numbers, tags or names (`netassay list`)
    #[arg(required = true, value_name = "STUDY")]
    pub(crate) studies: Vec<String>,
    /// The file to write, which must not exist; it is a database of these studies alone
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,
    #[command(flatten)]
    pub(crate) database: Database,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  netassay unpack studies.netassay\n  netassay unpack studies.netassay --db all.db"
)]
pub(crate) struct Unpack {
    /// A file that `netassay pack` wrote, or any database of netassay
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) database: Database,
}
