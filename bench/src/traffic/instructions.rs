//! Instructions in user space for each datagram and each write, counted by callgrind: what N more
//! of them take.

use std::fs;
use std::path::Path;
use std::time::Duration;

use load::Kind;
use serde::Serialize;
use study::Scenario;
use testbed::Testbed;

use crate::bench::{receiver, temporary_directory};
use crate::failure::Failure;
use crate::goal::{Bound, Goal};
use crate::installed::{self, Installed};
use crate::peers::{self, End, Job};
use crate::report::Report;
use crate::traffic::callgrind::{self, Instructions};
use crate::traffic::cell::{Cell, cells};
use crate::traffic::options::Options;
use crate::traffic::part::Part;
use crate::traffic::session::Session;
use crate::traffic::turn::serve;

/// Instructions of netassay's own code for each message.
const OWN: f64 = 40.0;
/// How long a client under valgrind may take.
const PATIENCE: Duration = Duration::from_secs(300);
/// Seconds of a client that cannot count its messages.
const SECONDS: u32 = 2;

/// One program's count.
#[derive(Debug, Clone, Serialize)]
struct Counted {
    program: &'static str,
    workload: Kind,
    message: u32,
    /// How many messages more the second run sent, and what those took.
    messages: u64,
    more: Instructions,
}

impl Counted {
    fn total(&self) -> f64 {
        self.more.total as f64 / self.messages as f64
    }

    fn outside_libc(&self) -> f64 {
        self.more.outside_libc as f64 / self.messages as f64
    }
}

/// Counts netassay's instructions and its peers', over loopback.
pub(super) fn run(
    session: &Session<'_>,
    options: &Options,
    installed: &[Installed],
    report: &mut Report,
) -> Result<(), Failure> {
    let smoke = session.bench.smoke;
    let Some(valgrind) = installed::program_of_package("valgrind", report) else { return Ok(()) };
    report.note(
        "instructions: user space only, all threads of the sending program, by callgrind: those of a run with N messages more less those \
         of one with N, by the messages it sent more; the receiver is not counted. valgrind takes the vDSO away, so a clock is read by a system \
         call there: a program that reads one for each message counts as less than it is",
    );
    let testbed = session.testbed(Scenario::Loopback, report)?;
    let mut cells = cells(Part::Instructions, options, installed, &[(Scenario::Loopback, Vec::new())], false);
    if smoke {
        // Of two programs: enough to see that all of it works.
        cells = cells.into_iter().skip(1).take(1).collect();
        cells.iter_mut().for_each(|cell| cell.peers.truncate(1));
    }
    let own = Installed { peer: &peers::OWN, version: String::new() };
    let mut all = Vec::new();
    for cell in &cells {
        let job = session.job(cell, &testbed, if smoke { 1 } else { SECONDS })?;
        // Of those of few instructions more, so that what is not a message is little beside them.
        let messages = match cell.task.kind {
            _ if smoke => 2000,
            Kind::TcpStream => 10_000,
            _ => 50_000,
        };
        let counter = Counter { session, valgrind: &valgrind, testbed: &testbed, job, messages };
        let mut counted = Vec::new();
        for program in std::iter::once(&own).chain(&cell.peers) {
            let what = format!("instructions, {}, {}", cell.name(), program.peer.name);
            counted.extend(report.or_not_run(&what, counter.count(program))?);
        }
        if let Some((own, peers)) = counted.split_first().filter(|(own, _)| own.program == peers::OWN.name) {
            tell(cell, own, peers, report);
        }
        all.extend(counted);
    }
    report.result("instructions", all);
    Ok(())
}

fn tell(cell: &Cell, own: &Counted, peers: &[Counted], report: &mut Report) {
    let traffic = cell.name();
    for peer in peers {
        let words = [traffic.as_str(), "send", peer.program, "instructions"].map(str::to_owned);
        let figures = [own.total(), peer.total()].map(|figure| format!("{figure:.1}"));
        let ratio = format!("{:.3}", own.total() / peer.total());
        report.row(words.into_iter().chain(figures).chain([ratio, "-".to_owned(), "-".to_owned()]));
    }
    if let Some(fewest) = peers.iter().min_by(|one, other| one.total().total_cmp(&other.total())) {
        let what = format!("{traffic}: instructions, by those of {}", fewest.program);
        report.goals.push(Goal::new(what, own.total() / fewest.total(), Bound::Under(1.0), ""));
    }
    let what = format!("{traffic}: instructions outside libc");
    report.goals.push(Goal::new(what, own.outside_libc(), Bound::AtMost(OWN), ""));
}

/// Counts one task's instructions.
struct Counter<'a> {
    session: &'a Session<'a>,
    valgrind: &'a Path,
    testbed: &'a Testbed,
    job: Job,
    messages: u64,
}

impl Counter<'_> {
    /// A run with so many messages, and one with that many more than the first sent: a sender is
    /// looked at now and then, so it may have sent several times what it was told.
    fn count(&self, program: &Installed) -> Result<Counted, Failure> {
        let name = program.peer.name;
        let (few, cost_of_few) = self.once(program, &self.job, self.messages)?;
        let longer = Job { seconds: 2 * self.job.seconds, ..self.job.clone() };
        let (many, cost_of_many) = self.once(program, &longer, few.max(self.messages) + self.messages)?;
        if many <= few {
            let why = format!("{name} sent {few} messages, and {many} when told to send more");
            return Err(Failure::Environment(why));
        }
        let more = Instructions {
            total: cost_of_many.total.saturating_sub(cost_of_few.total),
            outside_libc: cost_of_many.outside_libc.saturating_sub(cost_of_few.outside_libc),
        };
        let (workload, message) = (self.job.kind, self.job.message);
        let counted = Counted { program: name, workload, message, messages: many - few, more };
        self.session
            .bench
            .say(&format!("{workload} {message} B, {name}: {:.1} instructions", counted.total()));
        Ok(counted)
    }

    /// Runs a client under callgrind; how many messages it sent, and what they took.
    fn once(&self, program: &Installed, job: &Job, messages: u64) -> Result<(u64, Instructions), Failure> {
        let interrupt = &self.session.bench.interrupt;
        let _server = serve(program, &self.session.host(receiver(self.testbed)?, 1), job, interrupt)?;
        let directory = temporary_directory()?;
        let file = directory.path().join("callgrind.out");
        // Mangled names tell whose a function is; nobody debugs; a fork is not the sender.
        let options = "--tool=callgrind --quiet --demangle=no --vgdb=no --trace-children=no";
        let mut command = vec![self.valgrind.to_string_lossy().into_owned()];
        command.extend(options.split_whitespace().map(str::to_owned));
        command.push(format!("--callgrind-out-file={}", file.display()));
        command.extend(program.command(End::Client, job.kind, &(program.peer.client)(job, Some(messages))));
        let mut client = self.session.host(&self.testbed.transmitter, 1).start(&command)?;
        let said = client.finish(PATIENCE, interrupt)?;
        let unreadable = |what: &str| Failure::Environment(format!("{}: {what}", client.command));
        let sent = (program.peer.sent)(job, messages, &said);
        let sent = sent.ok_or_else(|| unreadable("how much it sent cannot be found in what it says"))?;
        let text = fs::read_to_string(&file);
        let text = text.map_err(Failure::io(format!("cannot read {}", file.display())))?;
        let counted = callgrind::count(&text);
        Ok((sent, counted.ok_or_else(|| unreadable("callgrind counted nothing"))?))
    }
}
