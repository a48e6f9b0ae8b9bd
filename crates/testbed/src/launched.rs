//! A launched agent, wherever it runs, and the conversation with it.

use std::cell::RefCell;
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher as _, Hasher as _};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Child, Command};
use std::rc::Rc;
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use agent::message::{Answer, Booted, PROTOCOL, Request};
use agent::{CallError, Client, Interrupt, Isolation, Launch};
use guest::{Guest, Order};

use crate::error::Error;
use crate::hosts::HostPlace;
use reach::{Reached, Said, Start, Started};

/// How long an agent may take to start, or to answer a request without a wait of its own.
const PATIENCE: Duration = Duration::from_secs(10);

/// The same in a guest: an emulated one is some 20 times slower, and shares the machine's CPUs.
const PATIENCE_WITH_A_GUEST: Duration = Duration::from_secs(60);

/// How long other agents may take for a piece of long work, until they tell of it.
const WORK: Duration = Duration::from_secs(300);

/// No work takes longer: as much as an agent accepts.
pub(crate) const ANY_TIME: Duration = Duration::from_secs(7 * 86_400);

/// Between two looks at a guest that works.
const GLANCE: Duration = Duration::from_secs(1);

/// Between two signs of life for an agent on a machine of the user's: some 100 bytes each way over
/// ssh.
const SIGNS: Duration = Duration::from_millis(400);

/// How long such an agent may take to answer one, unless it was slow before. With the time between
/// two, and with [`crate::run`]'s looks at the other machine, a lost machine is noticed within 2 s.
const SIGN_OF_LIFE: Duration = Duration::from_secs(1);

/// How long an agent may take to undo its changes: some drivers restart their device for each.
const UNDOING: Duration = Duration::from_secs(30);

/// The same of an agent that has failed: the user waits at most 5 s for its end, [`EXIT`] included.
/// It undoes what is left without the controller.
const UNDOING_OF_FAILED: Duration = Duration::from_secs(3);

/// How long an agent may take to exit after its undo, or to give up a request and undo its changes.
const EXIT: Duration = Duration::from_millis(1500);

/// How long an agent may take to exit that no longer answers, or was never greeted.
const EXIT_OF_LOST: Duration = Duration::from_millis(500);

/// An agent at work. Dropping it ends it.
#[derive(Debug)]
pub(crate) struct Launched {
    /// The agent's name in messages.
    pub(crate) name: String,
    pub(crate) client: Client,
    /// The extra time that its current work may take.
    pub(crate) work: Duration,
    /// How long it may take beside that.
    patience: Duration,
    /// Its process id in its own namespace; of a guest's agent, known after [`Launched::greet`].
    pid: u32,
    cpus: Vec<(u32, u32)>,
    life: Life,
    /// netassay's command that serves a machine of the user's; that stays when the agent ends.
    on_machine: Option<&'static str>,
    /// The connection to that machine, if it is another one.
    reached: Option<Arc<Reached>>,
    /// Whether it has refused a request, or failed in another way.
    has_failed: bool,
}

/// What all agents of this session have in common.
fn of_this_session() -> Launch {
    static SESSION: LazyLock<u64> = LazyLock::new(|| RandomState::new().build_hasher().finish());
    Launch { session: *SESSION, ..Launch::default() }
}

/// The process or guest of an agent.
#[derive(Debug)]
enum Life {
    Process(Child, Said),
    /// A guest, which may hold other agents too.
    Guest(Rc<RefCell<Guest>>),
}

impl Launched {
    /// Starts an agent as a process of this machine; [`Launched::greet`] waits until it runs there.
    pub(crate) fn process(
        program: &Path,
        name: &str,
        isolation: Isolation,
        cpus: &[u32],
        interrupt: &Interrupt,
    ) -> Result<Self, Error> {
        let launch =
            Launch { isolation, cpus: cpus.to_vec(), parent: Some(std::process::id()), ..of_this_session() };
        Self::by(become_one(program, AGENT), name, launch, interrupt)
    }

    /// Starts an agent on a machine of the user's.
    pub(crate) fn on_machine(
        place: &HostPlace,
        program: &Path,
        name: &str,
        isolation: Isolation,
        cpus: &[u32],
        interrupt: &Interrupt,
    ) -> Result<Self, Error> {
        Self::of_machine(place, AGENT, program, name, (isolation, cpus), interrupt)
    }

