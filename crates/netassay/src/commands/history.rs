//! `netassay history`: a metric over stored studies.

use report::{figures, views};
use results::{ComparisonRequest, HistoryChoice};
use store::Store;

use crate::cli::{History, correction};
use crate::commands::stored::study_of;
use crate::failure::{Failure, bail, say};
use crate::output::{self, MayReplace, drawing, named};

pub(crate) fn history(flags: &History) -> Result<(), Failure> {
    // Before anything is read.
    let draw = flags.output.as_deref().map(drawing).transpose()?;
    let request = ComparisonRequest {
        metric: flags.metric.as_deref().map(results::resolve_metric).transpose()?,
        confidence: flags.confidence.value() / 100.0,
        correction: correction(flags.uncorrected),
        ..ComparisonRequest::default()
    };
    let found = study_history(flags, &request)?;
    if let (Some(path), Some(draw)) = (&flags.output, draw) {
        let chart = figures::history(&found)
            .ok_or_else(|| Failure::Nothing("no value of this history can be drawn".to_owned()))?;
        output::write(path, &draw(&chart), MayReplace::NamedByUser)?;
        say(&format!("wrote the chart to {}", named(path)));
    }
    output::show_view(&found, &flags.stored.output, views::history)
}

fn study_history(flags: &History, request: &ComparisonRequest) -> Result<results::StudyHistory, Failure> {
    let store = Store::open_read_only(&flags.stored.database.db)?;
    let meant = study_of(&store, flags.study.as_deref())?;
    let rows = store.studies()?;
    let name = rows.iter().find(|row| row.id == meant).map_or_else(String::new, |row| row.name.clone());
    let choice =
        HistoryChoice { name, tags: flags.tags.clone(), order: flags.order, last: Some(flags.last.get()) };
    let chosen = choice.choose(&rows);
    let Some(newest) = chosen.last() else {
        let db = named(&flags.stored.database.db);
        let (name, tags) = (choice.name, flags.tags.join(" or "));
        bail!(Nothing, "no study {name:?} of {db} has a tag like {tags}: `netassay db list` shows the tags");
    };
    let newest = store.outline(newest.0, |plan| results::metrics_to_compare(plan, request))?;
    let wanted: Vec<_> = newest.values.into_keys().collect();
    let entry = |(study, label)| Ok((label, store.outline(study, |_| wanted.clone())?.sanitised()));
    let entries = chosen.into_iter().map(entry).collect::<Result<Vec<_>, Failure>>()?;
    let found = results::StudyHistory::new(&entries, choice.order(), &flags.condition, request)?;
    found.ok_or_else(|| Failure::Internal("a history has a newest study".to_owned()))
}
