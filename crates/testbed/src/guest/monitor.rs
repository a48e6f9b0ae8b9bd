//! QEMU's monitor, asked where the guest's first CPU is: what tells a guest that works from one
//! that spins, and is seen before its kernel prints anything.

use std::io::{self, Read as _, Write as _};
use std::os::unix::net::UnixStream;

/// Messages of QEMU's protocol (QMP): the beginning, and the question.
const BEGIN: &[u8] = b"{\"execute\":\"qmp_capabilities\"}\n";
const ASK: &[u8] =
    b"{\"execute\":\"human-monitor-command\",\"arguments\":{\"command-line\":\"info registers\"}}\n";
/// Limit of an answer, in bytes.
const LONGEST: usize = 64 << 10;

/// The controller's end. It never waits.
#[derive(Debug)]
pub(crate) struct Monitor {
    stream: UnixStream,
    heard: Vec<u8>,
    asked: bool,
}

/// The state of a CPU at one time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CpuState {
    /// Its general registers, as QEMU prints them.
    registers: String,
    /// The address of its next instruction.
    pub(crate) at: u64,
    halted: bool,
    interruptible: bool,
}

impl Monitor {
    pub(crate) fn new(stream: UnixStream) -> io::Result<Self> {
        stream.set_nonblocking(true)?;
        (&stream).write_all(BEGIN)?;
        Ok(Self { stream, heard: Vec::new(), asked: false })
    }

    /// The state of the CPU as of the last question, if the answer has come; and asks again.
    pub(crate) fn look(&mut self) -> Option<CpuState> {
        let mut piece = [0; 4096];
        while let Ok(count @ 1..) = self.stream.read(&mut piece) {
            self.heard.extend_from_slice(&piece[..count]);
        }
        let whole = self.heard.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        let lines: Vec<u8> = self.heard.drain(..whole).collect();
        if self.heard.len() > LONGEST {
            self.heard.clear();
        }
        let cpu = CpuState::parse(&String::from_utf8_lossy(&lines));
        self.asked &= cpu.is_none();
        if !self.asked {
            self.asked = self.stream.write_all(ASK).is_ok();
        }
        cpu
    }
}

impl CpuState {
    /// Reads what `info registers` prints (`target/i386/cpu-dump.c` of QEMU).
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (registers, rest) = text.split_once("IP=")?;
        let hex = |text: &str| {
            let end = text.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(text.len());
            u64::from_str_radix(&text[..end], 16).ok()
        };
        let flags = hex(rest.split_once("FL=")?.1)?;
        Some(Self {
            registers: registers.to_owned(),
            at: hex(rest)?,
            halted: rest.split_once("HLT=")?.1.starts_with('1'),
            interruptible: flags & 0x200 != 0,
        })
    }

    /// Whether it is where it was, and has what it had: it waits for something in a few
    /// instructions, or is halted.
    pub(crate) fn stands_as(&self, before: &Self) -> bool {
        self.at.abs_diff(before.at) < 32 && self.registers == before.registers
    }

    /// Whether no interrupt wakes it.
    pub(crate) fn is_halted_for_good(&self) -> bool {
        self.halted && !self.interruptible
    }

    pub(crate) fn is_idle(&self) -> bool {
        self.halted && self.interruptible
    }

    /// Whether it runs what its kernel's image begins with, at low addresses: a kernel has its own
    /// in the upper half.
    pub(crate) fn is_before_kernel(&self) -> bool {
        self.at >> 63 == 0
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A CPU at this address whose general registers have this text.
    pub(crate) fn cpu(registers: &str, at: u64, flags: u32, halted: u8) -> CpuState {
        let rest = format!("RFL={flags:08x} [-------] CPL=0 II=0 A20=1 SMM=0 HLT={halted}");
        CpuState::parse(&format!("{{\"return\": \"RAX={registers}\\r\\nRIP={at:016x} {rest}\\r\\n")).unwrap()
    }

    #[test]
    fn a_cpu_is_asked_again_when_it_has_answered_and_nobody_waits() {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        let mut monitor = Monitor::new(ours).unwrap();
        assert_eq!([monitor.look(), monitor.look()], [None, None]);
        theirs.write_all(b"{\"QMP\": {}}\r\n{\"return\": {}}\r\n{\"return\": \"EAX=00000001").unwrap();
        assert_eq!(monitor.look(), None);
        theirs.write_all(b"\\r\\nEIP=0000fff0 EFL=00000002 [-------] CPL=0 HLT=1\"}\r\n").unwrap();
        let cpu = monitor.look().unwrap();
        assert!(cpu.at == 0xfff0 && cpu.is_halted_for_good() && cpu.is_before_kernel(), "{cpu:?}");
        drop(monitor);
        let mut asked = String::new();
        theirs.read_to_string(&mut asked).unwrap();
        assert_eq!(asked, [BEGIN, ASK, ASK].map(String::from_utf8_lossy).concat());
    }

    #[test]
    fn what_is_no_answer_is_none() {
        for text in ["", "IP=", "RIP=1 RFL=", "RIP=x RFL=2 HLT=0", "RIP=1 RFL=2", "IP=1FL=\u{e9}HLT=1"] {
            assert_eq!(CpuState::parse(text), None, "{text}");
        }
    }
}
