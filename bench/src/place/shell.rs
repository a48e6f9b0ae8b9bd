//! The shell in a guest: this program beside the agents, which does there what the bench asks. Only
//! the bench can reach it: the guest's network is a namespace that the bench has made.
//!
//! It is no part of netassay, whose guests run nothing but netassay.

use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::io::{BufReader, Read, Write};
use std::net::{Ipv6Addr, TcpListener};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Command, ExitCode};

use super::protocol::{Answer, Conversation, PORT, Request};
use super::{Namespace, Place as _, Resident};
use crate::failure::Failure;

/// Starts the shell in a guest whose first process this is. If it cannot be started, nobody listens
/// at its port, and the bench says so.
pub(crate) fn start() {
    let _ = Command::new("/init").arg("shell").spawn();
}

/// `netassay-bench shell`: listens over both families, and serves one bench after the other.
pub(crate) fn serve() -> Result<ExitCode, Failure> {
    let listener = TcpListener::bind((Ipv6Addr::UNSPECIFIED, PORT)).map_err(Failure::io("cannot listen"))?;
    loop {
        let (stream, _) = listener.accept().map_err(Failure::io("cannot accept"))?;
        stream.set_nodelay(true).map_err(Failure::io("cannot set TCP_NODELAY"))?;
        let from = stream.try_clone().map_err(Failure::io("no descriptor"))?;
        Shell::default().talk(from, stream)?;
    }
}

/// What one bench has going. With it all programs end.
#[derive(Debug, Default)]
struct Shell {
    programs: BTreeMap<usize, Resident>,
    started: usize,
}

impl Shell {
    fn talk(mut self, from: impl Read, to: impl Write) -> Result<(), Failure> {
        let mut bench = Conversation::new(BufReader::new(from), to);
        while let Some(request) = bench.hear()? {
            // Whatever becomes of the file, its bytes are not the next message.
            let bytes =
                if let Request::Put { length, .. } = request { bench.bytes(length)? } else { Vec::new() };
            let answer = self.answer(request, &bytes);
            bench.say(&answer.unwrap_or_else(|failure| Answer::Refused(failure.to_string())), &[])?;
        }
        Ok(())
    }

    fn answer(&mut self, request: Request, bytes: &[u8]) -> Result<Answer, Failure> {
        let here = |cpus| Namespace { agent: std::process::id(), rootless: false, cpus };
        Ok(match request {
            Request::Put { path, .. } => {
                put(Path::new(&path), bytes).map_err(Failure::io(format!("cannot write {path}")))?;
                Answer::Done
            }
            Request::Start { program, cpus } => {
                self.started += 1;
                self.programs.insert(self.started, here(cpus).start(&program)?);
                Answer::Started(self.started)
            }
            Request::Ended { number } => {
                Answer::Ended(self.program(number)?.ended()?.map(|status| status.into_raw()))
            }
            Request::Stop { number } => {
                self.program(number)?.stop();
                Answer::Done
            }
            Request::Output { number } => Answer::Text(self.program(number)?.output()),
            Request::Words { number } => Answer::Text(self.program(number)?.words()),
            Request::Read { files } => {
                let files: Vec<&str> = files.iter().map(String::as_str).collect();
                let read = here(Vec::new()).read(&files)?;
                Answer::Read { at_ns: read.at.as_nanos() as u64, texts: read.texts }
            }
        })
    }

    fn program(&mut self, number: usize) -> Result<&mut Resident, Failure> {
        let none = || Failure::Internal(format!("there is no program {number}"));
        self.programs.get_mut(&number).ok_or_else(none)
    }
}

fn put(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    if let Some(directory) = path.parent() {
        fs::create_dir_all(directory)?;
    }
    fs::write(path, bytes)?;
    fs::set_permissions(path, Permissions::from_mode(0o755))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_writes_and_reads_files_and_refuses_what_it_cannot_do() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("bin/program");
        let mut asked = Vec::new();
        let mut bench = Conversation::new(&b""[..], &mut asked);
        let put = Request::Put { path: path.to_string_lossy().into_owned(), length: 3 };
        bench.say(&put, b"a\nb").unwrap();
        bench.say(&Request::Put { path: "/proc/no/such".to_owned(), length: 2 }, b"cd").unwrap();
        bench.say(&Request::Read { files: vec!["snmp".to_owned(), "netstat".to_owned()] }, b"").unwrap();
        bench.say(&Request::Ended { number: 1 }, b"").unwrap();
        let mut answered = Vec::new();
        Shell::default().talk(asked.as_slice(), &mut answered).unwrap();

        assert_eq!(fs::read(&path).unwrap(), b"a\nb");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o755);
        let mut answers = Conversation::new(answered.as_slice(), Vec::new());
        let mut next = || answers.hear::<Answer>().unwrap().unwrap();
        assert_eq!(next(), Answer::Done);
        assert!(matches!(next(), Answer::Refused(why) if why.contains("/proc/no/such")));
        let Answer::Read { at_ns, texts } = next() else { panic!() };
        assert!(at_ns > 0 && texts[0].contains("Udp: ") && texts[1].contains("IpExt: "));
        assert_eq!(next(), Answer::Refused("there is no program 1".to_owned()));
    }
}
