//! `netassay apply`: sets what stored studies recommend on a machine, so that it stays.

use host::InterfaceEnvironment;
use report::document::Block;
use report::views::{self, PlannedSetting};
use results::advice::{HostCommand, HostInterface};
use results::distinct;
use serde::Serialize;
use store::StoredStudy;
use testbed::{FixedFeature, IntendedChange, InterfaceSettings, SettingsAgent};

use crate::cli::Apply;
use crate::commands::advise;
use crate::commands::hosts::{intended, place, reach_one};
use crate::failure::{Failure, bail, say};
use crate::machine::PROGRAM;
use crate::{output, signals};

#[derive(Debug, Default, Serialize)]
struct AppliedAdvice {
    host: String,
    advice: String,
    reasons: Vec<String>,
    needs: Vec<String>,
    /// With `--dry-run`: the commands that would be run, with those that undo them.
    intended: Vec<IntendedChange>,
    /// The changes, each with its value before and after, as read back.
    changes: Vec<String>,
    left: Vec<String>,
    dry_run: bool,
    undo: String,
}

type WantedInterface = (HostInterface, InterfaceEnvironment, InterfaceSettings);

pub(crate) fn apply(flags: &Apply) -> Result<(), Failure> {
    let host = flags.host.as_ref();
    let Some(traffic) = host.and_then(|host| host.interface.as_ref()) else {
        let ways = "--host USER@HOST:INTERFACE, or --host :INTERFACE of this machine";
        bail!(Usage, "name the interface to set: {ways}");
    };
    let studies = advise::load(&flags.database.db, &flags.studies)?;
    let (settings, left) = views::planned_settings(&advise::advice(&studies, &flags.wanted)?, flags.side);
    let advice = named(&studies);
    if settings.is_empty() {
        let left: String = left.iter().map(|one| format!("\n  not set: {one}")).collect();
        bail!(Nothing, "{advice} recommends nothing to set on this machine{left}");
    }
    let interrupt = signals::interrupt()?;
    let place = place(reach_one(host, &flags.login, &interrupt)?, Some(traffic));
    if !flags.dry_run && !place.is_root() {
        let ways =
            "be root here, log in as root (--host root@HOST:INTERFACE), or let the login use `sudo -n`";
        bail!(Environment, "{place}: only root may change interfaces: {ways}");
    }
    let mut agent = SettingsAgent::open(&place, PROGRAM.as_ref(), &interrupt)?;
    // Under the tunnel first: it must carry what the tunnel adds.
    let underlay = flags.underlay.as_ref().map(|name| (HostInterface::Underlay, name));
    let mut wanted: Vec<WantedInterface> = Vec::new();
    for (which, name) in underlay.into_iter().chain([(HostInterface::Traffic, traffic)]) {
        wanted.push((which, agent.look(name)?, InterfaceSettings::default()));
    }
    let undo = match host.and_then(|host| host.launcher.as_ref()) {
        None => "netassay undo".to_owned(),
        Some(launcher) => words::shell_command(["netassay", "undo", "--host", &launcher.to_string()]),
    };
    let host = place.to_string();
    let mut applied =
        AppliedAdvice { host, advice, dry_run: flags.dry_run, undo, ..AppliedAdvice::default() };
    for one in settings {
        match add(&mut wanted, &one, flags.trade_offs) {
            Ok(()) => {
                applied.reasons.extend(one.reasons);
                applied.needs.extend(one.needs);
            }
            Err(why) => applied.left.push(format!("{}: {why}", one.command)),
        }
    }
    (applied.reasons, applied.needs) = (distinct(applied.reasons), distinct(applied.needs));
    applied.left.extend(left);
    for (which, now, _) in &wanted {
        let (variable, name) =
            (format!("\"${}\"", which.variable()), words::shell_command([now.link.name.as_str()]));
        applied.left.iter_mut().for_each(|line| *line = line.replace(&variable, &name));
    }
    // A change may cut the connection that it is ordered by.
    if !flags.dry_run && place.connection().is_some() {
        say(&format!(
            "netassay: {place}: if the connection is lost before all is read back, {traffic} is as before after {} s",
            place.lease.as_secs()
        ));
    }
    for (_, now, settings) in wanted {
        let settings = settings.differing(&now);
        if flags.dry_run {
            applied.intended.extend(settings.intended(&now));
        } else if !settings.is_empty() {
            agent.set(&now.link.name, &settings)?;
        }
    }
    if !flags.dry_run {
        let changes = agent.keep(&applied.advice)?;
        applied.changes = changes.iter().map(ToString::to_string).collect();
    }
    output::show_view(&applied, &flags.output, |one, _| one.blocks())
}

