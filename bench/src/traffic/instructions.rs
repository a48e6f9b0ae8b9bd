//! Instructions in user space for each datagram and each write, counted by callgrind: what N more
//! of them take.

use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::time::{Duration, Instant};

use load::{Kind, Sender};
use serde::Serialize;
use serde_json::{Value, json};
use study::{Family, Scenario};
use testbed::Testbed;

use crate::failure::Failure;
use crate::installed::{self, Installed};
use crate::netassay::receiver;
use crate::peers::{Amount, Door, End, Job, Polling};
use crate::place::{Namespace, Place as _, Resident};
use crate::report::{Bound, Goal, Report};
use crate::traffic::callgrind::{self, Instructions, Linked};
use crate::traffic::options::Options;
use crate::traffic::part::Part;
use crate::traffic::sending;
use crate::traffic::session::Session;
use crate::traffic::turn::{NoTurn, await_door};

/// Instructions of netassay's own code for each message.
const OWN: f64 = 40.0;
/// How long a client under valgrind may take.
const PATIENCE: Duration = Duration::from_secs(300);

/// One program's count.
#[derive(Debug, Clone, Serialize)]
struct Counted {
    program: String,
    workload: Kind,
    message: u32,
    sender: Sender,
    /// How many messages more the second run sent, and what those took.
    messages: u64,
    more: Instructions,
}

impl Counted {
    fn per_message(&self, instructions: u64) -> f64 {
        instructions as f64 / self.messages as f64
    }

    fn total(&self) -> f64 {
        self.per_message(self.more.total)
    }

    fn outside_libc(&self) -> f64 {
        self.per_message(self.more.outside_libc)
    }
}

/// What is counted over loopback, with IPv4: the workloads and sizes of the other parts, and how
/// many messages. For those of few instructions more, so that what is not a message is little
/// beside them.
fn tasks(smoke: bool) -> Vec<(Kind, u32, Amount)> {
    let counts = |kind| match kind {
        _ if smoke => Amount { messages: 2000, seconds: 1 },
        Kind::TcpStream => Amount { messages: 10_000, seconds: 2 },
        _ => Amount { messages: 50_000, seconds: 2 },
    };
    let of = |part: Part| part.tasks(Family::Ipv4).into_iter();
    let all = of(Part::Udp).chain(of(Part::Tcp)).map(|task| (task.kind, task.message, counts(task.kind)));
    // The last of them: two programs are enough to see that all of it works.
    if smoke { all.skip(1).take(1).collect() } else { all.collect() }
}

/// Counts netassay's instructions and its peers'.
pub(super) fn run(
    session: &Session<'_>,
    options: &Options,
    installed: &[Installed],
    report: &mut Report,
) -> Result<Value, Failure> {
    let smoke = session.bench.common.smoke;
    let valgrind = installed::program_of_package(session.bench, "valgrind", !options.no_install, report);
    let Some(valgrind) = valgrind else { return Ok(Value::Null) };
    report.note(
        "instructions: user space only, all threads of the sending program, by callgrind: those of a run with N messages more less those \
         of one with N, by the messages it sent more; the receiver is not counted. valgrind takes the vDSO away, so a clock is read by a system \
         call there: a program that reads one for each message counts as less than it is",
    );
    let testbed = session.testbed(Scenario::Loopback, report)?;
    let mut all = Vec::new();
    for (kind, message, amount) in tasks(smoke) {
        if !options.messages.is_empty() && !options.messages.contains(&message) {
            continue;
        }
        let job = Job {
            kind,
            ipv6: false,
            message,
            flows: 1,
            cpus: 1,
            congestion_control: None,
            polling: Polling::None,
            seconds: amount.seconds,
            client: testbed.transmitter.ipv4,
            server: receiver(&testbed)?.ipv4,
        };
        let counter = Counter { session, valgrind: &valgrind, job, amount };
        let own = match counter.of_netassay(&testbed) {
            Ok(own) => own,
            Err(failure) if failure.is_interrupt() => return Err(failure),
            Err(failure) => {
                report.not_run.push(format!("instructions, {kind} {message} B, netassay: {failure}"));
                continue;
            }
        };
        let mut peers = Vec::new();
        let runs = |one: &&Installed| one.peer.runs(kind);
        for peer in installed.iter().filter(runs).take(if smoke { 1 } else { usize::MAX }) {
            match counter.of_peer(peer, &testbed) {
                Ok(counted) => peers.push(counted),
                Err(NoTurn::Failed(failure)) if failure.is_interrupt() => return Err(failure),
                Err(no_turn) => {
                    no_turn.tell(&format!("instructions, {kind} {message} B, {}", peer.peer.name()), report)
                }
            }
        }
        tell(&own, &peers, report);
        all.push(own);
        all.extend(peers);
    }
    Ok(json!(all))
}

