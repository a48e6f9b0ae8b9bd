//! Instructions in user space for each datagram and each write, counted by callgrind: what N more
//! of them take.

use std::fs;
use std::path::Path;
use std::time::Duration;

use load::Kind;
use serde::Serialize;
use serde_json::{Value, json};
use study::{Family, Scenario};
use testbed::Testbed;

use crate::bench::{receiver, temporary_directory};
use crate::failure::Failure;
use crate::installed::{self, Installed};
use crate::peers::{End, Job};
use crate::report::{Bound, Goal, Report};
use crate::traffic::callgrind::{self, Instructions, Linked};
use crate::traffic::options::Options;
use crate::traffic::part::Part;
use crate::traffic::sending::Netassay;
use crate::traffic::session::Session;
use crate::traffic::turn::{NoTurn, serve};

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

/// Counts netassay's instructions and its peers', over loopback with IPv4.
pub(super) fn run(
    session: &Session<'_>,
    options: &Options,
    installed: &[Installed],
    report: &mut Report,
) -> Result<Value, Failure> {
    let smoke = session.bench.smoke;
    let valgrind = installed::program_of_package("valgrind", report);
    let Some(valgrind) = valgrind else { return Ok(Value::Null) };
    report.note(
        "instructions: user space only, all threads of the sending program, by callgrind: those of a run with N messages more less those \
         of one with N, by the messages it sent more; the receiver is not counted. valgrind takes the vDSO away, so a clock is read by a system \
         call there: a program that reads one for each message counts as less than it is",
    );
    let testbed = session.testbed(Scenario::Loopback, report)?;
    let mut tasks = Part::Instructions.tasks(Family::Ipv4);
    if smoke {
        // Of two programs: enough to see that all of it works.
        tasks = tasks[1..2].to_vec();
    }
    tasks.retain(|task| options.messages.is_empty() || options.messages.contains(&task.message));
    let own = Installed { peer: &Netassay, version: String::new() };
    let mut all = Vec::new();
    for task in tasks {
        let job = Job {
            kind: task.kind,
            ipv6: false,
            message: task.message,
            flows: 1,
            cpus: 1,
            congestion_control: None,
            polls: false,
            busy_poll: None,
            seconds: if smoke { 1 } else { SECONDS },
            client: testbed.transmitter.ipv4,
            server: receiver(&testbed)?.ipv4,
        };
        // Of those of few instructions more, so that what is not a message is little beside them.
        let messages = match task.kind {
            _ if smoke => 2000,
            Kind::TcpStream => 10_000,
            _ => 50_000,
        };
        let counter = Counter { session, valgrind: &valgrind, testbed: &testbed, job, messages };
        let peers =
            installed.iter().filter(|one| one.peer.runs(task.kind)).take(if smoke { 1 } else { usize::MAX });
        let mut counted = Vec::new();
        for program in std::iter::once(&own).chain(peers) {
            match counter.count(program) {
                Ok(one) => counted.push(one),
                Err(no_turn) => {
                    let (kind, message, name) = (task.kind, task.message, program.peer.name());
                    no_turn.tell(&format!("instructions, {kind} {message} B, {name}"), report)?;
                }
            }
        }
        if let Some((own, peers)) = counted.split_first().filter(|(own, _)| own.program == "netassay") {
            tell(own, peers, report);
        }
        all.extend(counted);
    }
    Ok(json!(all))
}

fn tell(own: &Counted, peers: &[Counted], report: &mut Report) {
    let traffic = format!("{} {} B ipv4 loopback", own.workload, own.message);
    for (figure, of) in
        [("instructions", Counted::total as fn(&Counted) -> f64), ("outside libc", Counted::outside_libc)]
    {
        for peer in peers {
            let words = [traffic.as_str(), "send", peer.program, figure].map(str::to_owned);
            let figures = [of(own), of(peer)].map(|figure| format!("{figure:.1}"));
            let ratio = format!("{:.3}", of(own) / of(peer));
            report.row(words.into_iter().chain(figures).chain([ratio, "-".to_owned(), "-".to_owned()]));
        }
    }
    if let Some(fewest) = peers.iter().min_by(|one, other| one.total().total_cmp(&other.total())) {
        let what = format!("{traffic}: instructions, by those of {}", fewest.program);
        report.goals.push(Goal::under(what, own.total() / fewest.total(), 1.0, ""));
    }
    let what = format!("{traffic}: instructions outside libc");
    report.goals.push(Goal::new(what, own.outside_libc(), (Bound::AtMost, OWN), ""));
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
    fn count(&self, program: &Installed) -> Result<Counted, NoTurn> {
        let name = program.peer.name();
        let (few, cost_of_few) = self.once(program, &self.job, self.messages)?;
        let longer = Job { seconds: 2 * self.job.seconds, ..self.job.clone() };
        let (many, cost_of_many) = self.once(program, &longer, few.max(self.messages) + self.messages)?;
        if many <= few {
            let why = format!("{name} sent {few} messages, and {many} when told to send more");
            return Err(Failure::Environment(why).into());
        }
        let more = Instructions {
            total: cost_of_many.total.saturating_sub(cost_of_few.total),
            outside_libc: cost_of_many.outside_libc.saturating_sub(cost_of_few.outside_libc),
        };
        let (workload, message) = (self.job.kind, self.job.message);
        let counted = Counted { program: name, workload, message, messages: many - few, more };
        self.session.bench.say(&format!(
            "{workload} {message} B, {name}: {:.1} instructions, {:.1} outside libc",
            counted.total(),
            counted.outside_libc()
        ));
        Ok(counted)
    }

    /// Runs a client under callgrind; how many messages it sent, and what they took.
    fn once(&self, program: &Installed, job: &Job, messages: u64) -> Result<(u64, Instructions), NoTurn> {
        let interrupt = &self.session.bench.interrupt;
        let _server = serve(program, &self.session.host(receiver(self.testbed)?, 1), job, interrupt)?;
        let directory = temporary_directory()?;
        let file = directory.path().join("callgrind.out");
        // Mangled names tell whose a function is; nobody debugs; a fork is not the sender.
        let mut command = [
            self.valgrind.to_string_lossy().as_ref(),
            "--tool=callgrind",
            "--quiet",
            "--demangle=no",
            "--vgdb=no",
            "--trace-children=no",
            &format!("--callgrind-out-file={}", file.display()),
        ]
        .map(str::to_owned)
        .to_vec();
        command.extend(program.command(End::Client, job.kind, &program.peer.client(job, Some(messages))));
        let mut client = self.session.host(&self.testbed.transmitter, 1).start(&command)?;
        let said = client.finish(PATIENCE, interrupt)?;
        let unreadable = |what: &str| Failure::Environment(format!("{}: {what}", client.command));
        let sent = program.peer.sent(job, messages, &said);
        let sent = sent.ok_or_else(|| unreadable("how much it sent cannot be found in what it says"))?;
        let text = fs::read_to_string(&file);
        let text = text.map_err(Failure::io(format!("cannot read {}", file.display())))?;
        let is_own = program.peer.name() == "netassay";
        let linked = if is_own { Linked::Statically } else { Linked::Dynamically };
        let counted = callgrind::count(&text, linked);
        Ok((sent, counted.ok_or_else(|| unreadable("callgrind counted nothing"))?))
    }
}
