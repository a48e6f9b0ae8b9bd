//! `netassay study plan`: how many boots and runs a difference needs, and how long that takes.

use report::views;
use results::{Nearness, PilotSpread, Sizing, SizingRequest};
use store::{Outline, Store, StudyId};
use study::Study;
use study::metric::Metric;

use crate::cli::Plan;
use crate::commands::stored::newest_called;
use crate::commands::study_files::find;
use crate::failure::Failure;
use crate::output::{self, named};

pub(crate) fn plan(flags: &Plan) -> Result<(), Failure> {
    let study = find(&flags.study, &flags.set)?;
    let request = SizingRequest {
        detect: flags.detect,
        power: flags.power.value() / 100.0,
        confidence: flags.confidence.value() / 100.0,
        metric: metric(flags)?,
    };
    if !(request.power < 1.0 && request.confidence < 1.0) {
        return Err(Failure::Usage("100 % power or confidence is not possible: use less".to_owned()));
    }
    let spread = match flags.interaction.zip(flags.within) {
        Some((interaction, within)) => PilotSpread {
            interaction: interaction.value(),
            interaction_at_most: None,
            runs: Some(within.value()),
            in_turns: false,
            boots: None,
            source: "the command line".to_owned(),
            near: None,
        },
        None => measured(flags, &study)?,
    };
    let sizing = Sizing::new(&study, spread, &request)?;
    output::show_view(&sizing, &flags.stored.output, false, |sizing, _| views::sizing(sizing))
}

fn metric(flags: &Plan) -> Result<Option<Metric>, Failure> {
    Ok(flags.metric.as_deref().map(results::resolve_metric).transpose()?)
}

/// The measured spread: from the nearest stored study that shows it, or the given one.
fn measured(flags: &Plan, study: &Study) -> Result<PilotSpread, Failure> {
    let path = &flags.stored.database.db;
    if path.exists() {
        let store = Store::open_read_only(path)?;
        if let Some(spread) = nearest(&store, flags, study)? {
            return Ok(spread);
        }
    }
    let of = flags.from.as_ref().map_or_else(|| named(path), |word| format!("study {word}"));
    Err(Failure::Nothing(format!(
        "the spread is unknown: {of} has no runs of this kind. Run a short pilot of two boots or more first (such as this \
         study with shorter windows, or `netassay run STUDY --aa --set apart=true`, which tells which way of measuring is cheaper), or \
         state the spread in % of the mean with --interaction (condition x boot) and --within (between runs)"
    )))
}

/// Of studies that are as near the newest.
fn nearest(store: &Store, flags: &Plan, study: &Study) -> Result<Option<PilotSpread>, Failure> {
    let metric = metric(flags)?;
    let from = flags.from.as_ref().map(|word| newest_called(store, word)).transpose()?;
    let mut pilots: Vec<(Nearness, StudyId)> = Vec::new();
    for row in store.studies()?.iter().filter(|row| from.is_none_or(|id| row.id == id)) {
        let Outline { row, plan, .. } = store.outline(row.id, |_| Vec::new())?;
        pilots.push((Nearness::between(&row, &plan, study, metric)?, row.id));
    }
    pilots.sort_unstable_by(|one, other| other.cmp(one));
    for (_, id) in pilots {
        let pilot = store.load(id)?.sanitised();
        if let Some(spread) = PilotSpread::from_pilot(&pilot, study, metric)? {
            return Ok(Some(spread));
        }
    }
    Ok(None)
}
