//! `netassay apply`: sets what stored studies recommend on a machine, so that it stays.

mod sheet;

use std::sync::Arc;

use serde::Serialize;
use store::StoredStudy;
use testbed::reach::HostSpec;
use testbed::{HostPlace, IntendedChange, InterfaceSettings, LastingSettings};

use crate::cli::{Apply, OneHost};
use crate::commands::advise;
use crate::commands::hosts::reach_one;
use crate::failure::{Failure, say};
use crate::here::PROGRAM;
use crate::output;
use crate::signals;
use sheet::{Roles, Sheet};

/// What was set, or would be.
#[derive(Debug, Serialize)]
struct Applied {
    /// The machine.
    host: String,
    /// The studies whose advice it is.
    advice: String,
    /// Why each setting is recommended.
    reasons: Vec<String>,
    /// What must be so for them to hold.
    needs: Vec<String>,
    /// With `--dry-run`: the commands that would be run, with those that undo them.
    intended: Vec<IntendedChange>,
    /// What changed, each with its value before and after, as read back.
    changes: Vec<String>,
    /// What is not set, and why.
    left: Vec<String>,
    /// Whether nothing was to be changed: with `--dry-run`.
    dry_run: bool,
    /// The command that undoes it.
    undo: String,
}

pub(crate) fn apply(flags: &Apply) -> Result<(), Failure> {
    let roles = roles(flags)?;
    let request = advise::request(&flags.wanted)?;
    let studies = advise::load(&flags.database.db, &flags.studies)?;
    let planned = report::views::planned_settings(&advise::advice(&studies, &request)?, flags.side);
    if planned.settings.is_empty() {
        let left: String = planned.left.iter().map(|one| format!("\n  not set: {one}")).collect();
        return Err(Failure::Nothing(format!(
            "{} recommends nothing to set on this machine{left}",
            named(&studies)
        )));
    }
    let interrupt = signals::interrupt()?;
    let by = reach_one(&flags.on, &interrupt)?.map(Arc::new);
    let place = HostPlace {
        by,
        interface: Some(roles.traffic.clone()),
        lease: agent::Launch::LEASE,
        shares_machine: false,
    };
    if !flags.dry_run && !place.is_root() {
        return Err(Failure::Environment(not_root(&place)));
    }
    let mut agent = LastingSettings::open(&place, PROGRAM.as_ref(), &interrupt)?;
    let mut sheet = Sheet::new(&roles, |name| agent.look(name))?;
    sheet.fill(&planned, flags.trade_offs);
    let mut applied = Applied {
        host: place.to_string(),
        advice: named(&studies),
        reasons: sheet.reasons.clone(),
        needs: sheet.needs.clone(),
        intended: Vec::new(),
        changes: Vec::new(),
        left: sheet.left.clone(),
        dry_run: flags.dry_run,
        undo: undo(&flags.on),
    };
    let wanted = sheet.wanted();
    if flags.dry_run {
        applied.intended = wanted.iter().flat_map(|(now, wanted)| wanted.intended(now)).collect();
    } else {
        warn_of_the_connection(&place, &roles);
        let differs = |(_, wanted): &&(_, InterfaceSettings)| !wanted.is_empty();
        for (now, wanted) in wanted.iter().filter(differs) {
            agent.set(&now.link.name, wanted)?;
        }
        let changes = agent.keep(&applied.advice)?;
        applied.changes = changes.iter().map(ToString::to_string).collect();
    }
    output::show(&applied, &flags.output, false, |applied, _| applied.text())
}

/// The interfaces to set.
fn roles(flags: &Apply) -> Result<Roles, Failure> {
    let traffic = flags.on.host.as_ref().and_then(|host| host.interface.clone()).ok_or_else(|| {
        Failure::Usage(
            "name the interface to set: --host USER@HOST:INTERFACE, or --host :INTERFACE of this machine"
                .to_owned(),
        )
    })?;
    Ok(Roles { traffic, underlay: flags.underlay.clone() })
}

fn not_root(place: &HostPlace) -> String {
    match &place.by {
        None => "only root may change this machine's interfaces: start netassay as root".to_owned(),
        Some(_) => format!(
            "{place}: only root may change interfaces: log in as root (--host root@HOST:INTERFACE), or let the login use `sudo -n`"
        ),
    }
}

/// The studies, for people and for the machine's journal.
fn named(studies: &[StoredStudy]) -> String {
    let names: Vec<String> = studies
        .iter()
        .map(|one| format!("study {} ({})", one.row.id.0, words::sanitised_line(&one.row.name)))
        .collect();
    format!("the advice of {}", results::listed(&names))
}

fn undo(on: &OneHost) -> String {
    match &on.host {
        None | Some(HostSpec { launcher: None, .. }) => "netassay undo".to_owned(),
        Some(HostSpec { launcher: Some(launcher), .. }) => {
            words::shell_command(["netassay", "undo", "--host", &launcher.to_string()])
        }
    }
}

/// A change may cut the connection that it is ordered by.
fn warn_of_the_connection(place: &HostPlace, roles: &Roles) {
    if place.connection().is_some() {
        say(&format!(
            "netassay: {place}: if the connection is lost before all is read back, {} is as before after {} s",
            roles.traffic,
            agent::Launch::LEASE.as_secs()
        ));
    }
}

impl Applied {
    fn text(&self) -> String {
        let list = |head: &str, lines: &[String]| -> String {
            if lines.is_empty() {
                return String::new();
            }
            let lines: String = lines.iter().map(|line| format!("  {line}\n")).collect();
            format!("{head}\n{lines}")
        };
        let mut text = list(&format!("{}: {}:", self.host, self.advice), &self.reasons);
        text += &list("It holds only so:", &self.needs);
        text += &list("It would change:", &IntendedChange::lines(&self.intended));
        text += &list("Changed, and read back:", &self.changes);
        if self.intended.is_empty() && self.changes.is_empty() {
            text += "Nothing to change: what is recommended is set already.\n";
        }
        text += &list("Not set:", &self.left);
        if !self.changes.is_empty() {
            text += &format!("It stays until the machine boots, or until: {}\n", self.undo);
        }
        text
    }
}
