//! `netassay doctor`: what this machine can do, and what disturbs measurement here; or whether two
//! machines are a pair.

use std::process::ExitCode;

use crate::cli::Doctor;
use crate::commands::hosts;
use crate::doctor::Examination;
use crate::exit;
use crate::failure::Failure;
use crate::output;
use crate::signals;

pub(crate) fn doctor(flags: &Doctor) -> Result<ExitCode, Failure> {
    let interrupt = signals::interrupt()?;
    let examination = if flags.hosts.names_any() {
        hosts::examine(&flags.hosts, &interrupt)?
    } else {
        match hosts::examine_one(flags.host.as_ref(), &flags.hosts.login, &interrupt)? {
            Some(of_host) => of_host,
            None => {
                let interface = flags.host.as_ref().and_then(|host| host.interface.as_deref());
                Examination::make(interface, &interrupt)?
            }
        }
    };
    output::show_blocks(&examination, &flags.output, false, Examination::blocks)?;
    let code = if examination.can_measure() { exit::OK } else { exit::ENVIRONMENT };
    Ok(ExitCode::from(code))
}
