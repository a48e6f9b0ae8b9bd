//! One run of either side of a pair: netassay's, or a peer's, in the same namespaces.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use agent::Interrupt;
use load::Reader;
use serde::Serialize;
use testbed::{RunOrder, Testbed};

use crate::bench::rate;
use crate::failure::Failure;
use crate::installed::Installed;
use crate::peers::{End, Job, Listens, Said};
use crate::place::{Host, Hosts, Program};
use crate::traffic::counted::{Counted, Flow};
use crate::traffic::mode::Mode;
use crate::traffic::timing::Timing;
use crate::wait;

/// How long a server may take until it listens.
const SERVER: Duration = Duration::from_secs(5);
/// How long a client may take beyond its traffic.
const CLIENT: Duration = Duration::from_secs(10);

/// What one run showed.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Turn {
    /// As the kernel counted; of datagrams received several at once as netassay did, whose calls
    /// the kernel counts.
    #[serde(flatten)]
    pub(crate) flow: Flow,
    /// What the program itself says.
    pub(crate) said: Said,
}

/// What all turns of a comparison have in common.
pub(crate) struct Turns<'a> {
    pub(crate) job: Job,
    pub(crate) hosts: &'a Hosts,
    pub(crate) counted: Counted<'a>,
    pub(crate) timing: Timing,
    pub(crate) interrupt: &'a Interrupt,
}

impl Turns<'_> {
    /// netassay's turn.
    pub(crate) fn of_netassay(&self, testbed: &mut Testbed, mode: Mode) -> Result<Turn, Failure> {
        let Self { job, counted, timing, .. } = self;
        let order = RunOrder {
            traffic: traffic(job, mode),
            family: study::Family::from_ipv6(job.ipv6),
            ramp: timing.ramp,
            window: timing.own_window(),
            // Nobody looks at it, and the peers make none.
            step: Duration::from_secs(1),
        };
        let over = AtomicBool::new(false);
        let mut still_there = || match over.load(Ordering::Relaxed) {
            true => Err(Failure::environment("the run ended before the window closed")),
            false => Ok(()),
        };
        let (account, flow) = std::thread::scope(|scope| {
            let watching = scope.spawn(|| counted.measure(*timing, self.interrupt, &mut still_there));
            let account = testbed.run(&order, &mut || {});
            over.store(true, Ordering::Relaxed);
            (account, watching.join())
        });
        // The run's own error is the cause of what the watcher missed.
        let account = account?;
        let mut flow = flow.map_err(|_| Failure::failed("the watcher panicked"))??;
        let latency = account.transmitter.whole.outcome.latency.as_ref();
        let said = Said {
            rate: rate(job.kind, &account),
            p50_us: latency.map(|latency| latency.p50 as f64 / 1e3),
            p99_us: latency.map(|latency| latency.p99 as f64 / 1e3),
        };
        // Datagrams arrive several at once, so that the kernel's count of what programs received is
        // none of datagrams.
        if mode.reader == Reader::Gro {
            let whole = account.receiver.as_ref().map(|side| &side.whole);
            let bytes = whole.map(|whole| (whole.outcome.received.bytes, whole.counters.link.rx_bytes));
            if let Some((said, arrived)) = bytes.filter(|(said, arrived)| said > arrived) {
                return Err(Failure::Failed(format!(
                    "netassay says it received {said} bytes of payload, and {arrived} arrived"
                )));
            }
            flow = Flow { received: said.rate.unwrap_or_default(), cpu: None, ..flow };
        }
        Ok(Turn { flow, said })
    }

    /// A peer's turn.
    pub(crate) fn of_peer(&self, peer: &Installed) -> Result<Turn, Failure> {
        let Self { job, hosts, timing, interrupt, .. } = self;
        let mut server = serve(peer, &hosts.receiver, job, interrupt)?;
        let client = peer.command(End::Client, job.kind, &(peer.peer.client)(job, None));
        let mut client = hosts.transmitter.start(&times(peer.peer.clients(job), client))?;
        let flow = self.counted.measure(*timing, interrupt, &mut || match client.ended()? {
            Some(status) => Err(client.ended_early(status)),
            None => Ok(()),
        })?;
        if !timing.awaits_report {
            return Ok(Turn { flow, said: Said::default() });
        }
        let text = client.finish(Duration::from_secs(job.seconds.into()) + CLIENT, interrupt)?;
        // Whatever the server still does must not reach into the next turn.
        server.stop();
        let said = (peer.peer.said)(job, &text).ok_or_else(|| {
            Failure::Environment(format!("{}: its figures cannot be found in what it says", client.command))
        })?;
        Ok(Turn { flow, said })
    }
}

