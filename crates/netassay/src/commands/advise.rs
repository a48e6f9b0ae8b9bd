//! `netassay advise`: which switches to set, drawn from stored studies.

use std::path::Path;

use report::document::{Block, markdown};
use report::views;
use results::advice::{Advice, AdviceRequest};
use store::{Store, StoredStudy};

use crate::cli::{AdviceFormat, Advise, Wanted};
use crate::commands::report::advice_of;
use crate::commands::stored::load_each;
use crate::failure::{Failure, bail};
use crate::output::{json, named, print, print_blocks};

pub(crate) fn advise(flags: &Advise) -> Result<(), Failure> {
    let studies = load(&flags.database.db, &flags.studies)?;
    let advice = advice(&studies, &flags.wanted)?;
    match flags.format {
        AdviceFormat::Text => print_blocks(&views::advice(&advice), flags.wide),
        AdviceFormat::Md => print(&markdown(&views::advice(&advice))),
        AdviceFormat::Json => print(&json(&advice)?),
        AdviceFormat::Sh => print(&views::advice_script(&advice)),
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

pub(super) fn advice(studies: &[StoredStudy], wanted: &Wanted) -> Result<Advice, Failure> {
    let confidence = wanted.confidence.value() / 100.0;
    if confidence >= 1.0 {
        bail!(Usage, "a confidence of {} is not possible: use less, such as 95%", wanted.confidence);
    }
    let request = AdviceRequest { goals: wanted.goals.clone(), confidence, matters: wanted.matters };
    let advice = Advice::from_studies(studies, &request)?;
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
