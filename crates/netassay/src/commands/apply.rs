//! `netassay apply`: sets what stored studies recommend on a machine, so that it stays.

use std::sync::Arc;

use host::InterfaceEnvironment;
use report::document::Block;
use report::views::{self, PlannedSetting};
use results::advice::{HostCommand, HostInterface};
use serde::Serialize;
use store::StoredStudy;
use testbed::reach::HostSpec;
use testbed::{HostPlace, IntendedChange, InterfaceSettings, LastingSettings};

use crate::cli::Apply;
use crate::commands::advise;
use crate::commands::hosts::{intended, reach_one};
use crate::failure::{Failure, say};
use crate::machine::PROGRAM;
use crate::output;
use crate::signals;

/// The settings that were made, or would be.
#[derive(Debug, Serialize)]
struct Applied {
    /// The machine.
    host: String,
    /// The studies whose advice it is.
    advice: String,
    /// Why each setting is recommended.
    reasons: Vec<String>,
    /// The conditions under which they hold.
    needs: Vec<String>,
    /// With `--dry-run`: the commands that would be run, with those that undo them.
    intended: Vec<IntendedChange>,
    /// The changes, each with its value before and after, as read back.
    changes: Vec<String>,
    /// Settings that are left, each with its reason.
    left: Vec<String>,
    /// With `--dry-run`: nothing was changed.
    dry_run: bool,
    /// The command that undoes it.
    undo: String,
}

pub(crate) fn apply(flags: &Apply) -> Result<(), Failure> {
    let traffic = flags.on.host.as_ref().and_then(|host| host.interface.clone()).ok_or_else(|| {
        Failure::Usage(
            "name the interface to set: --host USER@HOST:INTERFACE, or --host :INTERFACE of this machine"
                .to_owned(),
        )
    })?;
    let request = advise::request(&flags.wanted)?;
    let studies = advise::load(&flags.database.db, &flags.studies)?;
    let planned = views::planned_settings(&advise::advice(&studies, &request)?, flags.side);
    if planned.settings.is_empty() {
        let left: String = planned.left.iter().map(|one| format!("\n  not set: {one}")).collect();
        return Err(Failure::Nothing(format!(
            "{} recommends nothing to set on this machine{left}",
            named(&studies)
        )));
    }
    let interrupt = signals::interrupt()?;
    let by = reach_one(flags.on.host.as_ref(), &flags.on.login, &interrupt)?.map(Arc::new);
    let place = HostPlace {
        by,
        interface: Some(traffic.clone()),
        lease: agent::Launch::LEASE,
        shares_machine: false,
    };
    if !flags.dry_run && !place.is_root() {
        return Err(Failure::Environment(not_root(&place)));
    }
    let mut agent = LastingSettings::open(&place, PROGRAM.as_ref(), &interrupt)?;
    let underlay = flags.underlay.as_ref().map(|name| agent.look(name)).transpose()?;
    let mut wanted = WantedSettings {
        underlay: underlay.map(|now| (now, InterfaceSettings::default())),
        traffic: (agent.look(&traffic)?, InterfaceSettings::default()),
    };
    let mut applied = Applied {
        host: place.to_string(),
        advice: named(&studies),
        reasons: Vec::new(),
        needs: Vec::new(),
        intended: Vec::new(),
        changes: Vec::new(),
        left: Vec::new(),
        dry_run: flags.dry_run,
        undo: undo(flags.on.host.as_ref()),
    };
    for one in planned.settings {
        match wanted.add(&one, flags.trade_offs) {
            Ok(()) => {
                add_new(&mut applied.reasons, one.reasons);
                add_new(&mut applied.needs, one.needs);
            }
            Err(why) => applied.left.push(format!("{}: {why}", one.command)),
        }
    }
    applied.left.extend(planned.left);
    let wanted = wanted.differing();
    if flags.dry_run {
        applied.intended = wanted.iter().flat_map(|(now, wanted)| wanted.intended(now)).collect();
    } else {
        warn_of_the_connection(&place, &traffic);
        let differs = |(_, wanted): &&(_, InterfaceSettings)| !wanted.is_empty();
        for (now, wanted) in wanted.iter().filter(differs) {
            agent.set(&now.link.name, wanted)?;
        }
        let changes = agent.keep(&applied.advice)?;
        applied.changes = changes.iter().map(ToString::to_string).collect();
    }
    output::show_view(&applied, &flags.output, false, |one, _| one.blocks())
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

fn undo(host: Option<&HostSpec>) -> String {
    match host {
        None | Some(HostSpec { launcher: None, .. }) => "netassay undo".to_owned(),
        Some(HostSpec { launcher: Some(launcher), .. }) => {
            words::shell_command(["netassay", "undo", "--host", &launcher.to_string()])
        }
    }
}

/// A change may cut the connection that it is ordered by.
fn warn_of_the_connection(place: &HostPlace, interface: &str) {
    if place.connection().is_some() {
        say(&format!(
            "netassay: {place}: if the connection is lost before all is read back, {interface} is as before after {} s",
            agent::Launch::LEASE.as_secs()
        ));
    }
}

impl Applied {
    fn blocks(&self) -> Vec<Block<'static>> {
        let lists = [
            (format!("{}: {}:", self.host, self.advice), &self.reasons),
            ("It holds only so:".to_owned(), &self.needs),
            ("Changed, and read back:".to_owned(), &self.changes),
            ("Not set:".to_owned(), &self.left),
        ];
        let lists = lists.into_iter().filter(|(_, lines)| !lines.is_empty());
        let mut blocks: Vec<_> =
            lists.map(|(head, lines)| Block::Fold(head, vec![Block::List(lines.clone())])).collect();
        if !self.intended.is_empty() {
            blocks.push(intended("It would change:".to_owned(), &self.intended));
        }
        if self.intended.is_empty() && self.changes.is_empty() {
            blocks.push(Block::Text("Nothing to change: what is recommended is set already.".to_owned()));
        }
        if !self.changes.is_empty() {
            blocks.push(Block::Text(format!("It stays until the machine boots, or until: {}", self.undo)));
        }
        blocks
    }
}

