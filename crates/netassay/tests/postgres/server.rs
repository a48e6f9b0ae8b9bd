//! A PostgreSQL server of one test, on a socket in its directory; and a wire to it that is cut.

use std::fs;
use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::common::{Bench, expect, is_root, stderr, stdout};

pub(crate) const COUNTED: [&str; 5] = ["study", "boot", "run", "metric", "pair"];

/// A user without privileges: as root the server refuses to run.
const NOBODY: [&str; 5] = ["--reuid", "65534", "--regid", "65534", "--clear-groups"];

pub(crate) struct Server {
    directory: PathBuf,
    port: String,
    programs: PathBuf,
    process: Child,
}

impl Server {
    /// Starts a server with the database `bench` of the role `owner`, and with the role `adder`;
    /// `None` if there is no PostgreSQL here.
    pub(crate) fn start(bench: &Bench, port: u16, options: &[&str]) -> Option<Self> {
        let versions = fs::read_dir("/usr/lib/postgresql").ok()?.flatten();
        let programs = versions.map(|one| one.path().join("bin")).find(|bin| bin.join("initdb").exists())?;
        let directory = bench.path("server");
        fs::create_dir(&directory).unwrap();
        fs::set_permissions(&directory, fs::Permissions::from_mode(0o777)).unwrap();
        let data = directory.join("data");
        let mut create = as_nobody(&programs.join("initdb"));
        create.args(["--auth=trust", "--no-sync", "--encoding=UTF8", "--username=owner", "-D"]).arg(&data);
        expect(&create.output().unwrap(), 0);
        let mut serve = as_nobody(&programs.join("postgres"));
        serve.arg("-D").arg(&data).arg("-k").arg(&directory).args(["-p", &port.to_string()]);
        serve.args(["-c", "fsync=off", "-c", "shared_buffers=16MB", "-c", "listen_addresses="]).args(options);
        let log = fs::File::create(directory.join("log")).unwrap();
        let process = serve.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log).spawn().unwrap();
        let server = Self { directory, port: port.to_string(), programs, process };
        for _ in 0..600 {
            if server.psql("postgres", "SELECT 1").status.success() {
                expect(&server.psql("postgres", "CREATE DATABASE bench"), 0);
                server.sql("CREATE ROLE adder LOGIN");
                return Some(server);
            }
            thread::sleep(Duration::from_millis(50));
        }
        panic!("no server: {}", fs::read_to_string(server.directory.join("log")).unwrap());
    }

    pub(crate) fn address(&self, role: &str) -> String {
        address(role, &self.directory)
    }

    fn psql(&self, database: &str, sql: &str) -> Output {
        let mut psql = Command::new(self.programs.join("psql"));
        psql.args(["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-U", "owner", "-c", sql, "-h"]);
        psql.arg(&self.directory).args(["-p", &self.port, database]).output().unwrap()
    }

    /// The values that a statement gives, a row a line.
    #[track_caller]
    pub(crate) fn sql(&self, sql: &str) -> String {
        let output = self.psql("bench", sql);
        expect(&output, 0);
        stdout(&output).trim().to_owned()
    }

    /// Makes the tables, which the role `adder` may read and add to.
    pub(crate) fn migrate(&self, bench: &Bench) {
        expect(&bench.run(&["db", "migrate", "--db", &self.address("owner")]), 0);
        self.sql("GRANT USAGE ON SCHEMA netassay TO adder");
        self.sql("GRANT SELECT, INSERT ON ALL TABLES IN SCHEMA netassay TO adder");
    }

    /// The numbers of studies, boots, runs, values and pairs.
    pub(crate) fn counts(&self) -> [String; 5] {
        COUNTED.map(|table| self.sql(&format!("SELECT count(*) FROM netassay.{table}")))
    }

    /// Opens a wire whose first session is cut at the request of this number: before the server
    /// has it, or before its answer. Later sessions are not cut.
    pub(crate) fn wire(&self, name: &str, cut_at: usize, arrives: bool) -> Wire {
        let directory = self.directory.join(name);
        fs::create_dir(&directory).unwrap();
        let listener = UnixListener::bind(directory.join(SOCKET)).unwrap();
        let (server, requests) = (self.directory.join(SOCKET), Arc::new(AtomicUsize::new(0)));
        let seen = Arc::clone(&requests);
        thread::spawn(move || {
            for (number, client) in listener.incoming().map_while(Result::ok).enumerate() {
                let server = UnixStream::connect(&server).unwrap();
                let cut_at = if number == 0 { cut_at } else { usize::MAX };
                let seen = Arc::clone(&seen);
                thread::spawn(move || relay(client, server, cut_at, arrives, &seen));
            }
        });
        Wire { directory, requests }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // An immediate shutdown: its processes end, and nothing is kept.
        let _ = kill(Pid::from_raw(self.process.id().cast_signed()), Signal::SIGQUIT);
        let _ = self.process.wait();
    }
}

