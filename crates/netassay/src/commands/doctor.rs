//! `netassay doctor`: what this machine can do, and what disturbs measurement here.

use std::process::ExitCode;

use crate::cli::{Doctor, Format, Formatted};
use crate::commands::hosts::elsewhere;
use crate::doctor::Examination;
use crate::exit;
use crate::failure::Failure;
use crate::output;
use crate::signals;

pub(crate) fn doctor(flags: &Doctor) -> Result<ExitCode, Failure> {
    let json = flags.json || flags.output.format == Format::Json;
    let words = [&["doctor"][..], if json { &["--json"] } else { &[] }].concat();
    if let Some(code) = elsewhere(&flags.on, &words)? {
        return Ok(code);
    }
    let examination = Examination::make(&signals::interrupt()?)?;
    let format = if json { Format::Json } else { Format::Text };
    output::show(&examination, &Formatted { format }, false, Examination::text)?;
    let code = if examination.can_measure() { exit::OK } else { exit::ENVIRONMENT };
    Ok(ExitCode::from(code))
}