fn named(studies: &[StoredStudy]) -> String {
    let name =
        |one: &StoredStudy| format!("study {} ({})", one.row.id.0, words::sanitised_line(&one.row.name));
    let names: Vec<String> = studies.iter().map(name).collect();
    format!("the advice of {}", results::listed(&names))
}

impl AppliedAdvice {
    fn blocks(&self) -> Vec<Block<'static>> {
        let lists = [
            (format!("{}: {}:", self.host, self.advice), &self.reasons),
            ("It holds only so:".to_owned(), &self.needs),
            ("Changed, and read back:".to_owned(), &self.changes),
            ("Not set:".to_owned(), &self.left),
        ];
        let lists = lists.into_iter().filter_map(|(head, lines)| Block::titled_list(head, lines.clone()));
        let mut blocks = Vec::from_iter(lists);
        if !self.intended.is_empty() {
            blocks.push(intended("It would change:".to_owned(), &self.intended));
        }
        if self.intended.is_empty() && self.changes.is_empty() {
            let set = if self.left.is_empty() { "what is recommended" } else { "the rest" };
            blocks.push(Block::Text(format!("Nothing to change: {set} is set already.")));
        }
        if !self.changes.is_empty() {
            blocks.push(Block::Text(format!("It stays until the machine boots, or until: {}", self.undo)));
        }
        blocks
    }
}

/// Why a setting is left as it is, as the end of a sentence.
#[derive(Debug, thiserror::Error)]
enum LeftReason {
    #[error("{0}")]
    Against(String),
    #[error("a trade-off, which --trade-offs sets")]
    TradeOff,
    #[error(transparent)]
    Fixed(#[from] FixedFeature),
    #[error("the interface {0} has {1} bytes at most")]
    LargestMtu(String, u32),
    #[error("set it by hand: the kernel loads a module for it, which no journal can undo")]
    NoUndo,
    #[error("it is for the interface under the tunnel: name that with --underlay")]
    NoUnderlay,
}

fn add(wanted: &mut [WantedInterface], setting: &PlannedSetting, trade_offs: bool) -> Result<(), LeftReason> {
    if let Some(why) = &setting.against {
        return Err(LeftReason::Against(why.clone()));
    }
    if setting.is_trade_off && !trade_offs {
        return Err(LeftReason::TradeOff);
    }
    match &setting.command {
        HostCommand::Feature { interface, name, on, .. } => {
            let (_, now, settings) = find(wanted, *interface)?;
            Ok(settings.add(name, *on, now)?)
        }
        HostCommand::Mtu { interface, bytes, .. } => {
            let (_, now, settings) = find(wanted, *interface)?;
            if let Some(most) = now.link.max_mtu.filter(|most| *most > 0 && bytes > most) {
                return Err(LeftReason::LargestMtu(now.link.name.clone(), most));
            }
            settings.mtu = Some(*bytes);
            Ok(())
        }
        // There is one, the congestion control.
        HostCommand::Sysctl { .. } => Err(LeftReason::NoUndo),
    }
}

fn find(wanted: &mut [WantedInterface], which: HostInterface) -> Result<&mut WantedInterface, LeftReason> {
    wanted.iter_mut().find(|(known, ..)| *known == which).ok_or(LeftReason::NoUnderlay)
}
