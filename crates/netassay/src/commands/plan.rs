//! `netassay plan`: how many boots and runs a difference needs, and how long that takes.

use report::{Sizing, SizingRequest, Spread};
use store::Store;
use study::Study;

use crate::cli::Plan;
use crate::commands::stored::{newest_called, open_read_only};
use crate::commands::studies::find;
use crate::failure::Failure;
use crate::output::{self, named};

pub(crate) fn plan(flags: &Plan) -> Result<(), Failure> {
    let study = find(&flags.study, &flags.set)?;
    let request = SizingRequest {
        detect: flags.detect,
        power: flags.power.value() / 100.0,
        confidence: flags.confidence.value() / 100.0,
        metric: flags.metric.clone(),
    };
    if !(request.power < 1.0 && request.confidence < 1.0) {
        return Err(Failure::Usage("100 % power or confidence is not possible: use less".to_owned()));
    }
    let spread = match (flags.interaction, flags.within) {
        (Some(interaction), Some(within)) => Spread {
            interaction: interaction.value(),
            interaction_at_most: None,
            runs: within.value(),
            boots: None,
            source: "the command line".to_owned(),
        },
        _ => measured(flags, &study)?,
    };
    let sizing = Sizing::new(&study, spread, &request)?;
    output::show(&sizing, &flags.stored.output, false, Sizing::text)
}

/// The measured spread: from the newest stored study that shows it, or the given one.
fn measured(flags: &Plan, study: &Study) -> Result<Spread, Failure> {
    let path = &flags.stored.database.db;
    if path.exists() {
        let store = open_read_only(path)?;
        if let Some(spread) = newest(&store, flags, study)? {
            return Ok(spread);
        }
    }
    let of = flags.from.as_ref().map_or_else(|| named(path), |word| format!("study {word}"));
    Err(Failure::Nothing(format!(
        "the spread is unknown: {of} has no runs of this kind. Run a short pilot of two boots or more first (such as this \
         study with shorter windows), or state the spread in % of the mean with --interaction (condition x boot) and --within \
         (between runs)"
    )))
}

fn newest(store: &Store, flags: &Plan, study: &Study) -> Result<Option<Spread>, Failure> {
    let from = flags.from.as_ref().map(|word| newest_called(store, word)).transpose()?;
    for row in store.studies()?.iter().rev().filter(|row| from.is_none_or(|id| row.id == id)) {
        if let Some(spread) = Spread::of(&store.load(row.id)?.shown(), study, flags.metric.as_deref())? {
            return Ok(Some(spread));
        }
    }
    Ok(None)
}
