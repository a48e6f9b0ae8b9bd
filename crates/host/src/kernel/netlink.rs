//! One blocking netlink socket: sends a request and collects the answers.

use std::io;

use netlink_packet_core::{
    DecodeError, NLM_F_ACK, NLM_F_ACK_TLVS, NLM_F_CAPPED, NLM_F_DUMP, NLM_F_DUMP_INTR, NLM_F_REQUEST,
    NLMSG_DONE, NLMSG_ERROR, NLMSG_OVERRUN, NetlinkBuffer, NetlinkMessage, NetlinkSerializable, NlasIterator,
    parse_i32, parse_string,
};
use netlink_sys::{Socket, SocketAddr};

/// A socket to the kernel. It belongs to the network namespace of the thread that opened it, even
/// if that thread enters another one later.
#[derive(Debug)]
pub(crate) struct Netlink {
    socket: Socket,
    sequence: u32,
}

/// The reason why an exchange failed.
#[derive(Debug)]
pub(crate) enum Failure {
    Transport(io::Error),
    Refused { errno: io::Error, said: Option<String> },
    Malformed(String),
}

impl From<DecodeError> for Failure {
    fn from(why: DecodeError) -> Self {
        Self::Malformed(why.to_string())
    }
}

// The number of attempts at a dump that a concurrent change disturbs; then the last answer is
// used.
const DUMPS: u32 = 8;

impl Netlink {
    /// Opens a socket for `protocol` (a constant of `netlink_sys::protocols`).
    pub(crate) fn open(protocol: isize) -> io::Result<Self> {
        let mut socket = Socket::new(protocol)?;
        // The kernel's error message, and no echo of the request. Both are optional and exist since
        // Linux 4.12.
        let _ = socket.set_ext_ack(true);
        let _ = socket.set_cap_ack(true);
        socket.bind_auto()?;
        socket.connect(&SocketAddr::new(0, 0))?;
        Ok(Self { socket, sequence: 0 })
    }

    /// Requests one thing; returns the payloads before the acknowledgement.
    pub(crate) fn ask<M>(&mut self, message: M, flags: u16) -> Result<Vec<Vec<u8>>, Failure>
    where
        M: NetlinkSerializable,
        NetlinkMessage<M>: From<M>,
    {
        self.send(message, NLM_F_REQUEST | NLM_F_ACK | flags)?;
        self.collect().map(|(answers, _)| answers)
    }

    /// Requests a dump.
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

    /// The payloads of the answers to the last request, and whether a change interfered.
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
                // An answer to an earlier request whose collection ended with an error.
                if frame.sequence_number() != self.sequence {
                    continue;
                }
                interrupted |= frame.flags() & NLM_F_DUMP_INTR != 0;
                match reply_kind(&frame) {
                    ReplyKind::Answer => answers.push(frame.payload().to_vec()),
                    ReplyKind::Done => return Ok((answers, interrupted)),
                    ReplyKind::Failed(failure) => return Err(failure),
                }
            }
        }
    }
}

/// One message of a datagram, with a checked header.
pub(crate) type Frame<'a> = NetlinkBuffer<&'a [u8]>;

pub(crate) fn frames(mut rest: &[u8]) -> impl Iterator<Item = Result<Frame<'_>, DecodeError>> {
    std::iter::from_fn(move || {
        let bytes = std::mem::take(&mut rest);
        if bytes.is_empty() {
            return None;
        }
        let frame = NetlinkBuffer::new_checked(bytes);
        if let Ok(frame) = &frame {
            rest = bytes.get((frame.length() as usize).next_multiple_of(4)..).unwrap_or_default();
        }
        Some(frame)
    })
}

pub(crate) enum ReplyKind {
    Answer,
    Done,
    Failed(Failure),
}

pub(crate) fn reply_kind(frame: &Frame<'_>) -> ReplyKind {
    match frame.message_type() {
        // Since Linux 4.15 the end of a dump carries an errno too.
        NLMSG_DONE if frame.payload().is_empty() => ReplyKind::Done,
        kind @ (NLMSG_ERROR | NLMSG_DONE) => match frame.payload().get(..ERRNO).map(parse_i32) {
            Some(Ok(code)) if code >= 0 => ReplyKind::Done,
            Some(Ok(code)) => ReplyKind::Failed(Failure::Refused {
                errno: io::Error::from_raw_os_error(code.saturating_neg()),
                said: kernel_message(frame),
            }),
            _ => ReplyKind::Failed(Failure::Malformed(format!("message {kind} has no error number"))),
        },
        NLMSG_OVERRUN => ReplyKind::Failed(Failure::Malformed("messages were lost".to_owned())),
        _ => ReplyKind::Answer,
    }
}

