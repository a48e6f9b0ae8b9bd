//! A connection to a host, and the program there.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use agent::{Interrupt, Launch, repeat};

use crate::error::Error;
use crate::reach::binary::{Binary, checksum};
use crate::reach::boot::{self, HostBoot, Kernels};
use crate::reach::control_socket::ControlSocket;
use crate::reach::in_parallel;
use crate::reach::launcher::Launcher;
use crate::reach::script::{KEEP, RUN, TAKE};
use crate::reach::session::{
    PipedCommand, RootShell, ScriptSession, TO_ANSWER, look_until, unexpected_answer, yes_or_no,
};

// Space beside the program, in KiB.
const BESIDE: usize = 1 << 10;

const LONGEST: usize = 1 << 20;

// Time limit for sending a file: 10 MB over 1 Mbit/s.
const TO_ARRIVE: Duration = Duration::from_secs(120);

/// A host that answered and holds the program. Dropping it removes the program there.
#[derive(Debug)]
pub struct RemoteHost {
    /// The way to run commands there.
    pub launcher: Launcher,
    // The program stays there for as long as its input is open.
    holder: ScriptSession,
    signs: Option<Sender<()>>,
    control: ControlSocket,
    pub(crate) setup: SetupAnswer,
    brought: Mutex<BTreeSet<String>>,
    /// Why agents do not run by `sudo`, where the login is not root; else empty.
    pub no_sudo: String,
    pub(crate) connection: Option<ConnectionAddresses>,
    is_lost: AtomicBool,
}

// `CAP_NET_ADMIN` and `CAP_SYS_ADMIN` of linux/capability.h.
const NET_ADMIN: u32 = 12;
const SYS_ADMIN: u32 = 21;

/// Conditions under which the program stays on a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retention {
    /// Whether the program outlives the connection, in a cache named by its checksum.
    pub keep: bool,
    /// Without a sign of life for this long, the program is removed and agents undo their changes.
    pub lease: Duration,
}

impl Default for Retention {
    fn default() -> Self {
        Self { keep: false, lease: Launch::LEASE }
    }
}

/// The result of a program that ran on a host.
#[derive(Debug)]
#[expect(missing_docs, reason = "the names of its fields say it")]
pub struct ProgramOutput {
    /// Its exit code; `None`: it did not exit by itself.
    pub code: Option<i32>,
    pub stdout: Vec<u8>,
    /// The end of its standard error, made harmless.
    pub stderr: String,
}

/// The addresses of a connection, as the host sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names of its fields say it")]
pub struct ConnectionAddresses {
    pub controller: IpAddr,
    pub host: IpAddr,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct SetupAnswer {
    architecture: String,
    user: u32,
    /// The effective capabilities, a bit for each; `None`: the host does not tell.
    capabilities: Option<u64>,
    has: bool,
    pub(crate) by_sudo: bool,
    /// Holds the program and files; removed with the connection.
    directory: String,
}

impl RemoteHost {
    /// Connects, and brings the program there unless a kept one is the same.
    ///
    /// # Errors
    /// [`Error`], which names the host.
    pub fn connect(
        launcher: &Launcher,
        binary: &Binary,
        stay: Retention,
        interrupt: &Interrupt,
    ) -> Result<Self, Error> {
        let host = launcher.to_string();
        let control = ControlSocket::for_host(&host)?;
        let kept = if stay.keep { "keep" } else { "drop" };
        let lease = format!("{}ms", stay.lease.as_millis());
        let room = (binary.plain.len() / 1024 + BESIDE).to_string();
        let arguments = [binary.sum.as_str(), kept, &lease, &room];
        let command = launcher.command(KEEP, &arguments, &control.socket());
        let mut session = ScriptSession::start(&host, command, TO_ANSWER, interrupt)?;
        let connection = ConnectionAddresses::read(&session.first_line("connection ")?);
        session.wait_for(TO_ANSWER);
        let second = session.line()?;
        let answer = SetupAnswer::read(&second).ok_or_else(|| unexpected_answer(&host, &second, ""))?;
        let third = session.line()?;
        let no_sudo = third.strip_prefix("sudo ").ok_or_else(|| unexpected_answer(&host, &third, ""))?;
        if answer.architecture != binary.architecture {
            return Err(Error::Failed(format!(
                "{host} is of the architecture {}, and this netassay is of {}: give one for it with --agent-binary FILE",
                answer.architecture, binary.architecture
            )));
        }
        let mut reached = Self {
            launcher: launcher.clone(),
            holder: session,
            signs: None,
            control,
            setup: answer,
            brought: Mutex::default(),
            no_sudo: no_sudo.to_owned(),
            connection,
            is_lost: AtomicBool::new(false),
        };
        if !reached.setup.has {
            reached.send(&binary.plain, &binary.sum, "netassay", interrupt)?;
        }
        // Without signs of life the far side removes the program at the end of the lease.
        if let Some(mut input) = reached.holder.process.stdin.take() {
            let mut word: &[u8] = b"hold\n";
            let give = move || input.write_all(std::mem::replace(&mut word, b"\n")).is_ok();
            let signs = repeat("signs of life", stay.lease / 3, give);
            let failed = |error| Error::Failed(format!("{host}: cannot start {launcher}: {error}"));
            reached.signs = Some(signs.map_err(failed)?);
        }
        Ok(reached)
    }

    /// Connects to several hosts at once.
    ///
    /// # Errors
    /// The first host's error, by their order.
    pub fn connect_all(
        launchers: &[&Launcher],
        binary: &Binary,
        stay: Retention,
        interrupt: &Interrupt,
    ) -> Result<Vec<Arc<Self>>, Error> {
        let connect = |launcher: &&Launcher| Self::connect(launcher, binary, stay, interrupt).map(Arc::new);
        in_parallel(launchers, connect).into_iter().collect()
    }

