//! The life of an agent: enter its namespaces, answer requests, end with the controller.

use std::io;
use std::time::{Duration, Instant};

use host::machine::Machine;
use host::{CapabilitySet, namespace};

use crate::controller::{self, ReceivedLine, Requests};
use crate::error::{Refusal, ServeError};
use crate::frame::{LineReader, NO_REQUEST, answer_line, decode};
use crate::launch::{Isolation, Launch};
use crate::message::{Answer, Request};
use crate::session::AgentSession;
use crate::undo_process;

/// Serves standard input, from its first line ([`Launch`]), in a process of one thread. `version`:
/// the program's.
///
/// # Errors
/// When the agent cannot enter its namespaces, or its pipes fail; not when a request fails.
pub fn serve(version: &'static str) -> Result<(), ServeError> {
    // The parents of this process may have left files open.
    host::close_inherited()?;
    let mut requests = Requests::Read(LineReader::default());
    let Some(line) = requests.next()? else { return Ok(()) };
    let launch: Launch = or_refuse(decode(&line.bytes))?;
    // A network namespace hides most sysctls, and its sysfs hides cgroups.
    let machine = Machine::system();
    let (sysctls, quotas) = (host::visible_sysctls(&machine), host::QuotaGroup::find(&machine));
    let usable = host::affinity::usable();
    or_refuse(enter(launch.isolation, launch.parent))?;
    if !launch.cpus.is_empty() {
        or_refuse(host::affinity::pin_current_thread(&launch.cpus))?;
    }
    ignore_signals();
    // Without priority, busy threads make this thread late at a window's edges.
    host::prioritise_current_thread();
    // While this is the only thread: threads that it starts inherit its capabilities.
    host::keep_capabilities(needed(&launch)).map_err(ServeError::Privileges)?;
    // An agent that dies with its parent leaves the undo to the next session.
    if launch.isolation == Isolation::Machine && launch.parent.is_none() {
        undo_process::start(launch.session)?;
    }
    let lease = launch.lease_ms.map(Duration::from_millis);
    let mut requests = requests.watched(lease)?;
    let mut session = AgentSession::open(launch, version, sysctls, usable, quotas)?;
    loop {
        let closes = session.traffic.as_ref().map(|traffic| traffic.closes);
        let Some(line) = requests.next_before(closes)? else {
            // Nobody has asked for its account.
            match session.traffic.take_if(|traffic| traffic.closes <= Instant::now()) {
                Some(_) => continue,
                None => return Ok(()),
            }
        };
        match answer(&mut session, &line) {
            // The controller is gone.
            Err(ServeError::Pipe(error)) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(()),
            result => result?,
        }
    }
}

fn answer(session: &mut AgentSession, line: &ReceivedLine) -> Result<(), ServeError> {
    let (id, deadline, request) = match line.open() {
        Ok(opened) => opened,
        Err(error) => return refuse(error.to_string()),
    };
    let tell = |answer: &Answer| reply(id, answer, deadline.controller_gives_up());
    let answer = match decode::<Request>(request) {
        Ok(request) => session.answer(request, deadline, &tell).unwrap_or_else(Refusal::into_answer),
        Err(error) => Refusal::from(error.to_string()).into_answer(),
    };
    tell(&answer)
}

fn needed(launch: &Launch) -> CapabilitySet {
    if launch.isolation == Isolation::Machine && launch.parent.is_some() {
        // Features of interfaces, sysctls of the network; kernel.numa_balancing.
        return CapabilitySet::NET_ADMIN | CapabilitySet::SYS_ADMIN;
    }
    // Also: buffers beyond the system's bounds, congestion controls.
    let needed = CapabilitySet::NET_ADMIN
        // A receiver's port below 1024.
        | CapabilitySet::NET_BIND_SERVICE
        // Pages of zerocopy sends, beyond RLIMIT_MEMLOCK.
        | CapabilitySet::IPC_LOCK
        // A socket for each of 100,000 flows, beyond the hard limit of open files.
        | CapabilitySet::SYS_RESOURCE
        // Programs that count soft interrupts, or discard packets.
        | CapabilitySet::BPF
        | CapabilitySet::PERFMON
        // The names of functions that were sampled.
        | CapabilitySet::SYSLOG;
    // Exact mode enters the other end's network namespace, in guests only.
    if launch.parent.is_none() { needed | CapabilitySet::SYS_ADMIN } else { needed }
}

// A Ctrl-C reaches the whole process group, and so does the end of a service: the controller orders
// the stop, and may have settings undone first.
pub(crate) fn ignore_signals() {
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
        // SAFETY: installing "ignore" needs no handler and touches no memory.
        unsafe { libc::signal(signal, libc::SIG_IGN) };
    }
}

/// On an error the controller has no whole answer, and none can follow.
pub(crate) fn reply(id: u64, answer: &Answer, limit: Instant) -> Result<(), ServeError> {
    controller::write_line(&answer_line(id, answer)?, limit)
}

fn or_refuse<T, E: std::error::Error + Into<ServeError>>(result: Result<T, E>) -> Result<T, ServeError> {
    // The controller waits for its first answer: that can be the failure.
    if let Err(error) = &result {
        refuse(error.to_string())?;
    }
    result.map_err(Into::into)
}

const REFUSING: Duration = Duration::from_secs(10);

fn refuse(why: String) -> Result<(), ServeError> {
    reply(NO_REQUEST, &Answer::Failed { why, broken: true }, Instant::now() + REFUSING)
}

fn enter(isolation: Isolation, parent: Option<u32>) -> Result<(), host::Error> {
    match isolation {
        Isolation::UserAndNetwork => namespace::enter_user()?,
        Isolation::NetworkInUserOf(pid) | Isolation::UserAndNetworkOf(pid) => namespace::join_user(pid)?,
        _ => {}
    }
    match isolation {
        Isolation::None | Isolation::Machine => {}
        Isolation::NetworkOf(pid) | Isolation::UserAndNetworkOf(pid) => namespace::join_net(pid)?,
        _ => namespace::new_net()?,
    }
    // Last: the kernel forgets the setting when credentials change, as in a new user namespace.
    if let Some(parent) = parent {
        namespace::die_with_parent(parent)?;
    }
    if !matches!(isolation, Isolation::None | Isolation::Machine) {
        // Steering needs the sysfs of this namespace, and reports where it cannot be mounted.
        let _ = namespace::mount_sysfs();
    }
    Ok(())
}
