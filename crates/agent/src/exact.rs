//! Fixed work of one thread that holds the sockets of both ends.

use std::thread;

use load::Spec;
use load::exact::{Taker, run};

use crate::message::{Answer, ExactTaker};
use crate::refusal::{Refusal, Reply};

/// Does the work and tells what it took. Nothing else happens meanwhile: nobody is asked, nothing is said.
pub(crate) fn exact(spec: &Spec, taker: ExactTaker) -> Reply {
    let account = match taker {
        ExactTaker::In { process, spec: there } => run(spec, Some(open_in(process, there)?), None)?,
        ExactTaker::Nobody(address) => run(spec, None, Some(address))?,
    };
    Ok(Answer::Exact(Box::new(account)))
}

/// Opens a socket in the network namespace of another process. A thread goes there and does not come back: this one stays.
fn open_in(process: u32, spec: Spec) -> Result<Taker, Refusal> {
    let open = move || {
        host::namespace::join_net(process).map_err(|error| Refusal::from(error.to_string()))?;
        Taker::open(&spec).map_err(Refusal::from)
    };
    let opened = thread::Builder::new().name("taker".to_owned()).spawn(open);
    let thread =
        opened.map_err(|error| format!("cannot start a thread for the taking end's socket: {error}"))?;
    thread
        .join()
        .map_err(|_| Refusal::from("the thread that opens the taking end's socket died".to_owned()))?
}
