//! The second host of a case: a process that was started before the first went into its namespaces,
//! as a testbed does it, and does what it is told line by line.

use std::io::{BufRead, BufReader, Write};
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use netassay_host::{Counters, Error, Links, namespace};

use crate::harness::{Identity, ROLE};

pub(crate) struct Peer {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Peer {
    pub(crate) fn start() -> Self {
        let mut command = Command::new("/proc/self/exe");
        command.env(ROLE, "peer").stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        Self { input: child.stdin.take(), output, child }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Has it go into a network namespace of its own, in the user namespace of this process.
    pub(crate) fn follow(&mut self, identity: Identity) {
        let me = std::process::id();
        assert_eq!(self.ask(&format!("follow {me} {}", u32::from(identity == Identity::User))), "ok");
    }

    pub(crate) fn ask(&mut self, command: &str) -> String {
        writeln!(self.input.as_mut().unwrap(), "{command}").unwrap();
        let mut answer = String::new();
        self.output.read_line(&mut answer).unwrap();
        assert!(!answer.is_empty(), "the peer died of {command:?}");
        answer.trim().to_owned()
    }

    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        self.input = None;
        let _ = self.child.wait();
    }
}

pub(crate) fn serve() -> ExitCode {
    let mut links = None;
    for line in std::io::stdin().lines() {
        let line = line.unwrap();
        let words: Vec<&str> = line.split_whitespace().collect();
        let answer = match words[..] {
            ["follow", pid, user] => {
                let pid = pid.parse().unwrap();
                if user == "1" {
                    namespace::join_user(pid).unwrap();
                }
                namespace::new_net().unwrap();
                namespace::die_with_parent(pid).unwrap();
                links = Some(Links::open().unwrap());
                "ok".to_owned()
            }
            ["up", name, ref addresses @ ..] => {
                let links = links.as_mut().unwrap();
                links.quiet_ipv6(name).unwrap();
                for address in addresses {
                    add(links, name, address);
                }
                links.set_up(name).unwrap();
                "ok".to_owned()
            }
            ["mtu", name, mtu] => {
                links.as_mut().unwrap().set_mtu(name, mtu.parse().unwrap()).unwrap();
                "ok".to_owned()
            }
            ["echo", address] => echo(address.parse().unwrap()).to_string(),
            ["counters", name] => {
                serde_json::to_string(&Counters::read(links.as_mut().unwrap(), name).unwrap()).unwrap()
            }
            ["gone", name] => gone(links.as_mut().unwrap(), name).to_string(),
            ["names"] => {
                let found = links.as_mut().unwrap().list().unwrap();
                found.into_iter().map(|link| link.name).collect::<Vec<_>>().join(" ")
            }
            _ => panic!("{line:?} is no command"),
        };
        println!("{answer}");
    }
    ExitCode::SUCCESS
}

/// Gives an address such as `10.0.0.1/24`.
pub(crate) fn add(links: &mut Links, name: &str, address: &str) {
    let (address, prefix) = address.split_once('/').unwrap();
    links.add_address(name, address.parse().unwrap(), prefix.parse().unwrap()).unwrap();
}

/// Whether the interface goes within half a minute: the kernel takes a dead namespace apart in the
/// background.
pub(crate) fn gone(links: &mut Links, name: &str) -> bool {
    let deadline = Instant::now() + Duration::from_secs(30);
    while Instant::now() < deadline {
        match links.find(name) {
            Err(Error::NoInterface { .. }) => return true,
            found => drop(found.unwrap()),
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    false
}

/// Sends back whatever comes, from a thread.
fn echo(address: IpAddr) -> SocketAddr {
    let socket = UdpSocket::bind((address, 0)).unwrap();
    let at = socket.local_addr().unwrap();
    std::thread::spawn(move || {
        let mut buffer = [0; 65_536];
        while let Ok((length, from)) = socket.recv_from(&mut buffer) {
            socket.send_to(&buffer[..length], from).unwrap();
        }
    });
    at
}
