//! A connection to a host, and the program there.

use std::collections::BTreeSet;
use std::io::{self, Write as _};
use std::net::IpAddr;
use std::process::{Child, ChildStdin, Command};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use agent::{Interrupt, Launch};

use crate::binary::{Binary, Sent};
use crate::boot::{self, Boot, sudo};
use crate::control::Control;
use crate::error::Error;
use crate::kernels::Kernels;
use crate::launcher::Launcher;
use crate::script::{KEEP, RUN, TAKE};
use crate::session::{Session, strange};

/// How long a host may take to answer: ssh's own 10 s for the connection, and as long for a login.
const TO_ANSWER: Duration = Duration::from_secs(20);

/// The most that the program may print there, in bytes.
const LONGEST: usize = 1 << 20;

/// How long a file may take to arrive: 10 MB over 1 Mbit/s.
const TO_ARRIVE: Duration = Duration::from_secs(120);

/// A host that answered and holds the program. Dropping it removes the program there.
#[derive(Debug)]
pub struct Reached {
    launcher: Launcher,
    /// The session that keeps the program there for as long as its input is open, and ssh's
    /// connection with it.
    keeper: Child,
    /// The signs of life for it.
    signs: Option<Signs>,
    control: Control,
    directory: String,
    /// The directory of what goes with the connection, also where the program is kept.
    files: String,
    /// Whether it unpacks what is compressed by gzip.
    packed: bool,
    /// The sums of the files that are there.
    brought: Mutex<BTreeSet<String>>,
    /// What its login may.
    rights: Rights,
    /// Whether agents run by `sudo`.
    pub by_sudo: bool,
    /// The addresses of the connection, where it is ssh's.
    pub connection: Option<Connection>,
    /// How long the program stays there, and an agent changes anything, without a sign of life.
    pub lease: Duration,
    /// The bytes of the program that had to be sent; 0 if it was there.
    pub sent: u64,
}

/// What a login may.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Rights {
    user: u32,
    /// The effective capabilities, a bit for each; `None`: the host does not tell.
    capabilities: Option<u64>,
}

/// `CAP_NET_ADMIN` and `CAP_SYS_ADMIN` of linux/capability.h.
const NET_ADMIN: u32 = 12;
const SYS_ADMIN: u32 = 21;

impl Rights {
    fn has(self, capability: u32) -> bool {
        self.capabilities.is_none_or(|all| all & 1 << capability != 0)
    }
}

/// How the program stays on a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stay {
    /// It outlives the connection, in a cache named by its checksum.
    pub keep: bool,
    /// How long it stays, and an agent changes anything, without a sign of life from here.
    pub lease: Duration,
}

impl Default for Stay {
    fn default() -> Self {
        Self { keep: false, lease: Launch::LEASE }
    }
}

/// What became of the program on a host.
#[derive(Debug)]
pub struct Ran {
    /// Its exit code; `None`: it did not exit by itself.
    pub code: Option<i32>,
    /// What it printed, as it is.
    pub printed: Vec<u8>,
    /// The end of its standard error, made harmless.
    pub said: String,
}

/// The addresses of a connection, as the host sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Connection {
    /// The controller's.
    pub controller: IpAddr,
    /// The host's.
    pub host: IpAddr,
}

/// The answer of [`KEEP`].
#[derive(Debug, PartialEq, Eq)]
struct Answer {
    architecture: String,
    rights: Rights,
    has: bool,
    packed: bool,
    sudo: bool,
    directory: String,
}

