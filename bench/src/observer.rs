//! Seeing the end of network namespaces from outside.
//!
//! A namespace ends some time after its last process: the kernel takes its interfaces down in a
//! worker of its own, and nobody inside is left to watch. So a watcher in a third namespace puts
//! one end of a veth pair into each namespace of the testbed. The kernel unregisters all interfaces
//! of an ending namespace in one go (`default_device_exit_batch` in `net/core/dev.c`), the far end
//! of the watcher's pair among them, and with it the near end goes, which the kernel announces to
//! the watcher (`RTM_DELLINK`). The pair itself adds a little to the work that is timed.

use std::io::{self, BufRead as _, BufReader, Write as _};
use std::os::fd::{AsRawFd as _, BorrowedFd};
use std::process::{ChildStdout, Command, Stdio};
use std::time::Duration;

use clap::Args;
use host::{Links, namespace};
use netlink_sys::{Socket, SocketAddr, protocols::NETLINK_ROUTE};
use nix::time::{ClockId, clock_gettime};

use crate::failure::Failure;
use crate::process::Owned;
use crate::wait;

/// How long the end may take before the watcher gives up.
const PATIENCE: Duration = Duration::from_secs(10);
/// Interfaces come and go (`linux/rtnetlink.h`).
const RTMGRP_LINK: u32 = 1;

/// `CLOCK_MONOTONIC`: the same in every process of this machine.
pub(crate) fn monotonic() -> Duration {
    // It fails only for clocks that there are not.
    clock_gettime(ClockId::CLOCK_MONOTONIC).map_or(Duration::ZERO, Duration::from)
}

/// Whose namespaces are watched.
#[derive(Debug, Args)]
pub(crate) struct Observe {
    /// A process in each network namespace to watch
    #[arg(long, required = true)]
    of: Vec<u32>,
    /// The process whose user namespace owns them
    #[arg(long)]
    user_of: Option<u32>,
    /// The process to die with
    #[arg(long)]
    parent: u32,
}

/// `netassay-bench observe`: says `ready`, and then when (`CLOCK_MONOTONIC`, in ns) the last
/// interface went.
pub(crate) fn serve(observe: &Observe) -> Result<(), Failure> {
    if let Some(pid) = observe.user_of {
        namespace::join_user(pid).map_err(Failure::environment)?;
    }
    namespace::new_net().map_err(Failure::environment)?;
    namespace::die_with_parent(observe.parent).map_err(Failure::environment)?;
    let mut links = Links::open().map_err(Failure::environment)?;
    let mut waiting = Vec::new();
    for (number, pid) in observe.of.iter().enumerate() {
        let name = format!("watch{number}");
        links.create_veth(&name, &format!("watched{number}"), *pid).map_err(Failure::environment)?;
        waiting.push(links.find(&name).map_err(Failure::environment)?.index);
    }
    let cannot = || Failure::io("cannot hear of interfaces that go");
    let mut socket = Socket::new(NETLINK_ROUTE).map_err(cannot())?;
    socket.bind(&SocketAddr::new(0, RTMGRP_LINK)).map_err(cannot())?;
    say("ready")?;
    while !waiting.is_empty() {
        // SAFETY: the socket owns the descriptor and outlives the borrow.
        let fd = unsafe { BorrowedFd::borrow_raw(socket.as_raw_fd()) };
        if !wait::ready(fd, PATIENCE)? {
            return Err(Failure::Environment(format!("the interfaces are still there after {PATIENCE:?}")));
        }
        let (message, _) = socket.recv_from_full().map_err(cannot())?;
        if let Some(index) = deleted(&message) {
            waiting.retain(|waited| *waited != index);
        }
    }
    say(&monotonic().as_nanos().to_string())
}

/// The index of the interface that a message says is gone. A message is a header of 16 bytes
/// (`struct nlmsghdr`, its type at 4), followed by `struct ifinfomsg` with the index at 4
/// (`linux/netlink.h`, `linux/rtnetlink.h`).
fn deleted(message: &[u8]) -> Option<u32> {
    let kind = u16::from_ne_bytes(message.get(4..6)?.try_into().ok()?);
    let index = u32::from_ne_bytes(message.get(20..24)?.try_into().ok()?);
    (kind == libc::RTM_DELLINK).then_some(index)
}

fn say(line: &str) -> Result<(), Failure> {
    let mut out = io::stdout();
    writeln!(out, "{line}").and_then(|()| out.flush()).map_err(Failure::io("cannot answer the bench"))
}

#[derive(Debug)]
pub(crate) struct Observer {
    _child: Owned,
    lines: BufReader<ChildStdout>,
}

impl Observer {
    /// Starts to watch the namespaces of these processes.
    pub(crate) fn start(of: [u32; 2], rootless: bool) -> Result<Self, Failure> {
        let mut command = Command::new("/proc/self/exe");
        command.args(["observe", "--parent", &std::process::id().to_string()]);
        for pid in of {
            command.args(["--of", &pid.to_string()]);
        }
        if rootless {
            command.args(["--user-of", &of[0].to_string()]);
        }
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        let mut child = command.spawn().map(Owned).map_err(Failure::io("cannot start the watcher"))?;
        let out = child.0.stdout.take().ok_or_else(|| Failure::failed("the watcher has no output"))?;
        let mut observer = Self { _child: child, lines: BufReader::new(out) };
        match observer.line()?.as_str() {
            "ready" => Ok(observer),
            other => Err(Failure::Environment(format!("the watcher cannot watch ({other:?})"))),
        }
    }

    /// Waits until the interfaces are gone, and says when that was (`CLOCK_MONOTONIC`).
    pub(crate) fn gone(mut self) -> Result<Duration, Failure> {
        let when = self.line()?.parse().map(Duration::from_nanos);
        when.map_err(|_| Failure::environment("it was not seen: the watcher ended"))
    }

    /// Its next line; empty when it has ended, which it does on its own.
    fn line(&mut self) -> Result<String, Failure> {
        let mut line = String::new();
        self.lines.read_line(&mut line).map_err(Failure::io("cannot hear the watcher"))?;
        Ok(line.trim_end().to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_interface_that_goes_is_gone() {
        let message = |kind: u16| {
            let mut bytes = vec![0; 32];
            bytes[4..6].copy_from_slice(&kind.to_ne_bytes());
            bytes[20..24].copy_from_slice(&7_u32.to_ne_bytes());
            bytes
        };
        assert_eq!(deleted(&message(libc::RTM_DELLINK)), Some(7));
        assert_eq!(deleted(&message(libc::RTM_NEWLINK)), None);
        assert_eq!(deleted(&message(libc::RTM_DELLINK)[..23]), None);
    }
}
