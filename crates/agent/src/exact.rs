//! Fixed work of one thread that holds the sockets of both ends.

use std::thread;

use host::Links;
use load::Spec;
use load::exact::{self, ReceivingEnd, await_beat, run};

use crate::message::{Answer, ExactReceiver};
use crate::neighbours::Neighbours;
use crate::refusal::{Refusal, Reply};

/// Does the work and counts its cost. Meanwhile the agent reads and writes nothing.
pub(crate) fn exact(links: &mut Links, spec: &Spec, receiver: ExactReceiver) -> Reply {
    let (receiver, there, nobody) = match receiver {
        ExactReceiver::In { process, spec } => {
            let (receiver, there) = open_in(process, *spec)?;
            (Some(receiver), Some(there), None)
        }
        ExactReceiver::Nobody(address) => (None, None, Some(address)),
        ExactReceiver::Apart => return Err(NO_OTHER.into()),
    };
    let mut neighbours = Neighbours::of(links, there)?;
    let mut kept = Ok(());
    let mut settled = || kept = neighbours.keep();
    // A thread has its own page from which the kernel takes memory for sends. A thread that has
    // sent before starts inside of that page, messages then cross its end, and that costs about 1 %
    // more.
    let account = thread::scope(|scope| {
        let fresh = thread::Builder::new().name("exact".to_owned());
        let work = fresh.spawn_scoped(scope, || {
            await_beat();
            run(spec, receiver, nobody, &mut settled, &mut count_softirqs)
        });
        let work = work.map_err(|error| format!("cannot start a thread for the work: {error}"))?;
        work.join().map_err(|_| Refusal::from("the thread of the work died".to_owned()))
    })?;
    kept?;
    let account = account.map_err(Refusal::passing)?;
    Ok(Answer::Exact(Box::new(account)))
}

const NO_OTHER: &str = "exact mode holds the sockets of both ends: no other machine has one";

/// Opens a socket in the network namespace of another process, and one to its kernel's links. A new
/// thread enters that namespace; this one stays.
pub(crate) fn open_in(process: u32, spec: Spec) -> Result<(ReceivingEnd, Links), Refusal> {
    let open = move || {
        host::namespace::join_net(process).map_err(Refusal::passing)?;
        Ok((ReceivingEnd::open(&spec).map_err(Refusal::passing)?, Links::open()?))
    };
    let opened = thread::Builder::new().name("receiver".to_owned()).spawn(open);
    let thread =
        opened.map_err(|error| format!("cannot start a thread for the receiving end's socket: {error}"))?;
    thread
        .join()
        .map_err(|_| Refusal::from("the thread that opens the receiving end's socket died".to_owned()))?
}

/// The counter of soft interrupts of the work.
struct Counting(host::Softirqs);

fn count_softirqs() -> Result<Box<dyn exact::Softirqs>, String> {
    Ok(Box::new(Counting(host::Softirqs::count()?)))
}

impl exact::Softirqs for Counting {
    fn inside_ns(&mut self) -> Result<u64, String> {
        self.0.inside_ns().map_err(|error| format!("soft interrupts cannot be read: {error}"))
    }
}
