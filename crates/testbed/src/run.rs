//! One run: both ends open their sockets, the traffic flows, both count and report.

use std::net::SocketAddr;
use std::time::Duration;

use agent::CallError;
use agent::message::{Answer, Request};
use record::{Finished, HostAccount, RunAccount, SideAccount, Watched};
use serde::{Deserialize, Serialize};
use study::{BySide, Family, Side};

use crate::error::Error;
use crate::launched_agent::{answer, ask};
use crate::path::node::Node;
use crate::path::{nobody, reachable};
use crate::testbed::{End, Testbed};

/// A run to be made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names of its fields say it")]
pub struct RunOrder {
    pub traffic: load::Traffic,
    pub family: Family,
    pub ramp: Duration,
    pub window: Duration,
    /// Time between two rows of each side's series ([`agent::message::Series`]).
    pub step: Duration,
}

impl RunOrder {
    /// The step that gives a window of this length a hundred rows, within the agents' bounds.
    pub fn step_of(window: Duration) -> Duration {
        (window / 100).clamp(Duration::from_millis(10), Duration::from_secs(1))
    }
}

// Time for an agent that was silent to become idle. Its own window is over.
const RECOVERY: Duration = Duration::from_secs(60);

// Two wake-ups a second cost less than 0.01 % of a CPU.
const GLANCE: Duration = Duration::from_millis(500);

impl Testbed {
    /// Runs a workload once. `tick` is called about once a second while the window is open.
    ///
    /// # Errors
    /// As the ends report them. With [`Error::testbed_is_well`] the next run can follow.
    pub fn run(&mut self, order: &RunOrder, tick: &mut dyn FnMut()) -> Result<RunAccount, Error> {
        let result = self.carry_out(order, tick);
        self.abandon_after(result)
    }

    pub(crate) fn abandon_after<T>(&mut self, result: Result<T, Error>) -> Result<T, Error> {
        let error = match result {
            Err(error) => error.or_late(),
            made => return made,
        };
        if error.testbed_is_well() {
            for End { agent, .. } in self.ends() {
                agent.client.order(&Request::Abandon, RECOVERY).map_err(|error| agent.explain(error))?;
            }
        }
        Err(error)
    }

    /// Features that the hosts lack for this traffic, in words, each once.
    ///
    /// # Errors
    /// When an agent is gone.
    pub fn lacking(&mut self, traffic: &load::Traffic, family: Family) -> Result<Vec<String>, Error> {
        let mut lacks = Vec::new();
        for end in self.ends() {
            let request = Request::Lacking { traffic: traffic.clone(), family };
            let told = ask!(end.agent, &request, Answer::Told(what) => what);
            lacks.extend(told.into_iter().map(|what| (end.host().to_owned(), what)));
        }
        // Two hosts of one kernel lack the same things.
        let with_host = |(host, what): &(String, String)| {
            let both = lacks.iter().filter(|(_, other)| other == what).count() > 1;
            if both { what.clone() } else { format!("{host}: {what}") }
        };
        Ok(words::distinct(lacks.iter().map(with_host)))
    }

    fn carry_out(&mut self, order: &RunOrder, tick: &mut dyn FnMut()) -> Result<RunAccount, Error> {
        let measure = Request::Measure {
            ramp_ns: nanoseconds(order.ramp),
            window_ns: nanoseconds(order.window),
            step_ns: nanoseconds(order.step),
        };
        let (sides, beside) = self.flow(order, &|_| measure.clone(), tick)?;
        let mut accounts = Vec::new();
        for (side, (answer, whole)) in Side::BOTH.into_iter().zip(sides) {
            let agent = &self.end(side).agent;
            let window = answer!(agent, answer, Answer::Measured(measured) => *measured);
            accounts.push(SideAccount { window, whole });
        }
        let mut accounts = accounts.into_iter();
        let transmitter = accounts.next().expect("there always is a transmitter");
        Ok(RunAccount { transmitter, receiver: accounts.next(), ..beside })
    }

    /// `measure`: the request for a side. Returns the answers and whole accounts, the transmitter's
    /// first, and what the hosts counted beside them.
    pub(crate) fn flow(
        &mut self,
        order: &RunOrder,
        measure: &dyn Fn(Side) -> Request,
        tick: &mut dyn FnMut(),
    ) -> Result<(Vec<(Answer, Finished)>, RunAccount), Error> {
        let (turns, traffic) = (turns(order), order.ramp + order.window);
        self.ends().for_each(|end| end.agent.work = turns);
        for node in self.nodes.iter_mut().chain(&mut self.watcher) {
            node.agent.work = traffic + turns;
        }
        let pinned = self.machines.iter().all(|machine| !machine.order.pin.is_empty());
        let (transmitter, mut receiver) = (&mut self.transmitter, self.receiver.as_mut());
        check_receiver(receiver.is_some(), order.traffic.kind)?;
        open(transmitter, receiver.as_deref_mut(), order)?;
        // The receiver first, if there is one.
        let mut ends: Vec<&mut End> = receiver.into_iter().chain([transmitter]).collect();
        // The receiver of the data starts before their sender.
        if order.traffic.direction == load::Direction::Reverse {
            ends.iter_mut().rev().try_for_each(|end| end.agent.order(&Request::Start))?;
        } else {
            ends.iter_mut().try_for_each(|end| end.agent.order(&Request::Start))?;
        }

        // Outside of the window: reading them takes some milliseconds of CPU.
        let tasks = if self.named.is_some() { None } else { host::Tasks::read().ok() };
        for end in &mut ends {
            let patience = traffic + end.agent.patience();
            end.agent.send(&measure(end.side), patience)?;
        }
        for node in self.nodes.iter_mut().chain(&mut self.watcher) {
            node.watch(nanoseconds(order.ramp), nanoseconds(order.window))?;
        }
        let windows = measured(&mut ends, tick)?;
        let others = tasks
            .and_then(|before| Some(host::Tasks::read().ok()?.others_since(&before, std::process::id())));
        let watched = self.nodes.iter_mut().map(Node::watched).collect::<Result<Vec<_>, _>>()?;
        let around = self.watcher.as_mut().map(Node::watched).transpose()?;
        // Both ends stop sending before either stops receiving: queued data drain, the account
        // closes.
        ends.iter_mut().rev().try_for_each(|end| end.agent.order(&Request::Quiet))?;
        let finish = |end: &mut &mut End| -> Result<Finished, Error> {
            Ok(ask!(end.agent, &Request::Finish, Answer::Finished(finished) => *finished))
        };
        let wholes = ends.iter_mut().rev().map(finish).collect::<Result<Vec<_>, _>>()?;
        let sides = windows.into_iter().rev().zip(wholes).collect();
        let account = |side| {
            let (number, guest) = self.node(side)?;
            host_account(&self.nodes[number], guest, watched.get(number)?, pinned)
        };
        let around = self.watcher.as_ref().zip(around);
        let beside = RunAccount {
            hosts: BySide::try_from_fn(|side| account(side).ok_or(())).ok(),
            around: around.and_then(|(node, watched)| host_account(node, 0, &watched, pinned)),
            others,
            apart: self.named.is_some(),
            ..RunAccount::default()
        };
        Ok((sides, beside))
    }
}