/// The kernel's message: an attribute after the errno and the header (or, without capping, the
/// whole) of the request. The linked parsers end at the errno.
fn kernel_message(frame: &Frame<'_>) -> Option<String> {
    if frame.flags() & NLM_F_ACK_TLVS == 0 {
        return None;
    }
    let behind_code = frame.payload().get(ERRNO..)?;
    let request = if frame.message_type() == NLMSG_DONE {
        0
    } else if frame.flags() & NLM_F_CAPPED != 0 {
        HEADER
    } else {
        let request = NetlinkBuffer::new_checked(behind_code).ok()?;
        (request.length() as usize).next_multiple_of(4)
    };
    let sentence = NlasIterator::new(behind_code.get(request..)?)
        .flatten()
        .find(|attribute| attribute.kind() == NLMSGERR_ATTR_MSG)?;
    parse_string(sentence.value()).ok()
}

// `struct nlmsghdr`.
const HEADER: usize = 16;
// An `int` at the beginning of `NLMSG_ERROR` and `NLMSG_DONE`.
const ERRNO: usize = 4;
const NLMSGERR_ATTR_MSG: u16 = 1;

#[cfg(test)]
pub(crate) mod fixture {
    use super::HEADER;

    pub(crate) fn message(kind: u16, flags: u16, payload: &[u8]) -> Vec<u8> {
        let mut bytes = u32::try_from(HEADER + payload.len()).unwrap().to_ne_bytes().to_vec();
        bytes.extend(kind.to_ne_bytes());
        bytes.extend(flags.to_ne_bytes());
        bytes.extend(7u32.to_ne_bytes());
        bytes.extend(0u32.to_ne_bytes());
        bytes.extend(payload);
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::fixture::message;
    use super::*;
    use crate::kernel::attributes::{bytes, string};

    #[test]
    fn messages_in_one_datagram_are_taken_apart() {
        let mut bytes = message(16, 2, b"one");
        bytes.extend(message(NLMSG_DONE, 2, &0i32.to_ne_bytes()));
        let frames: Vec<_> = frames(&bytes).map(Result::unwrap).collect();
        assert_eq!(frames.len(), 2);
        let first = &frames[0];
        assert_eq!((first.message_type(), first.payload(), first.sequence_number()), (16, &b"one"[..], 7));
        assert!(matches!(reply_kind(first), ReplyKind::Answer));
        assert!(matches!(reply_kind(&frames[1]), ReplyKind::Done));
    }

    #[test]
    fn an_error_carries_the_kernels_sentence_capped_or_not() {
        for (flags, request) in [(NLM_F_ACK_TLVS | NLM_F_CAPPED, HEADER), (NLM_F_ACK_TLVS, 32)] {
            let mut payload = (-22i32).to_ne_bytes().to_vec();
            let mut echo = message(16, 0, &[0; 16]);
            echo.truncate(request);
            payload.extend(echo);
            payload.extend(bytes(&[string(NLMSGERR_ATTR_MSG, "mtu too large")]));
            let bytes = message(NLMSG_ERROR, flags, &payload);
            let frame = NetlinkBuffer::new_checked(&bytes[..]).unwrap();
            let ReplyKind::Failed(Failure::Refused { errno, said }) = reply_kind(&frame) else {
                panic!("not refused")
            };
            assert_eq!(errno.raw_os_error(), Some(22));
            assert_eq!(said.as_deref(), Some("mtu too large"));
        }
    }

    #[test]
    fn an_error_without_its_number_is_damaged() {
        let bytes = message(NLMSG_ERROR, 0, &[1, 2]);
        let frame = NetlinkBuffer::new_checked(&bytes[..]).unwrap();
        let ReplyKind::Failed(Failure::Malformed(why)) = reply_kind(&frame) else { panic!("not damaged") };
        assert_eq!(why, "message 2 has no error number");
    }
}
