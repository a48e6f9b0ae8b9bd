//! The limitations of a testbed.

use std::fmt;

use host::DiscardDevice;
use serde::{Deserialize, Serialize};

/// A difference or lack of a testbed, with its consequence. It prints as a sentence without a full
/// stop.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Note {
    /// One emulated guest counts instructions.
    CountsInstructions,
    /// Virtual machines run under KVM.
    Kvm,
    /// Virtual machines run under emulation.
    Emulation {
        /// The reason why not under KVM.
        why: String,
        /// (of earlier versions) When an earlier session tried KVM.
        tried: Option<String>,
    },
    /// QEMU runs as root: why another user cannot run it.
    QemuAsRoot(String),
    /// The first boot of a guest failed: why.
    BootedAgain(String),
    /// (of earlier versions) An earlier session probed the virtual machines: when.
    Recalled(String),
    /// There are fewer CPUs than the virtual machines need.
    Crowded {
        /// Virtual CPUs.
        vcpus: usize,
        /// Threads of QEMU that move packets.
        moving: usize,
        /// This machine's CPUs for them.
        cpus: usize,
    },
    /// Both hosts share the only core.
    OneCore,
    /// Loopback receives on the CPU that sends.
    Loopback,
    /// Receive steering was not possible: why.
    NotSteered(String),
    /// Packets are discarded.
    Discards {
        /// The device that discards them.
        device: DiscardDevice,
        /// The better devices that this host lacks.
        lacking: Vec<DiscardDevice>,
    },
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CountsInstructions => f.write_str("one virtual machine, emulated: it counts instructions"),
            Self::Kvm => f.write_str("virtual machines run under KVM"),
            Self::Emulation { why, tried } => {
                let tried = tried.as_ref().map_or_else(String::new, |when| format!(", tried on {when}"));
                write!(
                    f,
                    "virtual machines run under emulation ({why}{tried}): their rates compare with each other, not with those of hardware"
                )
            }
            Self::QemuAsRoot(why) => write!(
                f,
                "QEMU runs as root (without capabilities) because the user `nobody` cannot run it: {why}"
            ),
            Self::BootedAgain(why) => {
                write!(f, "{why} (the boot failed, and the machine was booted again)")
            }
            Self::Recalled(when) => write!(
                f,
                "the virtual machines were probed on {when} with this kernel, this QEMU and this netassay"
            ),
            Self::Crowded { vcpus, moving, cpus } => {
                let counted = |count: &usize, what: &str| match count {
                    1 => format!("1 {what}"),
                    count => format!("{count} {what}s"),
                };
                let threads = match moving {
                    0 => String::new(),
                    moving => format!(" and the {moving} threads of QEMU that move their packets"),
                };
                write!(
                    f,
                    "{}{threads} share {} of this machine: while one runs another waits, so rates depend on how the scheduler shares these \
                     CPUs out, and runs may be limited by the host CPU; on {} CPUs or more none has to wait",
                    counted(vcpus, "virtual CPU"),
                    counted(cpus, "CPU"),
                    vcpus + moving
                )
            }
            Self::OneCore => {
                f.write_str("one core only: both hosts share it, so their CPU use cannot be separated")
            }
            Self::Loopback => f.write_str(
                "loopback delivers on the CPU that sends: receive softirq work counts as the transmitter's",
            ),
            Self::NotSteered(why) => {
                write!(f, "receive work is not steered to each host's own CPUs: {why}")
            }
            Self::Discards { device, lacking } => {
                let what = match device {
                    DiscardDevice::Dummy => "the kernel's dummy device",
                    DiscardDevice::Bridge => "a bridge without ports",
                    DiscardDevice::VethXdp => {
                        "an XDP program at the far end of a veth pair, on the CPUs that send"
                    }
                };
                write!(f, "packets are discarded by {what}")?;
                let lacking: Vec<&str> = lacking.iter().map(|device| device.word()).collect();
                if lacking.is_empty() {
                    Ok(())
                } else {
                    write!(f, "; this host has no {}", lacking.join(" and no "))
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_is_stored_by_its_code_and_read_as_a_sentence() {
        let again = "virtual machines run under emulation (no /dev/kvm, tried on 2026-11-20 13:40 UTC): their rates compare with \
                     each other, not with those of hardware";
        let (why, tried) = ("no /dev/kvm".to_owned(), Some("2026-11-20 13:40 UTC".to_owned()));
        for (note, json, sentence) in [
            (Note::Kvm, r#""kvm""#, "virtual machines run under KVM"),
            (
                Note::Emulation { why, tried },
                r#"{"emulation":{"why":"no /dev/kvm","tried":"2026-11-20 13:40 UTC"}}"#,
                again,
            ),
            (
                Note::Discards { device: DiscardDevice::Bridge, lacking: vec![DiscardDevice::Dummy] },
                r#"{"discards":{"device":"bridge","lacking":["dummy"]}}"#,
                "packets are discarded by a bridge without ports; this host has no dummy",
            ),
            (
                Note::Discards { device: DiscardDevice::Dummy, lacking: Vec::new() },
                r#"{"discards":{"device":"dummy","lacking":[]}}"#,
                "packets are discarded by the kernel's dummy device",
            ),
        ] {
            assert_eq!(serde_json::to_string(&note).unwrap(), json);
            assert_eq!(serde_json::from_str::<Note>(json).unwrap(), note);
            assert_eq!(note.to_string(), sentence);
        }
    }
}