    /// Starts what will boot a guest on a machine of the user's, and be the pipe of its agent. It
    /// is greeted twice: before it boots the guest, and as the guest's agent.
    pub(crate) fn lodging(
        place: &HostPlace,
        program: &Path,
        name: &str,
        interrupt: &Interrupt,
    ) -> Result<Self, Error> {
        Self::of_machine(place, GUEST, program, name, (Isolation::Machine, &[]), interrupt)
    }

    fn of_machine(
        place: &HostPlace,
        word: &'static str,
        program: &Path,
        name: &str,
        (isolation, cpus): (Isolation, &[u32]),
        interrupt: &Interrupt,
    ) -> Result<Self, Error> {
        let (start, name, patience) = match &place.by {
            Some(reached) => (reached.program(&[word]), format!("{name} ({place})"), Reached::TO_ANSWER),
            None => (become_one(program, word), name.to_owned(), PATIENCE),
        };
        let started = start.program();
        // It does not die with this process: it sees the end of its input, and undoes its changes.
        let lease_ms = u64::try_from(place.lease.as_millis()).ok();
        let launch = Launch {
            isolation,
            cpus: cpus.to_vec(),
            lease_ms,
            shares_machine: place.shares_machine,
            ..of_this_session()
        };
        let mut agent = Self::by(start, &name, launch, interrupt)?;
        let alive = agent.client.keep_alive_every(SIGNS, patience);
        alive.map_err(|source| Error::Start { host: name, program: started, source })?;
        agent.on_machine = Some(word);
        agent.reached.clone_from(&place.by);
        Ok(agent)
    }

    /// Starts an agent by a command of this machine.
    fn by(start: Start, name: &str, launch: Launch, interrupt: &Interrupt) -> Result<Self, Error> {
        let (host, program) = (name.to_owned(), start.program());
        let started = start.spawn().map_err(|source| Error::Start { host, program, source })?;
        let Started { process, input, output, said } = started;
        let pid = process.id();
        let pipes = (input.into(), output.into());
        Self::launch(name, launch, pipes, (pid, Life::Process(process, said)), interrupt)
    }

    /// Starts and greets an agent that serves this machine as it is, under the name "host".
    pub(crate) fn here(
        program: &Path,
        isolation: Isolation,
        cpus: &[u32],
        interrupt: &Interrupt,
    ) -> Result<Self, Error> {
        let mut agent = Self::process(program, "host", isolation, cpus, interrupt)?;
        agent.greet()?;
        Ok(agent)
    }

    /// Starts an agent at a port of a guest that may still boot.
    pub(crate) fn in_guest(
        guest: &Rc<RefCell<Guest>>,
        port: usize,
        name: &str,
        isolation: Isolation,
        cpus: &[u32],
        interrupt: &Interrupt,
    ) -> Result<Self, Error> {
        let (to, from) =
            guest.borrow_mut().port(port).expect("a guest is ordered with a port for each agent");
        let launch = Launch { isolation, cpus: cpus.to_vec(), ..Launch::default() };
        Self::launch(name, launch, (to, from), (0, Life::Guest(Rc::clone(guest))), interrupt)
    }

    /// Sends the first line to an agent that may still start.
    fn launch(
        name: &str,
        launch: Launch,
        (to, from): (OwnedFd, OwnedFd),
        (pid, life): (u32, Life),
        interrupt: &Interrupt,
    ) -> Result<Self, Error> {
        let mut client = Client::new(name, to, from, interrupt.clone());
        let is_guest = matches!(life, Life::Guest(_));
        client.runs_as(match &life {
            Life::Process(process, _) => process.id(),
            Life::Guest(guest) => guest.borrow().pid(),
        });
        let mut launched = Self {
            name: name.to_owned(),
            client,
            work: Duration::ZERO,
            patience: if is_guest { PATIENCE_WITH_A_GUEST } else { PATIENCE },
            pid,
            cpus: Vec::new(),
            life,
            on_machine: None,
            reached: None,
            has_failed: false,
        };
        let told = launched.client.launch(&launch, launched.patience);
        told.map_err(|error| launched.explain(error))?;
        Ok(launched)
    }

    /// The usable CPUs of its machine, each with its core; empty before [`Launched::greet`].
    pub(crate) fn cpus(&self) -> &[(u32, u32)] {
        &self.cpus
    }

    /// Whether it serves a machine of the user's.
    pub(crate) fn is_on_machine(&self) -> bool {
        self.on_machine.is_some()
    }

