//! Options of several commands.

use std::path::{Path, PathBuf};

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use stats::Correction;
use store::is_server;
use words::{Vocabulary, Word};

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people
    #[default]
    Text,
    /// One JSON document
    Json,
}

const FILE: &str = "netassay.db";

#[derive(Debug, Clone, Default, Args)]
pub(crate) struct Database {
    /// The database: a file, or one on a PostgreSQL server, postgres://USER@HOST/NAME
    /// (docs/fleets.md)
    #[arg(long, value_name = "DATABASE", default_value = FILE)]
    pub(crate) db: PathBuf,
}

impl Database {
    /// The file beside which other files are written.
    pub(crate) fn file(&self) -> &Path {
        if is_server(&self.db) { Path::new(FILE) } else { &self.db }
    }

    /// Takes the address of a server out: a study is measured into a file first.
    pub(super) fn take_server(&mut self) -> Option<PathBuf> {
        is_server(&self.db).then(|| std::mem::replace(&mut self.db, FILE.into()))
    }
}

pub(super) const WIDE: &str = "Print every figure in tables of full width, and each sentence on one line";

#[derive(Debug, Clone, Copy, Default, Args)]
pub(crate) struct Formatted {
    #[arg(long, help = WIDE)]
    pub(crate) wide: bool,
    /// How to print results
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
}

#[derive(Debug, Clone, Copy, Default, Args)]
pub(crate) struct TurnFlags {
    /// Do not wait if another session measures on this machine: exit at once
    #[arg(long, conflicts_with = "beside")]
    pub(crate) no_wait: bool,
    /// Measure beside another session; every run is then marked as disturbed
    #[arg(long)]
    pub(crate) beside: bool,
}

/// The choice of all pairs of a fleet.
#[derive(Debug, Args)]
pub(crate) struct OverPairs {
    /// Over all pairs of machines that the study's campaign measured (docs/fleets.md)
    #[arg(long)]
    pub(crate) fleet: bool,
    /// Also compare the groups of pairs with the same value of this label
    #[arg(long, value_name = "LABEL", requires = "fleet")]
    pub(crate) by: Option<String>,
}

/// The correction: a confidence holds for all of a comparison together, or for each by itself.
pub(crate) fn correction(uncorrected: bool) -> Correction {
    if uncorrected { Correction::None } else { Correction::Family }
}

#[derive(Debug, Args)]
pub(crate) struct Stored {
    #[command(flatten)]
    pub(crate) database: Database,
    #[command(flatten)]
    pub(crate) output: Formatted,
}

/// Reads a word of a vocabulary, whose help is its meaning.
pub(crate) fn word_of<W: Word + Send + Sync>() -> impl TypedValueParser<Value = W> {
    let meaning = |lines: &[&str]| Vocabulary::sentences(lines).trim_end_matches('.').to_owned();
    let words = W::VOCABULARY.words.iter();
    let words = words.map(move |(word, lines)| PossibleValue::new(*word).help(meaning(lines)));
    PossibleValuesParser::new(words)
        .try_map(|word: String| W::from_word(&word).ok_or("not one of the possible values"))
}
