//! The congestion controls under which the grid's TCP runs: one that paces, and one that does not.

use std::fs;
use std::path::PathBuf;

use testbed::guest::Kernel;

use crate::report::Report;

/// Congestion controls that do not pace; the first that is allowed is used. Every Debian kernel has
/// the first built in.
const UNPACED: [&str; 2] = ["cubic", "reno"];
/// A congestion control that paces.
const PACED: &str = "bbr";

/// Those that this kernel allows as a network namespace's default.
pub(crate) fn of_namespaces(report: &mut Report) -> Vec<String> {
    let there = fs::read_to_string("/proc/sys/net/ipv4/tcp_allowed_congestion_control").unwrap_or_default();
    let has = |name: &&str| there.split_whitespace().any(|one| one == *name);
    if !has(&PACED) {
        report.note(format!(
            "without {PACED}: this kernel does not allow it as a namespace's default; load it with `modprobe tcp_{PACED}`, then add it \
             to the sysctl net.ipv4.tcp_allowed_congestion_control"
        ));
    }
    UNPACED.into_iter().find(has).into_iter().chain(Some(PACED).filter(has)).map(str::to_owned).collect()
}

/// Those of guests of this kernel.
pub(crate) fn of_guests(kernel: &Kernel, report: &mut Report) -> Vec<String> {
    let list = kernel.modules.as_ref().map(|modules| fs::read_to_string(modules.join("modules.builtin")));
    let list = list.and_then(Result::ok).unwrap_or_default();
    let is_built_in = list.lines().any(|path| path.ends_with(&format!("/tcp_{PACED}.ko")));
    let has_paced = is_built_in || module(kernel, PACED).is_some();
    if !has_paced {
        let image = kernel.image.display();
        report.note(format!("vm: without {PACED}: the kernel {image} has no module tcp_{PACED}"));
    }
    [UNPACED[0]].into_iter().chain(has_paced.then_some(PACED)).map(str::to_owned).collect()
}

/// The file with a congestion control of a kernel that has it as a module, packed or not. In a
/// guest it has the same path.
pub(crate) fn module(kernel: &Kernel, congestion_control: &str) -> Option<PathBuf> {
    let directory = kernel.modules.as_ref()?.join("kernel/net/ipv4");
    let paths = ["", ".xz", ".zst", ".gz"]
        .map(|packed| directory.join(format!("tcp_{congestion_control}.ko{packed}")));
    paths.into_iter().find(|path| path.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_paced_congestion_control_is_a_module_or_built_in() {
        let modules = tempfile::tempdir().unwrap();
        let (image, release) = (PathBuf::from("/boot/vmlinuz"), None);
        let kernel = Kernel { image, modules: Some(modules.path().to_owned()), release };
        let controls = || {
            let mut report = Report::begin("load", &[""]);
            let controls = of_guests(&kernel, &mut report);
            (controls.len(), report.to_string().contains("vm: without bbr"))
        };
        assert_eq!((controls(), module(&kernel, "bbr")), ((1, true), None));

        let directory = modules.path().join("kernel/net/ipv4");
        fs::create_dir_all(&directory).unwrap();
        let file = directory.join("tcp_bbr.ko.xz");
        fs::write(&file, b"").unwrap();
        assert_eq!((controls(), module(&kernel, "bbr")), ((2, false), Some(file.clone())));

        fs::remove_file(&file).unwrap();
        fs::write(modules.path().join("modules.builtin"), "kernel/net/ipv4/tcp_bbr.ko\n").unwrap();
        assert_eq!((controls(), module(&kernel, "bbr")), ((2, false), None));
    }
}
