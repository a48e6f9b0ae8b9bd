//! Requirements of tracing on a kernel and on this process. Reads files only.

use std::path::Path;

use host::{CapabilitySet, Privileges};

use crate::resolve::BTF;

const LOCKDOWN: &str = "sys/kernel/security/lockdown";

/// The requirements that are not met, with the remedies; `None` if all are.
pub(crate) fn unmet(root: &Path, privileges: &Privileges) -> Option<String> {
    let modes = std::fs::read_to_string(root.join(LOCKDOWN)).unwrap_or_default();
    let unmet = [types(root), privilege(privileges), lockdown(&modes)];
    let reasons: Vec<String> = unmet.into_iter().flatten().collect();
    (!reasons.is_empty()).then(|| reasons.join("; "))
}

// By the kernel's own types the programs find the fields that they read.
fn types(root: &Path) -> Option<String> {
    (!root.join(BTF).exists()).then(|| {
        format!("no /{BTF}: the kernel does not describe its types (BTF); it needs CONFIG_DEBUG_INFO_BTF")
    })
}

fn privilege(privileges: &Privileges) -> Option<String> {
    let has = |capabilities| privileges.capabilities.contains(capabilities);
    let unmet = if privileges.in_user_namespace == Some(true) {
        "this process is in a user namespace, whose capabilities do not count for tracing: it needs CAP_BPF and \
         CAP_PERFMON (root has them) in the machine's first one"
    } else if has(CapabilitySet::BPF | CapabilitySet::PERFMON) || has(CapabilitySet::SYS_ADMIN) {
        return None;
    } else {
        "this process has no CAP_BPF and CAP_PERFMON (root has them)"
    };
    Some(unmet.to_owned())
}

// The file names all modes, the one that holds in brackets. Integrity refuses no reading.
fn lockdown(modes: &str) -> Option<String> {
    modes.contains("[confidentiality]").then(|| {
        format!(
            "kernel lockdown is \"confidentiality\" (/{LOCKDOWN}): boot with lockdown=integrity, or without"
        )
    })
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn machine(files: &[(&str, &[u8])]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for (path, bytes) in files {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, bytes).unwrap();
        }
        root
    }

    #[test]
    fn types_need_a_file() {
        let read = |files: &[(&str, &[u8])]| types(machine(files).path());
        assert_eq!(read(&[(BTF, b"x")]), None);
        assert!(read(&[]).unwrap().contains("CONFIG_DEBUG_INFO_BTF"));
    }

    #[test]
    fn what_the_machine_forbids_is_named_with_its_file() {
        assert_eq!(lockdown("none [integrity] confidentiality\n"), None);
        assert_eq!(lockdown(""), None);
        let reason = lockdown("none integrity [confidentiality]\n").unwrap();
        assert!(reason.contains("/sys/kernel/security/lockdown"), "{reason}");
    }

    #[test]
    fn a_process_without_the_capabilities_is_told_which() {
        let own = Privileges::read();
        let mut inside = own.clone();
        inside.in_user_namespace = Some(true);
        assert!(privilege(&inside).unwrap().contains("user namespace"));
        let has = |capabilities| own.capabilities.contains(capabilities);
        let capable = has(CapabilitySet::SYS_ADMIN) || has(CapabilitySet::BPF | CapabilitySet::PERFMON);
        if !capable {
            let mut first = own;
            first.in_user_namespace = Some(false);
            assert!(privilege(&first).unwrap().contains("no CAP_BPF and CAP_PERFMON"));
        }
    }
}
