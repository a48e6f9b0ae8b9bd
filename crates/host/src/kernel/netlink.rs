//! One blocking netlink socket: sends a request and collects the answers.

use std::io;

use netlink_sys::{Socket, SocketAddr};
use nix::libc;

use crate::kernel::attributes::{attribute, text, u16_at, u32_at};

/// A socket to the kernel, in the network namespace of the thread that opened it.
#[derive(Debug)]
pub(crate) struct Netlink {
    socket: Socket,
    sequence: u32,
}

#[derive(Debug)]
pub(crate) enum NetlinkFailure {
    Transport(io::Error),
    Refused { errno: io::Error, said: Option<String> },
    Malformed(String),
}

pub(crate) const CREATE_NEW: i32 = libc::NLM_F_CREATE | libc::NLM_F_EXCL;

// `struct nlmsghdr`.
const HEADER: usize = 16;
const NLMSGERR_ATTR_MSG: u16 = 1;

// Attempts at a dump that a concurrent change disturbs; then the last answer is used.
const DUMPS: u32 = 8;

impl Netlink {
    pub(crate) fn open(protocol: isize) -> io::Result<Self> {
        let mut socket = Socket::new(protocol)?;
        // The kernel's error message, and no echo of the request.
        let _ = socket.set_ext_ack(true);
        let _ = socket.set_cap_ack(true);
        socket.bind_auto()?;
        socket.connect(&SocketAddr::new(0, 0))?;
        Ok(Self { socket, sequence: 0 })
    }

    pub(crate) fn ask(
        &mut self,
        kind: u16,
        payload: &[u8],
        flags: i32,
    ) -> Result<Vec<Vec<u8>>, NetlinkFailure> {
        self.send(kind, payload, libc::NLM_F_ACK | flags)?;
        self.collect().map(|(answers, _)| answers)
    }

    pub(crate) fn dump(&mut self, kind: u16, payload: &[u8]) -> Result<Vec<Vec<u8>>, NetlinkFailure> {
        let mut attempt = 1;
        loop {
            self.send(kind, payload, libc::NLM_F_DUMP)?;
            let (answers, interrupted) = self.collect()?;
            // An interrupted dump may lack entries, or have some of them twice.
            if !interrupted || attempt == DUMPS {
                return Ok(answers);
            }
            attempt += 1;
        }
    }

    fn send(&mut self, kind: u16, payload: &[u8], flags: i32) -> Result<(), NetlinkFailure> {
        self.sequence = self.sequence.wrapping_add(1);
        let bytes = encoded(kind, payload, libc::NLM_F_REQUEST | flags, self.sequence);
        loop {
            match self.socket.send(&bytes, 0) {
                Ok(_) => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(NetlinkFailure::Transport(error)),
            }
        }
    }

    /// The payloads of the answers to the last request, and whether a change interfered.
    fn collect(&mut self) -> Result<(Vec<Vec<u8>>, bool), NetlinkFailure> {
        let mut answers = Vec::new();
        let mut interrupted = false;
        loop {
            let datagram = match self.socket.recv_from_full() {
                Ok((datagram, _)) => datagram,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(NetlinkFailure::Transport(error)),
            };
            for frame in frames(&datagram) {
                let frame = frame?;
                // An answer to an earlier request whose collection ended with an error.
                if frame.sequence != self.sequence {
                    continue;
                }
                interrupted |= frame.flags & libc::NLM_F_DUMP_INTR != 0;
                match frame.end() {
                    None => answers.push(frame.payload.to_vec()),
                    Some(end) => return end.map(|()| (answers, interrupted)),
                }
            }
        }
    }
}

pub(crate) fn encoded(kind: u16, payload: &[u8], flags: i32, sequence: u32) -> Vec<u8> {
    // No request has 4 GiB.
    let mut bytes = ((HEADER + payload.len()) as u32).to_ne_bytes().to_vec();
    bytes.extend(kind.to_ne_bytes());
    // All flags are in the lower half.
    bytes.extend((flags as u16).to_ne_bytes());
    bytes.extend(sequence.to_ne_bytes());
    // The kernel's own port.
    bytes.extend([0; 4]);
    bytes.extend(payload);
    bytes
}

#[derive(Debug)]
pub(crate) struct NetlinkFrame<'a> {
    kind: i32,
    flags: i32,
    sequence: u32,
    pub(crate) payload: &'a [u8],
}