fn host_account(node: &Node, guest: usize, watched: &Watched, pinned: bool) -> Option<HostAccount> {
    let (vcpu_each, io) = watched.guests.get(guest)?.clone();
    // A node counts the CPUs of its guests one after the other.
    let before: usize = node.guests[..guest].iter().map(|earlier| earlier.cpus.len()).sum();
    let cpus = node.guests[guest].cpus.clone();
    let own = before..before + cpus.len();
    Some(HostAccount {
        elapsed_ns: watched.elapsed_ns,
        cpu_each: watched.cpu_each.get(own.clone()).unwrap_or_default().to_vec(),
        interrupts: host::Interrupts::sum(watched.interrupts_each.get(own).unwrap_or_default()),
        cpus,
        vcpu: host::ThreadTimes::sum(&vcpu_each),
        vcpu_each,
        pinned,
        io,
        underlay: watched.underlay,
        throttled: watched.throttled,
    })
}

fn turns(order: &RunOrder) -> Duration {
    // Each thread may get the CPU before the agent's, and each socket is opened and closed.
    let lanes = order.traffic.lanes();
    Duration::from_millis(20) * lanes.min(load::MAX_THREADS) + Duration::from_micros(500) * lanes
}

pub(crate) fn spec(end: &End, order: &RunOrder) -> Result<load::Spec, Error> {
    let local = reachable(end.address(order.family), order.family, end.side)?;
    let interface = end.agent.is_on_machine().then(|| end.interface.clone());
    Ok(load::Spec { traffic: order.traffic.clone(), local, cpus: end.cpus.clone(), interface })
}

pub(crate) fn check_receiver(has_receiver: bool, kind: load::Kind) -> Result<(), Error> {
    match (has_receiver, kind) {
        // A host that receives such packets answers that nobody listens.
        (true, load::Kind::Pps) => Err(Error::Unfit(
            "pps has no receiver and runs in scenario \"discard\" only: use that scenario, or udp_stream"
                .to_owned(),
        )),
        (true, _) | (false, load::Kind::Pps) => Ok(()),
        (false, kind) => Err(Error::Unfit(format!(
            "{kind} needs a receiver, and scenario \"discard\" has none: use scenario \"veth\" or \"loopback\", or the kind pps"
        ))),
    }
}

pub(crate) fn open(transmitter: &mut End, receiver: Option<&mut End>, order: &RunOrder) -> Result<(), Error> {
    let Some(receiver) = receiver else {
        let endpoints = nobody(order.family, order.traffic.flows, order.traffic.port);
        return sockets(transmitter, order, Some(endpoints)).map(drop);
    };
    let endpoints = sockets(receiver, order, None)?;
    let locals = sockets(transmitter, order, Some(endpoints))?;
    receiver.agent.order(&Request::Attach { locals })
}

fn sockets(
    end: &mut End,
    order: &RunOrder,
    endpoints: Option<Vec<SocketAddr>>,
) -> Result<Vec<SocketAddr>, Error> {
    let (spec, interface, underlay) = (spec(end, order)?, end.interface.clone(), end.underlay.clone());
    let open = Request::Open { spec, endpoints, interface, underlay };
    Ok(ask!(end.agent, &open, Answer::Sockets(addresses) => addresses))
}

fn measured(ends: &mut [&mut End], tick: &mut dyn FnMut()) -> Result<Vec<Answer>, Error> {
    let mut windows: Vec<Option<Result<Answer, CallError>>> = ends.iter().map(|_| None).collect();
    while windows.iter().any(Option::is_none) {
        for (end, slot) in ends.iter_mut().zip(&mut windows).filter(|(_, slot)| slot.is_none()) {
            match end.agent.client.receive_within(GLANCE) {
                Ok(Some(answer)) => *slot = Some(Ok(answer)),
                Ok(None) => {}
                // The other end is busy until its window's end.
                Err(error) if error.agent_is_well() => *slot = Some(Err(error)),
                // With a lost end there is no more to measure.
                Err(error) => return Err(end.agent.explain(error)),
            }
        }
        tick();
    }
    // The receiver's error first: a transmitter often fails only because its peer did.
    Ok(windows.into_iter().flatten().collect::<Result<_, _>>()?)
}

pub(crate) fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
