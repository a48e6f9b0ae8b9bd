//! What exact mode does not have: one thread does the work of both ends, which must come out the same each time.

use crate::mode::{Direction, Reader, Sender};
use crate::setting::{Misfit, Setting};
use crate::suggest;
use crate::word::Word;
use crate::workload::{Workload, WorkloadKind};

/// Why a workload cannot be had in exact mode, if it cannot.
pub(crate) fn forbids(workload: &Workload) -> Option<Misfit> {
    let settings = workload.traffic.settings();
    of_kind(workload.kind)
        .or_else(|| of_flows(workload.flows))
        .or_else(|| settings.iter().find_map(|setting| of_setting(setting, workload.kind)))
}

/// Why a kind of traffic cannot be had.
pub(crate) fn of_kind(kind: WorkloadKind) -> Option<Misfit> {
    (kind == WorkloadKind::TcpCrr)
        .then(|| misfit("exact mode makes no connections while it counts", "take `tcp_rr`"))
}

/// Why so many flows cannot be had.
pub(crate) fn of_flows(flows: u32) -> Option<Misfit> {
    (flows != 1).then(|| misfit("exact mode has one thread, which serves one flow", "set `flows = 1`"))
}

/// Why traffic of this kind cannot have a setting.
pub(crate) fn of_setting(setting: &Setting, kind: WorkloadKind) -> Option<Misfit> {
    let (name, text) = (setting.parameter(), setting.text());
    let remove = || format!("remove `{name}`");
    match setting {
        Setting::Sender(sender) if !sender.is_countable() => {
            let has: Vec<&str> = words(|sender: Sender| sender.is_countable() && sender.sends(kind));
            let help = format!("use one of {}", suggest::list(&has));
            Some(misfit(format!("exact mode does not send by `{text}`"), help))
        }
        Setting::Reader(reader) if !reader.is_countable() => {
            let has: Vec<&str> = words(|reader: Reader| reader.is_countable() && reader.takes(kind));
            let help = format!("use one of {}", suggest::list(&has));
            Some(misfit(format!("exact mode does not take by `{text}`"), help))
        }
        Setting::Direction(direction) if *direction != Direction::Forward => {
            Some(misfit("exact mode has one direction, `forward`", remove()))
        }
        Setting::InFlight(2..) => Some(misfit("exact mode has one transaction under way", remove())),
        Setting::Rate(Some(_)) | Setting::Pacing(Some(_)) => {
            Some(misfit("exact mode has no time, and so no pace", remove()))
        }
        Setting::BusyPoll(Some(_)) => {
            Some(misfit("in exact mode nobody waits for a message: one thread sends and takes", remove()))
        }
        Setting::Connected(false) if kind.is_rr() => {
            Some(misfit("in exact mode answers come over connected sockets", remove()))
        }
        Setting::Verify(true) => {
            Some(misfit("exact mode checks how long each message is, and no more", remove()))
        }
        _ => None,
    }
}

fn misfit(why: impl Into<String>, help: impl Into<String>) -> Misfit {
    Misfit { why: why.into(), help: format!("{}, or set `exact = false`", help.into()) }
}

fn words<W: Word + Copy>(has: impl Fn(W) -> bool) -> Vec<&'static str> {
    W::WORDS.iter().filter(|(_, one)| has(*one)).map(|(word, _)| *word).collect()
}
