//! `netassay doctor`: what this machine can do, and what disturbs measurement here; or whether two
//! machines are a pair.

use std::process::ExitCode;

use crate::cli::{Doctor, Format};
use crate::commands::hosts;
use crate::doctor::Examination;
use crate::exit;
use crate::failure::Failure;
use crate::output;
use crate::signals;

pub(crate) fn doctor(flags: &Doctor) -> Result<ExitCode, Failure> {
    let json = flags.output.format == Format::Json;
    let interrupt = signals::interrupt()?;
    let examination = if flags.hosts.names_any() {
        hosts::examine(&flags.hosts, &interrupt)?
    } else {
        let interface = on_interface(flags)?;
        let mut words = vec!["doctor"];
        words.extend(json.then_some(["--format", "json"]).into_iter().flatten());
        words.extend(interface.iter().flat_map(|name| ["--interface", name.as_str()]));
        if let Some(code) = hosts::elsewhere(&flags.hosts.one(flags.host.as_ref()), &words)? {
            return Ok(code);
        }
        Examination::make(interface.as_deref(), &interrupt)?
    };
    output::show(&examination, &flags.output, false, Examination::text)?;
    let code = if examination.can_measure() { exit::OK } else { exit::ENVIRONMENT };
    Ok(ExitCode::from(code))
}

/// The interface to look at, named by either option.
fn on_interface(flags: &Doctor) -> Result<Option<String>, Failure> {
    let of_host = flags.host.as_ref().and_then(|host| host.interface.clone());
    if of_host.is_some() && flags.interface.is_some() {
        return Err(Failure::Usage("the interface is named twice: by --host and by --interface".to_owned()));
    }
    Ok(of_host.or_else(|| flags.interface.clone()))
}