    pub(crate) fn bring(&self, plain: Vec<u8>, interrupt: &Interrupt) -> Result<String, Error> {
        let sum = checksum(&plain);
        let path = format!("{}/{sum}", self.setup.directory);
        // Held while it is sent: another one that brings the same waits.
        let mut brought = self.brought.lock().unwrap_or_else(PoisonError::into_inner);
        if !brought.contains(&sum) {
            self.send(&plain, &sum, &sum, interrupt)?;
            brought.insert(sum);
        }
        Ok(path)
    }

    fn send(&self, plain: &[u8], sum: &str, name: &str, interrupt: &Interrupt) -> Result<(), Error> {
        let host = self.launcher.to_string();
        let arguments = [self.setup.directory.as_str(), sum, name];
        let command = self.launcher.command(TAKE, &arguments, &self.control.socket());
        let mut session = ScriptSession::start(&host, command, TO_ARRIVE, interrupt)?;
        let input = session.process.stdin.take();
        let line = thread::scope(|scope| {
            // A host that stops reading blocks the writer until the session ends, and its answer
            // tells why.
            scope.spawn(move || input.map(|mut input| input.write_all(plain)));
            let line = session.line();
            session.end();
            line
        })?;
        if line == "taken" { Ok(()) } else { Err(unexpected_answer(&host, &line, "")) }
    }

    /// Runs the program there with these arguments to its end, which must come `within` this time.
    ///
    /// # Errors
    /// If it does not; the program is left there, and its connection closed.
    pub fn run(
        &self,
        arguments: &[&str],
        within: Duration,
        interrupt: &Interrupt,
    ) -> Result<ProgramOutput, Error> {
        let command = self.program(arguments);
        let mut session = ScriptSession::start(&self.launcher.to_string(), command, within, interrupt)?;
        let (stdout, status) = session.read_to_end(LONGEST)?;
        let code = status.and_then(|status| status.code());
        Ok(ProgramOutput { code, stdout, stderr: session.last_words() })
    }

    pub(crate) fn program(&self, arguments: &[&str]) -> PipedCommand {
        let all = [&[self.setup.directory.as_str(), yes_or_no(self.setup.by_sudo)], arguments].concat();
        self.launcher.command(RUN, &all, &self.control.socket())
    }

    pub(crate) fn boot(&self, interrupt: &Interrupt) -> Result<HostBoot, Error> {
        boot::present_boot(&self.root_shell(interrupt), TO_ANSWER)
    }

    pub(crate) fn kernels_refused(
        &self,
        releases: &BTreeSet<String>,
        interrupt: &Interrupt,
    ) -> Result<Option<String>, Error> {
        let kernels = Kernels::ask(&self.root_shell(interrupt))?;
        Ok(releases.iter().find_map(|release| Some(kernels.choice(release).err()?.to_string())))
    }

    fn root_shell<'a>(&'a self, interrupt: &'a Interrupt) -> RootShell<'a> {
        let Self { launcher, setup: SetupAnswer { by_sudo, .. }, control, .. } = self;
        RootShell { launcher, by_sudo: *by_sudo, control, interrupt }
    }

    /// The missing privilege to change interfaces: `root`, or a capability of a container's root.
    pub fn lacks(&self) -> Option<&'static str> {
        match self.setup.user {
            _ if self.setup.by_sudo => None,
            0 => (!self.setup.has_capability(NET_ADMIN)).then_some("CAP_NET_ADMIN"),
            _ => Some("root"),
        }
    }

    /// Whether agents there make network namespaces of the machine's root.
    pub fn makes_namespaces(&self) -> bool {
        self.lacks().is_none() && (self.setup.by_sudo || self.setup.has_capability(SYS_ADMIN))
    }

    pub(crate) fn set_lost(&self, is_lost: bool) {
        self.is_lost.store(is_lost, Ordering::Relaxed);
    }

    /// Whether the last agent there stopped to answer: then the host is not asked anything more.
    pub fn is_lost(&self) -> bool {
        self.is_lost.load(Ordering::Relaxed)
    }
}

impl Drop for RemoteHost {
    fn drop(&mut self) {
        // The far side removes the program at the end of its input, and then closes the connection.
        drop(self.signs.take());
        let deadline = Instant::now() + Duration::from_secs(1);
        let _ = look_until(deadline, || self.holder.process.try_wait().ok().flatten());
    }
}

impl SetupAnswer {
    fn read(line: &str) -> Option<Self> {
        let mut words = line.strip_prefix("netassay ")?.splitn(6, ' ');
        let architecture = words.next()?.to_owned();
        let user = words.next()?.parse().ok()?;
        let capabilities = match words.next()? {
            "unknown" => None,
            mask => Some(u64::from_str_radix(mask, 16).ok()?),
        };
        let mut flag = || words.next().filter(|word| ["yes", "no"].contains(word)).map(|word| word == "yes");
        let (has, by_sudo) = (flag()?, flag()?);
        let directory = words.next().filter(|path| path.starts_with('/'))?.to_owned();
        Some(Self { architecture, user, capabilities, has, by_sudo, directory })
    }

    fn has_capability(&self, capability: u32) -> bool {
        self.capabilities.is_none_or(|all| all & 1 << capability != 0)
    }
}

impl ConnectionAddresses {
    fn read(text: &str) -> Option<Self> {
        let words: Vec<&str> = text.split(' ').collect();
        // A link-local address has its interface behind it.
        let address = |word: &str| word.split('%').next()?.parse().ok();
        let [controller, _, host, _] = words[..] else { return None };
        Some(Self { controller: address(controller)?, host: address(host)? })
    }
}

#[cfg(test)]
mod tests;
