//! One blocking netlink socket: ask, and collect the answers until the kernel says that it is done.

use std::io;

use netlink_packet_core::{
    NLM_F_ACK, NLM_F_ACK_TLVS, NLM_F_CAPPED, NLM_F_DUMP, NLM_F_DUMP_INTR, NLM_F_REQUEST, NetlinkMessage,
    NetlinkSerializable,
};
use netlink_sys::{Socket, SocketAddr};

use crate::kernel::attributes::{attributes, text};

/// A socket to the kernel. It belongs to the network namespace of the thread that opened it,
/// whatever namespace that thread joins afterwards.
#[derive(Debug)]
pub(crate) struct Netlink {
    socket: Socket,
    sequence: u32,
}

/// Why an exchange failed.
#[derive(Debug)]
pub(crate) enum Failure {
    Transport(io::Error),
    Refused { errno: io::Error, said: Option<String> },
    Malformed(String),
}

impl From<String> for Failure {
    fn from(why: String) -> Self {
        Self::Malformed(why)
    }
}

/// How often a dump that was overtaken by a change is asked for again before its newest answer is
/// taken as it is.
const DUMPS: u32 = 8;

impl Netlink {
    /// Opens a socket for `protocol` (a constant of `netlink_sys::protocols`).
    pub(crate) fn open(protocol: isize) -> io::Result<Self> {
        let mut socket = Socket::new(protocol)?;
        // The kernel's own sentence with an error, and no echo of the request: both exist since
        // Linux 4.12 and are only comfort, so an old kernel may refuse them.
        let _ = socket.set_ext_ack(true);
        let _ = socket.set_cap_ack(true);
        socket.bind_auto()?;
        socket.connect(&SocketAddr::new(0, 0))?;
        Ok(Self { socket, sequence: 0 })
    }

    /// Asks for one thing; the answers' payloads are those that came before the acknowledgement.
    pub(crate) fn ask<M>(&mut self, message: M, flags: u16) -> Result<Vec<Vec<u8>>, Failure>
    where
        M: NetlinkSerializable,
        NetlinkMessage<M>: From<M>,
    {
        self.send(message, NLM_F_REQUEST | NLM_F_ACK | flags)?;
        self.collect().map(|(answers, _)| answers)
    }

    /// Asks for all there is of something.
    pub(crate) fn dump<M>(&mut self, message: M) -> Result<Vec<Vec<u8>>, Failure>
    where
        M: NetlinkSerializable + Clone,
        NetlinkMessage<M>: From<M>,
    {
        let mut attempt = 1;
        loop {
            self.send(message.clone(), NLM_F_REQUEST | NLM_F_DUMP)?;
            let (answers, interrupted) = self.collect()?;
            if !interrupted || attempt == DUMPS {
                return Ok(answers);
            }
            attempt += 1;
        }
    }

    fn send<M>(&mut self, message: M, flags: u16) -> Result<(), Failure>
    where
        M: NetlinkSerializable,
        NetlinkMessage<M>: From<M>,
    {
        self.sequence = self.sequence.wrapping_add(1);
        let mut message = NetlinkMessage::from(message);
        message.header.flags = flags;
        message.header.sequence_number = self.sequence;
        message.finalize();
        let mut bytes = vec![0; message.buffer_len()];
        message.serialize(&mut bytes);
        loop {
            match self.socket.send(&bytes, 0) {
                Ok(_) => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(Failure::Transport(error)),
            }
        }
    }

    /// The payloads of the answers to the last request, and whether the kernel says that a change
    /// overtook them.
    fn collect(&mut self) -> Result<(Vec<Vec<u8>>, bool), Failure> {
        let mut answers = Vec::new();
        let mut interrupted = false;
        loop {
            let datagram = match self.socket.recv_from_full() {
                Ok((datagram, _)) => datagram,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(Failure::Transport(error)),
            };
            for frame in frames(&datagram) {
                let frame = frame?;
                // An answer to a request whose collection ended early with an error.
                if frame.sequence != self.sequence {
                    continue;
                }
                interrupted |= frame.flags & NLM_F_DUMP_INTR != 0;
                match verdict(&frame) {
                    Verdict::Answer => answers.push(frame.payload.to_vec()),
                    Verdict::Done => return Ok((answers, interrupted)),
                    Verdict::Failed(failure) => return Err(failure),
                }
            }
        }
    }
}

/// One message of a datagram.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame<'a> {
    kind: u16,
    flags: u16,
    sequence: u32,
    pub(crate) payload: &'a [u8],
}

/// `struct nlmsghdr`: length, type, flags, sequence, port.
const HEADER: usize = 16;
const NLMSG_ERROR: u16 = 2;
const NLMSG_DONE: u16 = 3;
const NLMSG_OVERRUN: u16 = 4;
const NLMSGERR_ATTR_MSG: u16 = 1;

pub(crate) fn frames(mut bytes: &[u8]) -> impl Iterator<Item = Result<Frame<'_>, String>> {
    std::iter::from_fn(move || {
        if bytes.is_empty() {
            return None;
        }
        let all = std::mem::take(&mut bytes);
        let frame = frame(all);
        if let Ok(frame) = &frame {
            bytes = all.get((HEADER + frame.payload.len()).next_multiple_of(4)..).unwrap_or_default();
        }
        Some(frame)
    })
}