    /// The agent's process id in its own namespace.
    pub(crate) fn pid(&self) -> u32 {
        self.pid
    }

    pub(crate) fn greet(&mut self) -> Result<(), Error> {
        // A login may take its time.
        let login = self.reached.as_ref().map_or(Duration::ZERO, |_| Reached::TO_ANSWER);
        match self.client.call(&Request::Hello { protocol: PROTOCOL }, self.patience().max(login)) {
            Ok(Answer::Hello { protocol: PROTOCOL, pid, cpus, version: _ }) => {
                self.cpus = cpus;
                // A process of this machine is known, whatever it says. Elsewhere the number means
                // something to that host's agents only.
                if self.is_on_machine() || matches!(self.life, Life::Guest(_)) {
                    self.pid = pid;
                }
                if self.is_on_machine() {
                    self.client.wait_for_answers_within(SIGN_OF_LIFE);
                }
                if let Some(reached) = &self.reached {
                    reached.set_lost(false);
                }
                Ok(())
            }
            Ok(other) => Err(self.client.unexpected(&other).into()),
            Err(error) => Err(self.explain(error)),
        }
    }

    /// (of a lodging) Orders the guest; [`Launched::booted`] waits for it as long as its machine
    /// gives signs of life: that machine knows when a guest hangs.
    pub(crate) fn boot(&mut self, order: &Order) -> Result<(), Error> {
        self.client.send_message(order, ANY_TIME).map_err(|error| self.explain(error))
    }

    /// Waits for the guest, whose agent answers from then on.
    pub(crate) fn booted(&mut self) -> Result<Booted, Error> {
        match self.client.receive() {
            Ok(Answer::Booted(booted)) => {
                self.patience = PATIENCE_WITH_A_GUEST;
                Ok(*booted)
            }
            Ok(other) => Err(self.client.unexpected(&other).into()),
            Err(error) => Err(self.explain(error)),
        }
    }

    pub(crate) fn patience(&self) -> Duration {
        self.work + self.patience
    }

    pub(crate) fn order(&mut self, request: &Request) -> Result<(), Error> {
        self.client.order(request, self.patience()).map_err(|error| self.explain(error))
    }

    /// The same for a request that takes its time.
    pub(crate) fn order_within(&mut self, request: &Request, patience: Duration) -> Result<(), Error> {
        self.client.order(request, patience).map_err(|error| self.explain(error))
    }

    pub(crate) fn call(&mut self, request: &Request) -> Result<Answer, Error> {
        self.client.call(request, self.patience()).map_err(|error| self.explain(error))
    }

    /// Sends a request whose work may take any time; [`Launched::go_on`] waits for it.
    pub(crate) fn begin(&mut self, request: &Request) -> Result<(), Error> {
        self.client.send(request, ANY_TIME).map_err(|error| self.explain(error))?;
        self.works();
        Ok(())
    }

    /// The next answer to that request. A guest has time as long as it makes progress.
    pub(crate) fn go_on(&mut self) -> Result<Answer, Error> {
        let until = Instant::now() + WORK + self.patience;
        loop {
            let answer = self.client.receive_within(GLANCE).map_err(|error| self.explain(error))?;
            if let Some(answer) = answer {
                self.works();
                return Ok(answer);
            }
            match &self.life {
                Life::Guest(guest) => {
                    if let Some(stuck) = guest.borrow_mut().stuck() {
                        return Err(stuck.into());
                    }
                }
                Life::Process(..) if Instant::now() < until => {}
                Life::Process(..) => {
                    let patience = WORK + self.patience;
                    return Err(CallError::Silent { host: self.name.clone(), patience }.into());
                }
            }
        }
    }

    fn works(&self) {
        if let Life::Guest(guest) = &self.life {
            guest.borrow_mut().works();
        }
    }

    /// Adds the exit status to an agent's end, and the console's last lines to a guest's silence.
    pub(crate) fn explain(&mut self, error: CallError) -> Error {
        self.has_failed |= !matches!(error, CallError::Interrupted);
        let gone = matches!(error, CallError::Gone { .. });
        match &mut self.life {
            Life::Process(process, said) if gone => {
                // The pipe closes a moment before the process can be waited for.
                let ended = soon(|| process.try_wait().ok().flatten());
                match ended {
                    Some(status) => Error::Died {
                        host: self.name.clone(),
                        pid: self.pid,
                        how: status.to_string(),
                        said: match said.last_words() {
                            words if words.is_empty() => words,
                            words => format!("; it said: {words}"),
                        },
                    },
                    None => error.into(),
                }
            }
            Life::Guest(guest) if gone => match soon(|| guest.borrow_mut().explain()) {
                Some(why) => why.into(),
                None => Error::Unreachable { source: error, console: guest.borrow().last_words() },
            },
            Life::Guest(guest)
                if matches!(
                    error,
                    CallError::Silent { .. } | CallError::NotReading { .. } | CallError::Garbled { .. }
                ) =>
            {
                let why = guest.borrow_mut().explain();
                match why {
                    Some(why) => why.into(),
                    None => Error::Unreachable { source: error, console: guest.borrow().last_words() },
                }
            }
            _ => error.into(),
        }
    }

