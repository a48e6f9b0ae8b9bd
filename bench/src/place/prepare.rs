//! Settings of a testbed's namespace that hold for all programs in it: this program, started inside
//! the namespace, makes them.

use std::fs::{self, File};
use std::io;
use std::net::IpAddr;
use std::os::fd::AsRawFd as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use host::Links;

use crate::failure::Failure;

/// The settings.
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
    /// That address
    #[arg(long)]
    address: Option<IpAddr>,
    /// The length of its prefix
    #[arg(long)]
    prefix: Option<u8>,
}

/// The kernel is to unpack the file (include/uapi/linux/module.h).
const MODULE_INIT_COMPRESSED_FILE: libc::c_int = 4;
const CONGESTION_CONTROL: &str = "/proc/sys/net/ipv4/tcp_congestion_control";

impl Prepare {
    /// `netassay-bench prepare`
    pub(crate) fn serve(&self) -> Result<ExitCode, Failure> {
        if let Some(module) = &self.module {
            load(module).map_err(Failure::io(format!("cannot load the module {}", module.display())))?;
        }
        if let Some(name) = &self.congestion_control {
            fs::write(CONGESTION_CONTROL, name)
                .map_err(Failure::io(format!("cannot set congestion control {name}")))?;
        }
        if let (Some(interface), Some(address), Some(prefix)) = (&self.interface, self.address, self.prefix) {
            let added = Links::open().and_then(|mut links| links.add_address(interface, address, prefix));
            added.map_err(Failure::environment)?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn load(module: &Path) -> io::Result<()> {
    let file = File::open(module)?;
    let packed = module.extension().is_some_and(|extension| extension != "ko");
    let flags = if packed { MODULE_INIT_COMPRESSED_FILE } else { 0 };
    // SAFETY: an open descriptor, an empty text that ends with zero, and a number.
    let result = unsafe { libc::syscall(libc::SYS_finit_module, file.as_raw_fd(), c"".as_ptr(), flags) };
    let error = io::Error::last_os_error();
    if result == 0 || error.raw_os_error() == Some(libc::EEXIST) { Ok(()) } else { Err(error) }
}
