//! `netassay undo`: undoes the machine's changes of sessions that are gone.

use std::process::ExitCode;

use host::journal::{JournalReport, RestoreOptions};
use host::machine::Machine;

use crate::cli::{Format, Undo};
use crate::commands::hosts::elsewhere;
use crate::exit;
use crate::failure::Failure;
use crate::machine::{self, words};
use crate::output::{layout, print, print_json, print_page};

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
    match flags.output.format {
        Format::Json => print_json(&reports)?,
        Format::Text if reports.is_empty() => print("nothing to undo\n")?,
        Format::Text => {
            let texts = reports.iter().map(|report| words(report, flags.dry_run));
            print_page(&texts.collect::<String>(), layout(false))?;
        }
    }
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