impl Reached {
    /// Connects, and brings the program there unless a kept one is the same.
    ///
    /// # Errors
    /// [`Error`], which names the host.
    pub fn connect(
        launcher: &Launcher,
        binary: &Binary,
        stay: Stay,
        interrupt: &Interrupt,
    ) -> Result<Self, Error> {
        let host = launcher.to_string();
        let control = Control::of(&host)?;
        let kept = if stay.keep { "keep" } else { "drop" };
        let lease = format!("{}ms", stay.lease.as_millis());
        let command = launcher.command(KEEP, &[&binary.file.sum, kept, &lease], &control.socket());
        let mut session = Session::start(&host, command)?;
        let deadline = Instant::now() + TO_ANSWER;
        let first = session.line(deadline, TO_ANSWER, interrupt)?;
        let answer = Answer::read(&first).ok_or_else(|| strange(&host, &first))?;
        let second = session.line(deadline, TO_ANSWER, interrupt)?;
        let connection = second.strip_prefix("connection ").map(Connection::read);
        let connection = connection.ok_or_else(|| strange(&host, &second))?;
        if answer.architecture != binary.architecture {
            return Err(Error::Architecture {
                host,
                theirs: answer.architecture,
                ours: binary.architecture.to_owned(),
            });
        }
        let third = session.line(deadline, TO_ANSWER, interrupt)?;
        let files = third.strip_prefix("files ").filter(|path| path.starts_with('/'));
        let files = files.ok_or_else(|| strange(&host, &third))?.to_owned();
        let mut reached = Self {
            launcher: launcher.clone(),
            keeper: session.process,
            signs: None,
            control,
            directory: answer.directory,
            files,
            packed: answer.packed,
            brought: Mutex::default(),
            rights: answer.rights,
            by_sudo: answer.sudo,
            connection,
            lease: stay.lease,
            sent: 0,
        };
        if !answer.has {
            reached.sent = reached.send(&binary.file, (&reached.directory, "netassay"), interrupt)?;
        }
        let signs = session.input.map(|input| Signs::give(input, stay.lease / 3)).transpose();
        let program = launcher.to_string();
        reached.signs = signs.map_err(|source| Error::Start { host, program, source })?;
        Ok(reached)
    }

    /// Connects to several hosts at once.
    ///
    /// # Errors
    /// The first host's error, by their order.
    pub fn connect_all(
        launchers: &[&Launcher],
        binary: &Binary,
        stay: Stay,
        interrupt: &Interrupt,
    ) -> Result<Vec<Arc<Self>>, Error> {
        thread::scope(|scope| {
            let all: Vec<_> = launchers
                .iter()
                .map(|launcher| scope.spawn(|| Self::connect(launcher, binary, stay, interrupt)))
                .collect();
            all.into_iter()
                .map(|one| match one.join() {
                    Ok(reached) => reached.map(Arc::new),
                    Err(panic) => std::panic::resume_unwind(panic),
                })
                .collect()
        })
    }

    /// Brings a file there, unless it is there, and tells its path. It goes with the connection.
    ///
    /// # Errors
    /// The host does not take it.
    pub fn bring(&self, plain: Vec<u8>, interrupt: &Interrupt) -> Result<String, Error> {
        let file = Sent::of(plain);
        let path = format!("{}/{}", self.files, file.sum);
        // Held while it is sent: another one that brings the same waits.
        let mut brought = self.brought.lock().unwrap_or_else(PoisonError::into_inner);
        if !brought.contains(&file.sum) {
            self.send(&file, (&self.files, &file.sum), interrupt)?;
            brought.insert(file.sum);
        }
        Ok(path)
    }

    /// Sends a file, and tells the bytes on the way.
    fn send(
        &self,
        file: &Sent,
        (directory, name): (&str, &str),
        interrupt: &Interrupt,
    ) -> Result<u64, Error> {
        let host = self.launcher.to_string();
        let packed = self.packed;
        let form = if packed { "yes" } else { "no" };
        let arguments = [directory, file.sum.as_str(), form, name];
        let command = self.launcher.command(TAKE, &arguments, &self.control.socket());
        let mut session = Session::start(&host, command)?;
        let input = session.input.take();
        let (line, sent) = thread::scope(|scope| {
            // A host that stops reading blocks the writer; the end of the session frees it.
            let writer = scope.spawn(move || input.map_or(Ok(0), |mut input| file.send(packed, &mut input)));
            let line = session.line(Instant::now() + TO_ARRIVE, TO_ARRIVE, interrupt);
            session.end();
            // What stopped the writer, the host's answer tells.
            (line, writer.join().map_or(0, Result::unwrap_or_default))
        });
        let line = line?;
        if line == "taken" { Ok(sent) } else { Err(strange(&host, &line)) }
    }

    /// Runs the program there with these arguments to its end, which must come `within` this time.
    ///
    /// # Errors
    /// [`Error::Silent`] if it does not; the program is left there, and its connection closed.
    pub fn run(&self, arguments: &[&str], within: Duration, interrupt: &Interrupt) -> Result<Ran, Error> {
        let mut session = Session::start(&self.launcher.to_string(), self.program(arguments))?;
        let (printed, status) = session.rest(LONGEST, Instant::now() + within, within, interrupt)?;
        Ok(Ran { code: status.and_then(|status| status.code()), printed, said: session.said() })
    }

