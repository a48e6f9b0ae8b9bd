//! The limitations of a testbed.

use host::DiscardDevice;
use serde::{Deserialize, Serialize};

use crate::figure::counted;

/// A difference or lack of a testbed, with its consequence. It prints as a sentence without a full
/// stop.
// It is no error: thiserror gives each variant its sentence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Note {
    #[error("one virtual machine, emulated: it counts instructions")]
    CountsInstructions,
    #[error("virtual machines run under KVM")]
    Kvm,
    /// `why`: not under KVM. `tried`: (of earlier versions) when an earlier session tried KVM.
    #[error(
        "virtual machines run under emulation ({why}{}): their rates compare with each other, not with those of hardware",
        .tried.as_ref().map_or_else(String::new, |when| format!(", tried on {when}"))
    )]
    Emulation { why: String, tried: Option<String> },
    #[error("QEMU runs as root (without capabilities) because the user `nobody` cannot run it: {0}")]
    QemuAsRoot(String),
    #[error("{0} (the boot failed, and the machine was booted again)")]
    BootedAgain(String),
    /// (of earlier versions)
    #[error("the virtual machines were probed on {0} with this kernel, this QEMU and this netassay")]
    Recalled(String),
    /// There are fewer CPUs than the virtual machines need. `vcpus`: virtual CPUs. `moving`:
    /// threads of QEMU that move packets. `cpus`: this machine's CPUs for them.
    #[error(
        "{}{} share {} of this machine: while one runs another waits, so rates depend on how the scheduler shares these \
         CPUs out, and runs may be limited by the host CPU; on {} CPUs or more none has to wait",
        counted(*.vcpus, "virtual CPU"),
        match .moving {
            0 => String::new(),
            moving => format!(" and the {moving} threads of QEMU that move their packets"),
        },
        counted(*.cpus, "CPU"),
        .vcpus + .moving
    )]
    Crowded { vcpus: usize, moving: usize, cpus: usize },
    #[error("one core only: both hosts share it, so their CPU use cannot be separated")]
    OneCore,
    #[error("loopback delivers on the CPU that sends: receive softirq work counts as the transmitter's")]
    Loopback,
    #[error("receive work is not steered to each host's own CPUs: {0}")]
    NotSteered(String),
    /// `lacking`: the better devices that this host lacks.
    #[error("packets are discarded by {}{}", described(*.device), without(.lacking))]
    Discards { device: DiscardDevice, lacking: Vec<DiscardDevice> },
}

fn described(device: DiscardDevice) -> &'static str {
    match device {
        DiscardDevice::Dummy => "the kernel's dummy device",
        DiscardDevice::Bridge => "a bridge without ports",
        DiscardDevice::VethXdp => "an XDP program at the far end of a veth pair, on the CPUs that send",
    }
}

fn without(lacking: &[DiscardDevice]) -> String {
    let words: Vec<&str> = lacking.iter().map(|device| device.word()).collect();
    if words.is_empty() { String::new() } else { format!("; this host has no {}", words.join(" and no ")) }
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
