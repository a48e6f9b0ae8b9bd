//! One reader for each format.

pub(crate) mod csv;
pub(crate) mod go;
pub(crate) mod hyperfine;
pub(crate) mod iperf;
pub(crate) mod iperf3;
pub(crate) mod json;
pub(crate) mod netperf;
pub(crate) mod stat;

use crate::error::{Fault, Place};
use crate::options::{Column, Options};
use crate::series::{Collector, Series};

/// What a reader found.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) series: Vec<Series>,
    /// The names of the boots by their numbers.
    pub(crate) boots: Vec<Vec<u8>>,
    /// The boots are those of this file, whatever other files call theirs.
    pub(crate) owns_boots: bool,
    /// What a person should know.
    pub(crate) notes: Vec<String>,
}

impl Found {
    pub(crate) fn new(collector: Collector, notes: Vec<String>) -> Found {
        let (series, boots) = collector.finish();
        Found { series, boots, owns_boots: false, notes }
    }
}

/// Refuses a column of boots in the results of a program that names none.
pub(crate) fn require_no_boot(program: &str, options: &Options) -> Result<(), Fault> {
    let Some(Column::Named(name)) = &options.boot else { return Ok(()) };
    let what = format!("{program}'s results name no boot, so none in {name:?}");
    Err(Fault::new(Place::start_of(1), what, "give the boots with --boots"))
}

/// What to say when a metric that was asked for is in none of a file's results.
pub(crate) fn no_such_metric(metric: &str, known: &[String]) -> Fault {
    Fault::new(
        Place::start_of(1),
        format!("no result with the metric {metric:?}"),
        match known {
            [] => "give another file, or leave out --metric".to_owned(),
            known => format!("--metric takes {}", known.join(", ")),
        },
    )
}

/// Metrics are asked for in the words of files, which write the same ones in different ways: `Local
/// CPU Util %`, `LOCAL_CPU_UTIL`. Here both are `local_cpu_util`.
pub(crate) fn plain_word(word: &str) -> String {
    let letters = |letter: char| if letter.is_alphanumeric() { letter.to_ascii_lowercase() } else { ' ' };
    word.chars().map(letters).collect::<String>().split_whitespace().collect::<Vec<_>>().join("_")
}
