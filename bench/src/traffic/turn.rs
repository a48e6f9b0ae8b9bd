//! One run of either side of a pair: netassay's, or a peer's, in the same namespaces.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use agent::Interrupt;
use serde::Serialize;
use testbed::{RunAccount, RunOrder, Testbed};

use crate::failure::Failure;
use crate::installed::Installed;
use crate::interrupt;
use crate::peers::{Door, End, Job, Polling, Said};
use crate::place::{Place, Places, Resident};
use crate::report::Report;
use crate::traffic::task::Way;
use crate::traffic::yardstick::{Cpu, Flow, Yardstick};

/// How long a server may take until it listens.
const SERVER: Duration = Duration::from_secs(5);
/// How long a client may take beyond its traffic.
const CLIENT: Duration = Duration::from_secs(10);

/// When the window opens and how long it is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Timing {
    /// From the first traffic to the window.
    pub(crate) ramp: Duration,
    pub(crate) window: Duration,
    /// Beyond both: the traffic is seen a little after it began, and must outlast the window.
    pub(crate) slack: Duration,
    /// How long each further flow delays the window: the programs of many flows start one after the
    /// other.
    pub(crate) each_flow: Duration,
    /// Whether a peer runs to its end and reports its rate; if not, it is ended once the window has
    /// closed.
    pub(crate) awaits_report: bool,
}

/// How much longer than its turn a peer is told to send if it is ended before.
const BEYOND: Duration = Duration::from_secs(60);

impl Timing {
    /// The times with so many flows.
    pub(crate) fn with(self, flows: u32) -> Self {
        Self { ramp: self.ramp + self.each_flow * (flows - 1), ..self }
    }

    /// How many seconds a peer is told to send.
    pub(crate) fn peer_seconds(&self) -> u32 {
        let lasts = self.ramp + self.window + self.slack;
        (if self.awaits_report { lasts } else { lasts + BEYOND }).as_secs_f64().ceil() as u32
    }

    /// How long netassay's own traffic lasts beyond the ramp: as long as a peer's.
    fn own_window(&self) -> Duration {
        if self.awaits_report {
            Duration::from_secs(self.peer_seconds().into()).saturating_sub(self.ramp)
        } else {
            self.window + self.slack
        }
    }
}

/// What one run showed.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Turn {
    /// Length of the window in s.
    seconds: f64,
    /// Payload bits/s at the receiver, or transactions/s, as the kernel counted; of datagrams
    /// accepted several at once as netassay did, whose calls the kernel counts.
    pub(crate) received: f64,
    /// Datagrams sent per second; 0 but for `udp_stream`.
    pub(crate) sent_datagrams: f64,
    /// CPU time for each 1000 bytes received, in ns, of all that ran on the CPUs of the two hosts;
    /// for streams.
    pub(crate) cpu: Option<Cpu>,
    /// What the program itself says.
    pub(crate) said: Said,
}

impl Turn {
    fn new(flow: Flow, said: Said) -> Self {
        let Flow { seconds, received, sent_datagrams, cpu } = flow;
        Self { seconds, received, sent_datagrams, cpu, said }
    }
}

/// netassay's turn.
pub(crate) fn of_netassay(
    testbed: &mut Testbed,
    job: &Job,
    way: Way,
    timing: Timing,
    yardstick: &Yardstick<'_>,
    interrupt: &Interrupt,
) -> Result<Turn, Failure> {
    let order = RunOrder {
        traffic: traffic(job, way),
        family: study::Family::of(job.ipv6),
        ramp: timing.ramp,
        window: timing.own_window(),
        // Nobody looks at it, and the peers take none.
        step: Duration::from_secs(1),
    };
    let over = AtomicBool::new(false);
    let (account, flow) = std::thread::scope(|scope| {
        let watching = scope.spawn(|| {
            yardstick.measure(timing.ramp, timing.window, interrupt, &mut || match over
                .load(Ordering::Relaxed)
            {
                true => Err(Failure::Environment("the run ended before the window closed".to_owned())),
                false => Ok(()),
            })
        });
        let account = testbed.run(&order, &mut || {});
        over.store(true, Ordering::Relaxed);
        (account, watching.join())
    });
    // The run's own error is the cause of what the watcher missed.
    let account = account?;
    let flow = flow.map_err(|_| Failure::Internal("the watcher panicked".to_owned()))??;
    let said = own_word(job, &account);
    if !way.is_batched() {
        return Ok(Turn::new(flow, said));
    }
    let received = said.rate.unwrap_or_default();
    let whole = account.receiver.as_ref().map(|side| &side.whole);
    if let Some(whole) = whole.filter(|whole| whole.outcome.received.bytes > whole.counters.link.rx_bytes) {
        return Err(Failure::Internal(format!(
            "netassay says it received {} bytes of payload, and {} arrived",
            whole.outcome.received.bytes, whole.counters.link.rx_bytes
        )));
    }
    Ok(Turn::new(Flow { received, cpu: None, ..flow }, said))
}