fn tell(own: &Counted, peers: &[Counted], report: &mut Report) {
    let place = format!("{} {} B: instructions", own.workload, own.message);
    let decimals = |figure: f64| format!("{figure:.1}");
    for (figure, of) in
        [("instructions", Counted::total as fn(&Counted) -> f64), ("outside libc", Counted::outside_libc)]
    {
        for peer in peers {
            let mut row = vec![own.workload.to_string(), "ipv4".to_owned(), "loopback".to_owned()];
            row.extend([
                own.message.to_string(),
                own.sender.to_string(),
                peer.program.clone(),
                figure.to_owned(),
            ]);
            row.extend([decimals(of(own)), decimals(of(peer)), format!("{:.3}", of(own) / of(peer))]);
            report.table.row(row);
        }
    }
    let fewest = peers.iter().min_by(|one, other| one.total().total_cmp(&other.total()));
    if let Some(fewest) = fewest {
        let what = format!("{place}, by those of {}", fewest.program);
        report.goals.push(Goal::under(what, own.total() / fewest.total(), 1.0, ""));
    }
    report.goals.push(Goal::new(
        format!("{place} outside libc"),
        own.outside_libc(),
        (Bound::AtMost, OWN),
        "",
    ));
}

/// Counts one task's instructions.
struct Counter<'a> {
    session: &'a Session<'a>,
    valgrind: &'a Path,
    job: Job,
    amount: Amount,
}

