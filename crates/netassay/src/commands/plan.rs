//! `netassay study plan`: how many boots and runs a difference needs, and how long that takes.

use report::views;
use results::{Nearness, PilotSpread, Sizing, SizingRequest};
use store::{Outline, Store, StudyId};
use study::metric::Metric;
use study::{Assignment, Protocol, Study, format_duration};

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
    let (spread, other) = match flags.interaction.zip(flags.within) {
        Some((interaction, within)) => {
            let stated = PilotSpread {
                interaction: interaction.value(),
                interaction_at_most: None,
                runs: Some(within.value()),
                in_turns: false,
                boots: None,
                source: "the command line".to_owned(),
                near: None,
            };
            (stated, None)
        }
        None => measured(flags, &study)?,
    };
    let mut sizing = Sizing::new(&study, spread, &request)?;
    if let Some((study, spread)) = other {
        sizing = sizing.beside(Sizing::new(&study, spread, &request)?);
    }
    output::show_view(&sizing, &flags.stored.output, false, |sizing, _| views::sizing(sizing))
}

fn metric(flags: &Plan) -> Result<Option<Metric>, Failure> {
    Ok(flags.metric.as_deref().map(results::resolve_metric).transpose()?)
}

/// A spread, and the study measured the other way with its spread, where the pilot measured both.
type Measured = (PilotSpread, Option<(Study, PilotSpread)>);

/// The measured spread: from the nearest stored study that shows it, or the given one.
fn measured(flags: &Plan, study: &Study) -> Result<Measured, Failure> {
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
fn nearest(store: &Store, flags: &Plan, study: &Study) -> Result<Option<Measured>, Failure> {
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
            let other = the_other_way(study, &pilot.plan.asked.protocol);
            let spread_of = |other: &Study| PilotSpread::from_pilot(&pilot, other, metric);
            let other = other.map(|other| Ok::<_, Failure>(spread_of(&other)?.map(|spread| (other, spread))));
            return Ok(Some((spread, other.transpose()?.flatten())));
        }
    }
    Ok(None)
}

/// The same study without its turns, or with those of a pilot that measured both ways.
fn the_other_way(study: &Study, pilot: &Protocol) -> Option<Study> {
    let alternate = pilot.alternate.filter(|_| pilot.apart)?;
    let changes = if study.protocol.alternate.is_some() {
        vec!["alternate=off".to_owned(), "settle=".to_owned()]
    } else {
        vec![
            format!("alternate={}", format_duration(alternate.turn)),
            format!("settle={}", format_duration(alternate.settle)),
        ]
    };
    let changes: Vec<Assignment> = changes.iter().filter_map(|change| change.parse().ok()).collect();
    // Not every study can: there is no other way then.
    Study::parse_with(&study.name, &study.text, &changes).ok()
}