    /// The command that runs the program there with these arguments: `agent` for an agent.
    #[must_use]
    pub fn program(&self, arguments: &[&str]) -> Command {
        let all = [&[self.directory.as_str(), sudo(self.by_sudo)], arguments].concat();
        self.launcher.command(RUN, &all, &self.control.socket())
    }

    /// The host's present boot.
    ///
    /// # Errors
    /// When the host does not answer.
    pub fn boot(&self, interrupt: &Interrupt) -> Result<Boot, Error> {
        boot::ask(&self.launcher, self.by_sudo, &self.control.socket(), TO_ANSWER, interrupt)
    }

    /// Why one of these kernels cannot be chosen for the host's next boot alone; `None`: all can.
    ///
    /// # Errors
    /// When the host does not answer.
    pub fn kernels_refused(
        &self,
        releases: &BTreeSet<String>,
        interrupt: &Interrupt,
    ) -> Result<Option<String>, Error> {
        let kernels = Kernels::ask(&self.launcher, self.by_sudo, &self.control.socket(), interrupt)?;
        Ok(releases.iter().find_map(|release| kernels.choice(release).err()))
    }

    /// What agents there lack to change interfaces: `root`, or a capability of a container's root.
    #[must_use]
    pub fn lacks(&self) -> Option<&'static str> {
        match self.rights {
            _ if self.by_sudo => None,
            Rights { user: 0, .. } => (!self.rights.has(NET_ADMIN)).then_some("CAP_NET_ADMIN"),
            _ => Some("root"),
        }
    }

    /// Whether agents there make network namespaces of the machine's root.
    #[must_use]
    pub fn makes_namespaces(&self) -> bool {
        self.lacks().is_none() && (self.by_sudo || self.rights.has(SYS_ADMIN))
    }

    /// How the host is reached.
    #[must_use]
    pub fn launcher(&self) -> &Launcher {
        &self.launcher
    }
}

/// Signs of life for what keeps the program on the host, from a thread of their own: without them
/// it removes the program at the end of the lease. Dropping this ends them.
#[derive(Debug)]
struct Signs {
    _end: Sender<()>,
}

impl Signs {
    fn give(mut input: ChildStdin, interval: Duration) -> io::Result<Self> {
        let (end, ended) = channel::<()>();
        let give = move || {
            let mut word: &[u8] = b"hold\n";
            while input.write_all(word).is_ok() {
                word = b"\n";
                if ended.recv_timeout(interval) != Err(RecvTimeoutError::Timeout) {
                    return;
                }
            }
        };
        thread::Builder::new().name("signs of life".to_owned()).spawn(give)?;
        Ok(Self { _end: end })
    }
}

impl Drop for Reached {
    /// The far side removes the program at the end of its input, and then closes the connection.
    fn drop(&mut self) {
        drop(self.signs.take());
        let deadline = Instant::now() + Duration::from_secs(2);
        while Instant::now() < deadline {
            if !matches!(self.keeper.try_wait(), Ok(None)) {
                return;
            }
            thread::sleep(Duration::from_millis(5));
        }
        let _ = self.keeper.kill();
        let _ = self.keeper.wait();
    }
}

impl Answer {
    fn read(line: &str) -> Option<Self> {
        let mut words = line.strip_prefix("netassay ")?.splitn(7, ' ');
        let architecture = words.next()?.to_owned();
        let user = words.next()?.parse().ok()?;
        let capabilities = match words.next()? {
            "unknown" => None,
            mask => Some(u64::from_str_radix(mask, 16).ok()?),
        };
        let mut flag = || match words.next() {
            Some("yes") => Some(true),
            Some("no") => Some(false),
            _ => None,
        };
        let (has, packed, sudo) = (flag()?, flag()?, flag()?);
        let directory = words.next().filter(|path| path.starts_with('/'))?.to_owned();
        let rights = Rights { user, capabilities };
        Some(Self { architecture, rights, has, packed, sudo, directory })
    }
}

