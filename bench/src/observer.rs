//! Seeing the end of network namespaces from outside.
//!
//! A namespace ends some time after its last process: the kernel takes its interfaces down in a
//! worker of its own, and nobody inside is left to watch. So a watcher in a third namespace lays a
//! wire of its own into each namespace of the testbed. The kernel unregisters all interfaces of an
//! ending namespace in one go (`default_device_exit_batch` in `net/core/dev.c`), the far end of the
//! watcher's wire among them, and with it the near end goes, which the kernel announces to the
//! watcher (`RTM_DELLINK`). The wire itself adds a little to the work that is timed.

use std::io::{self, BufRead as _, BufReader, Write as _};
use std::os::fd::{AsFd as _, AsRawFd as _, BorrowedFd};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use clap::Args;
use host::{Links, namespace};
use netlink_sys::{Socket, SocketAddr, protocols::NETLINK_ROUTE};

use crate::failure::Failure;
use crate::{clock, ready};

/// How long the end may take before the watcher gives up.
const PATIENCE: Duration = Duration::from_secs(10);
/// Interfaces come and go (`linux/rtnetlink.h`).
const RTMGRP_LINK: u32 = 1;

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
    let place = |error: &dyn std::fmt::Display| Failure::Environment(error.to_string());
    if let Some(pid) = observe.user_of {
        namespace::join_user(pid).map_err(|error| place(&error))?;
    }
    namespace::new_net().map_err(|error| place(&error))?;
    namespace::die_with_parent(observe.parent).map_err(|error| place(&error))?;
    let mut links = Links::open().map_err(|error| place(&error))?;
    let mut waiting = Vec::new();
    for (number, pid) in observe.of.iter().enumerate() {
        let name = format!("watch{number}");
        links.create_veth(&name, &format!("watched{number}"), *pid).map_err(|error| place(&error))?;
        waiting.push(links.find(&name).map_err(|error| place(&error))?.index);
    }
    let socket = listen().map_err(Failure::io("cannot listen for interfaces that go"))?;
    say("ready")?;
    while !waiting.is_empty() {
        // SAFETY: the socket owns the descriptor and outlives the borrow.
        let fd = unsafe { BorrowedFd::borrow_raw(socket.as_raw_fd()) };
        if ready::first(&[fd], PATIENCE)?.is_none() {
            return Err(Failure::Environment(format!("the interfaces are still there after {PATIENCE:?}")));
        }
        let (message, _) = socket.recv_from_full().map_err(Failure::io("cannot hear of interfaces"))?;
        if let Some(index) = deleted(&message) {
            waiting.retain(|waited| *waited != index);
        }
    }
    say(&clock::monotonic()?.as_nanos().to_string())
}

fn listen() -> io::Result<Socket> {
    let mut socket = Socket::new(NETLINK_ROUTE)?;
    socket.bind(&SocketAddr::new(0, RTMGRP_LINK))?;
    Ok(socket)
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

/// A watcher at work.
#[derive(Debug)]
pub(crate) struct Observer {
    child: Child,
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
        let mut child = command.spawn().map_err(Failure::io("cannot start the watcher"))?;
        let out =
            child.stdout.take().ok_or_else(|| Failure::Internal("the watcher has no output".to_owned()))?;
        let mut observer = Self { child, lines: BufReader::new(out) };
        match observer.line()?.as_str() {
            "ready" => Ok(observer),
            other => Err(Failure::Environment(format!("the watcher cannot watch ({other:?})"))),
        }
    }

    /// Waits until the interfaces are gone, and says when that was (`CLOCK_MONOTONIC`).
    pub(crate) fn gone(mut self) -> Result<Duration, Failure> {
        let line = self.line()?;
        line.parse().map(Duration::from_nanos).map_err(|_| {
            Failure::Environment("the end of the interfaces was not seen: the watcher ended".to_owned())
        })
    }

    /// Its next line; empty when it has ended.
    fn line(&mut self) -> Result<String, Failure> {
        let answers = Duration::from_secs(2) + PATIENCE;
        if self.lines.buffer().is_empty() && ready::first(&[self.lines.get_ref().as_fd()], answers)?.is_none()
        {
            return Err(Failure::Environment("the watcher does not answer".to_owned()));
        }
        let mut line = String::new();
        self.lines.read_line(&mut line).map_err(Failure::io("cannot hear the watcher"))?;
        Ok(line.trim_end().to_owned())
    }
}

impl Drop for Observer {
    fn drop(&mut self) {
        // Both fail only when it is gone already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(kind: u16, index: u32) -> Vec<u8> {
        let mut bytes = vec![0; 32];
        bytes[4..6].copy_from_slice(&kind.to_ne_bytes());
        bytes[20..24].copy_from_slice(&index.to_ne_bytes());
        bytes
    }

    #[test]
    fn only_an_interface_that_goes_is_gone() {
        assert_eq!(deleted(&message(libc::RTM_DELLINK, 7)), Some(7));
        assert_eq!(deleted(&message(libc::RTM_NEWLINK, 7)), None);
        assert_eq!(deleted(&message(libc::RTM_DELLINK, 7)[..23]), None);
        assert_eq!(deleted(&[]), None);
    }
}
