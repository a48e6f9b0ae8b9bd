//! `[[workload]]`.

use std::ops::Range;

use crate::diagnostic::Problem;
use crate::read::limit;
use crate::read::problems::Problems;
use crate::read::table::Table;
use crate::read::traffic;
use crate::read::value::Value;
use crate::suggest::quoted;
use crate::threads;
use crate::word::Word;
use crate::workload::{Workload, WorkloadKind};

/// The keys of `[[workload]]`.
pub(crate) const KEYS: &[&str] = &[
    "name",
    "kind",
    "message",
    "response",
    "duration",
    "ramp",
    "flows",
    "socket_buffer",
    "port",
    "sender",
    "reader",
    "threads",
    "direction",
    "in_flight",
    "rate",
    "pacing",
    "busy_poll",
    "congestion_control",
    "dscp",
    "nodelay",
    "connected",
    "verify",
];

/// A workload with the places of what later checks may find wrong.
#[derive(Debug)]
pub(crate) struct Read {
    pub(crate) workload: Workload,
    pub(crate) place: Range<usize>,
    pub(crate) name: Range<usize>,
    pub(crate) kind: Range<usize>,
    /// The parameters that are written, by key, with their places.
    pub(crate) written: Vec<(&'static str, Range<usize>)>,
}

impl Read {
    /// Where a parameter is written; where its workload is, if it is not.
    pub(crate) fn place_of(&self, key: &str) -> Range<usize> {
        let written = self.written.iter().find(|(known, _)| *known == key);
        written.map_or(self.place.clone(), |(_, place)| place.clone())
    }
}

/// The workloads of a file, and whether all of them could be read.
pub(crate) fn read(tables: Vec<Table<'_>>, problems: &mut Problems) -> (Vec<Read>, bool) {
    let tables_there = tables.len();
    let workloads: Vec<Read> = tables.into_iter().filter_map(|table| one(table, problems)).collect();
    let mut names: Vec<String> = Vec::new();
    for read in &workloads {
        let name = read.workload.name.to_lowercase();
        if names.contains(&name) {
            let message = format!("two workloads are called `{}`", read.workload.name);
            problems.push(Problem::new(read.name.clone(), message).help("give each a `name` of its own"));
        }
        names.push(name);
    }
    let whole = workloads.len() == tables_there;
    (workloads, whole)
}

fn one(mut table: Table<'_>, problems: &mut Problems) -> Option<Read> {
    let place = table.span.clone();
    let kind_entry = table.require("kind", "`kind = \"tcp_stream\"`", problems);
    let kind: Option<WorkloadKind> = kind_entry.as_ref().and_then(|entry| Value::of(entry).word(problems));
    let kind_place = kind_entry.map_or(place.clone(), |entry| entry.span());
    let mut name_place = kind_place.clone();
    let mut name = None;
    if let Some(entry) = table.take("name") {
        name_place = entry.span();
        name = Value::of(&entry).identifier(problems);
    }

    let mut written = Vec::new();
    let mut number = |table: &mut Table<'_>, key: &'static str, range, problems: &mut Problems| {
        let entry = table.take(key)?;
        written.push((key, entry.span()));
        Value::of(&entry).small(range, problems)
    };
    let message = number(&mut table, "message", limit::MESSAGE, problems);
    let response = number(&mut table, "response", limit::MESSAGE, problems);
    let flows = number(&mut table, "flows", limit::FLOWS, problems);
    let socket_buffer = number(&mut table, "socket_buffer", limit::SOCKET_BUFFER, problems);
    let port = number(&mut table, "port", limit::PORT, problems);
    let mut duration = |table: &mut Table<'_>, key: &'static str, range| {
        let entry = table.take(key)?;
        Value::of(&entry).duration(range, problems)
    };
    let window = duration(&mut table, "duration", limit::DURATION);
    let ramp = duration(&mut table, "ramp", limit::RAMP);
    let settings = traffic::read(&mut table, problems);
    table.finish(KEYS, problems);

    let kind = kind?;
    let traffic = traffic::fitting(&settings, kind, problems);
    written.extend(settings.into_iter().map(|(setting, place)| (setting.parameter().word(), place)));
    if let Some((_, place)) = written.iter().find(|(key, _)| *key == "response").filter(|_| !kind.is_rr()) {
        let problem = Problem::new(place.clone(), format!("a `{kind}` has no responses"))
            .help("remove `response`, or make it a `tcp_rr`, `udp_rr` or `tcp_crr`");
        problems.push(problem);
    }
    let message = message.unwrap_or_else(|| kind.default_message());
    let workload = Workload {
        name: name.unwrap_or_else(|| kind.word().to_owned()),
        kind,
        message,
        response: if kind.is_rr() { response.unwrap_or(message) } else { 0 },
        duration: window.unwrap_or(Workload::DEFAULT_DURATION),
        ramp: ramp.unwrap_or(Workload::DEFAULT_RAMP),
        flows: flows.unwrap_or(1),
        socket_buffer,
        port: port.and_then(|port| u16::try_from(port).ok()),
        traffic,
    };
    let read = Read { workload, place, name: name_place, kind: kind_place, written };
    if let Some(misfit) = threads::misfit(&read.workload) {
        let key = if read.workload.traffic.threads.is_some() { "threads" } else { "flows" };
        problems.push(Problem::new(read.place_of(key), misfit.why).help(misfit.help));
    }
    Some(read)
}

/// Reports parameters that a factor overrides, so that nobody believes in a value that is never used. Where the
/// message is a factor and the response is not written, the response follows it, which is kept as 0.
pub(crate) fn yield_to_factor(read: &mut Read, key: &str, problems: &mut Problems) {
    if let Some((_, place)) = read.written.iter().find(|(known, _)| *known == key) {
        let message = format!("`{}` is a factor, so this value is never used", quoted(key));
        problems.push(Problem::new(place.clone(), message).help("remove it here, or from `[factors]`"));
    }
    if key == "message" && !read.written.iter().any(|(known, _)| *known == "response") {
        read.workload.response = 0;
    }
}