    /// Makes an idle agent of a machine undo its changes, as long as it gives signs of life.
    fn undo(&mut self) {
        let is_idle = !self.cpus.is_empty() && !self.client.is_busy() && !self.client.is_lost();
        if self.on_machine == Some(AGENT) && is_idle && self.client.ignore_interrupt().is_ok() {
            let _ = self.client.call(&Request::UndoMachine, self.undoing());
        }
    }

    /// How long it may take to undo its changes.
    fn undoing(&self) -> Duration {
        if self.has_failed { UNDOING_OF_FAILED } else { UNDOING }
    }
}

impl Drop for Launched {
    /// Ends the agent at once: all that it holds are its namespaces, which end with it. A guest
    /// ends when its last agent is dropped. On a machine it first undoes its changes, also after
    /// the user has asked to stop; what it cannot undo its journal keeps for `netassay undo`. An
    /// agent that does not answer, or not validly, is not waited for: it undoes its changes at the
    /// end of its input or of its lease.
    fn drop(&mut self) {
        self.undo();
        let patience = match self.on_machine {
            None => Duration::ZERO,
            Some(_) if self.client.is_lost() || self.cpus.is_empty() => EXIT_OF_LOST,
            Some(AGENT) => EXIT,
            Some(_) => self.undoing(),
        };
        let Life::Process(process, _) = &mut self.life else { return };
        if !patience.is_zero() && self.client.hang_up().is_ok() {
            let _ = within(patience, || process.try_wait().ok().flatten());
        }
        let _ = process.kill();
        let _ = process.wait();
        if let Some(reached) = self.reached.as_ref().filter(|_| self.client.is_lost()) {
            reached.set_lost(true);
        }
    }
}

/// The words that make the program an agent, and a guest's pipe.
const AGENT: &str = "agent";
const GUEST: &str = "guest";

/// The command that becomes one on this machine.
fn become_one(program: &Path, word: &str) -> Start {
    let mut command = Command::new(program);
    command.arg(word);
    command.into()
}

/// The first result of `look` within a second: a process whose pipe is closed is about to end, and
/// where others take the CPU that takes more than a tenth of one.
fn soon<T>(look: impl FnMut() -> Option<T>) -> Option<T> {
    within(Duration::from_secs(1), look)
}

