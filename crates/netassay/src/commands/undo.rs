//! `netassay undo`: undoes the machine's changes of sessions that are gone; and what a session says
//! at its end of changes that are not undone.

use std::collections::BTreeSet;
use std::process::ExitCode;
use std::time::Duration;

use agent::Interrupt;
use host::journal::{JournalReport, RestoreOptions};
use host::machine::Machine;
use report::document::Block;
use testbed::Hosts;
use testbed::reach::{Launcher, ProgramOutput, RemoteHost};

use crate::again::again_without;
use crate::cli::Undo;
use crate::commands::hosts::{TO_END, reach_one};
use crate::failure::{Failure, say};
use crate::output::{self, print};
use crate::{exit, machine, signals};

pub(crate) fn undo(flags: &Undo) -> Result<ExitCode, Failure> {
    let interrupt = signals::interrupt()?;
    if let Some(reached) = reach_one(flags.host.as_ref(), &flags.login, &interrupt)? {
        let again = again_without(&["--host", "--ssh-config", "--agent-binary"], &[]);
        let again: Vec<&str> = again.iter().map(String::as_str).collect();
        let ProgramOutput { code, stdout, stderr } = reached.run(&again, TO_END, &interrupt)?;
        print(&String::from_utf8_lossy(&stdout))?;
        if !stderr.is_empty() {
            say(&format!("{}: {stderr}", reached.launcher));
        }
        let code = code.and_then(|code| u8::try_from(code).ok());
        return Ok(ExitCode::from(code.unwrap_or(exit::ENVIRONMENT)));
    }
    let manner =
        RestoreOptions { dry_run: flags.dry_run, force: flags.force, forget: flags.forget, applied: true };
    let reports = host::journal::restore(&host::journal::directory()?, &Machine::system(), manner)?;
    output::show_list("journals", &reports, &flags.output, |reports| match reports {
        [] => vec![Block::Text("nothing to undo".to_owned())],
        some => some.iter().map(|report| machine::journal_block(report, flags.dry_run)).collect(),
    })?;
    Ok(exit_code(!reports.iter().any(JournalReport::is_left)))
}

/// Answers a controller at the end of its session.
pub(crate) fn unrestored() -> Result<ExitCode, Failure> {
    // Settings of `netassay apply` stay, and are not among these.
    let unrestored = machine::unrestored()?;
    print(&unrestored)?;
    Ok(exit_code(unrestored.is_empty()))
}

/// The time limit of a machine to undo the last changes, and to tell the ones that are left.
const TO_TELL: Duration = Duration::from_secs(10);

/// Says at the end of a session which changes of its machines are not undone. Make it before the
/// testbed: no agent is there when it is dropped.
pub(crate) struct SaysUnrestored(pub(crate) Option<Hosts>);

impl Drop for SaysUnrestored {
    fn drop(&mut self) {
        let mut asked = BTreeSet::new();
        for (_, place) in self.0.iter().flat_map(|hosts| hosts.places.each_ref().into_iter()) {
            let host = place.to_string();
            if !asked.insert(host.clone()) {
                continue;
            }
            let unrestored = match &place.by {
                None => machine::unrestored().map_err(|error| error.to_string()),
                Some(reached) if reached.is_lost() => {
                    Err("its agent no longer answers; it undoes its changes by itself".to_owned())
                }
                Some(reached) => unrestored_on(reached),
            };
            let (state, details) = match &unrestored {
                Ok(nothing) if nothing.is_empty() => continue,
                Ok(changes) => ("not everything is undone", changes),
                Err(reason) => ("perhaps not everything is undone", reason),
            };
            let command = match place.by.as_ref().map(|reached| &reached.launcher) {
                Some(Launcher::Ssh { .. }) => format!("`netassay undo --host {host}` from here"),
                _ => "`netassay undo` there".to_owned(),
            };
            say(&format!(
                "netassay: {host}: {state}; {command} undoes the rest, with --force also changes that other \
                 programs made since:\n{}",
                details.trim_end()
            ));
        }
    }
}

fn unrestored_on(reached: &RemoteHost) -> Result<String, String> {
    let interrupt = Interrupt::new().map_err(|error| error.to_string())?;
    let ran = reached.run(&["unrestored"], TO_TELL, &interrupt).map_err(|error| error.to_string())?;
    let printed = words::sanitised_lines(&String::from_utf8_lossy(&ran.stdout)).into_owned();
    match ran.code {
        Some(0) => Ok(String::new()),
        _ if printed.is_empty() => Err(ran.stderr),
        _ => Ok(printed),
    }
}

fn exit_code(is_all_undone: bool) -> ExitCode {
    ExitCode::from(if is_all_undone { exit::OK } else { exit::ENVIRONMENT })
}