pub(crate) const PORT: u16 = 5432;

/// Of that port.
const SOCKET: &str = ".s.PGSQL.5432";

pub(crate) struct Wire {
    directory: PathBuf,
    /// The requests of all sessions.
    requests: Arc<AtomicUsize>,
}

impl Wire {
    pub(crate) fn address(&self, role: &str) -> String {
        address(role, &self.directory)
    }

    pub(crate) fn requests(&self) -> usize {
        self.requests.load(Ordering::Relaxed)
    }
}

fn address(role: &str, directory: &Path) -> String {
    format!("postgres://{role}@/bench?host={}", directory.display())
}

/// A command that ends with this thread, and is not root's.
fn as_nobody(program: &Path) -> Command {
    let mut command = Command::new("setpriv");
    command.args(if is_root() { &NOBODY[..] } else { &[] });
    command.args(["--pdeathsig", "QUIT", "--"]).arg(program).current_dir("/");
    command
}

/// Relays a session. Each request of the protocol ends in the message Sync or is the message Query.
fn relay(mut client: UnixStream, mut server: UnixStream, cut_at: usize, arrives: bool, seen: &AtomicUsize) {
    let (mut answers, mut to_client) = (server.try_clone().unwrap(), client.try_clone().unwrap());
    let answering = thread::spawn(move || {
        let _ = io::copy(&mut answers, &mut to_client);
        let _ = to_client.shutdown(Shutdown::Both);
    });
    let mut requests = 0;
    // The first message has no kind.
    let mut kind: Option<u8> = None;
    while let Ok(message) = message(&mut client, kind) {
        let is_end = matches!(kind, Some(b'S' | b'Q'));
        requests += usize::from(is_end);
        seen.fetch_add(usize::from(is_end), Ordering::Relaxed);
        let is_cut = is_end && requests == cut_at;
        if is_cut && arrives {
            let _ = client.shutdown(Shutdown::Both);
        }
        if !is_cut || arrives {
            let _ = server.write_all(&message);
        }
        if is_cut {
            // The server does what has arrived.
            thread::sleep(Duration::from_millis(100));
            break;
        }
        let mut next = [0];
        if client.read_exact(&mut next).is_err() {
            break;
        }
        kind = Some(next[0]);
    }
    let _ = (client.shutdown(Shutdown::Both), server.shutdown(Shutdown::Both));
    let _ = answering.join();
}

/// A whole message, with its kind if that was read before.
fn message(client: &mut UnixStream, kind: Option<u8>) -> io::Result<Vec<u8>> {
    let mut length = [0; 4];
    client.read_exact(&mut length)?;
    let mut rest = vec![0; (u32::from_be_bytes(length) as usize).saturating_sub(4)];
    client.read_exact(&mut rest)?;
    Ok([kind.as_slice(), &length, &rest].concat())
}

/// Whether a message of netassay has these words.
#[track_caller]
pub(crate) fn expect_told(output: &Output, code: u8, words: &[&str]) {
    expect(output, code);
    let told = stderr(output);
    for word in words {
        assert!(told.contains(word), "no {word:?} in: {told}");
    }
}
