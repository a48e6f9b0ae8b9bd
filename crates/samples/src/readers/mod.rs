//! One reader for each format.

pub(crate) mod csv;
pub(crate) mod hyperfine;
pub(crate) mod iperf;
pub(crate) mod iperf3;
pub(crate) mod json;
pub(crate) mod netperf;
pub(crate) mod stat;

use std::borrow::Borrow;
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::error::{Fault, FilePosition};
use crate::options::{BootColumn, Options};
use crate::series::SampleSeries;

#[derive(Debug, Default)]
pub(crate) struct ReadValues {
    pub(crate) series: Vec<SampleSeries>,
    pub(crate) boots: Vec<Vec<u8>>,
    /// Whether the boots are this file's own, even if other files use the same names.
    pub(crate) owns_boots: bool,
    pub(crate) notes: Vec<String>,
    /// Circumstances of the runs, such as the program's version: their distinct values.
    pub(crate) settings: BTreeMap<String, Vec<String>>,
    /// The runs by a hash of their identities, where the program gives them one, and their places.
    pub(crate) runs: BTreeMap<u64, FilePosition>,
}

// The most metrics that messages list.
pub(crate) const MOST_METRICS: usize = 1000;

// The most values of a circumstance that are told apart.
const MOST: usize = 8;

// The longest value of a circumstance, in bytes.
const LONGEST: usize = 60;

impl ReadValues {
    pub(crate) fn add_setting(&mut self, name: &str, value: &str) {
        let value = value.get(..LONGEST).unwrap_or(value);
        let values = self.settings.entry(name.to_owned()).or_default();
        if values.len() < MOST && !values.iter().any(|known| known == value) {
            values.push(value.to_owned());
        }
    }

    /// Notes a run; whether the file already has it.
    pub(crate) fn repeats(&mut self, identity: impl Hash, place: FilePosition) -> bool {
        let mut hasher = DefaultHasher::new();
        identity.hash(&mut hasher);
        let known = self.runs.len();
        self.runs.entry(hasher.finish()).or_insert(place);
        self.runs.len() == known
    }
}

pub(crate) fn require_no_boot(program: &str, options: &Options) -> Result<(), Fault> {
    let Some(BootColumn::Named(name)) = &options.boot else { return Ok(()) };
    let what = format!("{program}'s results name no boot, so none in {name:?}");
    Err(Fault::new(FilePosition::start_of(1), what, "give the boots with --boots"))
}

/// The requested metric of a program that has these; the first, if none is requested. No boot may
/// be requested.
pub(crate) fn chosen<'m>(program: &str, options: &Options, known: &[&'m str]) -> Result<&'m str, Fault> {
    require_no_boot(program, options)?;
    let word = options.metric.as_deref().filter(|word| *word != "all").unwrap_or(known[0]);
    known.iter().find(|one| **one == word).copied().ok_or_else(|| no_such_metric(word, known))
}

pub(crate) fn no_such_metric(metric: &str, known: &[impl Borrow<str>]) -> Fault {
    let way_out = match known {
        [] => "give another file, or leave out --metric".to_owned(),
        known => format!("--metric takes {}", known.join(", ")),
    };
    Fault::new(FilePosition::start_of(1), format!("no result with the metric {metric:?}"), way_out)
}

pub(crate) fn plain_word(word: &str) -> String {
    // Files spell metrics in different ways: `Local CPU Util %` and `LOCAL_CPU_UTIL` are both
    // `local_cpu_util` here.
    let letters = |letter: char| if letter.is_alphanumeric() { letter.to_ascii_lowercase() } else { ' ' };
    word.chars().map(letters).collect::<String>().split_whitespace().collect::<Vec<_>>().join("_")
}
