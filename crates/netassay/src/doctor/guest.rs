//! Requirements of guests: QEMU, an accelerator, a kernel.

use results::Finding;
use testbed::Error;
use testbed::guest::{self, Fetched, Kernel, Tools};

const AREA: &str = "guests";
const FETCH: &str = "netassay kernel fetch linux-image-cloud-amd64";

pub(super) fn findings() -> Vec<Finding> {
    let tools = Tools::of_this_machine();
    let kernels = guest::fetched();
    let running = Kernel::find(None);
    let bootable = running.as_ref().ok().or_else(|| Some(&kernels.as_ref().ok()?.first()?.kernel));
    vec![qemu(&tools), kvm(&tools, bootable), image(&running, kernels.as_deref().unwrap_or_default())]
}

fn qemu(tools: &Tools) -> Finding {
    match tools.qemu() {
        Ok(path) => Finding::ok(AREA, "QEMU", format!("found: {}", path.display())),
        Err(error) => {
            let fix = "needed only for the scenarios vm and vm-vxlan, and for inside = \"guest\"";
            Finding::warn(AREA, "QEMU", error.to_string(), fix)
        }
    }
}

fn kvm(tools: &Tools, kernel: Option<&Kernel>) -> Finding {
    let warn = |what: String, fix| Finding::warn(AREA, "KVM", what, fix);
    let slow = "guests are emulated: rates compare with each other, not with hardware; counts of instructions are exact";
    match kernel {
        Some(kernel) => match tools.try_kvm(&kernel.image) {
            Ok(()) => Finding::ok(AREA, "KVM", "works: a guest printed its first line".to_owned()),
            Err(why) => warn(why, slow),
        },
        None if tools.kvm.exists() => {
            let kvm = tools.kvm.display();
            warn(format!("{kvm} exists, but was not tried: no kernel to boot was found"), FETCH)
        }
        None => warn(format!("{} does not exist", tools.kvm.display()), slow),
    }
}

fn image(running: &Result<Kernel, Error>, fetched: &[Fetched]) -> Finding {
    let names: Vec<&str> = fetched.iter().map(|fetched| fetched.package.as_str()).collect();
    let fetched = if names.is_empty() { String::new() } else { format!("; fetched: {}", names.join(", ")) };
    let what = match running {
        Ok(kernel) => format!("image of the running kernel: {}", kernel.image.display()),
        Err(_) if names.is_empty() => {
            let what = "none: the image of the running kernel was not found";
            return Finding::warn(AREA, "kernels", what, FETCH);
        }
        Err(_) => "the image of the running kernel was not found".to_owned(),
    };
    Finding::ok(AREA, "kernels", what + &fetched)
}
