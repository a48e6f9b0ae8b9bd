//! `netassay study plan`: how many boots and runs a difference needs, and how long that takes.

use report::views;
use results::{Nearness, PilotSpread, Sizing, SizingRequest};
use store::{Outline, Store, StudyId};
use study::Study;
use study::metric::Metric;

use crate::cli::PlanArgs;
use crate::commands::stored::newest_called;
use crate::commands::study_files::find;
use crate::failure::{Failure, bail};
use crate::output::{self, named};

pub(crate) fn plan(flags: &PlanArgs) -> Result<(), Failure> {
    let study = find(&flags.study, &flags.set)?;
    let request = SizingRequest {
        detect: flags.detect,
        power: flags.power.value() / 100.0,
        confidence: flags.confidence.value() / 100.0,
        metric: flags.metric.as_deref().map(results::resolve_metric).transpose()?,
    };
    if !(request.power < 1.0 && request.confidence < 1.0) {
        bail!(Usage, "100 % power or confidence is not possible: use less");
    }
    let spread = match flags.interaction.zip(flags.within) {
        Some((interaction, within)) => PilotSpread {
            interaction: interaction.value(),
            runs: Some(within.value()),
            source: "the command line".to_owned(),
            ..PilotSpread::default()
        },
        None => measured(flags, &study, request.metric)?,
    };
    let sizing = Sizing::new(&study, spread, &request)?;
    output::show_view(&sizing, &flags.stored.output, |sizing, _| views::sizing(sizing))
}

/// The measured spread: from the given stored study, or the nearest that shows it, of several as
/// near the newest.
fn measured(flags: &PlanArgs, study: &Study, metric: Option<Metric>) -> Result<PilotSpread, Failure> {
    let path = &flags.stored.database.db;
    if path.exists() || store::is_server(path) {
        let store = Store::open_read_only(path)?;
        let from = flags.from.as_ref().map(|word| newest_called(&store, word)).transpose()?;
        let mut pilots: Vec<(Nearness, StudyId)> = Vec::new();
        for row in store.studies()?.iter().filter(|row| from.is_none_or(|id| row.id == id)) {
            let Outline { row, plan, .. } = store.outline(row.id, |_| Vec::new())?;
            pilots.push((Nearness::between(&row, &plan, study, metric)?, row.id));
        }
        pilots.sort_unstable_by(|one, other| other.cmp(one));
        for (_, id) in pilots {
            if let Some(spread) = PilotSpread::from_pilot(&store.load(id)?.sanitised(), study, metric)? {
                return Ok(spread);
            }
        }
    }
    let of = flags.from.as_ref().map_or_else(|| named(path), |word| format!("study {word}"));
    Err(Failure::Nothing(format!(
        "the spread is unknown: {of} has no runs of this kind. Run a short pilot of two boots or more first (such as this \
         study with shorter windows), or state the spread in % of the mean with --interaction (condition x boot) and --within \
         (between runs)"
    )))
}
