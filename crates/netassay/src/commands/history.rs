//! `netassay history`: a metric over stored studies.

use std::collections::{BTreeMap, BTreeSet};

use report::{figures, views};
use results::{ComparisonRequest, HistoryChoice, PooledCampaigns};
use store::{Store, StudyId, StudyRow};

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
    let last = flags.last.get();
    let choice = HistoryChoice {
        name,
        tags: flags.tags.clone(),
        order: flags.order,
        // A campaign has many studies.
        last: (!flags.fleet).then_some(last),
    };
    let chosen = choice.choose(&rows);
    let Some(newest) = chosen.last() else {
        let db = named(&flags.stored.database.db);
        let (name, tags) = (choice.name, flags.tags.join(" or "));
        bail!(Nothing, "no study {name:?} of {db} has a tag like {tags}: `netassay db list` shows the tags");
    };
    let newest = store.outline(newest.0, |plan| results::metrics_to_compare(plan, request))?;
    let wanted: Vec<_> = newest.values.into_keys().collect();
    let outline = |study| Ok::<_, Failure>(store.outline(study, |_| wanted.clone())?.sanitised());
    if flags.fleet {
        let mut campaigns = campaigns(&rows, &chosen);
        if campaigns.is_empty() {
            let name = choice.name;
            bail!(Nothing, "no study {name:?} was measured on pairs of a fleet: leave --fleet out");
        }
        let older = campaigns.len().saturating_sub(last);
        campaigns.drain(..older);
        let pairs = campaigns.iter().map(|(_, campaign)| store.pairs(campaign));
        let means = |study| Ok::<_, Failure>(store.boot_means(study, |_| wanted.clone())?.sanitised());
        let environments = |study| Ok::<_, Failure>(store.environments(study)?.sanitised());
        let pooled = PooledCampaigns::new(&pairs.collect::<Result<Vec<_>, _>>()?, means, environments)?;
        let labels = campaigns.into_iter().map(|(label, _)| label);
        let entries = labels.zip(pooled.outlines);
        let entries: Vec<_> = entries.filter_map(|(label, outline)| Some((label, outline?))).collect();
        let found = results::StudyHistory::new(&entries, choice.order(), &flags.condition, request)?;
        let mut found = found.ok_or_else(none)?;
        let pairs = results::counted(pooled.pairs.len(), "pair");
        found.notes.push(format!(
            "each study is one pair of a campaign, and stands for it: its values are means over the {pairs} that all campaigns measured, with intervals by pairs"
        ));
        found.notes.extend(pooled.left_out);
        return Ok(found);
    }
    let mut entries = Vec::new();
    for (study, label) in chosen {
        entries.push((label, outline(study)?));
    }
    let found = results::StudyHistory::new(&entries, choice.order(), &flags.condition, request)?;
    found.ok_or_else(none)
}

fn none() -> Failure {
    Failure::Internal("a history has a newest study".to_owned())
}

/// The campaigns that measured these studies, each once with its label: a tag, or its name.
fn campaigns(rows: &[StudyRow], chosen: &[(StudyId, String)]) -> Vec<(String, String)> {
    let rows: BTreeMap<StudyId, &StudyRow> = rows.iter().map(|row| (row.id, row)).collect();
    let mut known = BTreeSet::new();
    let mut found = Vec::new();
    for (study, label) in chosen {
        let Some(pair) = rows.get(study).and_then(|row| row.pair.as_ref()) else { continue };
        if known.insert(&pair.campaign) {
            let is_tag = rows[study].tags.contains(label);
            found.push((if is_tag { label } else { &pair.campaign }.clone(), pair.campaign.clone()));
        }
    }
    found
}