impl Counter<'_> {
    fn of_netassay(&self, testbed: &Testbed) -> Result<Counted, Failure> {
        let Job { kind, message, server, .. } = &self.job;
        let to = SocketAddr::new(*server, sending::PORT).to_string();
        let program = std::env::current_exe().map_err(Failure::io("cannot find this program"))?;
        let program = program.to_string_lossy().into_owned();
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        let sink = [vec![program.clone()], words(&["sink", "--kind", kind.word(), "--at", &to])].concat();
        let door = if kind.is_udp() { Door::Udp(sending::PORT) } else { Door::Tcp(sending::PORT) };
        let sender = Sender::Send;
        let runs = |amount: Amount| {
            let receiver = self.place(receiver(testbed)?);
            let mut server = receiver.start(&sink)?;
            let declines = |_: &str| None;
            await_door(&receiver, door, &mut server, &declines, &self.session.bench.interrupt)?;
            let (message, count) = (message.to_string(), amount.messages.to_string());
            let client = [
                vec![program.clone()],
                words(&["sends", "--kind", kind.word(), "--sender", &sender.to_string()]),
                words(&["--message", &message, "--count", &count, "--to", &to]),
            ];
            let says = |text: &str| text.trim().parse().ok();
            self.count(testbed, &client.concat(), &says, Linked::Statically)
        };
        self.difference("netassay", sender, runs).map_err(|no_turn| match no_turn {
            NoTurn::Failed(failure) => failure,
            NoTurn::Declined(why) => Failure::Internal(why.to_owned()),
        })
    }

    fn of_peer(&self, peer: &Installed, testbed: &Testbed) -> Result<Counted, NoTurn> {
        let command = |end: End, arguments| peer.command(end, self.job.kind, arguments);
        self.difference(peer.peer.name(), Sender::Send, |amount| {
            let receiver = self.place(receiver(testbed)?);
            let mut server = receiver.start(&command(End::Server, peer.peer.server(&self.job)))?;
            let (door, declines) = (peer.peer.door(&self.job), |words: &str| peer.peer.declines(words));
            await_door(&receiver, door, &mut server, &declines, &self.session.bench.interrupt)?;
            let says = |text: &str| peer.peer.sent(&self.job, amount, text);
            self.count(
                testbed,
                &command(End::Client, peer.peer.sends(&self.job, amount)),
                &says,
                Linked::Dynamically,
            )
        })
    }

    /// A run with the amount, and one with that much more than the first sent: a sender is looked
    /// at now and then, so it may have sent several times what it was told.
    fn difference(
        &self,
        program: &str,
        sender: Sender,
        mut runs: impl FnMut(Amount) -> Result<(u64, Instructions), NoTurn>,
    ) -> Result<Counted, NoTurn> {
        let Amount { messages, seconds } = self.amount;
        let (few, cost_of_few) = runs(self.amount)?;
        let (many, cost_of_many) =
            runs(Amount { messages: few.max(messages) + messages, seconds: 2 * seconds })?;
        let more = Instructions {
            total: cost_of_many.total.saturating_sub(cost_of_few.total),
            outside_libc: cost_of_many.outside_libc.saturating_sub(cost_of_few.outside_libc),
        };
        if many <= few {
            let why = format!("{program} sent {few} messages, and {many} when told to send more");
            return Err(Failure::Environment(why).into());
        }
        let (workload, message) = (self.job.kind, self.job.message);
        let counted =
            Counted { program: program.to_owned(), workload, message, sender, messages: many - few, more };
        self.session.bench.say(&format!(
            "{workload} {message} B, {program}: {:.1} instructions, {:.1} outside libc",
            counted.total(),
            counted.outside_libc()
        ));
        Ok(counted)
    }

    /// Runs a client under callgrind; how many messages it sent is what `says` finds in its words.
    fn count(
        &self,
        testbed: &Testbed,
        command: &[String],
        says: &dyn Fn(&str) -> Option<u64>,
        linked: Linked,
    ) -> Result<(u64, Instructions), NoTurn> {
        let directory = tempfile::tempdir().map_err(Failure::io("cannot make a temporary directory"))?;
        let file = directory.path().join("callgrind.out");
        let mut under = vec![self.valgrind.to_string_lossy().into_owned()];
        // Mangled names tell whose a function is; nobody debugs; a fork is not the sender.
        under.extend(
            ["--tool=callgrind", "--quiet", "--demangle=no", "--vgdb=no", "--trace-children=no"]
                .map(str::to_owned),
        );
        under.push(format!("--callgrind-out-file={}", file.display()));
        under.extend_from_slice(command);
        let mut client = self.place(&testbed.transmitter).start(&under)?;
        let said = self.outcome(&mut client)?;
        let unreadable = |what: &str| Failure::Environment(format!("{}: {what}", client.command));
        let messages =
            says(&said).ok_or_else(|| unreadable("how much it sent cannot be found in what it says"))?;
        let text =
            fs::read_to_string(&file).map_err(Failure::io(format!("cannot read {}", file.display())))?;
        let counted =
            callgrind::count(&text, linked).ok_or_else(|| unreadable("callgrind counted nothing"))?;
        Ok((messages, counted))
    }

    fn outcome(&self, client: &mut Resident) -> Result<String, Failure> {
        let start = Instant::now();
        match client.wait(PATIENCE, &self.session.bench.interrupt)? {
            Some(status) if status.success() => Ok(client.output()),
            Some(status) => {
                let complaint = client.complaint();
                Err(Failure::Environment(format!("{} failed ({status}): {complaint}", client.command)))
            }
            None => {
                let waited = start.elapsed().as_secs();
                Err(Failure::Environment(format!("{} does not end ({waited} s)", client.command)))
            }
        }
    }

    fn place(&self, end: &testbed::End) -> Namespace {
        let cpus = end.cpus.iter().copied().take(1).collect();
        Namespace { agent: end.pid(), rootless: self.session.rootless, cpus }
    }
}
