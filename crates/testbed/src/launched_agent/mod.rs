//! A launched agent, wherever it runs, and the conversation with it.

mod launch;

use std::cell::RefCell;
use std::process::Child;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use agent::message::{Answer, Booted, PROTOCOL, Request};
use agent::{CallError, Client};
use serde::Serialize;

use crate::console::Console;
use crate::error::Error;
use crate::guest::RunningGuest;
use crate::reach::{RemoteHost, TO_ANSWER, look_until};

macro_rules! answer {
    ($agent:expr, $answer:expr, $expected:pat => $value:expr) => {
        match $answer {
            $expected => $value,
            other => return Err($crate::error::Error::from($agent.client.unexpected(&other))),
        }
    };
}

macro_rules! ask {
    ($agent:expr, $request:expr, $expected:pat => $value:expr) => {
        $crate::launched_agent::answer!($agent, $agent.call($request)?, $expected => $value)
    };
}

pub(crate) use launch::{AgentStart, SESSION};
pub(crate) use {answer, ask};

pub(crate) const AGENT: &str = "agent";

// It is greeted twice: before it boots the guest, and as the guest's agent.
pub(crate) const GUEST: &str = "guest";

// On a busy machine an agent's main thread waits for a CPU beside the threads of its flows.
const PATIENCE: Duration = Duration::from_secs(30);

// Time limit in a guest: an emulated guest is some 20 times slower, and shares the machine's CPUs.
const PATIENCE_WITH_A_GUEST: Duration = Duration::from_secs(120);

const WORK: Duration = Duration::from_secs(300);

pub(crate) const ANY_TIME: Duration = Duration::from_secs(7 * 86_400);

const GLANCE: Duration = Duration::from_secs(1);

// A slow agent has more. With the signs' interval, and with [`crate::run`]'s looks at the other
// machine, a lost machine is noticed within 2 s.
const SIGN_OF_LIFE: Duration = Duration::from_secs(1);

// Time limit of an agent's undo: some drivers restart their device for each change.
const UNDOING: Duration = Duration::from_secs(30);

// The user waits at most 5 s, [`EXIT`] included; the agent undoes the rest by itself.
const UNDOING_OF_FAILED: Duration = Duration::from_secs(3);

// Time limit of an agent's exit after its undo, or of giving up a request and undoing its changes.
const EXIT: Duration = Duration::from_millis(1500);

// Time limit of the exit of an agent that no longer answers, or was never greeted.
const EXIT_OF_LOST: Duration = Duration::from_millis(500);

#[derive(Debug)]
pub(crate) struct LaunchedAgent {
    pub(crate) client: Client,
    pub(crate) work: Duration,
    patience: Duration,
    pub(crate) pid: u32,
    /// Each CPU with its core; empty before [`LaunchedAgent::greet`].
    pub(crate) cpus: Vec<(u32, u32)>,
    carrier: Carrier,
    on_machine: Option<&'static str>,
    reached: Option<Arc<RemoteHost>>,
    has_failed: bool,
}

#[derive(Debug)]
enum Carrier {
    Process(Child, Console),
    Guest(Rc<RefCell<RunningGuest>>),
}

impl LaunchedAgent {
    pub(crate) fn cpu_numbers(&self) -> Vec<u32> {
        self.cpus.iter().map(|(cpu, _)| *cpu).collect()
    }

    /// The machine that it is on, in messages.
    pub(crate) fn machine(&self) -> String {
        let reached = self.reached.as_ref().map(|reached| reached.launcher.to_string());
        reached.unwrap_or_else(|| "this machine".to_owned())
    }

    pub(crate) fn is_on_machine(&self) -> bool {
        self.on_machine.is_some()
    }

    pub(crate) fn greeted(mut self) -> Result<Self, Error> {
        self.greet()?;
        Ok(self)
    }

    pub(crate) fn greet(&mut self) -> Result<(), Error> {
        // A login may take its time.
        let login = self.reached.as_ref().map_or(Duration::ZERO, |_| TO_ANSWER);
        let hello = self.client.call(&Request::Hello { protocol: PROTOCOL }, self.patience().max(login));
        let hello = hello.map_err(|error| self.explain(error))?;
        let (pid, cpus) = answer!(
            self, hello, Answer::Hello { protocol: PROTOCOL, pid, cpus } => (pid, cpus)
        );
        self.cpus = cpus;
        // Elsewhere the number means something to that host's agents only.
        if self.is_on_machine() || matches!(self.carrier, Carrier::Guest(_)) {
            self.pid = pid;
        }
        if self.is_on_machine() {
            self.client.answers_within = Some(SIGN_OF_LIFE);
        }
        if let Some(reached) = &self.reached {
            reached.set_lost(false);
        }
        Ok(())
    }

    pub(crate) fn booted(&mut self) -> Result<Booted, Error> {
        // A wait as long as the guest's machine gives signs of life: it knows when a guest hangs.
        let booted = answer!(self, self.receive()?, Answer::Booted(booted) => *booted);
        self.patience = PATIENCE_WITH_A_GUEST;
        Ok(booted)
    }

