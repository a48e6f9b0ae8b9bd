//! Fixed work of one thread that holds the sockets of both ends.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use host::Links;
use load::Spec;
use load::exact::{Account, ReceivingEnd, SoftirqError, SoftirqTime, await_beat, connections, run};

use crate::error::{Refusal, Reply};
use crate::message::{Answer, ExactReceiver};

pub(crate) fn exact(links: &mut Links, spec: &Spec, receiver: &ExactReceiver) -> Reply {
    let connections = 0..connections(spec.traffic.kind);
    let accounts: Result<Vec<Account>, Refusal> =
        connections.map(|_| connection(links, spec, receiver.clone())).collect();
    let account = Account::middle(accounts?).expect("there is a connection");
    Ok(Answer::Exact(Box::new(account)))
}

fn connection(links: &mut Links, spec: &Spec, receiver: ExactReceiver) -> Result<Account, Refusal> {
    let OtherEnd { receiver, links: mut there, nobody } = OtherEnd::open(receiver)?.ok_or(NO_OTHER)?;
    spread_neighbours(links)?;
    let mut both: Vec<&mut Links> = std::iter::once(links).chain(&mut there).collect();
    let mut kept = Ok(());
    let mut settled = || kept = keep_neighbours(&mut both);
    // A new thread: one that has sent before starts inside of its page of memory for sends, and
    // messages that cross its end cost about 1 % more.
    let account = thread::scope(|scope| {
        let fresh = thread::Builder::new().name("exact".to_owned());
        let work = fresh.spawn_scoped(scope, || {
            await_beat();
            run(spec, receiver, nobody, &mut settled, &mut count_softirqs)
        });
        let work = work.map_err(|error| format!("cannot start a thread for the work: {error}"))?;
        work.join().map_err(|_| Refusal::from("the thread of the work died"))
    })?;
    kept?;
    Ok(account?)
}

const NO_OTHER: &str = "exact mode holds the sockets of both ends: no other machine has one";

pub(crate) struct OtherEnd {
    pub(crate) receiver: Option<ReceivingEnd>,
    pub(crate) links: Option<Links>,
    pub(crate) nobody: Option<SocketAddr>,
}

impl OtherEnd {
    /// `None`: it is on another machine.
    pub(crate) fn open(receiver: ExactReceiver) -> Result<Option<Self>, Refusal> {
        let (process, spec) = match receiver {
            ExactReceiver::In { process, spec } => (process, spec),
            ExactReceiver::Nobody(address) => {
                return Ok(Some(Self { receiver: None, links: None, nobody: Some(address) }));
            }
            ExactReceiver::Apart => return Ok(None),
        };
        let open = move || -> Result<Option<Self>, Refusal> {
            host::namespace::join_net(process)?;
            let receiver = Some(ReceivingEnd::open(&spec)?);
            Ok(Some(Self { receiver, links: Some(Links::open()?), nobody: None }))
        };
        // Sockets stay in their namespace; a thread of their own leaves this one's as it is.
        let opened = thread::Builder::new().name("receiver".to_owned()).spawn(open);
        let thread = opened
            .map_err(|error| format!("cannot start a thread for the receiving end's socket: {error}"))?;
        thread.join().map_err(|_| "the thread that opens the receiving end's socket died")?
    }
}

fn count_softirqs() -> Result<SoftirqTime, SoftirqError> {
    let softirqs = host::Softirqs::count().map_err(|error| SoftirqError(error.to_string()))?;
    let unread = |error| SoftirqError(format!("soft interrupts cannot be read: {error}"));
    Ok(Box::new(move || softirqs.inside_ns().map_err(unread)))
}

static SPREAD: AtomicBool = AtomicBool::new(false);

pub(crate) fn spread_neighbours(links: &mut Links) -> Result<(), host::Error> {
    // The tables are the kernel's, and stay large.
    if SPREAD.swap(true, Ordering::Relaxed) { Ok(()) } else { links.spread_neighbours() }
}

/// Keeps the neighbours in both ends' network namespaces, which netassay made and may change.
// The kernel would check a neighbour again at some time, which would be in the counted cost
// (`docs/where-the-time-goes.md`).
pub(crate) fn keep_neighbours(of: &mut [&mut Links]) -> Result<(), host::Error> {
    of.iter_mut().try_for_each(|links| links.keep_neighbours().map(drop))
}