impl Connection {
    /// Reads `SSH_CONNECTION`: the client's address and port, the server's address and port.
    fn read(text: &str) -> Option<Self> {
        let words: Vec<&str> = text.split(' ').collect();
        // A link-local address has its interface behind it.
        let address = |word: &str| word.split('%').next()?.parse().ok();
        let [controller, _, host, _] = words[..] else { return None };
        Some(Self { controller: address(controller)?, host: address(host)? })
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    /// A program that, called with the word `hold` and a time, reads its input to the end.
    fn binary() -> Binary {
        Binary::read(std::path::Path::new("/usr/bin/tr")).unwrap()
    }

    /// A host that is this machine, by a command of words.
    fn words() -> Launcher {
        Launcher::Words(vec!["env".to_owned(), "SSH_CONNECTION=192.0.2.1 40000 192.0.2.2 22".to_owned()])
    }

    fn connected(launcher: &Launcher, keep: bool) -> Result<Reached, Error> {
        let stay = Stay { keep, ..Stay::default() };
        Reached::connect(launcher, &binary(), stay, &Interrupt::new().unwrap())
    }

    #[test]
    fn the_program_arrives_whole_and_goes_with_the_connection() {
        let reached = connected(&words(), false).unwrap();
        let connection = reached.connection.unwrap();
        assert_eq!(connection.controller.to_string(), "192.0.2.1");
        assert_eq!(connection.host.to_string(), "192.0.2.2");
        let directory = std::path::PathBuf::from(&reached.directory);
        let arrived = std::fs::read(directory.join("netassay")).unwrap();
        assert_eq!(arrived, binary().file.plain);
        assert!((1..binary().file.plain.len() as u64).contains(&reached.sent), "{}", reached.sent);
        let interrupt = Interrupt::new().unwrap();
        let brought = reached.bring(b"a kernel".to_vec(), &interrupt).unwrap();
        assert_eq!(std::fs::read(&brought).unwrap(), b"a kernel");
        assert_eq!(reached.bring(b"a kernel".to_vec(), &interrupt).unwrap(), brought);
        drop(reached);
        assert!(!directory.exists());
    }

    #[test]
    fn a_host_that_hangs_is_waited_for_as_long_as_was_said() {
        // It answers, and then hangs once the program is run there: `$3` is the script.
        let hangs = "case \"$3\" in *'exec \"$p\"'*) echo here >&2; exec sleep 600;; *) exec \"$@\";; esac";
        let words = ["sh", "-c", hangs, "the-host"].map(str::to_owned).to_vec();
        let reached = connected(&Launcher::Words(words), false).unwrap();
        let begun = Instant::now();
        let error = reached.run(&["doctor"], Duration::from_secs(1), &Interrupt::new().unwrap()).unwrap_err();
        let said = error.to_string();
        assert!(said.contains("the-host did not answer within 1 s; it said: here"), "{said}");
        assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
        // One that closes its output, and goes on.
        let goes_on = "exec sh -c 'exec >&- 2>&-; sleep 600'";
        let words = ["sh", "-c", goes_on].map(str::to_owned).to_vec();
        let mut session =
            Session::start("the-host", Launcher::Words(words).command("", &[], Path::new("s"))).unwrap();
        let (soon, second) = (Instant::now() + Duration::from_secs(1), Duration::from_secs(1));
        let error = session.line(soon, second, &Interrupt::new().unwrap()).unwrap_err();
        assert!(error.to_string().contains("cannot reach the-host: it closed its output"), "{error}");
    }

    #[test]
    fn a_program_that_is_gone_is_told_with_the_way_out() {
        let reached = connected(&words(), false).unwrap();
        std::fs::remove_dir_all(&reached.directory).unwrap();
        let ran = reached.run(&["agent"], Duration::from_secs(20), &Interrupt::new().unwrap()).unwrap();
        assert_eq!(ran.code, Some(1));
        assert!(ran.said.contains("no longer on this machine") && ran.said.contains("--resume"), "{ran:?}");
    }

    #[test]
    fn what_the_program_prints_and_its_exit_code_come_back() {
        let reached = connected(&words(), false).unwrap();
        let ran = reached.run(&["a", "b"], Duration::from_secs(20), &Interrupt::new().unwrap()).unwrap();
        assert_eq!((ran.code, ran.printed), (Some(0), Vec::new()));
        let ran = reached.run(&[], Duration::from_secs(20), &Interrupt::new().unwrap()).unwrap();
        assert!(ran.code == Some(1) && ran.said.contains("missing operand"), "{ran:?}");
    }

    #[test]
    fn a_kept_program_is_not_sent_again() {
        let home = tempfile::tempdir().unwrap();
        let cache = format!("XDG_CACHE_HOME={}", home.path().display());
        let launcher = Launcher::Words(vec!["env".to_owned(), cache]);
        assert!(connected(&launcher, true).unwrap().sent > 0);
        let again = connected(&launcher, true).unwrap();
        assert_eq!((again.sent, again.connection), (0, None));
        let place = std::path::PathBuf::from(&again.directory);
        let brought = again.bring(b"a kernel".to_vec(), &Interrupt::new().unwrap()).unwrap();
        assert!(std::path::Path::new(&brought).exists());
        drop(again);
        assert!(!std::path::Path::new(&brought).exists(), "only the program is kept");
        // A damaged one is replaced.
        std::fs::write(place.join("netassay"), "x").unwrap();
        assert!(connected(&launcher, true).unwrap().sent > 0);
        assert_eq!(std::fs::read(place.join("netassay")).unwrap(), binary().file.plain);
    }

    #[test]
    fn two_hosts_may_share_the_place_where_it_is_kept() {
        let home = tempfile::tempdir().unwrap();
        let cache = format!("XDG_CACHE_HOME={}", home.path().display());
        let launcher = Launcher::Words(vec!["env".to_owned(), cache]);
        let (all, keep) = ([&launcher; 4], Stay { keep: true, ..Stay::default() });
        let reached = Reached::connect_all(&all, &binary(), keep, &Interrupt::new().unwrap()).unwrap();
        let place = std::path::PathBuf::from(&reached[0].directory);
        assert_eq!(std::fs::read(place.join("netassay")).unwrap(), binary().file.plain);
        let left: Vec<_> = std::fs::read_dir(&place).unwrap().map(|one| one.unwrap().file_name()).collect();
        assert_eq!(left, ["netassay"]);
    }

    #[test]
    fn what_is_in_the_way_is_named_with_its_host() {
        let said = |words: &[&str]| {
            let words = words.iter().map(|word| (*word).to_owned()).collect();
            connected(&Launcher::Words(words), false).unwrap_err().to_string()
        };
        let text = said(&["sh", "-c", "echo 'Host key verification failed.' >&2; exit 255", "x"]);
        assert!(text.starts_with("cannot reach sh -c") && text.contains("compare the key"), "{text}");
        let text = said(&["sh", "-c", "exit 3", "x"]);
        assert!(text.contains("exit status: 3"), "{text}");
        let text = said(&["sh", "-c", "echo Welcome; cat", "x"]);
        assert!(text.contains("answered \"Welcome\": does its shell print something at login?"), "{text}");
        let text =
            said(&["sh", "-c", "echo netassay m68k 0 0 no yes no /tmp/x; echo 'connection '; cat", "x"]);
        assert!(text.contains("architecture m68k") && text.contains("--agent-binary"), "{text}");
        let text = said(&["/nowhere/kubectl"]);
        assert!(text.contains("cannot start /nowhere/kubectl"), "{text}");
        let text = said(&["sh", "-c", "head -c 100000 /dev/zero | tr '\\0' x; cat", "x"]);
        assert!(text.contains("what has no end"), "{text}");
    }

    #[test]
    fn an_answer_has_its_seven_parts() {
        let answer = Answer::read("netassay x86_64 1000 1000 no yes no /tmp/a b").unwrap();
        let rights = Rights { user: 1000, capabilities: Some(1 << NET_ADMIN) };
        assert_eq!((answer.rights, answer.packed, answer.directory.as_str()), (rights, true, "/tmp/a b"));
        assert!(rights.has(NET_ADMIN) && !rights.has(SYS_ADMIN));
        let answer = Answer::read("netassay x86_64 0 unknown no yes no /tmp/a").unwrap();
        assert!(answer.rights.has(SYS_ADMIN));
        for line in [
            "",
            "netassay",
            "netassay x 0 0 no yes no",
            "netassay x 0 0 no maybe no /t",
            "netassay x -1 0 no no no /t",
            "netassay x 0 0x1 no no no /t",
        ] {
            assert_eq!(Answer::read(line), None, "{line}");
        }
    }
}
