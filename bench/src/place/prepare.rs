//! Settings of a testbed's namespace that hold for all programs in it: this program, started inside
//! the namespace, makes them.

use std::fs::{self, File};
use std::net::IpAddr;
use std::path::PathBuf;

use clap::Args;
use host::Links;
use nix::errno::Errno;
use nix::kmod::{ModuleInitFlags, finit_module};

use crate::failure::Failure;

#[derive(Debug, Args)]
pub(crate) struct Prepare {
    /// TCP's default congestion control
    #[arg(long)]
    congestion_control: Option<String>,
    /// A kernel module to load first
    #[arg(long)]
    module: Option<PathBuf>,
    /// An interface that is given one more address
    #[arg(long, requires_all = ["address", "prefix"])]
    interface: Option<String>,
    /// The address to add
    #[arg(long)]
    address: Option<IpAddr>,
    /// The length of its prefix
    #[arg(long)]
    prefix: Option<u8>,
}

/// The kernel is to unpack the file (include/uapi/linux/module.h).
const MODULE_INIT_COMPRESSED_FILE: u32 = 4;
const CONGESTION_CONTROL: &str = "/proc/sys/net/ipv4/tcp_congestion_control";

impl Prepare {
    pub(crate) fn serve(&self) -> Result<(), Failure> {
        if let Some(module) = &self.module {
            let cannot = || Failure::io(format!("cannot load the module {}", module.display()));
            let is_packed = module.extension().is_some_and(|extension| extension != "ko");
            let flags = if is_packed { MODULE_INIT_COMPRESSED_FILE } else { 0 };
            let file = File::open(module).map_err(cannot())?;
            match finit_module(&file, c"", ModuleInitFlags::from_bits_retain(flags)) {
                Ok(()) | Err(Errno::EEXIST) => {}
                Err(errno) => return Err(cannot()(errno.into())),
            }
        }
        if let Some(name) = &self.congestion_control {
            fs::write(CONGESTION_CONTROL, name)
                .map_err(Failure::io(format!("cannot set congestion control {name}")))?;
        }
        if let (Some(interface), Some(address), Some(prefix)) = (&self.interface, self.address, self.prefix) {
            let added = Links::open().and_then(|mut links| links.add_address(interface, address, prefix));
            added.map_err(Failure::environment)?;
        }
        Ok(())
    }
}