/// What netassay does of a job in one way.
pub(crate) fn traffic(job: &Job, Way { sender, reader }: Way) -> load::Traffic {
    let busy_poll = match job.polling {
        Polling::ProgramAndSocket(micros) => Some(Duration::from_micros(u64::from(micros))),
        Polling::None | Polling::Program => None,
    };
    let response = if job.kind.is_rr() { job.message } else { 0 };
    let congestion_control = match &job.congestion_control {
        Some(name) => load::CongestionControl::Named(name.clone()),
        None if job.kind.is_tcp() => load::CongestionControl::System,
        None => load::CongestionControl::default(),
    };
    load::Traffic {
        message: job.message,
        response,
        flows: job.flows,
        congestion_control,
        sender,
        reader,
        busy_poll,
        ..load::Traffic::new(job.kind)
    }
}

/// What netassay says of its run.
fn own_word(job: &Job, account: &RunAccount) -> Said {
    let transmitter = &account.transmitter;
    let rate = |amount: u64, elapsed_ns: u64| amount as f64 * 1e9 / elapsed_ns.max(1) as f64;
    let latency = transmitter.whole.outcome.latency.as_ref();
    Said {
        rate: if job.kind.is_rr() {
            Some(rate(transmitter.window.load.sent.transactions, transmitter.window.elapsed_ns))
        } else {
            account
                .receiver
                .as_ref()
                .map(|side| 8.0 * rate(side.window.load.received.bytes, side.window.elapsed_ns))
        },
        p50_us: latency.map(|latency| latency.p50 as f64 / 1e3),
        p99_us: latency.map(|latency| latency.p99 as f64 / 1e3),
    }
}

