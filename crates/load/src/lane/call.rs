//! The system calls that move data, and the meaning of their silence.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Call {
    Connect,
    Send,
    Sendmmsg,
    Sendfile,
    Recv,
    Recvmsg,
}

impl Call {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Connect => "connect",
            Self::Send => "send",
            Self::Sendmmsg => "sendmmsg",
            Self::Sendfile => "sendfile",
            Self::Recv => "recv",
            Self::Recvmsg => "recvmsg",
        }
    }

    /// The other end's failure that a timeout of the call shows.
    pub(crate) fn silence(self) -> &'static str {
        match self {
            Self::Recv | Self::Recvmsg => "answered nothing",
            Self::Connect => "accepted no connection",
            Self::Send | Self::Sendmmsg | Self::Sendfile => "received nothing",
        }
    }
}

/// Code around each system call of a loop, which is compiled for it.
pub(crate) trait Calls {
    fn around<R>(&mut self, call: impl FnOnce() -> R) -> R;
}
