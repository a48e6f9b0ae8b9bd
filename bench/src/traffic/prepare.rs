//! Settings of a testbed's namespace that hold for all programs in it: this program, started inside
//! the namespace, makes them.

use std::fs;
use std::net::{IpAddr, Ipv4Addr};
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
    /// Give the loopback interface one more address
    #[arg(long)]
    address: bool,
}

/// In the range that RFC 2544 reserves for benchmarks.
const ADDRESS: IpAddr = IpAddr::V4(Ipv4Addr::new(198, 19, 255, 1));
const CONGESTION_CONTROL: &str = "/proc/sys/net/ipv4/tcp_congestion_control";

/// `netassay-bench prepare`
pub(crate) fn serve(options: &Prepare) -> Result<ExitCode, Failure> {
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
