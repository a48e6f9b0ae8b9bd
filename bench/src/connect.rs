//! How long it takes until two machines over ssh are ready, beside what ssh alone takes.

use std::fs;
use std::io::Read as _;
use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use study::BySide;
use testbed::reach::{Binary, Launcher, RemoteHost, Retention};
use testbed::{HostPlace, Hosts};

use crate::bench::{Bench, temporary_directory, write};
use crate::failure::Failure;
use crate::figures::summary;
use crate::goal::{Bound, Goal};
use crate::installed::not_installed;
use crate::process::{Owned, dies_with_its_starter};
use crate::report::{Report, heading};
use crate::wait;

/// From nothing to two agents that answered, with a program that is kept there, in ms.
const GOAL: f64 = 2000.0;

/// What of it is not ssh's, in ms.
const GOAL_OWN: f64 = 300.0;

const SSHD: &str = "/usr/sbin/sshd";

pub(crate) fn run(bench: &Bench) -> Result<Report, Failure> {
    let mut report = Report::begin("connect", &heading("start of two machines", "ms"));
    let made = Sshd::start(bench);
    let Some(sshd) = report.or_not_run("connect", made)? else { return Ok(report.finish()) };
    report.note("both machines are this one, over ssh on its loopback; nothing is changed there");
    report.note(
        "until both machines have answered; ssh alone: both log in at once and say a word; rounds take turns",
    );
    let [alone, kept, sent] = bench.in_turn("connect", (1, bench.rounds(20, 1)), |which| match which {
        0 => sshd.log_in(),
        _ => sshd.reach(bench, which == 1),
    })?;
    report.figures("ssh alone", &alone, 0);
    let whole = report.figures("netassay, its program kept there", &kept, 0);
    report.figures("netassay, its program sent", &sent, 0);
    let own: Vec<f64> = kept.iter().zip(&alone).map(|(all, ssh)| all - ssh).collect();
    report.figures("netassay's own part (kept, less ssh)", &own, 0);
    let goals = [("kept, median", whole, GOAL), ("own part, median", summary(own), GOAL_OWN)];
    report.goals.extend(
        goals
            .into_iter()
            .filter_map(|(what, of, limit)| Some(Goal::new(what, of?.median, Bound::Under(limit), "ms"))),
    );
    Ok(report.finish())
}

/// An sshd of the bench's own at a free port of the loopback interface; both machines are reached
/// through it. It ends with this value.
struct Sshd {
    directory: tempfile::TempDir,
    _process: Owned,
}

impl Sshd {
    fn start(bench: &Bench) -> Result<Self, Failure> {
        if !Path::new(SSHD).is_file() {
            return Err(Failure::Environment(not_installed("openssh-server")));
        }
        let directory = temporary_directory()?;
        let at = |name: &str| directory.path().join(name).display().to_string();
        for key in ["host", "user"] {
            let mut command = Command::new("ssh-keygen");
            succeed(command.args(["-q", "-t", "ed25519", "-N", "", "-f", &at(key)]))?;
        }
        let copied = fs::copy(at("user.pub"), at("authorized"));
        copied.map_err(Failure::io("cannot copy the key"))?;
        let port = free_port()?;
        let host_key = fs::read_to_string(at("host.pub")).map_err(Failure::io("cannot read the key"))?;
        write(Path::new(&at("known")), format!("[127.0.0.1]:{port} {host_key}"))?;
        let machine = |name: &str| {
            format!(
                "Host {name}\n HostName 127.0.0.1\n Port {port}\n IdentityFile {}\n IdentitiesOnly yes\n UserKnownHostsFile {}\n",
                at("user"),
                at("known")
            )
        };
        write(Path::new(&at("ssh_config")), machine("a") + &machine("b"))?;
        write(
            Path::new(&at("sshd_config")),
            // The last line keeps what is left there in the bench's own directory, and what the
            // login's shell does at its start out of the figures.
            format!(
                "ListenAddress 127.0.0.1:{port}\nHostKey {}\nAuthorizedKeysFile {}\nStrictModes no\nPermitRootLogin yes\nUsePAM no\nPidFile none\nSetEnv HOME={} TMPDIR={}\n",
                at("host"),
                at("authorized"),
                directory.path().display(),
                directory.path().display(),
            ),
        )?;
        // sshd's own place, which a start by systemd would make; without root it needs none.
        let _ = fs::create_dir("/run/sshd");
        let mut command = Command::new(SSHD);
        command.args(["-D", "-e", "-f", &at("sshd_config")]).stdin(Stdio::null()).stderr(Stdio::null());
        let process =
            dies_with_its_starter(&mut command).spawn().map_err(Failure::io("cannot start sshd"))?;
        let sshd = Self { directory, _process: Owned(process) };
        let mut last = None;
        let up = wait::until(Duration::from_secs(10), Duration::from_millis(20), &bench.interrupt, || {
            last = sshd.log_in().err();
            Ok(last.is_none().then_some(()))
        })?;
        match (up, last) {
            (None, Some(why)) => Err(why),
            _ => Ok(sshd),
        }
    }