/// The first result of `look` within this time.
fn within<T>(time: Duration, mut look: impl FnMut() -> Option<T>) -> Option<T> {
    let deadline = Instant::now() + time;
    loop {
        let found = look();
        if found.is_some() || Instant::now() >= deadline {
            return found;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt as _;

    use tempfile::TempDir;

    use super::*;

    /// Starts an agent that is this shell script, which is there as long as its directory.
    fn started(script: &str) -> (Launched, TempDir) {
        started_by(script, |program, interrupt| {
            Launched::process(program, "receiver", Isolation::None, &[], interrupt)
        })
    }

    fn started_by(
        script: &str,
        start: impl Fn(&Path, &Interrupt) -> Result<Launched, Error>,
    ) -> (Launched, TempDir) {
        let directory = tempfile::tempdir().unwrap();
        let program = directory.path().join("agent");
        fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&program, Permissions::from_mode(0o755)).unwrap();
        let interrupt = Interrupt::new().unwrap();
        // A child of another thread may briefly hold the script open for writing.
        let started = (0..100)
            .find_map(|_| {
                let started = start(&program, &interrupt);
                std::thread::sleep(Duration::from_millis(started.is_err().into()));
                started.ok()
            })
            .unwrap();
        (started, directory)
    }

    /// Each ignores the end of its input.
    #[test]
    fn an_agent_that_does_not_answer_validly_is_not_waited_for() {
        let hello = Answer::Hello { protocol: PROTOCOL, version: "1".to_owned(), pid: 7, cpus: vec![(0, 0)] };
        let hello = String::from_utf8(agent::answer_line(1, &hello).unwrap()).unwrap();
        let silent = format!("printf '%s' '{hello}'; exec sleep 600");
        let refuses = format!(
            "printf '%s' '{hello}'; echo '2 {{\"failed\":{{\"why\":\"no\"}}}}'; yes '' & exec sleep 600"
        );
        let place =
            HostPlace { by: None, interface: None, lease: Duration::from_secs(15), shares_machine: false };
        for (case, script, is_greeted) in [
            ("nonsense", "echo nonsense; exec sleep 600", Some(false)),
            ("another id", "echo '99 \"done\"'; exec sleep 600", Some(false)),
            ("another kind", "echo '1 \"done\"'; exec sleep 600", Some(false)),
            ("no sign of life", &*silent, Some(true)),
            ("signs of life without an end", "yes '' & exec sleep 600", None),
            ("signs of life after a refusal", &*refuses, Some(true)),
        ] {
            let (mut agent, _directory) = started_by(script, |program, interrupt| {
                Launched::on_machine(&place, program, "receiver", Isolation::Machine, &[], interrupt)
            });
            if is_greeted.is_some() {
                assert_eq!(Some(agent.greet().is_ok()), is_greeted, "{case}");
            }
            if case.ends_with("refusal") {
                agent.order(&Request::Start).unwrap_err();
            }
            let begun = Instant::now();
            drop(agent);
            assert!(begun.elapsed() < Duration::from_secs(5), "{case}: {:?}", begun.elapsed());
        }
    }

    /// The error of greeting it.
    fn greeted(script: &str) -> String {
        let (mut agent, _directory) = started(script);
        agent.greet().unwrap_err().to_string()
    }

    #[test]
    fn an_agent_that_writes_much_to_its_standard_error_goes_on() {
        let hello = Answer::Hello { protocol: PROTOCOL, version: "1".to_owned(), pid: 7, cpus: vec![(0, 0)] };
        let hello = String::from_utf8(agent::answer_line(1, &hello).unwrap()).unwrap();
        let (mut agent, _directory) = started(&format!(
            "yes 'more and more' | head -c 1048576 >&2\necho >&2\nread launch\nread request\nprintf '%s' '{hello}'\necho done >&2\nexit 3"
        ));
        agent.greet().unwrap();
        let Life::Process(process, _) = &agent.life else { panic!("it is a process") };
        assert_eq!(agent.pid(), process.id(), "not the 7 that it says");
        let error = agent.order(&Request::Hello { protocol: PROTOCOL }).unwrap_err().to_string();
        assert!(error.contains("exit status: 3; it said: (cut) …") && error.ends_with(" done"), "{error}");
        assert!(error.len() < 1200, "{} bytes", error.len());
    }

    #[test]
    fn the_last_words_of_an_agent_are_reported_without_their_tricks() {
        let error =
            greeted(r"printf 'a\033]0;x\007\302\2331m\342\200\256\nnetassay: done\n\377' >&2; exit 3");
        let (before, said) = error.split_once("; it said: ").expect(&error);
        assert!(before.ends_with("exited unexpectedly: exit status: 3"), "{error}");
        assert_eq!(said, "a\\u{1b}]0;x\\u{7}\\u{9b}1m\\u{202e} netassay: done \u{fffd}");
    }

    #[test]
    fn an_agent_that_takes_its_time_to_end_is_waited_for() {
        let error = greeted("exec >&- <&-; sleep 0.2; exit 3");
        assert!(error.ends_with("exited unexpectedly: exit status: 3"), "{error}");
    }

    #[test]
    fn an_agent_that_says_too_much_is_cut_short() {
        let error = greeted("yes 'more and more' | head -c 50400 >&2; exit 3");
        assert!(error.contains("it said: (cut) …"), "{error:.300}");
        assert!(
            error.ends_with("more and more") && error.len() < 1200,
            "{} bytes: {error:.300}",
            error.len()
        );
        // A child of the agent still holds the pipe: what has come is reported without a wait for
        // its end.
        let error = greeted("head -c 10 /dev/zero >&2; sleep 1 >&2 & exit 3");
        assert!(error.contains("exit status: 3; it said: \\u{0}") && error.len() < 1200, "{error:.300}");
        let error = greeted("exit 3");
        assert!(error.ends_with("exited unexpectedly: exit status: 3"), "{error}");
    }
}
