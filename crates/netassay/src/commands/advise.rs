//! `netassay advise`: which switches to set, drawn from stored studies.

use std::collections::BTreeMap;
use std::path::Path;

use report::document::{Block, markdown};
use report::views;
use results::advice::{Advice, AdviceRequest, PairsAdvice};
use store::{Store, StoredStudy};

use crate::cli::{AdviceFormat, Advise, Wanted};
use crate::commands::fleet::campaign_of;
use crate::commands::report::advice_of;
use crate::commands::stored::load_each;
use crate::failure::{Failure, bail};
use crate::output::{json, named, print, print_blocks};

pub(crate) fn advise(flags: &Advise) -> Result<(), Failure> {
    if flags.fleet {
        return advise_over_machines(flags);
    }
    let studies = load(&flags.database.db, &flags.studies)?;
    let advice = advice(&studies, &flags.wanted)?;
    match flags.format {
        AdviceFormat::Text => print_blocks(&views::advice(&advice), flags.wide),
        AdviceFormat::Md => print(&markdown(&views::advice(&advice))),
        AdviceFormat::Json => print(&json(&advice)?),
        AdviceFormat::Sh => print(&views::advice_script(&advice)),
    }
}

fn advise_over_machines(flags: &Advise) -> Result<(), Failure> {
    let ([] | [_]) = flags.studies.as_slice() else {
        bail!(Usage, "--fleet is about one campaign: name one of its studies");
    };
    if flags.format == AdviceFormat::Sh {
        bail!(Usage, "--format sh is about one pair: name its study, and leave --fleet out");
    }
    let store = Store::open_read_only(&flags.database.db)?;
    let campaign = campaign_of(&store, flags.studies.first().map(String::as_str))?;
    let mut pairs = PairsAdvice::new(&campaign, request(&flags.wanted)?);
    for row in store.pairs(&campaign)? {
        let Some(study) = row.study.filter(|_| row.pair.repeat == 1) else { continue };
        pairs.add(&row.pair.name, &store.load(study)?.sanitised())?;
    }
    let advice = pairs.over_machines()?;
    if advice.rows.is_empty() {
        bail!(
            Nothing,
            "campaign {campaign} has no switch of a host that was measured by these goals: `netassay show --fleet` shows its metrics, and `netassay run offload-gain` varies switches"
        );
    }
    let blocks = views::fleet_advice(&advice, flags.wide);
    match flags.format {
        AdviceFormat::Md => print(&markdown(&blocks)),
        // The output of one study has other fields.
        AdviceFormat::Json => print(&json(&BTreeMap::from([("fleet", &advice)]))?),
        AdviceFormat::Text | AdviceFormat::Sh => print_blocks(&blocks, flags.wide),
    }
}

/// Empty for studies without a design.
pub(crate) fn in_short(stored: &StoredStudy, db: &Path) -> Result<Vec<Block<'static>>, Failure> {
    let advice = stored.plan.design.as_ref().map_or(Ok(None), |_| advice_of([stored]))?;
    let Some(advice) = advice else { return Ok(Vec::new()) };
    let mut blocks = views::advice_tables(&advice);
    let of = views::database_option(&named(db));
    blocks.push(Block::Text(format!("Intervals, costs and commands: netassay advise {}{of}", stored.row.id)));
    Ok(blocks)
}

/// The studies that these words mean; without any the newest of all.
pub(super) fn load(db: &Path, words: &[String]) -> Result<Vec<StoredStudy>, Failure> {
    let stored = load_each(&Store::open_read_only(db)?, words)?;
    Ok(stored.into_iter().map(StoredStudy::sanitised).collect())
}

fn request(wanted: &Wanted) -> Result<AdviceRequest, Failure> {
    let confidence = wanted.confidence.value() / 100.0;
    if confidence >= 1.0 {
        bail!(Usage, "a confidence of {} is not possible: use less, such as 95%", wanted.confidence);
    }
    Ok(AdviceRequest { goals: wanted.goals.clone(), confidence, matters: wanted.matters })
}

pub(super) fn advice(studies: &[StoredStudy], wanted: &Wanted) -> Result<Advice, Failure> {
    let advice = Advice::from_studies(studies, &request(wanted)?)?;
    let names: Vec<String> = studies.iter().map(|one| format!("study {}", one.row.id.0)).collect();
    let names = results::listed(&names);
    if studies.iter().all(|one| one.measurements().next().is_none()) {
        let resume = |one: &StoredStudy| {
            words::shell_command(["netassay", "run", &one.row.name, "--resume", &one.row.id.to_string()])
        };
        let resume = studies.first().map(resume).unwrap_or_default();
        bail!(Nothing, "stored {names} holds no run that counts: `{resume}` measures more");
    }
    if !advice.has_switches() {
        bail!(Nothing, "stored {names} varied no switch of a host: `netassay run offload-gain-veth` does");
    }
    Ok(advice)
}