fn frame(bytes: &[u8]) -> Result<Frame<'_>, String> {
    let header: &[u8; HEADER] =
        bytes.first_chunk().ok_or_else(|| format!("a message of {} bytes", bytes.len()))?;
    let [l0, l1, l2, l3, k0, k1, f0, f1, s0, s1, s2, s3, ..] = *header;
    let length = u32::from_ne_bytes([l0, l1, l2, l3]);
    let payload = usize::try_from(length)
        .ok()
        .and_then(|length| bytes.get(HEADER..length))
        .ok_or_else(|| format!("a message says {length} bytes, {} are there", bytes.len()))?;
    Ok(Frame {
        kind: u16::from_ne_bytes([k0, k1]),
        flags: u16::from_ne_bytes([f0, f1]),
        sequence: u32::from_ne_bytes([s0, s1, s2, s3]),
        payload,
    })
}

pub(crate) enum Verdict {
    Answer,
    Done,
    Failed(Failure),
}

pub(crate) fn verdict(frame: &Frame<'_>) -> Verdict {
    match frame.kind {
        // Since Linux 4.15 the end of a dump carries an errno too.
        NLMSG_ERROR | NLMSG_DONE => match frame.payload.first_chunk().map(|code| i32::from_ne_bytes(*code)) {
            None if frame.kind == NLMSG_DONE => Verdict::Done,
            None => Verdict::Failed(Failure::Malformed("an error without a number".to_owned())),
            Some(code) if code >= 0 => Verdict::Done,
            Some(code) => Verdict::Failed(Failure::Refused {
                errno: io::Error::from_raw_os_error(code.saturating_neg()),
                said: said(frame),
            }),
        },
        NLMSG_OVERRUN => Verdict::Failed(Failure::Malformed("messages were lost".to_owned())),
        _ => Verdict::Answer,
    }
}

/// The kernel's sentence: an attribute behind the errno and the header (or, without capping, the
/// whole) of the request.
fn said(frame: &Frame<'_>) -> Option<String> {
    if frame.flags & NLM_F_ACK_TLVS == 0 {
        return None;
    }
    let behind_code = frame.payload.get(4..)?;
    let request = if frame.kind == NLMSG_DONE {
        0
    } else if frame.flags & NLM_F_CAPPED != 0 {
        HEADER
    } else {
        usize::try_from(u32::from_ne_bytes(*behind_code.first_chunk()?)).ok()?.checked_next_multiple_of(4)?
    };
    attributes(behind_code.get(request..)?)
        .flatten()
        .find(|attribute| attribute.kind == NLMSGERR_ATTR_MSG)
        .and_then(|attribute| text(attribute.value))
        .map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::kernel::attributes::push;

    fn message(kind: u16, flags: u16, payload: &[u8]) -> Vec<u8> {
        let mut bytes = u32::try_from(HEADER + payload.len()).unwrap().to_ne_bytes().to_vec();
        bytes.extend(kind.to_ne_bytes());
        bytes.extend(flags.to_ne_bytes());
        bytes.extend(7u32.to_ne_bytes());
        bytes.extend(0u32.to_ne_bytes());
        bytes.extend(payload);
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        bytes
    }

    #[test]
    fn messages_in_one_datagram_are_taken_apart() {
        let mut bytes = message(16, 2, b"one");
        bytes.extend(message(NLMSG_DONE, 2, &0i32.to_ne_bytes()));
        let frames: Vec<_> = frames(&bytes).map(Result::unwrap).collect();
        assert_eq!(frames.len(), 2);
        assert_eq!((frames[0].kind, frames[0].payload, frames[0].sequence), (16, &b"one"[..], 7));
        assert!(matches!(verdict(&frames[0]), Verdict::Answer));
        assert!(matches!(verdict(&frames[1]), Verdict::Done));
    }

    #[test]
    fn an_error_carries_the_kernels_sentence_capped_or_not() {
        for (flags, request) in [(NLM_F_ACK_TLVS | NLM_F_CAPPED, HEADER), (NLM_F_ACK_TLVS, 32)] {
            let mut payload = (-22i32).to_ne_bytes().to_vec();
            let mut echo = message(16, 0, &[0; 16]);
            echo.truncate(request);
            payload.extend(echo);
            push(&mut payload, NLMSGERR_ATTR_MSG, b"mtu too large\0");
            let bytes = message(NLMSG_ERROR, flags, &payload);
            let frame = frame(&bytes).unwrap();
            let Verdict::Failed(Failure::Refused { errno, said }) = verdict(&frame) else {
                panic!("not refused")
            };
            assert_eq!(errno.raw_os_error(), Some(22));
            assert_eq!(said.as_deref(), Some("mtu too large"));
        }
    }

    proptest! {
        #[test]
        fn any_datagram_is_read_to_an_end(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            for frame in frames(&bytes).flatten() {
                let _ = verdict(&frame);
            }
        }

        #[test]
        fn any_error_payload_is_read(
            kind in 0u16..6,
            flags in any::<u16>(),
            payload in prop::collection::vec(any::<u8>(), 0..100)
        ) {
            let bytes = message(kind, flags, &payload);
            let _ = verdict(&frame(&bytes).unwrap());
        }
    }
}