/// The messages of a datagram.
pub(crate) fn frames(mut rest: &[u8]) -> impl Iterator<Item = Result<NetlinkFrame<'_>, NetlinkFailure>> {
    std::iter::from_fn(move || {
        // A message whose length is wrong ends the list: where the next one begins is unknown.
        let bytes = std::mem::take(&mut rest);
        if bytes.is_empty() {
            return None;
        }
        let length = u32_at(bytes, 0).map_or(0, |length| length as usize);
        let Some(payload) = bytes.get(HEADER..length) else {
            return Some(Err(NetlinkFailure::Malformed(
                "a message does not end with its datagram".to_owned(),
            )));
        };
        rest = bytes.get(length.next_multiple_of(4)..).unwrap_or_default();
        let [kind, flags] = [u16_at(bytes, 4)?, u16_at(bytes, 6)?].map(i32::from);
        Some(Ok(NetlinkFrame { kind, flags, sequence: u32_at(bytes, 8)?, payload }))
    })
}

impl NetlinkFrame<'_> {
    pub(crate) fn end(&self) -> Option<Result<(), NetlinkFailure>> {
        let malformed = |why: String| Some(Err(NetlinkFailure::Malformed(why)));
        match self.kind {
            // Since Linux 4.15 the end of a dump carries an errno too.
            libc::NLMSG_DONE if self.payload.is_empty() => Some(Ok(())),
            kind @ (libc::NLMSG_ERROR | libc::NLMSG_DONE) => {
                match u32_at(self.payload, 0).map(u32::cast_signed) {
                    Some(code) if code >= 0 => Some(Ok(())),
                    Some(code) => Some(Err(NetlinkFailure::Refused {
                        errno: io::Error::from_raw_os_error(code.saturating_neg()),
                        said: self.kernel_message(),
                    })),
                    None => malformed(format!("message {kind} has no error number")),
                }
            }
            libc::NLMSG_OVERRUN => malformed("messages were lost".to_owned()),
            _ => None,
        }
    }

    fn kernel_message(&self) -> Option<String> {
        // Without this flag the rest of the answer is no list of attributes.
        if self.flags & libc::NLM_F_ACK_TLVS == 0 {
            return None;
        }
        // An error repeats the header of the request before its attributes; the end of a dump does
        // not.
        let request = if self.kind == libc::NLMSG_DONE { 0 } else { HEADER };
        text(attribute(self.payload.get(size_of::<i32>() + request..)?, NLMSGERR_ATTR_MSG)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::attributes::{encode, string};

    fn message(kind: i32, flags: i32, payload: &[u8]) -> Vec<u8> {
        let mut bytes = encoded(kind as u16, payload, flags, 7);
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        bytes
    }

    #[test]
    fn messages_in_one_datagram_are_taken_apart() {
        let mut bytes = message(16, 2, b"one");
        bytes.extend(message(libc::NLMSG_DONE, 2, &0i32.to_ne_bytes()));
        let frames: Vec<_> = frames(&bytes).map(Result::unwrap).collect();
        assert_eq!(frames.len(), 2);
        let first = &frames[0];
        assert_eq!((first.kind, first.payload, first.sequence), (16, &b"one"[..], 7));
        assert!(first.end().is_none());
        assert!(matches!(frames[1].end(), Some(Ok(()))));
    }

    #[test]
    fn an_error_carries_the_kernels_sentence() {
        let mut payload = (-22i32).to_ne_bytes().to_vec();
        payload.extend(message(16, 0, &[]));
        payload.extend(encode(&[(NLMSGERR_ATTR_MSG, string("mtu too large"))]));
        let bytes = message(libc::NLMSG_ERROR, libc::NLM_F_ACK_TLVS | libc::NLM_F_CAPPED, &payload);
        let end = frames(&bytes).next().unwrap().unwrap().end();
        let Some(Err(NetlinkFailure::Refused { errno, said })) = end else { panic!("not refused") };
        assert_eq!(errno.raw_os_error(), Some(22));
        assert_eq!(said.as_deref(), Some("mtu too large"));
    }

    #[test]
    fn an_error_without_its_number_is_damaged() {
        let bytes = message(libc::NLMSG_ERROR, 0, &[1, 2]);
        let end = frames(&bytes).next().unwrap().unwrap().end();
        let Some(Err(NetlinkFailure::Malformed(why))) = end else { panic!("not damaged") };
        assert_eq!(why, "message 2 has no error number");
    }
}
