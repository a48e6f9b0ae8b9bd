//! Settings of a testbed's namespace that hold for all programs in it: this program, started inside
//! the namespace, makes them.

use std::fs::{self, File};
use std::io;
use std::net::{IpAddr, Ipv4Addr};
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
    /// Give the loopback interface one more address
    #[arg(long)]
    address: bool,
}

/// In the range that RFC 2544 reserves for benchmarks.
const ADDRESS: IpAddr = IpAddr::V4(Ipv4Addr::new(198, 19, 255, 1));
/// The kernel is to unpack the file (include/uapi/linux/module.h).
const MODULE_INIT_COMPRESSED_FILE: libc::c_int = 4;
const CONGESTION_CONTROL: &str = "/proc/sys/net/ipv4/tcp_congestion_control";

/// `netassay-bench prepare`
pub(crate) fn serve(options: &Prepare) -> Result<ExitCode, Failure> {
    if let Some(module) = &options.module {
        load(module).map_err(Failure::io(format!("cannot load the module {}", module.display())))?;
    }
    if let Some(name) = &options.congestion_control {
        fs::write(CONGESTION_CONTROL, name)
            .map_err(Failure::io(format!("cannot set congestion control {name}")))?;
    }
    if options.address {
        let added = Links::open().and_then(|mut links| links.add_address("lo", ADDRESS, 32));
        added.map_err(|error| Failure::Environment(error.to_string()))?;
    }
    Ok(ExitCode::SUCCESS)
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