/// Why a peer's turn gave nothing.
#[derive(Debug)]
pub(crate) enum NoTurn {
    /// It was never made for the job.
    Declined(&'static str),
    Failed(Failure),
}

impl NoTurn {
    /// Adds it to the report.
    pub(crate) fn tell(self, place: &str, report: &mut Report) {
        match self {
            Self::Declined(why) => report.note(format!("{place}: {why}")),
            Self::Failed(failure) => report.not_run.push(format!("{place}: {failure}")),
        }
    }
}

impl From<Failure> for NoTurn {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

/// A peer's turn.
pub(crate) fn of_peer(
    peer: &Installed,
    places: &Places,
    job: &Job,
    timing: Timing,
    yardstick: &Yardstick<'_>,
    interrupt: &Interrupt,
) -> Result<Turn, NoTurn> {
    let Places { transmitter, receiver } = places;
    let mut server = receiver.start(&peer.command(End::Server, job.kind, peer.peer.server(job)))?;
    let declines = |words: &str| peer.peer.declines(words);
    await_door(&**receiver, peer.peer.door(job), &mut server, &declines, interrupt)?;
    let client = peer.command(End::Client, job.kind, peer.peer.client(job));
    let mut client = transmitter.start(&times(peer.peer.clients(job), client))?;
    let flow = yardstick.measure(timing.ramp, timing.window, interrupt, &mut || match client.ended()? {
        Some(status) => Err(ended_early(&mut client, &status.to_string())),
        None => Ok(()),
    })?;
    if !timing.awaits_report {
        return Ok(Turn::new(flow, Said::default()));
    }
    let patience = Duration::from_secs(job.seconds.into()) + CLIENT;
    match client.wait(patience, interrupt)? {
        Some(status) if status.success() => {}
        Some(status) => return Err(ended_early(&mut client, &status.to_string()).into()),
        None => return Err(Failure::Environment(format!("{} does not end", client.command)).into()),
    }
    // Whatever the server still does must not reach into the next turn.
    server.stop();
    let text = client.output();
    let said = peer.peer.said(job, &text).ok_or_else(|| {
        Failure::Environment(format!("{}: its figures cannot be found in what it says", client.command))
    })?;
    Ok(Turn::new(flow, said))
}

/// What starts several clients at once.
pub(crate) const SHELL: &str = "/bin/sh";

/// A command that runs `clients` of `command` at once.
fn times(clients: u32, command: Vec<String>) -> Vec<String> {
    if clients == 1 {
        return command;
    }
    const AT_ONCE: &str =
        r#"left=$1; shift; while [ $left -gt 0 ]; do "$@" & left=$((left - 1)); done; wait"#;
    let mut all = [SHELL, "-c", AT_ONCE, "sh"].map(str::to_owned).to_vec();
    all.push(clients.to_string());
    all.extend(command);
    all
}

fn ended_early(program: &mut Resident, status: &str) -> Failure {
    let complaint = program.complaint();
    Failure::Environment(format!("{} ended early ({status}): {complaint}", program.command))
}

/// Waits until the server listens. If it ends instead, `declines` is asked what its words mean.
pub(crate) fn await_door(
    place: &dyn Place,
    door: Door,
    server: &mut Resident,
    declines: &dyn Fn(&str) -> Option<&'static str>,
    interrupt: &Interrupt,
) -> Result<(), NoTurn> {
    let deadline = Instant::now() + SERVER;
    loop {
        // Before the exit is looked for: a server that has ended does not listen either.
        if is_open(place, door) {
            return Ok(());
        }
        if let Some(status) = server.ended()? {
            return Err(match declines(&server.words()) {
                Some(why) => NoTurn::Declined(why),
                None => ended_early(server, &status.to_string()).into(),
            });
        }
        if Instant::now() >= deadline {
            return Err(
                Failure::Environment(format!("{} does not listen after {SERVER:?}", server.command)).into()
            );
        }
        interrupt::sleep(Duration::from_millis(10), interrupt)?;
    }
}

fn is_open(place: &dyn Place, door: Door) -> bool {
    let (files, port) = match door {
        Door::Tcp(port) => (["tcp", "tcp6"], port),
        Door::Udp(port) => (["udp", "udp6"], port),
    };
    // One by one: a kernel without IPv6 has but one of them.
    files
        .iter()
        .filter_map(|file| place.read(&[file]).ok())
        .any(|read| read.texts.iter().any(|table| listens(table, port, matches!(door, Door::Tcp(_)))))
}

/// Has a table of sockets (`/proc/net/tcp` and its like) one that waits at `port`? Its second
/// column is the local address with the port in hexadecimal, its fourth the state, of which 0A is
/// TCP's LISTEN.
fn listens(table: &str, port: u16, tcp: bool) -> bool {
    table.lines().skip(1).any(|line| {
        let columns: Vec<&str> = line.split_whitespace().collect();
        let here = columns.get(1).is_some_and(|local| local.ends_with(&format!(":{port:04X}")));
        here && (!tcp || columns.get(3) == Some(&"0A"))
    })
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A turn with this rate and this CPU time for 1000 bytes, half of it on either side.
    pub(crate) fn turn(received: f64, cpu: f64) -> Turn {
        let cpu = Some(Cpu { transmitter: cpu / 2.0, receiver: cpu / 2.0 });
        Turn { seconds: 1.0, received, sent_datagrams: 0.0, cpu, said: Said::default() }
    }

    #[test]
    fn a_peer_that_reports_is_told_whole_seconds_and_netassay_lasts_as_long() {
        let ms = Duration::from_millis;
        let timing =
            Timing { ramp: ms(100), window: ms(300), slack: ms(300), each_flow: ms(5), awaits_report: true };
        assert_eq!((timing.peer_seconds(), timing.own_window()), (1, ms(900)));
        assert_eq!((timing.with(1).ramp, timing.with(5).ramp), (ms(100), ms(120)));
        let ended = Timing { awaits_report: false, ..timing };
        assert_eq!((ended.peer_seconds(), ended.own_window()), (61, ms(600)));
    }

    #[test]
    fn many_clients_run_at_once() {
        let command = times(3, ["printf", "%s;", "a b"].map(str::to_owned).to_vec());
        let output = std::process::Command::new(&command[0]).args(&command[1..]).output().unwrap();
        assert_eq!(output.stdout, b"a b;a b;a b;");
        assert_eq!(times(1, vec!["x".to_owned()]), ["x"]);
    }

    #[test]
    fn a_listening_socket_is_seen() {
        let table = "  sl  local_address rem_address   st tx_queue\n   0: 0100007F:1451 00000000:0000 0A 00000000:00000000\n\
                     \x20  1: 0100007F:1388 0100007F:9C40 01 00000000:00000000\n";
        assert!(listens(table, 5201, true));
        assert!(!listens(table, 5000, true), "connected, not listening");
        assert!(listens(table, 5000, false));
        assert!(!listens(table, 80, true));
    }
}