/// The interfaces of a machine with their settings to be made.
struct WantedSettings {
    /// Under the tunnel first: it must carry what the tunnel adds.
    underlay: Option<(InterfaceEnvironment, InterfaceSettings)>,
    traffic: (InterfaceEnvironment, InterfaceSettings),
}

impl WantedSettings {
    /// Adds a setting, unless there is a reason why it is left.
    fn add(&mut self, setting: &PlannedSetting, trade_offs: bool) -> Result<(), String> {
        if let Some(why) = &setting.against {
            return Err(why.clone());
        }
        if setting.is_trade_off && !trade_offs {
            return Err("a trade-off, which --trade-offs sets".to_owned());
        }
        match &setting.command {
            HostCommand::Feature { interface, name, on, .. } => {
                let (now, wanted) = self.on(*interface)?;
                wanted.add(name, *on, now)
            }
            HostCommand::Mtu { interface, bytes, .. } => {
                let (now, wanted) = self.on(*interface)?;
                if let Some(most) = now.link.max_mtu.filter(|most| *most > 0 && bytes > most) {
                    return Err(format!("the interface {} has {most} bytes at most", now.link.name));
                }
                wanted.mtu = Some(*bytes);
                Ok(())
            }
            // There is one, the congestion control.
            HostCommand::Sysctl { .. } => {
                Err("set it by hand: the kernel loads a module for it, which no journal can undo".to_owned())
            }
        }
    }

    fn on(
        &mut self,
        interface: HostInterface,
    ) -> Result<(&InterfaceEnvironment, &mut InterfaceSettings), String> {
        let (now, wanted) = match interface {
            HostInterface::Traffic => &mut self.traffic,
            HostInterface::Underlay => {
                let why = "it is for the interface under the tunnel: name that with --underlay";
                self.underlay.as_mut().ok_or(why)?
            }
        };
        Ok((now, wanted))
    }

    /// The settings that differ from the interfaces as they are.
    fn differing(self) -> Vec<(InterfaceEnvironment, InterfaceSettings)> {
        let all = self.underlay.into_iter().chain([self.traffic]);
        let differing = |(now, wanted): (InterfaceEnvironment, InterfaceSettings)| {
            let wanted = wanted.differing(&now);
            (now, wanted)
        };
        all.map(differing).collect()
    }
}

fn add_new(known: &mut Vec<String>, new: Vec<String>) {
    for one in new {
        if !known.contains(&one) {
            known.push(one);
        }
    }
}
