//! What guests need: QEMU, an accelerator, a kernel.

use ::guest::{Error, Fetched, Kernel, Tools};

use super::finding::{Finding, Status};

const AREA: &str = "guests";
const FETCH: &str = "netassay kernel fetch linux-image-cloud-amd64";

pub(super) fn findings() -> Vec<Finding> {
    let tools = Tools::here();
    let kernels = ::guest::fetched();
    let running = Kernel::find(None);
    let bootable = running.as_ref().ok().or_else(|| Some(&kernels.as_ref().ok()?.first()?.kernel));
    vec![qemu(&tools), kvm(&tools, bootable), image(&running, kernels.as_deref().unwrap_or_default())]
}

fn qemu(tools: &Tools) -> Finding {
    match tools.qemu() {
        Ok(path) => Finding::new(AREA, "QEMU", Status::Ok, format!("found: {}", path.display())),
        // Only two scenarios need it.
        Err(error) => Finding::new(AREA, "QEMU", Status::Warn, error.to_string())
            .fix("needed only for the scenarios vm and vm-vxlan, and for inside = \"guest\""),
    }
}

/// KVM is tried where there is something to try it with.
fn kvm(tools: &Tools, kernel: Option<&Kernel>) -> Finding {
    let finding = |status, what: String| Finding::new(AREA, "KVM", status, what);
    let slow = "guests are emulated: rates compare with each other, not with hardware; counts of instructions are exact";
    match kernel {
        Some(kernel) => {
            let verdict = tools.try_kvm(&kernel.image);
            let when = verdict.recalled.map_or_else(String::new, |when| {
                format!(
                    " (tried on {}; `netassay kernel forget` makes the next session try again)",
                    ::guest::date(when)
                )
            });
            match verdict.outcome {
                Ok(()) => finding(Status::Ok, format!("works: a guest printed its first line{when}")),
                Err(why) => finding(Status::Warn, format!("{why}{when}")).fix(slow),
            }
        }
        None if tools.kvm.exists() => {
            let what =
                format!("{} exists, but was not tried: no kernel to boot was found", tools.kvm.display());
            finding(Status::Warn, what).fix(FETCH)
        }
        None => finding(Status::Warn, format!("{} does not exist", tools.kvm.display())).fix(slow),
    }
}

fn image(running: &Result<Kernel, Error>, fetched: &[Fetched]) -> Finding {
    let names: Vec<&str> = fetched.iter().map(|fetched| fetched.package.as_str()).collect();
    let fetched = if names.is_empty() { String::new() } else { format!("; fetched: {}", names.join(", ")) };
    let finding = |status, what: String| Finding::new(AREA, "kernels", status, format!("{what}{fetched}"));
    match running {
        Ok(kernel) => finding(Status::Ok, format!("image of the running kernel: {}", kernel.image.display())),
        Err(_) if !names.is_empty() => {
            finding(Status::Ok, "the image of the running kernel was not found".to_owned())
        }
        Err(_) => {
            finding(Status::Warn, "none: the image of the running kernel was not found".to_owned()).fix(FETCH)
        }
    }
}