    /// Logs in to both machines at once, and hears one word from each; in ms.
    fn log_in(&self) -> Result<f64, Failure> {
        let begin = Instant::now();
        let start = |name: &str| {
            let mut command = self.ssh();
            command.args([name, "echo ready; cat"]).stdin(Stdio::piped()).stdout(Stdio::piped());
            command.stderr(Stdio::null()).spawn().map(Owned).map_err(Failure::io("cannot start ssh"))
        };
        let mut both = [start("a")?, start("b")?];
        for Owned(one) in &mut both {
            let word = one.stdout.as_mut().map_or(Ok(()), |output| output.read_exact(&mut [0; 6]));
            word.map_err(Failure::io("ssh to the bench's own sshd failed"))?;
        }
        Ok(elapsed_ms(begin))
    }

    /// As a study does: the program there, an agent on each machine, and what both say of it; in
    /// ms.
    fn reach(&self, bench: &Bench, keep: bool) -> Result<f64, Failure> {
        let begin = Instant::now();
        let binary = Binary::read(&bench.netassay).map_err(Failure::environment)?;
        let [a, b] = ["a", "b"].map(|name| Launcher::Ssh {
            destination: name.to_owned(),
            config: Some(self.directory.path().join("ssh_config")),
        });
        let stay = Retention { keep, ..Retention::default() };
        let reached = RemoteHost::connect_all(&[&a, &b], &binary, stay, &bench.interrupt);
        let mut reached = reached.map_err(Failure::environment)?.into_iter();
        let places = BySide::from_fn(|_| HostPlace {
            by: reached.next(),
            interface: Some("lo".to_owned()),
            lease: stay.lease,
            shares_machine: false,
            out_of_band: None,
        });
        let (program, interrupt) = (bench.netassay.clone(), bench.interrupt.clone());
        let mut hosts = Hosts { places, own_addresses: false, program, interrupt };
        hosts.locate()?;
        Ok(elapsed_ms(begin))
    }

    fn ssh(&self) -> Command {
        let mut command = Command::new("ssh");
        command.arg("-F").arg(self.directory.path().join("ssh_config")).args(["-o", "BatchMode=yes", "-T"]);
        command
    }
}

fn elapsed_ms(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1e3
}

/// Runs a command that must succeed.
fn succeed(command: &mut Command) -> Result<(), Failure> {
    let name = command.get_program().display().to_string();
    let status = command.status().map_err(Failure::io(format!("cannot start {name}")))?;
    if status.success() { Ok(()) } else { Err(Failure::Environment(format!("{name} failed ({status})"))) }
}

/// A port at which nobody listens now.
fn free_port() -> Result<u16, Failure> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0));
    let address = listener.and_then(|listener| listener.local_addr());
    Ok(address.map_err(Failure::io("no free port"))?.port())
}
