//! `netassay undo`: undoes the machine's changes of sessions that are gone.

use std::process::ExitCode;

use host::journal::{JournalReport, RestoreOptions};
use host::machine::Machine;
use results::document::Block;

use crate::cli::{Format, Undo};
use crate::commands::hosts::elsewhere;
use crate::exit;
use crate::failure::Failure;
use crate::machine;
use crate::output::{self, print};

pub(crate) fn undo(flags: &Undo) -> Result<ExitCode, Failure> {
    let given = [
        ("--dry-run", flags.dry_run),
        ("--force", flags.force),
        ("--forget", flags.forget),
        ("--format=json", flags.output.format == Format::Json),
    ];
    let given = given.into_iter().filter(|(_, is_set)| *is_set).map(|(word, _)| word);
    let again: Vec<&str> = std::iter::once("undo").chain(given).collect();
    if let Some(code) = elsewhere(&flags.on, &again)? {
        return Ok(code);
    }
    let manner =
        RestoreOptions { dry_run: flags.dry_run, force: flags.force, forget: flags.forget, applied: true };
    let reports = host::journal::restore(&host::journal::directory()?, &Machine::system(), manner)?;
    output::show_blocks(&reports, &flags.output, false, |reports| match reports.as_slice() {
        [] => vec![Block::Text("nothing to undo".to_owned())],
        some => some.iter().map(|report| machine::journal_block(report, flags.dry_run)).collect(),
    })?;
    Ok(exit_code(!reports.iter().any(JournalReport::is_left)))
}

/// The question of a controller at the end of its session. What `apply` set stays.
pub(crate) fn unrestored() -> Result<ExitCode, Failure> {
    let unrestored = machine::unrestored()?;
    print(&unrestored)?;
    Ok(exit_code(unrestored.is_empty()))
}

fn exit_code(is_all_undone: bool) -> ExitCode {
    ExitCode::from(if is_all_undone { exit::OK } else { exit::ENVIRONMENT })
}