/// What netassay does of a job in one mode.
pub(crate) fn traffic(job: &Job, Mode { sender, reader }: Mode) -> load::Traffic {
    let congestion_control = match &job.congestion_control {
        Some(name) => load::CongestionControl::Named(name.clone()),
        None if job.kind.is_tcp() => load::CongestionControl::System,
        None => load::CongestionControl::default(),
    };
    load::Traffic {
        message: job.message,
        response: if job.kind.is_rr() { job.message } else { 0 },
        flows: job.flows,
        congestion_control,
        sender,
        reader,
        busy_poll: job.busy_poll.map(|micros| Duration::from_micros(micros.into())),
        ..load::Traffic::new(job.kind)
    }
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
    let shell = [SHELL, "-c", AT_ONCE, "sh", &clients.to_string()].map(str::to_owned);
    shell.into_iter().chain(command).collect()
}

/// Starts a peer's server, and waits until it listens. If it ends instead, its words tell why.
pub(crate) fn serve(
    peer: &Installed,
    host: &Host,
    job: &Job,
    interrupt: &Interrupt,
) -> Result<Program, Failure> {
    let mut server = host.start(&peer.command(End::Server, job.kind, &(peer.peer.server)(job)))?;
    let port = (peer.peer.listens)(job.kind);
    let ready = wait::until(SERVER, Duration::from_millis(10), interrupt, || {
        // Before the exit is looked for: a server that has ended does not listen either.
        if is_open(host, port) {
            return Ok(Some(None));
        }
        Ok(server.ended()?.map(Some))
    })?;
    match ready {
        Some(None) => Ok(server),
        Some(Some(status)) => Err(match peer.peer.declines(&server.output()) {
            Some(why) => Failure::Declined(why),
            None => server.ended_early(status),
        }),
        None => Err(Failure::Environment(format!("{} does not listen after {SERVER:?}", server.command))),
    }
}

fn is_open(host: &Host, port: Listens) -> bool {
    let (files, port, is_tcp) = match port {
        Listens::Tcp(port) => (["tcp", "tcp6"], port, true),
        Listens::Udp(port) => (["udp", "udp6"], port, false),
    };
    // One by one: a kernel without IPv6 has but one of them.
    let read = files.iter().filter_map(|file| host.read(&[file]).ok());
    read.flat_map(|read| read.texts).any(|table| listens(&table, port, is_tcp))
}

/// Has a table of sockets (`/proc/net/tcp` and its like) one that waits at `port`? Its second
/// column is the local address with the port in hexadecimal, its fourth the state, of which 0A is
/// TCP's LISTEN.
fn listens(table: &str, port: u16, is_tcp: bool) -> bool {
    table.lines().skip(1).any(|line| {
        let columns: Vec<&str> = line.split_whitespace().collect();
        let is_here = columns.get(1).is_some_and(|local| local.ends_with(&format!(":{port:04X}")));
        is_here && (!is_tcp || columns.get(3) == Some(&"0A"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

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
        // Port 5000 is connected, not listening.
        for (port, tcp, udp) in [(5201, true, true), (5000, false, true), (80, false, false)] {
            assert_eq!([listens(table, port, true), listens(table, port, false)], [tcp, udp], "{port}");
        }
    }
}