    pub(crate) fn patience(&self) -> Duration {
        self.work + self.patience
    }

    pub(crate) fn order(&mut self, request: &Request) -> Result<(), Error> {
        self.client.order(request, self.patience()).map_err(|error| self.explain(error))
    }

    pub(crate) fn call(&mut self, request: &Request) -> Result<Answer, Error> {
        self.client.call(request, self.patience()).map_err(|error| self.explain(error))
    }

    pub(crate) fn send(&mut self, request: &impl Serialize, patience: Duration) -> Result<(), Error> {
        self.client.send(request, patience).map_err(|error| self.explain(error))
    }

    pub(crate) fn receive(&mut self) -> Result<Answer, Error> {
        self.client.receive().map_err(|error| self.explain(error))
    }

    pub(crate) fn work_through(&mut self, request: &Request) -> Result<Answer, Error> {
        self.begin(request)?;
        self.next_answer()
    }

    pub(crate) fn begin(&mut self, request: &Request) -> Result<(), Error> {
        self.send(request, ANY_TIME)?;
        self.works();
        Ok(())
    }

    pub(crate) fn next_answer(&mut self) -> Result<Answer, Error> {
        let patience = WORK + self.patience;
        let until = Instant::now() + patience;
        loop {
            let answer = self.client.receive_within(GLANCE).map_err(|error| self.explain(error))?;
            if let Some(answer) = answer {
                self.works();
                return Ok(answer);
            }
            match &self.carrier {
                Carrier::Guest(guest) => guest.borrow_mut().stuck().map_or(Ok(()), Err)?,
                Carrier::Process(..) if Instant::now() < until => {}
                Carrier::Process(..) => {
                    return Err(CallError::Silent { host: self.client.host.clone(), patience }.into());
                }
            }
        }
    }

    fn works(&self) {
        if let Carrier::Guest(guest) = &self.carrier {
            guest.borrow_mut().works();
        }
    }

    pub(crate) fn explain(&mut self, error: CallError) -> Error {
        self.has_failed |= !matches!(error, CallError::Interrupted);
        let is_gone = matches!(error, CallError::Gone { .. });
        let is_silent = matches!(
            error,
            CallError::Silent { .. } | CallError::NotReading { .. } | CallError::Garbled { .. }
        );
        match &mut self.carrier {
            Carrier::Process(process, said) if is_gone => {
                // The pipe closes a moment before the process can be waited for.
                let Some(status) = soon(|| process.try_wait().ok().flatten()) else { return error.into() };
                let said = match said.last_words() {
                    words if words.is_empty() => words,
                    words => format!("; it said: {words}"),
                };
                let (name, pid) = (&self.client.host, self.pid);
                Error::Agent(format!(
                    "the {name}'s agent (process {pid}) exited unexpectedly: {status}{said}"
                ))
            }
            Carrier::Guest(guest) if is_gone || is_silent => {
                let look = || guest.borrow_mut().explain();
                let why = if is_gone { soon(look) } else { look() };
                why.unwrap_or_else(|| Error::SilentGuest(error, guest.borrow().last_words()))
            }
            _ => error.into(),
        }
    }

    fn undo(&mut self) {
        let is_idle = !self.cpus.is_empty() && !self.client.is_busy() && !self.client.is_lost();
        if self.on_machine == Some(AGENT) && is_idle && self.client.ignore_interrupt().is_ok() {
            let _ = self.client.call(&Request::UndoMachine, self.undoing());
        }
    }

    fn undoing(&self) -> Duration {
        if self.has_failed { UNDOING_OF_FAILED } else { UNDOING }
    }
}

impl Drop for LaunchedAgent {
    // Namespaces end with the agent, a guest with its last one. On a machine the agent first undoes
    // its changes; its journal keeps the rest for `netassay undo`. A silent agent is not waited
    // for: it undoes at the end of its input or lease.
    fn drop(&mut self) {
        self.undo();
        let patience = match self.on_machine {
            None => Duration::ZERO,
            Some(_) if self.client.is_lost() || self.cpus.is_empty() => EXIT_OF_LOST,
            Some(AGENT) => EXIT,
            Some(_) => self.undoing(),
        };
        let Carrier::Process(process, _) = &mut self.carrier else { return };
        if !patience.is_zero() && self.client.hang_up().is_ok() {
            let _ = look_until(Instant::now() + patience, || process.try_wait().ok().flatten());
        }
        let _ = process.kill();
        let _ = process.wait();
        if let Some(reached) = self.reached.as_ref().filter(|_| self.client.is_lost()) {
            reached.set_lost(true);
        }
    }
}

fn soon<T>(look: impl FnMut() -> Option<T>) -> Option<T> {
    // A process whose pipe is closed ends soon, on a busy machine not within a tenth of a second.
    look_until(Instant::now() + Duration::from_secs(1), look)
}

#[cfg(test)]
mod tests;
